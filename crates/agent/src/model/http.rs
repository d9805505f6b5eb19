//! Requests as data, and the key that they carry.

use volary_core::json::Text;

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

    /// The text with the key replaced wherever it stands, for what providers echo.
    pub fn redact(&self, text: &str) -> String {
        // Anything shorter is no key, and replacing it would garble the text.
        if self.0.len() < 6 {
            return text.to_owned();
        }
        text.replace(&*self.0, PLACEHOLDER)
    }
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

/// A POST request that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpRequest {
    /// Where it goes. Never holds a key.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(&'static str, HeaderValue)>,
    /// Its body: JSON text.
    pub body: String,
}

impl HttpRequest {
    /// The request as a `curl` command with a placeholder for the key, quoted for a POSIX shell.
    pub fn to_curl(&self) -> String {
        let mut command = format!("curl {}", quoted(&self.url));
        for (name, value) in &self.headers {
            let value = match value {
                HeaderValue::Plain(value) => (*value).to_owned(),
                HeaderValue::Secret { prefix, .. } => format!("{prefix}{PLACEHOLDER}"),
            };
            command.push_str(" \\\n  -H ");
            command.push_str(&quoted(&format!("{name}: {value}")));
        }
        command.push_str(" \\\n  --data-raw ");
        command.push_str(&quoted(&self.body));
        command
    }
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
    }
}
