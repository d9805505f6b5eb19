//! Moves the protocol's bytes to Python, in a worker of the page. The first request of a file loads it.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use volary_core::json;
use volary_core::json::{Json, Text};
use volary_remote::{Transport, TransportError, WireReply, WireRequest};

use crate::browser::python_port;
use crate::browser::timers;

/// The status of a question about a file that is not loaded: Python was started anew.
const NOT_LOADED: u16 = 409;
/// Seconds for a question without a limit of its own. The page's limit is shorter.
const LONGEST: f64 = 86_400.0;

/// Python, for the environments of one file and one seed.
pub struct PythonTransport {
    /// The name of the environment, which names the file.
    pub environment: Text,
    /// Its code.
    pub code: Text,
    /// From which random numbers follow.
    pub seed: u64,
}

impl Transport for PythonTransport {
    fn send(&self, request: WireRequest) -> LocalBoxFuture<'_, Result<WireReply, TransportError>> {
        Box::pin(async move {
            let path = request.url.strip_prefix(&*self.environment);
            let path = path.unwrap_or(&request.url);
            let body = request.body.as_deref().map(Json::parse);
            let body = body.and_then(Result::ok).unwrap_or_default();
            let limit = request.timeout.unwrap_or(LONGEST);
            let reply = self.ask(path, &body, limit).await?;
            if reply.status != NOT_LOADED {
                return Ok(reply);
            }
            let code = json!({"code": (self.code.clone())});
            let loaded = self.ask("/load", &code, limit).await?;
            match loaded.status {
                200 => self.ask(path, &body, limit).await,
                _ => Ok(loaded),
            }
        })
    }

    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()> {
        Box::pin(timers::sleep(Duration::from_secs_f64(seconds)))
    }
}

impl PythonTransport {
    async fn ask(&self, path: &str, body: &Json, limit: f64) -> Result<WireReply, TransportError> {
        // Below 2^53, as every seed of the page.
        let seed = i64::try_from(self.seed).unwrap_or_default();
        let question = json!({
            "file": (self.environment.clone()),
            "path": path,
            "seed": seed,
            "body": (body.clone()),
        });
        let answer = python_port::ask(&question.to_compact_text(), limit).await;
        let (answer, _) = answer.map_err(|reason| TransportError::Unreachable {
            reason: reason.into(),
        })?;
        let unusable = |reason: &str| TransportError::Unusable {
            reason: reason.into(),
        };
        let answer = Json::parse(&answer).map_err(|error| unusable(&error.to_string()))?;
        let status = answer.get("status").and_then(Json::as_i64);
        let status = status.and_then(|status| u16::try_from(status).ok());
        Ok(WireReply {
            status: status.ok_or_else(|| unusable("it has no status"))?,
            body: answer
                .get("body")
                .map(Json::to_compact_text)
                .unwrap_or_default(),
        })
    }
}
