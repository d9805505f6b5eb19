//! Loads a file into Python: its wheels first, then its code.

use volary_app::python::hub::PythonQuestion;
use volary_core::json;
use volary_core::json::Json;

use volary_app::python::files::PythonSource;
use volary_app::python::wheels::Wheel;

/// The path that executes the code of a file.
const LOAD: &str = "/load";
/// The status of a file whose wheels are not unpacked yet.
const NEEDS_WHEELS: i64 = 424;

/// A reply of `public/python/host.py`.
#[derive(Clone, Debug, PartialEq)]
pub struct HostReply {
    /// The HTTP status.
    pub status: i64,
    pub body: Json,
}

/// A question to the host of a source. Loading a file starts a worker for it.
pub fn question(source: &str, path: &str, seed: u64, body: Json) -> PythonQuestion {
    // Below 2^53, like every seed of the page.
    let seed = i64::try_from(seed).unwrap_or_default();
    PythonQuestion {
        source: source.to_owned(),
        loads: path == LOAD,
        text: json!({"path": path, "seed": seed, "body": body}).to_compact_text(),
    }
}

/// Loads a file. `ask` posts a body to a path of the host, and `read` returns the bytes of a stored wheel. The error
/// is that of `ask`.
pub async fn load<E>(
    source: &PythonSource,
    ask: impl AsyncFn(&str, Json) -> Result<HostReply, E>,
    read: impl AsyncFn(&Wheel) -> Option<Vec<u8>>,
) -> Result<HostReply, E> {
    let wheels = source
        .wheels
        .iter()
        .map(|wheel| json!(wheel.sha256.as_str()));
    let body = json!({"code": (source.code.as_str()), "wheels": (Json::List(wheels.collect()))});
    let reply = ask(LOAD, body.clone()).await?;
    if reply.status != NEEDS_WHEELS {
        return Ok(reply);
    }
    for wheel in &source.wheels {
        let Some(bytes) = read(wheel).await else {
            let detail = wheel.missing();
            return Ok(HostReply {
                status: NEEDS_WHEELS,
                body: json!({"detail": (detail.as_str()), "text": (detail.as_str())}),
            });
        };
        let reply = ask("/wheel", wheel.body(&bytes)).await?;
        if reply.status != 200 {
            return Ok(reply);
        }
    }
    ask(LOAD, body).await
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use futures_util::FutureExt;

    use super::*;

    fn source() -> PythonSource {
        let wheel = Wheel::of("tool-1.0-py3-none-any.whl", b"PK\x03\x04");
        PythonSource {
            wheels: wheel.into_iter().collect(),
            ..PythonSource::of_code("import tool")
        }
    }

    /// Loads with a host that has no wheels, and returns the reply and the requested paths.
    fn load_from(stored: Option<Vec<u8>>) -> (HostReply, Vec<String>) {
        let asked = RefCell::new(Vec::new());
        let ask = async |path: &str, _| {
            asked.borrow_mut().push(path.to_owned());
            let has_wheel = asked.borrow().iter().any(|path| path == "/wheel");
            let status = if has_wheel { 200 } else { NEEDS_WHEELS };
            Ok::<_, ()>(HostReply {
                status,
                body: Json::Null,
            })
        };
        let reply = load(&source(), ask, async |_: &Wheel| stored.clone()).now_or_never();
        let reply = reply
            .and_then(Result::ok)
            .unwrap_or_else(|| panic!("a reply"));
        (reply, asked.take())
    }

    #[test]
    fn wheels_are_sent_before_the_code() {
        let (reply, asked) = load_from(Some(b"PK\x03\x04".to_vec()));
        assert_eq!(reply.status, 200);
        assert_eq!(asked, ["/load", "/wheel", "/load"]);
    }

    #[test]
    fn a_wheel_that_is_not_here_is_named() {
        let (reply, asked) = load_from(None);
        assert_eq!(asked, ["/load"]);
        let text = reply
            .body
            .get("detail")
            .map(Json::to_compact_text)
            .unwrap_or_default();
        assert!(text.contains("tool-1.0-py3-none-any.whl"), "{text}");
    }
}
