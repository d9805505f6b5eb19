//! Requests as data, and the key that they carry.

use volary_core::json::{Json, Text};

/// A secret. Shows itself nowhere: its `Debug` is a placeholder, and it has no `Display`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ApiKey(Text);

/// What stands for a key wherever a request is shown.
pub const PLACEHOLDER: &str = "YOUR_API_KEY";

impl ApiKey {
    /// A key as the user typed it; white space around it is none of it.
    pub fn new(key: &str) -> Self {
        ApiKey(key.trim().into())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself. Only for the header of a request to the endpoint that it was entered for.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text with the key replaced wherever it stands, for what providers echo: as it is, or escaped as in
    /// JSON or in an address.
    pub fn redact(&self, text: &str) -> String {
        // Anything shorter is no key, and replacing it would garble the text.
        if self.0.len() < 6 {
            return text.to_owned();
        }
        let mut redacted = text.replace(&*self.0, PLACEHOLDER);
        for escaped in [json_escaped(&self.0), percent_escaped(&self.0)] {
            if *escaped != *self.0 {
                redacted = redacted.replace(&escaped, PLACEHOLDER);
            }
        }
        redacted
    }
}

fn json_escaped(key: &str) -> String {
    let text = Json::from(key).to_compact_text();
    text.get(1..text.len() - 1).unwrap_or(&text).to_owned()
}

fn percent_escaped(key: &str) -> String {
    let mut escaped = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(if self.is_empty() {
            "ApiKey(none)"
        } else {
            "ApiKey(…)"
        })
    }
}

/// A header's value: with the key in it, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderValue {
    /// No secret.
    Plain(&'static str),
    /// A prefix and then the key.
    Secret {
        /// Such as `Bearer `.
        prefix: &'static str,
        /// The key.
        key: ApiKey,
    },
}

impl HeaderValue {
    /// The value with the key in it. Only for sending.
    pub fn expose(&self) -> String {
        match self {
            HeaderValue::Plain(value) => (*value).to_owned(),
            HeaderValue::Secret { prefix, key } => format!("{prefix}{}", key.expose()),
        }
    }

    /// The value with a placeholder for the key.
    pub fn shown(&self) -> String {
        match self {
            HeaderValue::Plain(value) => (*value).to_owned(),
            HeaderValue::Secret { prefix, .. } => format!("{prefix}{PLACEHOLDER}"),
        }
    }
}

/// A request that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRequest {
    /// Where it goes. Never holds a key.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(&'static str, HeaderValue)>,
    /// Its body: JSON text; empty for a GET.
    pub body: String,
}

impl HttpRequest {
    /// `POST` if there is a body, else `GET`.
    pub fn method(&self) -> &'static str {
        if self.body.is_empty() { "GET" } else { "POST" }
    }

    /// The request as a `curl` command with a placeholder for the key, quoted for a POSIX shell.
    pub fn to_curl(&self) -> String {
        let headers = self.headers.iter();
        let shown = headers.map(|(name, value)| (*name, value.shown()));
        curl(&self.url, shown, &self.body)
    }
}

/// A request as a `curl` command, quoted for a POSIX shell.
pub(super) fn curl<'a>(
    url: &str,
    headers: impl Iterator<Item = (&'a str, String)>,
    body: &str,
) -> String {
    let mut command = format!("curl {}", quoted(url));
    for (name, value) in headers {
        command.push_str(" \\\n  -H ");
        command.push_str(&quoted(&format!("{name}: {value}")));
    }
    if !body.is_empty() {
        command.push_str(" \\\n  --data-raw ");
        command.push_str(&quoted(body));
    }
    command
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> HttpRequest {
        HttpRequest {
            url: "https://models.example/v1/chat".into(),
            headers: vec![
                ("content-type", HeaderValue::Plain("application/json")),
                (
                    "authorization",
                    HeaderValue::Secret {
                        prefix: "Bearer ",
                        key: ApiKey::new(" sk-very-secret\n"),
                    },
                ),
            ],
            body: r#"{"a":"it's"}"#.into(),
        }
    }

    #[test]
    fn neither_curl_nor_debug_show_the_key() {
        let request = request();
        assert_eq!(
            request.to_curl(),
            "curl 'https://models.example/v1/chat' \\\n  -H 'content-type: application/json' \\\n  \
             -H 'authorization: Bearer YOUR_API_KEY' \\\n  --data-raw '{\"a\":\"it'\\''s\"}'"
        );
        assert!(!format!("{request:?}").contains("secret"));
    }

    #[test]
    fn echoed_keys_are_redacted() {
        let key = ApiKey::new("sk-very-secret");
        assert_eq!(
            key.redact("Incorrect API key: sk-very-secret."),
            "Incorrect API key: YOUR_API_KEY."
        );
        assert_eq!(ApiKey::new("a").redact("a banana"), "a banana");
        let odd = ApiKey::new("k/\"q\"+1");
        assert_eq!(
            odd.redact(r#"k/"q"+1 k/\"q\"+1 k%2F%22q%22%2B1"#),
            "YOUR_API_KEY YOUR_API_KEY YOUR_API_KEY"
        );
    }

    #[test]
    fn requests_without_a_body_are_gets() {
        let mut request = request();
        assert_eq!(request.method(), "POST");
        request.body.clear();
        assert_eq!(request.method(), "GET");
        assert!(!request.to_curl().contains("data"));
    }
}
