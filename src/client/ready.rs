//! Whether the target is there, and what it serves.

use super::exchange::chain;
use super::{Client, TargetError};
use crate::wire::{self, ErrorKind, Failure, ModelInfo};
use bytes::BytesMut;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;

/// How long one look may take.
const LOOK: Duration = Duration::from_secs(10);
/// From one look to the next, at first; doubled up to `MAX_PAUSE`.
const PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// Bytes of an answer to a look.
const MAX_BODY: usize = 4 << 20;

impl Client {
    /// `GET /models`, in the server's order; at least one.
    ///
    /// # Errors
    /// [`TargetError`]: no answer, an answer other than 2xx, or no list of models in it.
    pub async fn models(&self) -> Result<Vec<ModelInfo>, TargetError> {
        let url = self.url("models");
        let (status, body) = match self.look(&url, LOOK).await {
            Ok(answer) => answer,
            Err(failure) => return Err(TargetError::Failed { url, status: None, failure }),
        };
        if !(200..300).contains(&status) {
            let failure = Failure::new(ErrorKind::HttpStatus, &excerpt(&body));
            return Err(TargetError::Failed { url, status: Some(status), failure });
        }
        let models = wire::parse_models(&body);
        if models.is_empty() { Err(TargetError::NoModels { url }) } else { Ok(models) }
    }

    /// Waits until the target answers and no longer says that it is loading; at least one attempt, then until `limit` is over.
    ///
    /// Not ready is: no connection, no answer, HTTP 502, 503 and 504 from `GET /models`, and 503 from `GET /health` beside the API
    /// (llama.cpp lists its model while it still loads it). Anything else is for the first real request to find out.
    ///
    /// # Errors
    /// [`TargetError::NotReady`] with the last reason.
    pub async fn wait_ready(&self, limit: Duration) -> Result<(), TargetError> {
        let end = Instant::now() + limit;
        let mut pause = PAUSE;
        let mut attempt = self.attempt(LOOK).await;
        while let Err((url, failure)) = attempt {
            let now = Instant::now();
            if now >= end {
                return Err(TargetError::NotReady { url, waited_s: limit.as_secs(), failure });
            }
            sleep(pause.min(end - now)).await;
            pause = (pause * 2).min(MAX_PAUSE);
            attempt = self.attempt(LOOK.min((end - now).max(PAUSE))).await;
        }
        Ok(())
    }

    async fn attempt(&self, limit: Duration) -> Result<(), (Url, Failure)> {
        let models = self.url("models");
        match self.look(&models, limit).await {
            Err(failure) => return Err((models, failure)),
            Ok((status @ (502..=504), body)) => return Err((models, loading(status, &body))),
            Ok(_) => {}
        }
        let health = self.health();
        match self.look(&health, limit).await {
            Ok((503, body)) => Err((health, loading(503, &body))),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// `/health` beside the API: at the base without its `/v1`.
    fn health(&self) -> Url {
        let mut url = self.config.base.clone();
        let path = url.path().trim_end_matches('/');
        let path = format!("{}/health", path.strip_suffix("/v1").unwrap_or(path));
        url.set_path(&path);
        url.set_query(None);
        url
    }

    /// `GET url`, with this client's headers: the status and the body, as far as it was wanted.
    async fn look(&self, url: &Url, limit: Duration) -> Result<(u16, BytesMut), Failure> {
        let end = Instant::now() + limit;
        let slow = |_| Failure::new(ErrorKind::Timeout, "no answer in time");
        let broken = |error: reqwest::Error| {
            let kind = if error.is_connect() { ErrorKind::Connect } else { ErrorKind::Disconnect };
            Failure::new(kind, &chain(&error.without_url()))
        };
        let request = self.http.get(url.clone()).headers(self.headers.clone());
        let mut response = timeout_at(end, request.send()).await.map_err(slow)?.map_err(broken)?;
        let mut body = BytesMut::new();
        while let Some(bytes) = timeout_at(end, response.chunk()).await.map_err(slow)?.map_err(broken)? {
            if body.len() + bytes.len() > MAX_BODY {
                return Err(Failure::new(ErrorKind::Malformed, "the answer is larger than 4 MiB"));
            }
            body.extend_from_slice(&bytes);
        }
        Ok((response.status().as_u16(), body))
    }
}

fn loading(status: u16, body: &[u8]) -> Failure {
    Failure::new(ErrorKind::HttpStatus, &format!("HTTP {status} {}", excerpt(body)))
}

/// The start of a server's error text; [`Failure::new`] cleans it.
fn excerpt(body: &[u8]) -> String {
    let message = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .and_then(|value| value.pointer("/error/message").or(value.get("message")).and_then(|text| text.as_str().map(str::to_owned)));
    message.unwrap_or_else(|| String::from_utf8_lossy(&body[..body.len().min(600)]).trim().to_owned())
}
