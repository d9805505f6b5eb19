//! The host names that the server accepts.
//!
//! Every page in a browser on this machine can send requests to a server on a loopback address. With DNS rebinding a
//! site resolves its own name to 127.0.0.1; the browser then treats the server as part of that site and lets its scripts
//! read every reply. Such requests still have the site's name in `Host`, so they are rejected by that name.
//!
//! Requests without a `Host` are allowed: every browser sends one.

use std::net::{IpAddr, Ipv6Addr};

use axum::extract::Request;
use axum::http::header;
use axum::http::uri::Authority;

/// The host names that requests may carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedHosts {
    /// Any name, for a server that other machines reach under names unknown to it.
    Any,
    /// Names of loopback addresses, and those in the list: lower case, without ports and brackets.
    LoopbackAnd(Vec<String>),
}

impl Default for AllowedHosts {
    fn default() -> Self {
        AllowedHosts::LoopbackAnd(Vec::new())
    }
}

impl AllowedHosts {
    /// Whether a `Host` header's value, with or without a port, is allowed.
    fn allows(&self, host: &str) -> bool {
        let AllowedHosts::LoopbackAnd(names) = self else {
            return true;
        };
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        let name = plain_name(authority.host());
        is_loopback(&name) || names.contains(&name)
    }
}

/// Parses a host name given on the command line.
pub fn parse_name(text: &str) -> Result<String, String> {
    let is_name = |authority: &Authority| authority.as_str() == authority.host();
    let bracketed = match text.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => text.to_owned(),
    };
    match bracketed.parse::<Authority>() {
        Ok(authority) if is_name(&authority) => Ok(plain_name(authority.host())),
        _ => Err(
            "expected a host name or an address without a port, such as envs.example.org".into(),
        ),
    }
}

/// The first host that the request names and that is not allowed. A request line may name a host
/// too, and nothing stops a client from sending several `Host` headers.
pub fn foreign_host(allowed: &AllowedHosts, request: &Request) -> Option<String> {
    let in_line = request.uri().authority().map(Authority::as_str);
    let in_headers = request.headers().get_all(header::HOST).iter();
    let in_headers = in_headers.map(|host| String::from_utf8_lossy(host.as_bytes()));
    let mut hosts = in_line.map(Into::into).into_iter().chain(in_headers);
    let foreign = hosts.find(|host| !allowed.allows(host))?;
    Some(foreign.into_owned())
}

/// Lower case, and an IPv6 address without its brackets.
fn plain_name(host: &str) -> String {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    bare.unwrap_or(host).to_ascii_lowercase()
}

/// `.localhost` cannot be registered, and browsers resolve it themselves.
fn is_loopback(name: &str) -> bool {
    name == "localhost"
        || name.ends_with(".localhost")
        || name
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn loopback_names_are_allowed_with_any_port_and_others_if_listed() {
        let allowed =
            AllowedHosts::LoopbackAnd(vec!["envs.example.org".into(), "192.0.2.1".into()]);
        for host in [
            "localhost",
            "LOCALHOST:8041",
            "volary.localhost:1",
            "127.0.0.1",
            "127.8.4.1:65535",
            "[::1]",
            "[::1]:8041",
            "envs.example.org",
            "Envs.Example.org:443",
            "192.0.2.1:8041",
        ] {
            assert!(allowed.allows(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8041",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil-localhost",
            "0.0.0.0:8041",
            "[::]:8041",
            "128.0.0.1",
            "192.0.2.2",
            "a b",
            "localhost/evil",
        ] {
            assert!(!allowed.allows(host), "{host}");
        }
        assert!(AllowedHosts::Any.allows("evil.example"));
    }

    #[test]
    fn every_host_of_a_request_is_checked() {
        let foreign = |uri: &str, hosts: &[&str]| {
            let mut request = Request::builder().uri(uri);
            for host in hosts {
                request = request.header(header::HOST, *host);
            }
            let request = request.body(Body::empty()).unwrap();
            foreign_host(&AllowedHosts::default(), &request)
        };
        let evil = || Some("evil.example".to_owned());
        assert_eq!(foreign("/info", &[]), None);
        assert_eq!(foreign("/info", &["localhost:1"]), None);
        assert_eq!(foreign("/info", &["evil.example"]), evil());
        assert_eq!(foreign("/info", &["localhost", "evil.example"]), evil());
        assert_eq!(foreign("http://evil.example/info", &["localhost"]), evil());
    }

    #[test]
    fn names_on_the_command_line() {
        assert_eq!(
            parse_name("Envs.example.org"),
            Ok("envs.example.org".into())
        );
        assert_eq!(parse_name("2001:DB8::1"), Ok("2001:db8::1".into()));
        assert_eq!(parse_name("[2001:db8::1]"), Ok("2001:db8::1".into()));
        for wrong in ["", "host:80", "http://host", "a b", "me@host"] {
            assert!(parse_name(wrong).is_err(), "{wrong:?}");
        }
    }
}
