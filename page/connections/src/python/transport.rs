//! The transport of the protocol to Python, in a worker of the page. The first request loads the file.
//!
//! Invariant: a running environment is gone with its Python worker. Its later requests load nothing, and
//! [`PythonTransport::is_gone`] reports it, so that the episode can be replayed.

use std::cell::Cell;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use volary_app::python::hub::NOT_LOADED;
use volary_core::json;
use volary_core::json::{Json, Text};
use volary_remote::{Transport, TransportError, WireReply, WireRequest};

use super::loading::{self, HostReply, load};
use super::stored;
use volary_app::python::files::PythonSource;
use volary_app::python::wheels::Wheel;
use volary_browser::python_port;
use volary_browser::timers;

/// The path that starts an environment.
const START: &str = "/start";
/// The status of a request about an environment that does not exist.
const NOT_FOUND: u16 = 404;
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
    is_gone: Cell<bool>,
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
            let reply = ask_loaded(&self.source, path, &body, ask, stored::wheel_bytes).await?;
            Ok(reply.unwrap_or_else(|| {
                self.is_gone.set(true);
                gone()
            }))
        })
    }

    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()> {
        Box::pin(timers::sleep(Duration::from_secs_f64(seconds)))
    }
}

impl PythonTransport {
    pub fn new(source: PythonSource, seed: u64) -> PythonTransport {
        PythonTransport {
            environment: source.environment(),
            source,
            seed,
            is_gone: Cell::new(false),
        }
    }

    /// Whether the environment that it started is gone, because its Python worker ended.
    pub fn is_gone(&self) -> bool {
        self.is_gone.get()
    }

    /// Returns the value of a running environment's `get_id`; `None` if it has no id.
    pub async fn environment_id(&self, env_id: &Text) -> Option<Text> {
        let body = json!({"env_id": (env_id.clone())});
        let reply = self.ask("/id", &body, LONGEST).await.ok()?;
        Json::parse(&reply.body).ok()?.get("id")?.as_text().cloned()
    }

    async fn ask(&self, path: &str, body: &Json, limit: f64) -> Result<WireReply, TransportError> {
        let question = loading::question(&self.environment, path, self.seed, body.clone());
        let answer = python_port::ask(&question, limit).await;
        let (answer, _) = answer.map_err(|reason| TransportError::Unreachable {
            reason: reason.into(),
        })?;
        wire_reply(&answer)
    }
}

/// Sends a request. If the file is not loaded, a request to start an environment is repeated after loading it: Python
/// has not handled it. Returns `None` for the others: their environment is gone.
async fn ask_loaded(
    source: &PythonSource,
    path: &str,
    body: &Json,
    ask: impl AsyncFn(&str, &Json) -> Result<WireReply, TransportError>,
    read: impl AsyncFn(&Wheel) -> Option<Vec<u8>>,
) -> Result<Option<WireReply>, TransportError> {
    let reply = ask(path, body).await?;
    if reply.status != NOT_LOADED {
        return Ok(Some(reply));
    }
    if path != START {
        return Ok(None);
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
        200 => ask(path, body).await.map(Some),
        status => Ok(Some(WireReply {
            status: u16::try_from(status).unwrap_or(500),
            body: loaded.body.to_compact_text(),
        })),
    }
}

/// The reply about an environment whose Python worker ended.
fn gone() -> WireReply {
    // As the host says it of an environment that it does not know.
    let detail =
        "Environment not found: its Python was stopped, or ended because other files were run.";
    WireReply {
        status: NOT_FOUND,
        body: json!({ "detail": detail }).to_compact_text(),
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

    /// Sends a request to this path, and answers with these statuses in turn. Returns the reply and the requested paths.
    fn asked(
        source: &PythonSource,
        first: &str,
        statuses: &[u16],
    ) -> (Result<Option<WireReply>, TransportError>, Vec<String>) {
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
        let reply = ask_loaded(source, first, &body, ask, async |_: &Wheel| None);
        let reply = reply.now_or_never().expect("nothing is awaited");
        (reply, paths.take())
    }

    fn status_of(
        reply: Result<Option<WireReply>, TransportError>,
    ) -> Result<Option<u16>, TransportError> {
        Ok(reply?.map(|reply| reply.status))
    }

    fn code() -> PythonSource {
        PythonSource::of_code("x = 1")
    }

    #[test]
    fn an_answer_is_passed_on_whatever_its_status() {
        for status in [200, 404, 500] {
            let (reply, paths) = asked(&code(), "/step", &[status]);
            assert_eq!(status_of(reply), Ok(Some(status)));
            assert_eq!(paths, ["/step"]);
        }
    }

    #[test]
    fn a_file_that_is_not_loaded_is_loaded_once_before_the_request_is_repeated() {
        let (reply, paths) = asked(&code(), "/start", &[409, 200, 200]);
        assert_eq!(status_of(reply), Ok(Some(200)));
        assert_eq!(paths, ["/start", "/load", "/start"]);
        // Python was stopped again meanwhile; there is no endless loop.
        let (reply, paths) = asked(&code(), "/start", &[409, 200, 409]);
        assert_eq!(status_of(reply), Ok(Some(409)));
        assert_eq!(paths.len(), 3);
    }

    #[test]
    fn a_running_environment_is_gone_with_its_worker_and_loads_nothing() {
        for path in ["/step", "/frame", "/reset", "/close"] {
            let (reply, paths) = asked(&code(), path, &[409, 200, 200]);
            assert_eq!(reply, Ok(None), "{path}");
            assert_eq!(paths, [path]);
        }
        // Not mistaken for a host without frames.
        assert!(gone().body.contains("\"Environment "), "{}", gone().body);
    }

    #[test]
    fn a_file_that_cannot_be_loaded_answers_instead() {
        let (reply, paths) = asked(&code(), "/start", &[409, 400]);
        let reply = reply.expect("no error").expect("an answer");
        assert_eq!(reply.status, 400);
        assert!(reply.body.contains("/load"));
        assert_eq!(paths, ["/start", "/load"]);
    }

    #[test]
    fn a_wheel_that_is_gone_is_named_and_nothing_is_run() {
        let wheel = Wheel::of("tool-1.0-py3-none-any.whl", b"PK\x03\x04");
        let source = PythonSource {
            wheels: wheel.into_iter().collect(),
            ..code()
        };
        let (reply, paths) = asked(&source, "/start", &[409, 424]);
        let reply = reply.expect("no error").expect("an answer");
        assert_eq!(reply.status, 424);
        assert!(
            reply.body.contains("tool-1.0-py3-none-any.whl"),
            "{}",
            reply.body
        );
        assert_eq!(paths, ["/start", "/load"]);
    }

    #[test]
    fn a_lost_answer_is_not_asked_for_again() {
        for statuses in [&[][..], &[409], &[409, 200]] {
            let (reply, paths) = asked(&code(), "/start", statuses);
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
