//! Requests as data, with their API key.

use volary_core::json::{Json, Text, read};

/// A secret. It is never displayed: its `Debug` is a placeholder, and it has no `Display`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ApiKey(Text);

/// Replaces the key wherever a request is displayed.
pub const PLACEHOLDER: &str = "YOUR_API_KEY";

impl ApiKey {
    /// A key as the user typed it; surrounding white space is trimmed.
    pub fn new(key: &str) -> Self {
        ApiKey(key.trim().into())
    }

    /// Whether the key is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself. Only for the header of a request to the endpoint that it was entered for.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text with the key replaced by [`PLACEHOLDER`] wherever it occurs: verbatim, or escaped as in JSON or in a
    /// URL. A prefix of the key at the end of the text is replaced too, if it is more than half of the key.
    pub fn redact(&self, text: &str) -> String {
        let mut redacted = self.redact_whole(text);
        let begun = self.begun_at_the_end(&redacted);
        if begun * 2 > self.0.len() {
            redacted.truncate(redacted.len() - begun);
            redacted.push_str(PLACEHOLDER);
        }
        redacted
    }

    /// The text with the complete occurrences of the key replaced.
    pub(super) fn redact_whole(&self, text: &str) -> String {
        let forms = self.forms();
        forms.iter().fold(text.to_owned(), |text, form| {
            if text.contains(&**form) {
                text.replace(&**form, PLACEHOLDER)
            } else {
                text
            }
        })
    }

    /// A JSON text with the key replaced, even if the text escapes more characters than necessary. Text that is not
    /// JSON is treated like any other text.
    pub fn redact_json(&self, text: &str) -> String {
        let redacted = self.redact(text);
        if !redacted.contains('\\') {
            return redacted;
        }
        // After serializing it again, each character has one form only.
        let plain = read(&redacted).map(|value| value.to_compact_text());
        match plain {
            Ok(plain) if self.is_in(&plain) => self.redact(&plain),
            _ => redacted,
        }
    }

    /// Whether a text contains the key, in one of the forms that [`ApiKey::redact`] replaces.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.forms().iter().any(|form| text.contains(&**form))
    }

    /// The number of bytes at the end of a text that are a prefix of the key and may be continued.
    pub(super) fn begun_at_the_end(&self, text: &str) -> usize {
        let begun = |form: &String| {
            let longest = text.len().min(form.len().saturating_sub(1));
            let mut lengths = (1..=longest).rev();
            lengths.find(|length| text.as_bytes().ends_with(&form.as_bytes()[..*length]))
        };
        let lengths = self.forms();
        let longest = lengths.iter().filter_map(begun).max().unwrap_or(0);
        // A key may begin with a byte that is only a part of a character.
        (0..=longest)
            .rev()
            .find(|length| text.is_char_boundary(text.len() - length))
            .unwrap_or(0)
    }

    /// The forms in which servers repeat a key; empty if the text is too short to be a key.
    fn forms(&self) -> Vec<String> {
        // Replacing a shorter text would garble the output.
        if self.0.len() < 6 {
            return Vec::new();
        }
        let mut forms = vec![
            self.0.to_string(),
            json_escaped(&self.0),
            percent_escaped(&self.0, true),
            percent_escaped(&self.0, false),
        ];
        forms.dedup();
        forms
    }
}

fn json_escaped(key: &str) -> String {
    let text = Json::from(key).to_compact_text();
    text.get(1..text.len() - 1).unwrap_or(&text).to_owned()
}

