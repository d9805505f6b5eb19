//! The transport of the protocol to Python, in a worker of the page. The first request loads the file.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use volary_core::json;
use volary_core::json::{Json, Text};
use volary_remote::{Transport, TransportError, WireReply, WireRequest};

use super::files::PythonSource;
use super::loading::{HostReply, load};
use super::stored;
use crate::browser::python_port;
use crate::browser::timers;

/// The status of a request for a file that is not loaded, because Python was restarted.
const NOT_LOADED: u16 = 409;
/// The timeout in seconds of a request without one. The page's limit is shorter.
const LONGEST: f64 = 86_400.0;

/// A connection to Python for the environments of one file and one seed.
pub struct PythonTransport {
    /// The name of the environment, which identifies the file.
    pub environment: Text,
    /// Its code and wheels.
    pub source: PythonSource,
    /// The seed of random numbers.
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
            let ask = async |path: &str, body: Json| {
                let reply = self.ask(path, &body, limit).await?;
                Ok::<_, TransportError>(HostReply {
                    status: reply.status.into(),
                    body: Json::parse(&reply.body).unwrap_or_default(),
                })
            };
            let loaded = load(&self.source, ask, stored::wheel_bytes).await?;
            match loaded.status {
                200 => self.ask(path, &body, limit).await,
                status => Ok(WireReply {
                    status: u16::try_from(status).unwrap_or(500),
                    body: loaded.body.to_compact_text(),
                }),
            }
        })
    }

    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()> {
        Box::pin(timers::sleep(Duration::from_secs_f64(seconds)))
    }
}

impl PythonTransport {
    /// Returns the value of a running environment's `get_id`; `None` if it has no id.
    pub async fn environment_id(&self, env_id: &Text) -> Option<Text> {
        let body = json!({"env_id": (env_id.clone())});
        let reply = self.ask("/id", &body, LONGEST).await.ok()?;
        Json::parse(&reply.body).ok()?.get("id")?.as_text().cloned()
    }

    async fn ask(&self, path: &str, body: &Json, limit: f64) -> Result<WireReply, TransportError> {
        // Below 2^53, like every seed of the page.
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
