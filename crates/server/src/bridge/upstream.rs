//! The server behind a bridge.

use std::fmt;
use std::str::FromStr;

use axum::http::uri::{Scheme, Uri};
use axum::http::{HeaderValue, uri::Authority};

/// The address of a server, with a path below which its paths are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    authority: Authority,
    host: HeaderValue,
    /// Without a slash at the end.
    prefix: String,
}

/// Why an address cannot be bridged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    #[error("expected an address such as http://127.0.0.1:8000")]
    NoAddress,
    #[error(
        "only http:// can be bridged to; for a server with https:// run a tunnel or a proxy on this machine"
    )]
    NotHttp,
    #[error(
        "the address contains a name or a password, which would be visible in the list of processes; pages send keys themselves"
    )]
    Credentials,
    #[error("the address must not have a query or a fragment")]
    Query,
}

impl FromStr for Upstream {
    type Err = UpstreamError;

    fn from_str(text: &str) -> Result<Self, UpstreamError> {
        if text.contains('#') {
            return Err(UpstreamError::Query);
        }
        let uri: Uri = text.parse().map_err(|_| UpstreamError::NoAddress)?;
        match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => {}
            Some(_) => return Err(UpstreamError::NotHttp),
            None => return Err(UpstreamError::NoAddress),
        }
        let authority = uri.authority().ok_or(UpstreamError::NoAddress)?.clone();
        if authority.as_str().contains('@') {
            return Err(UpstreamError::Credentials);
        }
        if uri.query().is_some() {
            return Err(UpstreamError::Query);
        }
        let host = HeaderValue::from_str(authority.as_str());
        Ok(Upstream {
            host: host.map_err(|_| UpstreamError::NoAddress)?,
            prefix: uri.path().trim_end_matches('/').to_owned(),
            authority,
        })
    }
}

impl Upstream {
    /// Host and port to connect to.
    pub fn address(&self) -> (&str, u16) {
        let host = self.authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        (
            bare.unwrap_or(host),
            self.authority.port_u16().unwrap_or(80),
        )
    }

    /// The value of the header `Host`.
    pub fn host(&self) -> HeaderValue {
        self.host.clone()
    }

    /// What precedes all paths.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "http://{}{}", self.authority, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_can_be_bridged_to() {
        let read = |text: &str| text.parse::<Upstream>();
        let upstream = read("http://localhost:8000/base/").unwrap();
        assert_eq!(upstream.address(), ("localhost", 8000));
        assert_eq!(upstream.prefix(), "/base");
        assert_eq!(upstream.to_string(), "http://localhost:8000/base");
        assert_eq!(read("http://[::1]").unwrap().address(), ("::1", 80));
        for (text, error) in [
            ("", UpstreamError::NoAddress),
            ("localhost:8000", UpstreamError::NoAddress),
            ("https://space.example", UpstreamError::NotHttp),
            ("ws://localhost:8000", UpstreamError::NotHttp),
            ("http://me:secret@localhost", UpstreamError::Credentials),
            ("http://localhost/?key=1", UpstreamError::Query),
            ("http://localhost/#a", UpstreamError::Query),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
    }
}
