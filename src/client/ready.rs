//! Whether the target is there, and what it serves.

use super::exchange::{chain, later};
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
        let end = later(Instant::now(), limit);
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

    /// Asks the target to drop its prefix cache: `POST /reset_prefix_cache` (vLLM) or `/flush_cache` (SGLang) beside the API. Which of
    /// them was taken.
    ///
    /// # Errors
    /// [`TargetError::Failed`] where neither is there or both are refused.
    pub async fn reset_cache(&self) -> Result<&'static str, TargetError> {
        let mut last = None;
        for path in ["/reset_prefix_cache", "/flush_cache"] {
            let url = self.beside(path);
            match self.beside_api(self.http.post(url.clone()), LOOK).await {
                Ok((status, _)) if (200..300).contains(&status) => return Ok(path),
                Ok((status, body)) => {
                    let failure = Failure::new(ErrorKind::HttpStatus, &excerpt(&body));
                    last = Some(TargetError::Failed { url, status: Some(status), failure });
                }
                Err(failure) => return Err(TargetError::Failed { url, status: None, failure }),
            }
        }
        Err(last.unwrap_or_else(|| TargetError::NoModels { url: self.beside("/") }))
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
        self.beside("/health")
    }

    /// A path beside the API.
    fn beside(&self, added: &str) -> Url {
        let mut url = self.config.base.clone();
        let path = url.path().trim_end_matches('/');
        let path = format!("{}{added}", path.strip_suffix("/v1").unwrap_or(path));
        url.set_path(&path);
        url.set_query(None);
        url
    }

    /// `GET url`, with this client's headers: the status and the body, as far as it was wanted.
    async fn look(&self, url: &Url, limit: Duration) -> Result<(u16, BytesMut), Failure> {
        self.beside_api(self.http.get(url.clone()), limit).await
    }

    async fn beside_api(&self, request: reqwest::RequestBuilder, limit: Duration) -> Result<(u16, BytesMut), Failure> {
        let end = Instant::now() + limit;
        let slow = |_| Failure::new(ErrorKind::Timeout, "no answer in time");
        let broken = |error: reqwest::Error| {
            let kind = if error.is_connect() { ErrorKind::Connect } else { ErrorKind::Disconnect };
            Failure::new(kind, &chain(&error.without_url()))
        };
        let mut response = timeout_at(end, request.headers(self.headers.clone()).send()).await.map_err(slow)?.map_err(broken)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tests::{client, config, raw, reply, simulated};
    use crate::sim;
    use std::net::TcpListener;

    #[tokio::test]
    async fn the_served_models_are_listed() {
        let server = simulated("steady?model=m-1&context=4096");
        let models = client(config(&server.url())).models().await.unwrap();
        assert_eq!((models.len(), models[0].id.as_str(), models[0].max_model_len), (1, "m-1", Some(4096)));

        let (url, _) = raw(|_, _, stream| reply(stream, "401 Unauthorized", "", b"{\"error\":{\"message\":\"who?\"}}"));
        let error = client(config(&url)).models().await.unwrap_err();
        assert!(error.is_unusable() && error.help().contains("GOODPUT_API_KEY"), "{error}");
        assert!(error.to_string().ends_with("/models: HTTP 401: who?"), "{error}");

        let (url, _) = raw(|_, _, stream| reply(stream, "200 OK", "", b"{}"));
        assert!(matches!(client(config(&url)).models().await.unwrap_err(), TargetError::NoModels { .. }));
    }

    #[tokio::test]
    async fn a_server_that_is_still_loading_is_waited_for() {
        let loading = b"{\"error\":{\"message\":\"Loading model\",\"code\":503}}";
        // llama.cpp: the list of models is there at once, /health says 503.
        let (url, seen) = raw(move |number, request, stream| {
            if request.starts_with("GET /health ") && number < 4 {
                reply(stream, "503 Service Unavailable", "", loading)
            } else {
                reply(stream, "200 OK", "", b"{}")
            }
        });
        client(config(&url)).wait_ready(Duration::from_secs(60)).await.unwrap();
        assert_eq!(seen.lock().unwrap().len(), 6);

        let (url, _) = raw(move |_, _, stream| reply(stream, "503 Service Unavailable", "", loading));
        let error = client(config(&url)).wait_ready(Duration::ZERO).await.unwrap_err();
        assert!(error.to_string().contains("is not ready: HTTP 503 Loading model"), "{error}");
    }

    #[tokio::test]
    async fn a_port_that_is_not_yet_open_is_waited_for() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let client = client(config(&format!("http://{address}/v1")));
        assert!(client.wait_ready(Duration::ZERO).await.unwrap_err().is_unusable());
        let opens = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            sim::start(sim::Profile::default(), TcpListener::bind(address).unwrap()).unwrap()
        });
        client.wait_ready(Duration::from_secs(60)).await.unwrap();
        drop(opens.await);
    }
}
