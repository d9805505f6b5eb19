//! Where a person is: the hash of the address as a value, and back. Pure.
//!
//! The page has a router of its own because it must work under any path prefix of any static
//! host: everything that it says about its place stands behind the `#`. Reading never fails; what
//! is not understood becomes [`Route::Unknown`], and unknown parameters are ignored.

/// A place within the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `#/` and `#/run/<environment>`.
    Playground(Place),
    /// There is no such place.
    Unknown {
        /// The path as it stands in the address.
        path: String,
    },
}

/// A place within the playground.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The environment; the first one with a problem at hand if `None`.
    pub environment: Option<String>,
    /// A shared episode, as `volary_trace::share` writes it.
    pub episode: Option<String>,
    /// The selected step: 0 is the reset. The last one if `None`.
    pub step: Option<usize>,
}

impl Route {
    /// Reads a hash, with or without its `#`.
    pub fn parse(hash: &str) -> Route {
        let text = hash.strip_prefix('#').unwrap_or(hash);
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let environment = match (segments.next(), segments.next(), segments.next()) {
            (None, ..) => None,
            (Some("run"), environment, None) => environment.map(decode),
            _ => {
                return Route::Unknown {
                    path: path.to_owned(),
                };
            }
        };
        let mut place = Place {
            environment,
            ..Place::default()
        };
        for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match key {
                "e" => place.episode = Some(decode(value)),
                "step" => place.step = value.parse().ok(),
                _ => {}
            }
        }
        Route::Playground(place)
    }

    /// The hash, with its `#`.
    pub fn to_hash(&self) -> String {
        match self {
            Route::Unknown { path } => format!("#{path}"),
            Route::Playground(place) => place.to_hash(),
        }
    }
}

impl Place {
    /// The hash, with its `#`.
    pub fn to_hash(&self) -> String {
        let mut hash = String::from("#/");
        if let Some(environment) = &self.environment {
            hash.push_str("run/");
            encode_into(environment, &mut hash);
        }
        let mut separator = '?';
        if let Some(step) = self.step {
            hash.push_str(&format!("{separator}step={step}"));
            separator = '&';
        }
        if let Some(episode) = &self.episode {
            hash.push(separator);
            hash.push_str("e=");
            encode_into(episode, &mut hash);
        }
        hash
    }
}

/// Takes `%XX` back. Broken escapes stay as they are; bytes that are no UTF-8 become U+FFFD.
fn decode(text: &str) -> String {
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

/// Escapes what has a meaning in a hash, and all that is not plain ASCII.
fn encode_into(text: &str, hash: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            hash.push(char::from(byte));
        } else {
            hash.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(hash: &str, environment: Option<&str>, episode: Option<&str>, step: Option<usize>) {
        let expected = Route::Playground(Place {
            environment: environment.map(str::to_owned),
            episode: episode.map(str::to_owned),
            step,
        });
        assert_eq!(Route::parse(hash), expected, "{hash}");
    }

    #[test]
    fn places_of_the_playground() {
        check("", None, None, None);
        check("#", None, None, None);
        check("#/", None, None, None);
        check("#/run", None, None, None);
        check("#/run/", None, None, None);
        check("#/run/counter", Some("counter"), None, None);
        check("#/run/counter?step=3", Some("counter"), None, Some(3));
        check(
            "#/run/counter?e=ab-_&step=3",
            Some("counter"),
            Some("ab-_"),
            Some(3),
        );
    }

    #[test]
    fn nonsense_is_read_without_failing() {
        check("#/run/a%zz%4", Some("a%zz%4"), None, None);
        check("#/run/%FF", Some("\u{fffd}"), None, None);
        check(
            "#/run/counter?step=-1&what&=&x=y",
            Some("counter"),
            None,
            None,
        );
        check(
            "#/run/counter?step=99999999999999999999999",
            Some("counter"),
            None,
            None,
        );
    }

    #[test]
    fn elsewhere() {
        for hash in ["#/review", "#/run/a/b", "#main"] {
            assert!(
                matches!(Route::parse(hash), Route::Unknown { .. }),
                "{hash}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_place_comes_back(
            environment in proptest::option::of("\\PC{1,12}"),
            episode in proptest::option::of("\\PC{0,40}"),
            step in proptest::option::of(0usize..100_000),
        ) {
            let route = Route::Playground(Place { environment, episode, step });
            prop_assert_eq!(Route::parse(&route.to_hash()), route);
        }

        #[test]
        fn anything_is_read(hash in ".*") {
            let _ = Route::parse(&hash);
        }
    }
}
