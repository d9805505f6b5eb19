//! Addresses and the properties by which browsers treat them differently: the scheme, and whether they lead to this
//! machine, to the local network or to the public one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address space of a host, as defined by the Local Network Access rules of browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// This machine.
    Loopback,
    /// The local network.
    Local,
    /// The public network.
    Public,
}

/// The relevant parts of a web address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether it is https.
    pub is_secure: bool,
    /// The host, in lower case, an IPv6 address without brackets.
    pub host: String,
}

impl Address {
    /// Parses an address; `None` if its scheme is not http or https.
    pub fn of(url: &str) -> Option<Address> {
        let (scheme, rest) = url.split_once("://")?;
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = match authority.strip_prefix('[') {
            Some(bracketed) => bracketed.split_once(']')?.0,
            None => authority
                .rsplit_once(':')
                .map_or(authority, |(host, _)| host),
        };
        let is_host = |character: char| !character.is_whitespace() && character != '@';
        if host.is_empty() || !host.chars().all(is_host) {
            return None;
        }
        Some(Address {
            is_secure,
            host: host.to_ascii_lowercase(),
        })
    }

    /// The address space, judged by the host's spelling only. A name may resolve to another space; one without a dot is
    /// assumed to be in the local network.
    pub fn space(&self) -> Space {
        let host = self.host.trim_end_matches('.');
        if let Ok(address) = host.parse::<IpAddr>() {
            return match address {
                IpAddr::V4(address) => space_of_v4(address),
                IpAddr::V6(address) => space_of_v6(address),
            };
        }
        if host == "localhost" || host.ends_with(".localhost") {
            Space::Loopback
        } else if !host.contains('.')
            || LOCAL_ENDINGS.iter().any(|ending| host.ends_with(ending))
            || ends_in_number(host)
        {
            Space::Local
        } else {
            Space::Public
        }
    }
}

/// Suffixes of names that do not exist in the public network.
const LOCAL_ENDINGS: [&str; 4] = [".local", ".lan", ".internal", ".home.arpa"];

/// Whether browsers parse a host as a number, such as `0x7f.1`. The number itself is not computed here.
fn ends_in_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x")
}

fn space_of_v4(address: Ipv4Addr) -> Space {
    let [first, second, ..] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    if address.is_loopback() || address.is_unspecified() {
        Space::Loopback
    } else if address.is_private() || address.is_link_local() || is_shared {
        Space::Local
    } else {
        Space::Public
    }
}

fn space_of_v6(address: Ipv6Addr) -> Space {
    if let Some(address) = address.to_ipv4_mapped() {
        return space_of_v4(address);
    }
    let [first, second, .., high, low] = address.segments();
    let is_embedded = match (first, second) {
        // NAT64 prefixes (RFC 6052), and the deprecated IPv4-compatible form (RFC 4291).
        (0x64, 0xff9b) => true,
        (0, 0) => high > 0,
        _ => false,
    };
    if is_embedded {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        return space_of_v4(Ipv4Addr::new(a, b, c, d));
    }
    if address.is_loopback() || address.is_unspecified() {
        Space::Loopback
    } else if address.is_unique_local() || address.is_unicast_link_local() {
        Space::Local
    } else {
        Space::Public
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_spaces_are_distinguished() {
        for (url, space) in [
            ("http://localhost:11434/v1", Space::Loopback),
            ("http://127.0.0.1:8080", Space::Loopback),
            ("http://[::1]:1234/v1", Space::Loopback),
            ("http://models.localhost", Space::Loopback),
            ("http://0.0.0.0:1", Space::Loopback),
            ("http://192.168.1.20:1234", Space::Local),
            ("https://10.0.0.3", Space::Local),
            ("http://172.31.0.1", Space::Local),
            ("http://172.32.0.1", Space::Public),
            ("http://100.64.0.1", Space::Local),
            ("http://[fd00::1]", Space::Local),
            ("http://nas", Space::Local),
            ("http://box.local./v1", Space::Local),
            ("https://api.openai.com/v1", Space::Public),
            ("https://8.8.8.8", Space::Public),
        ] {
            assert_eq!(
                Address::of(url).map(|address| address.space()),
                Some(space),
                "{url}"
            );
        }
    }

    #[test]
    fn only_web_addresses_are_addresses() {
        assert_eq!(
            Address::of("HTTPS://X.example").map(|address| address.is_secure),
            Some(true)
        );
        for none in [
            "",
            "x",
            "ftp://x",
            "https://",
            "http://[::1",
            "https://a b/",
        ] {
            assert_eq!(Address::of(none), None, "{none}");
        }
    }
}
