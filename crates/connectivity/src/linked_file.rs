//! A file that the page's address refers to (`url=…`), and whether it may be fetched.
//!
//! **Security invariant:** an address alone makes the page fetch only files of its own origin. Otherwise a link
//! could make the browser send requests to servers in the user's network.

use crate::{Address, Space};

/// The file in an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkedFile {
    /// It has the page's origin and is fetched immediately.
    SameOrigin {
        /// Its absolute URL.
        url: String,
    },
    /// It has another origin and is fetched after confirmation.
    Elsewhere(Elsewhere),
    /// It is never fetched.
    Refused(Refused),
}

/// A file of another origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Its absolute URL.
    pub url: String,
    /// The host, with the port if it is not the default one.
    pub host: String,
    /// The network of the host, as far as its name tells.
    pub space: Space,
}

/// Why a file is never fetched because of an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its scheme is not http or https.
    #[error("It starts with \"{scheme}:\". Links can only open files at http and https addresses.")]
    Scheme { scheme: String },
    /// It contains a user name or password.
    #[error("It contains a user name or password, which a link must not send for you.")]
    Credentials,
    /// It is not a valid URL.
    #[error("It is not a valid web address.")]
    NotAnAddress,
}

impl LinkedFile {
    /// Decides about a file. `url` is its absolute URL as serialized by the browser, which normalizes numeric
    /// hosts to `127.0.0.1`; `origin` is the page's own.
    pub fn of(url: &str, origin: &str) -> LinkedFile {
        let Some((scheme, rest)) = url.split_once(':') else {
            return LinkedFile::Refused(Refused::NotAnAddress);
        };
        if !matches!(scheme, "http" | "https") {
            let scheme = scheme.chars().take(40).collect();
            return LinkedFile::Refused(Refused::Scheme { scheme });
        }
        let authority = rest.strip_prefix("//").unwrap_or_default();
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return LinkedFile::Refused(Refused::Credentials);
        }
        let Some(address) = Address::of(url) else {
            return LinkedFile::Refused(Refused::NotAnAddress);
        };
        if format!("{scheme}://{authority}") == origin {
            return LinkedFile::SameOrigin {
                url: url.to_owned(),
            };
        }
        LinkedFile::Elsewhere(Elsewhere {
            url: url.to_owned(),
            host: authority.to_owned(),
            space: address.space(),
        })
    }
}

impl Elsewhere {
    /// A warning for files in the user's own network.
    pub fn warning(&self) -> Option<&'static str> {
        match self.space {
            Space::Public => None,
            Space::Loopback => Some(
                "This address is on your own machine. A link could use your browser to reach local \
                 programs. Fetch it only if you know what runs there.",
            ),
            Space::Local => Some(
                "This address is in your own network. A link could use your browser to reach local \
                 devices. Fetch it only if you know what runs there.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "https://volary.example";

    fn space_of(url: &str) -> Option<Space> {
        match LinkedFile::of(url, HOME) {
            LinkedFile::Elsewhere(Elsewhere { space, .. }) => Some(space),
            _ => None,
        }
    }

    #[test]
    fn only_files_of_the_own_origin_are_fetched_at_once() {
        for (url, origin, is_same) in [
            ("https://volary.example/a.json", HOME, true),
            ("https://volary.example", HOME, true),
            ("https://volary.example?a", HOME, true),
            ("http://volary.example/a.json", HOME, false),
            ("https://volary.example:8443/a.json", HOME, false),
            ("https://volary.example.evil.example/a", HOME, false),
            ("https://evil.example/https://volary.example/", HOME, false),
            ("https://sub.volary.example/a", HOME, false),
            ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080", true),
            ("http://127.0.0.1:8081/a", "http://127.0.0.1:8080", false),
            ("http://localhost:8080/a", "http://127.0.0.1:8080", false),
            ("https://volary.example/a", "null", false),
        ] {
            let same = matches!(LinkedFile::of(url, origin), LinkedFile::SameOrigin { .. });
            assert_eq!(same, is_same, "{url} from {origin}");
        }
    }

    #[test]
    fn near_addresses_are_known_as_such() {
        for (url, space) in [
            ("https://data.example/a.jsonl", Space::Public),
            ("http://8.8.8.8/a", Space::Public),
            ("http://localhost/a", Space::Loopback),
            ("http://a.localhost./a", Space::Loopback),
            ("http://127.0.0.1/a", Space::Loopback),
            ("http://127.255.1.2:9/a", Space::Loopback),
            ("http://0.0.0.0/a", Space::Loopback),
            ("http://[::1]/a", Space::Loopback),
            ("http://[::ffff:7f00:1]/a", Space::Loopback),
            ("http://[::ffff:a00:1]/a", Space::Local),
            ("http://[64:ff9b::a00:1]/a", Space::Local),
            ("http://[::7f00:1]/a", Space::Loopback),
            ("http://10.0.0.1/a", Space::Local),
            ("http://172.16.0.1/a", Space::Local),
            ("http://192.168.1.1/admin", Space::Local),
            ("http://169.254.169.254/latest/meta-data", Space::Local),
            ("http://100.64.0.1/a", Space::Local),
            ("http://[fd12:3456::1]/a", Space::Local),
            ("http://[fe80::1]/a", Space::Local),
            ("http://printer.local/a", Space::Local),
            ("http://router/a", Space::Local),
            ("http://wiki.internal/a", Space::Local),
            ("http://nas.home.arpa/a", Space::Local),
            // The browser normalizes these; without that they count as local.
            ("http://2130706433/a", Space::Local),
            ("http://0177.0.0.1/a", Space::Local),
            ("http://0x7f.1/a", Space::Local),
        ] {
            assert_eq!(space_of(url), Some(space), "{url}");
        }
    }

    #[test]
    fn only_web_addresses_are_accepted() {
        for (url, scheme) in [
            ("data:application/json,{}", "data"),
            ("blob:https://volary.example/1-2", "blob"),
            ("file:///etc/passwd", "file"),
            ("javascript:alert(1)", "javascript"),
            ("ftp://a.example/a", "ftp"),
        ] {
            let scheme = scheme.to_owned();
            let refused = LinkedFile::Refused(Refused::Scheme { scheme });
            assert_eq!(LinkedFile::of(url, HOME), refused, "{url}");
        }
        for url in [
            "https://me:secret@a.example/",
            "https://volary.example@a.example/",
        ] {
            let refused = LinkedFile::Refused(Refused::Credentials);
            assert_eq!(LinkedFile::of(url, HOME), refused, "{url}");
        }
        for url in ["", "a.json", "https://", "http:a", "https:///a"] {
            let refused = LinkedFile::Refused(Refused::NotAnAddress);
            assert_eq!(LinkedFile::of(url, HOME), refused, "{url}");
        }
    }
}
