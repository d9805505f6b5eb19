//! The origin that a key may be sent to. Pure.

/// Scheme, host and port of an address, in lower case. Addresses with equal origins have the same origin in
/// a browser. Some addresses of one origin differ here (`https://a` and `https://a:443`); the user is then asked for
/// the key once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOrigin(String);

impl KeyOrigin {
    /// Parses an address. The origin of an incomplete address is the address itself: nothing can be sent there.
    pub fn of(url: &str) -> KeyOrigin {
        let url = url.trim();
        let origin = url.split_once("://").and_then(|(scheme, rest)| {
            let authority = rest.split(['/', '?', '#']).next()?;
            // Browsers skip additional slashes before the host.
            (!authority.is_empty()).then(|| format!("{scheme}://{authority}"))
        });
        let origin = origin.unwrap_or_else(|| url.to_owned());
        KeyOrigin(origin.to_ascii_lowercase())
    }

    /// Whether requests can be sent there. An address without a scheme is incomplete.
    pub fn is_address(&self) -> bool {
        self.0.contains("://")
    }

    /// The display text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_case_make_no_other_origin() {
        let known = KeyOrigin::of("https://api.openai.com/v1");
        for url in [
            " HTTPS://API.openai.com/v2/x ",
            "https://api.openai.com?x",
            "https://api.openai.com",
        ] {
            assert_eq!(KeyOrigin::of(url), known, "{url}");
        }
    }

    #[test]
    fn hosts_schemes_and_ports_do() {
        let known = KeyOrigin::of("https://api.openai.com/v1");
        for url in [
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com.example/v1",
            "https://api.openai.com@example.org/",
            "https://example.org\\@api.openai.com/",
            "https:///api.openai.com/",
            "api.openai.com/v1",
            "",
        ] {
            assert_ne!(KeyOrigin::of(url), known, "{url}");
        }
        // Browsers resolve each to the host after the slashes.
        assert_ne!(
            KeyOrigin::of("https:////a.example"),
            KeyOrigin::of("https:////b.example")
        );
        assert!(!KeyOrigin::of("localhost:8000").is_address());
        assert!(known.is_address());
        assert_ne!(
            KeyOrigin::of("localhost:8000"),
            KeyOrigin::of("http://localhost:8000")
        );
    }
}
