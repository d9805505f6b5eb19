//! Parses the bodies of error replies, in whatever form they have.
//!
//! Pages cannot read most headers of other origins, including `Retry-After`, so wait times mentioned in bodies are used
//! as well.

use volary_core::json::{Json, Text, read};

use super::ApiKey;
use super::lenient::{list, some_text, text};

/// The maximum length of a displayed error text, in characters.
const SHOWN_CHARACTERS: usize = 600;

/// The error as the provider describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ErrorBody {
    pub message: Text,
    pub code: Option<Text>,
    pub parameter: Option<Text>,
    /// Seconds to wait before a retry.
    pub retry_after: Option<f64>,
}

impl ErrorBody {
    /// Parses the bytes of a body. The message is shortened and contains no key.
    pub fn of_body(bytes: &[u8], key: &ApiKey) -> ErrorBody {
        let body = String::from_utf8_lossy(bytes);
        if let Some(error_body) = read(&body).ok().and_then(|body| ErrorBody::of(&body)) {
            return ErrorBody {
                message: shown(&key.redact(&error_body.message)).into(),
                code: redacted(error_body.code, key),
                parameter: redacted(error_body.parameter, key),
                retry_after: error_body.retry_after,
            };
        }
        let message = if body.trim().is_empty() {
            "no reason given.".into()
        } else if looks_like_html(&body) {
            "it returned a web page, so this is not a model API; check the base URL.".into()
        } else {
            shown(&key.redact(body.trim()))
        };
        ErrorBody {
            retry_after: seconds_in_text(&message),
            message: message.into(),
            ..ErrorBody::default()
        }
    }

    /// Parses a JSON body; `None` if it describes no error.
    pub fn of(body: &Json) -> Option<ErrorBody> {
        let message = message_in(body)?;
        let error = the_error(body);
        let id_text = |name: &str| match error.get(name) {
            Some(Json::Integer(code)) => Some(code.to_string().into()),
            _ => some_text(error, name),
        };
        Some(ErrorBody {
            code: some_text(error, "code")
                .or_else(|| some_text(error, "type"))
                .or_else(|| id_text("status"))
                .or_else(|| id_text("code")),
            parameter: some_text(error, "param"),
            retry_after: seconds_in_details(error).or_else(|| seconds_in_text(&message)),
            message: message.into(),
        })
    }
}

fn redacted(text: Option<Text>, key: &ApiKey) -> Option<Text> {
    text.map(|text| key.redact(&text).into())
}

/// The innermost object that describes the error.
fn the_error(body: &Json) -> &Json {
    if let Some(first) = body.as_list().and_then(<[Json]>::first) {
        return the_error(first);
    }
    match body.get("error") {
        Some(inner @ Json::Object(_)) => the_error(inner),
        _ => body,
    }
}

/// The message in an error's body: `error.message`, `error`, `message`, `detail`, or the same in the
/// first element of a list.
fn message_in(body: &Json) -> Option<String> {
    if let Some(first) = body.as_list().and_then(<[Json]>::first) {
        return message_in(first);
    }
    for key in ["error", "message", "detail"] {
        match body.get(key) {
            Some(Json::Text(text)) => return Some(text.to_string()),
            Some(inner @ (Json::Object(_) | Json::List(_))) => {
                let message = message_in(inner).unwrap_or_else(|| inner.to_compact_text());
                return Some(with_cause(message, inner));
            }
            _ => {}
        }
    }
    some_text(body, "msg").map(|text| text.to_string())
}

/// Routers (OpenRouter) wrap the error of the upstream provider, which is the helpful one.
fn with_cause(message: String, error: &Json) -> String {
    let raw = error
        .get("metadata")
        .map_or("", |metadata| text(metadata, "raw"));
    if raw.is_empty() {
        return message;
    }
    let cause = read(raw).ok().and_then(|raw| message_in(&raw));
    format!("{message}: {}", cause.as_deref().unwrap_or(raw))
}

/// Google's `RetryInfo`: `"retryDelay": "34s"`.
fn seconds_in_details(error: &Json) -> Option<f64> {
    let mut delays = list(error, "details")
        .iter()
        .filter_map(|detail| some_text(detail, "retryDelay"));
    delays.find_map(|delay| delay.strip_suffix('s')?.parse().ok())
}

