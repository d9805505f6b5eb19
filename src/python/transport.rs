//! The transport of the protocol to Python, in a worker of the page. The first request loads the file.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use volary_core::json;
use volary_core::json::{Json, Text};
use volary_remote::{Transport, TransportError, WireReply, WireRequest};

use super::files::PythonSource;
use super::loading::{HostReply, load};
use super::stored;
use super::wheels::Wheel;
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
            let ask = async |path: &str, body: &Json| self.ask(path, body, limit).await;
            ask_loaded(&self.source, path, &body, ask, stored::wheel_bytes).await
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
        wire_reply(&answer)
    }
}

/// Sends a request. If Python was restarted, the file is loaded before the request is repeated, which Python has not
/// handled.
async fn ask_loaded(
    source: &PythonSource,
    path: &str,
    body: &Json,
    ask: impl AsyncFn(&str, &Json) -> Result<WireReply, TransportError>,
    read: impl AsyncFn(&Wheel) -> Option<Vec<u8>>,
) -> Result<WireReply, TransportError> {
    let reply = ask(path, body).await?;
    if reply.status != NOT_LOADED {
        return Ok(reply);
    }
    let ask_host = async |path: &str, body: Json| {
        let reply = ask(path, &body).await?;
        Ok::<_, TransportError>(HostReply {
            status: reply.status.into(),
            body: Json::parse(&reply.body).unwrap_or_default(),
        })
    };
    let loaded = load(source, ask_host, read).await?;
    match loaded.status {
        200 => ask(path, body).await,
        status => Ok(WireReply {
            status: u16::try_from(status).unwrap_or(500),
            body: loaded.body.to_compact_text(),
        }),
    }
}

/// Reads an answer of `public/python/host.py`.
fn wire_reply(answer: &str) -> Result<WireReply, TransportError> {
    let unusable = |reason: &str| TransportError::Unusable {
        reason: reason.into(),
    };
    let answer = Json::parse(answer).map_err(|error| unusable(&error.to_string()))?;
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use futures_util::FutureExt;

    use super::*;

    /// Answers with these statuses in turn. Returns the reply and the requested paths.
    fn asked(
        source: &PythonSource,
        statuses: &[u16],
    ) -> (Result<WireReply, TransportError>, Vec<String>) {
        let paths = RefCell::new(Vec::new());
        let ask = async |path: &str, _: &Json| {
            let number = paths.borrow().len();
            paths.borrow_mut().push(path.to_owned());
            match statuses.get(number) {
                Some(status) => Ok(WireReply {
                    status: *status,
                    body: format!("{{\"from\":\"{path}\"}}"),
                }),
                None => Err(TransportError::Timeout),
            }
        };
        let body = json!({"action": 1});
        let reply = ask_loaded(source, "/step", &body, ask, async |_: &Wheel| None);
        let reply = reply.now_or_never().expect("nothing is awaited");
        (reply, paths.take())
    }

    fn code() -> PythonSource {
        PythonSource::of_code("x = 1")
    }

    #[test]
    fn an_answer_is_passed_on_whatever_its_status() {
        for status in [200, 404, 500] {
            let (reply, paths) = asked(&code(), &[status]);
            assert_eq!(reply.map(|reply| reply.status), Ok(status));
            assert_eq!(paths, ["/step"]);
        }
    }

    #[test]
    fn a_file_that_is_not_loaded_is_loaded_once_before_the_request_is_repeated() {
        let (reply, paths) = asked(&code(), &[409, 200, 200]);
        assert_eq!(reply.map(|reply| reply.status), Ok(200));
        assert_eq!(paths, ["/step", "/load", "/step"]);
        // Python was restarted again meanwhile; there is no endless loop.
        let (reply, paths) = asked(&code(), &[409, 200, 409]);
        assert_eq!(reply.map(|reply| reply.status), Ok(409));
        assert_eq!(paths.len(), 3);
    }

    #[test]
    fn a_file_that_cannot_be_loaded_answers_instead() {
        let (reply, paths) = asked(&code(), &[409, 400]);
        let reply = reply.expect("an answer");
        assert_eq!(reply.status, 400);
        assert!(reply.body.contains("/load"));
        assert_eq!(paths, ["/step", "/load"]);
    }

    #[test]
    fn a_wheel_that_is_gone_is_named_and_nothing_is_run() {
        let wheel = Wheel::of("tool-1.0-py3-none-any.whl", b"PK\x03\x04");
        let source = PythonSource {
            wheels: wheel.into_iter().collect(),
            ..code()
        };
        let (reply, paths) = asked(&source, &[409, 424]);
        let reply = reply.expect("an answer");
        assert_eq!(reply.status, 424);
        assert!(
            reply.body.contains("tool-1.0-py3-none-any.whl"),
            "{}",
            reply.body
        );
        assert_eq!(paths, ["/step", "/load"]);
    }

    #[test]
    fn a_lost_answer_is_not_asked_for_again() {
        for statuses in [&[][..], &[409], &[409, 200]] {
            let (reply, paths) = asked(&code(), statuses);
            assert_eq!(reply, Err(TransportError::Timeout));
            assert_eq!(paths.len(), statuses.len() + 1);
        }
    }

    #[test]
    fn an_answer_without_a_valid_status_is_unusable() {
        let reply = wire_reply(r#"{"status": 200, "body": {"a": [1.0, NaN]}}"#);
        let body = reply.map(|reply| Json::parse(&reply.body).unwrap_or_default());
        assert_eq!(
            body.map(|body| body.to_compact_text()),
            Ok(json!({"a": [1.0, (f64::NAN)]}).to_compact_text())
        );
        assert_eq!(
            wire_reply(r#"{"status": 204}"#).map(|reply| reply.body),
            Ok(String::new())
        );
        for answer in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"status": "200"}"#,
            r#"{"status": 70000}"#,
            r#"{"status": -1}"#,
        ] {
            let unusable = wire_reply(answer);
            assert!(
                matches!(unusable, Err(TransportError::Unusable { .. })),
                "{answer}"
            );
        }
    }
}