/// The percent-encoded key, with upper-case or lower-case hexadecimal digits.
fn percent_escaped(key: &str, upper: bool) -> String {
    let mut escaped = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else if upper {
            escaped.push_str(&format!("%{byte:02X}"));
        } else {
            escaped.push_str(&format!("%{byte:02x}"));
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

/// A header's value, with or without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderValue {
    /// Not secret.
    Plain(&'static str),
    /// A prefix followed by the key.
    Secret {
        /// Such as `Bearer `.
        prefix: &'static str,
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

    /// The value with a placeholder in place of the key.
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
    /// The URL. It never contains a key.
    pub url: String,
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
///
/// The request may come from an untrusted file. So it can make curl neither open files nor expand patterns, no header
/// can inject another one, and no control character reaches the terminal into which the command is pasted.
pub(super) fn curl<'a>(
    url: &str,
    headers: impl Iterator<Item = (&'a str, String)>,
    body: &str,
) -> String {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let is_web = scheme.is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
    });
    if !is_web {
        // Other protocols and files are refused.
        return "# There is no command: the address of this request is not an http or https address.".to_owned();
    }
    let mut command = "curl ".to_owned();
    if url.contains(['[', ']', '{', '}']) {
        command.push_str("--globoff ");
    }
    command.push_str("--url ");
    command.push_str(&quoted(url));
    for (name, value) in headers.filter(|(name, _)| is_token(name)) {
        let value: String = value
            .chars()
            .map(|character| {
                if character.is_control() {
                    ' '
                } else {
                    character
                }
            })
            .collect();
        command.push_str(" \\\n  -H ");
        command.push_str(&quoted(&format!("{name}: {value}")));
    }
    if !body.is_empty() {
        command.push_str(" \\\n  --data-raw ");
        command.push_str(&quoted(body));
    }
    command
}

/// Whether a text can be the name of a header (RFC 9110). curl reads a file where a header starts with `@`.
fn is_token(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

/// A text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    if !text.chars().any(is_unseen) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut word = String::from("$'");
    for character in text.chars() {
        match character {
            '\'' => word.push_str(r"\'"),
            '\\' => word.push_str(r"\\"),
            '\n' => word.push_str(r"\n"),
            '\r' => word.push_str(r"\r"),
            '\t' => word.push_str(r"\t"),
            // A shell word cannot contain NUL, and would end there.
            '\0' => word.push(char::REPLACEMENT_CHARACTER),
            unseen if is_unseen(unseen) => {
                let mut bytes = [0; 4];
                for byte in unseen.encode_utf8(&mut bytes).bytes() {
                    word.push_str(&format!("\\{byte:03o}"));
                }
            }
            seen => word.push(seen),
        }
    }
    word.push('\'');
    word
}

/// Whether a character controls the terminal, or changes the reading order of a line, instead of being visible.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
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
            "curl --url 'https://models.example/v1/chat' \\\n  -H 'content-type: application/json' \\\n  \
             -H 'authorization: Bearer YOUR_API_KEY' \\\n  --data-raw '{\"a\":\"it'\\''s\"}'"
        );
        assert!(!format!("{request:?}").contains("secret"));
    }

    fn of(url: &str, header: (&'static str, &str), body: &str) -> String {
        curl(url, [(header.0, header.1.to_owned())].into_iter(), body)
    }

    #[test]
    fn hostile_addresses_make_no_other_command() {
        for (url, command) in [
            (
                "https://a.example/';id;'",
                r"curl --url 'https://a.example/'\'';id;'\'''",
            ),
            (
                "https://a.example/\n;id",
                r"curl --url $'https://a.example/\n;id'",
            ),
            (
                "https://a.example/'\u{1b}[2J\\",
                r"curl --url $'https://a.example/\'\033[2J\\'",
            ),
            (
                "https://a.example/\0",
                "curl --url $'https://a.example/\u{fffd}'",
            ),
            (
                "https://a.example/\u{202e}",
                r"curl --url $'https://a.example/\342\200\256'",
            ),
            (
                "https://a.example/{a,b}",
                "curl --globoff --url 'https://a.example/{a,b}'",
            ),
        ] {
            let made =
                curl(url, std::iter::empty(), "").replace("curl --globoff --url $", "curl --url $");
            assert_eq!(made, command, "{url:?}");
        }
        for url in [
            "",
            "-o/etc/passwd",
            "@urls.txt",
            "file:///etc/passwd",
            "gopher://x",
            "x\nhttp://a",
        ] {
            let made = curl(url, std::iter::empty(), "");
            assert!(
                made.starts_with("# ") && !made.contains('\n') && !made.contains("curl"),
                "{url:?}"
            );
        }
    }

    #[test]
    fn hostile_headers_and_bodies_stay_what_they_are() {
        let plain = "https://a.example/";
        let injected = of(plain, ("x-a", "1\r\nx-b: 2"), "");
        assert!(injected.ends_with(" -H 'x-a: 1  x-b: 2'"), "{injected}");
        for name in ["@/etc/passwd", "a\nb", "a b", "", "a:b"] {
            assert_eq!(
                of(plain, (name, "1"), ""),
                "curl --url 'https://a.example/'",
                "{name:?}"
            );
        }
        for (body, word) in [
            ("@/etc/passwd", "'@/etc/passwd'"),
            ("--next", "'--next'"),
            ("it's $(id) `id`", r"'it'\''s $(id) `id`'"),
            ("a\nb\tc\u{7}", r"$'a\nb\tc\007'"),
        ] {
            let made = of(plain, ("x-a", "1"), body);
            assert!(made.ends_with(&format!("  --data-raw {word}")), "{made}");
        }
    }

    /// The quoted words are read back by this machine's shell, if it supports `$'…'`.
    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let hostile = "it's\n\\ \u{1b}[0m \u{85} \u{202e}ü$(id)\r\t!";
        let script = format!("printf %s {}", quoted(hostile));
        let Ok(said) = std::process::Command::new("bash")
            .args(["-c", &script])
            .output()
        else {
            return;
        };
        assert_eq!(String::from_utf8_lossy(&said.stdout), hostile);
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
            odd.redact(r#"k/"q"+1 k/\"q\"+1 k%2F%22q%22%2B1 k%2f%22q%22%2b1"#),
            "YOUR_API_KEY YOUR_API_KEY YOUR_API_KEY YOUR_API_KEY"
        );
        assert_eq!(
            odd.redact_json(r#"{"a": "k\/\u0022q\u0022+1"}"#),
            r#"{"a":"YOUR_API_KEY"}"#
        );
        assert_eq!(odd.redact_json(r#"\ k/"q"+1 {"#), r"\ YOUR_API_KEY {");
    }

    #[test]
    fn a_text_that_ends_within_the_key_does_not_show_most_of_it() {
        let key = ApiKey::new("sk-very-secret");
        assert_eq!(key.redact("It is sk-very-secre"), "It is YOUR_API_KEY");
        assert_eq!(key.redact("It is sk-ver"), "It is sk-ver");
        assert_eq!(
            ApiKey::new("ééééé").redact("It is éééé"),
            "It is YOUR_API_KEY"
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
