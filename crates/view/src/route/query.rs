//! Parameters of an address: escaping, reading and writing.

pub(super) fn push_parameter(query: &mut String, key: &str, value: &str) {
    let separator = if query.is_empty() { "" } else { "&" };
    *query += &format!("{separator}{key}={value}");
}

pub(super) fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|pair| pair.split_once('='))
}

pub(super) fn with_query<'a>(
    path: String,
    pairs: impl IntoIterator<Item = Option<(&'a str, String)>>,
) -> String {
    let mut hash = path;
    let mut separator = '?';
    for (key, value) in pairs.into_iter().flatten() {
        hash.push(separator);
        hash.push_str(key);
        hash.push('=');
        hash.push_str(&value);
        separator = '&';
    }
    hash
}

/// Decodes `%XX`. Invalid escapes stay as they are; invalid UTF-8 becomes U+FFFD.
pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let escaped = tail
            .get(..2)
            .filter(|_| byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(value) => {
                bytes.push(value);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Percent-encodes characters with a meaning in a hash, and everything that is not plain ASCII.
pub(super) fn encode(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}
