//! Where keys come from. A key is never printed or logged.

use std::ffi::OsStr;

/// Says how to pass a key unseen, if it is on the command line: every user of the machine can read that.
pub fn warn_if_visible(option: &str, variable: &str) {
    if std::env::args_os().any(|argument| is_option(&argument, option)) {
        eprintln!(
            "Other users of this machine can see {option} in the list of processes. Set {variable} instead."
        );
    }
}

/// Whether an argument is an option, with or without its value.
fn is_option(argument: &OsStr, option: &str) -> bool {
    let rest = argument.as_encoded_bytes().strip_prefix(option.as_bytes());
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'=')))
}

/// An address without what may grant access: the user's name, the password, the query and the fragment.
pub fn public_part(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return String::new();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_recognised_with_their_values() {
        for (argument, expected) in [
            ("--api-key", true),
            ("--api-key=secret", true),
            ("--api-keys", false),
            ("--api", false),
            ("secret", false),
        ] {
            assert_eq!(
                is_option(OsStr::new(argument), "--api-key"),
                expected,
                "{argument}"
            );
        }
    }

    #[test]
    fn the_public_part_of_an_address_grants_nothing() {
        for (url, expected) in [
            (
                "https://example.org/a/b.eval?sig=key",
                "https://example.org/a/b.eval",
            ),
            (
                "https://me:key@example.org:8/a#key",
                "https://example.org:8/a",
            ),
            ("http://key@example.org?key", "http://example.org"),
            ("http://a@b@example.org/x@y", "http://example.org/x@y"),
        ] {
            assert_eq!(public_part(url), expected);
        }
    }
}