/// `try again in 20s`, `retry in 1.5s`, `try again in 350ms`, `in 1m12s`.
fn seconds_in_text(message: &str) -> Option<f64> {
    let lower = message.to_lowercase();
    let start = ["again in ", "retry in ", "retry after ", "wait "]
        .iter()
        .find_map(|phrase| lower.find(phrase).map(|offset| offset + phrase.len()))?;
    let rest = lower.get(start..)?;
    let end = rest
        .find(|character: char| !(character.is_ascii_alphanumeric() || character == '.'))
        .unwrap_or(rest.len());
    let (amount, next) = rest.split_at(end);
    duration(amount.trim_end_matches('.')).or_else(|| {
        amount
            .parse()
            .ok()
            .filter(|_| next.trim_start().starts_with("sec"))
    })
}

/// `1m12.5s`, `20s`, `350ms`.
fn duration(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|character: char| character.is_ascii_alphabetic())?;
        let (amount, unit) = rest.split_at(end);
        let amount: f64 = amount.parse().ok()?;
        let (unit, after) = ["ms", "s", "m", "h"]
            .iter()
            .find_map(|name| Some((*name, unit.strip_prefix(name)?)))?;
        seconds += match unit {
            "ms" => amount / 1000.0,
            "s" => amount,
            "m" => amount * 60.0,
            _ => amount * 3600.0,
        };
        rest = after;
    }
    (!text.is_empty()).then_some(seconds)
}

/// Whether a body is an HTML page.
pub(super) fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(14).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<head")
}

/// The text, shortened. The key must be redacted before, so that no part of one remains.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_body(body: &str) -> ErrorBody {
        ErrorBody::of_body(body.as_bytes(), &ApiKey::new("sk-secret-key"))
    }

    #[test]
    fn bodies_of_every_provider_are_understood() {
        for (body, message, code) in [
            (
                r#"{"error":{"message":"Incorrect API key provided: sk-secret-key.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
                "Incorrect API key provided: YOUR_API_KEY.",
                Some("invalid_api_key"),
            ),
            (
                r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_1"}"#,
                "invalid x-api-key",
                Some("authentication_error"),
            ),
            (
                r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#,
                "API key not valid.",
                Some("INVALID_ARGUMENT"),
            ),
            (
                r#"{"object":"error","message":"Unexpected role","type":"invalid_request_message_order","param":null,"code":"3230"}"#,
                "Unexpected role",
                Some("3230"),
            ),
            (
                r#"{"detail":[{"loc":["body","model"],"msg":"field required","type":"missing"}]}"#,
                "field required",
                None,
            ),
            (r#"{"detail":"Unauthorized"}"#, "Unauthorized", None),
            (
                r#"[{"error":{"code":503,"message":"overloaded"}}]"#,
                "overloaded",
                Some("503"),
            ),
            (
                r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"slow down\"}}","provider_name":"x"}}}"#,
                "Provider returned error: slow down",
                Some("429"),
            ),
            (r#"{"error":"model not found"}"#, "model not found", None),
            (
                "<!DOCTYPE html><p>502",
                "it returned a web page, so this is not a model API; check the base URL.",
                None,
            ),
            ("  ", "no reason given.", None),
            ("upstream connect error", "upstream connect error", None),
        ] {
            let error_body = error_body(body);
            assert_eq!(&*error_body.message, message, "{body}");
            assert_eq!(error_body.code.as_deref(), code, "{body}");
        }
    }

    #[test]
    fn times_to_wait_are_found() {
        for (body, seconds) in [
            (
                r#"{"error":{"message":"Rate limit reached. Please try again in 20s. Visit"}}"#,
                Some(20.0),
            ),
            (
                r#"{"error":{"message":"Please try again in 350ms."}}"#,
                Some(0.35),
            ),
            (
                r#"{"error":{"message":"Please try again in 1m12.5s."}}"#,
                Some(72.5),
            ),
            (
                r#"{"error":{"message":"retry after 3 seconds"}}"#,
                Some(3.0),
            ),
            (
                r#"{"error":{"message":"quota","details":[{"@type":"t"},{"retryDelay":"34.5s"}]}}"#,
                Some(34.5),
            ),
            (r#"{"error":{"message":"try again in a while"}}"#, None),
        ] {
            assert_eq!(error_body(body).retry_after, seconds, "{body}");
        }
    }

    #[test]
    fn no_part_of_a_key_stays_behind_where_a_text_is_cut() {
        let body = format!("{}sk-secret-key tail", "x".repeat(SHOWN_CHARACTERS - 4));
        assert!(!error_body(&body).message.contains("sk-"));
    }
}
