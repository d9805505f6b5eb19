//! Determines why a request failed before any reply.

use crate::address::{Address, Space};

/// The page that sends requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestingPage {
    /// Its origin, such as `https://example.org`.
    pub origin: String,
    /// Whether it was loaded over https.
    pub is_https: bool,
    /// The address space that it was loaded from.
    pub space: Space,
}

impl RequestingPage {
    /// The page with an origin; `None` if the origin is not a web address.
    pub fn of(origin: &str) -> Option<RequestingPage> {
        let address = Address::of(origin)?;
        Some(RequestingPage {
            origin: origin.to_owned(),
            is_https: address.is_secure,
            space: address.space(),
        })
    }
}

/// The state of a browser permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Granted,
    /// The user will be asked.
    Prompt,
    Denied,
}

/// The observations of a page about a request that failed before any reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Whether the same address answers a `no-cors` request.
    pub answers_without_cors: Option<bool>,
    /// The permission to access the loopback or local network, if the browser has one.
    pub permission: Option<Permission>,
    /// Whether the browser is online.
    pub is_online: bool,
}

/// Why there was no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The input is not a web address.
    NotAnAddress,
    /// This machine is offline.
    Offline,
    /// The server answers, but its CORS headers do not allow this page to read the reply.
    Cors,
    /// The user denied this page access to the more private network.
    NotAllowed(Space),
    /// The browser requires permission for access to the more private network.
    NotYetAllowed(Space),
    /// An https page and an http address of another machine.
    MixedContent,
    /// An https page and a nearby http address, in a browser that does not report whether it blocks the request.
    PerhapsMixedContent,
    /// No server answers at an address of this machine or the local network.
    NobodyNear,
    /// No server answers at a public address.
    NobodyFar,
}

impl Cause {
    /// Determines the cause from the observations about an address.
    pub fn of(url: &str, page: &RequestingPage, silence: &Silence) -> Cause {
        let Some(address) = Address::of(url) else {
            return Cause::NotAnAddress;
        };
        let space = address.space();
        if !silence.is_online && space != Space::Loopback {
            return Cause::Offline;
        }
        if silence.answers_without_cors == Some(true) {
            return Cause::Cors;
        }
        // Requests from a public to a more private network need permission.
        let goes_inward = space < page.space;
        let is_mixed = page.is_https && !address.is_secure;
        match silence.permission {
            Some(Permission::Denied) if goes_inward => Cause::NotAllowed(space),
            _ if is_mixed && space == Space::Public => Cause::MixedContent,
            Some(Permission::Prompt) if goes_inward => Cause::NotYetAllowed(space),
            None if is_mixed => Cause::PerhapsMixedContent,
            _ if space == Space::Public => Cause::NobodyFar,
            _ => Cause::NobodyNear,
        }
    }

    /// Whether a retry may succeed without any action of the user. A request that the browser or the server forbids
    /// stays forbidden.
    pub const fn may_pass(self) -> bool {
        matches!(self, Cause::Offline | Cause::NobodyNear | Cause::NobodyFar)
    }

    /// An explanation of a sentence or two; with "perhaps" if the cause is uncertain.
    pub fn why(self, url: &str, page: &RequestingPage) -> String {
        match self {
            Cause::NotAnAddress => format!("{url} is not a web address."),
            Cause::Offline => "The browser reports that this computer is offline.".to_owned(),
            Cause::Cors => format!(
                "A server responds at {url}, but it does not allow pages from {} to read its \
                 responses (CORS).",
                page.origin
            ),
            Cause::NotAllowed(space) => format!(
                "The browser does not allow this page to access {}.",
                network(space)
            ),
            Cause::NotYetAllowed(space) => format!(
                "The browser asks for permission before a page may access {}, and it has not been \
                 granted yet.",
                network(space)
            ),
            Cause::MixedContent => {
                "This page was loaded over https, and browsers block requests from such pages to \
                 http addresses of other machines."
                    .to_owned()
            }
            Cause::PerhapsMixedContent => format!(
                "Either nothing runs at {url}, or this browser blocks http addresses for https \
                 pages, even local ones, as Safari does."
            ),
            Cause::NobodyNear => format!("Nothing responds at {url}."),
            Cause::NobodyFar => format!(
                "Nothing responds at {url}: the name may be wrong, the server may be down, or a \
                 blocker or firewall may stop the request."
            ),
        }
    }

    /// The remedy in the browser; `None` if the server or its address must change.
    pub const fn in_the_browser(self) -> Option<&'static str> {
        match self {
            Cause::Offline => {
                Some("Connect to the network and try again. The data received so far is kept.")
            }
            Cause::NotAllowed(_) => Some(
                "Allow it in the browser's settings of this site (the icon left of the address: local network), \
                 then reload the page.",
            ),
            Cause::NotYetAllowed(_) => Some("Try again, and choose Allow when the browser asks."),
            _ => None,
        }
    }
}

fn network(space: Space) -> &'static str {
    match space {
        Space::Loopback => "programs on this machine",
        _ => "the local network",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origin: &str, url: &str, silence: Silence, expected: Cause) {
        let page = RequestingPage::of(origin).unwrap();
        let found = Cause::of(url, &page, &silence);
        assert_eq!(found, expected, "{origin} {url} {silence:?}");
        assert!(!found.why(url, &page).is_empty());
    }

    fn silence(answers: Option<bool>, permission: Option<Permission>) -> Silence {
        Silence {
            answers_without_cors: answers,
            permission,
            is_online: true,
        }
    }

    #[test]
    fn causes_are_distinguished_as_far_as_a_page_can() {
        let secure = "https://volary.example";
        let near = "http://localhost:8000";
        let here = "http://127.0.0.1:8041";
        let far = "http://env.example";
        let (denied, prompt) = (Some(Permission::Denied), Some(Permission::Prompt));
        let granted = Some(Permission::Granted);
        for (origin, url, silence, expected) in [
            (secure, here, silence(Some(true), None), Cause::Cors),
            (near, here, silence(Some(true), None), Cause::Cors),
            (near, here, silence(Some(false), None), Cause::NobodyNear),
            (near, here, silence(Some(false), denied), Cause::NobodyNear),
            (near, far, silence(Some(false), None), Cause::NobodyFar),
            (secure, far, silence(None, None), Cause::MixedContent),
            (
                secure,
                here,
                silence(None, denied),
                Cause::NotAllowed(Space::Loopback),
            ),
            (
                secure,
                "http://192.168.0.7:8041",
                silence(None, prompt),
                Cause::NotYetAllowed(Space::Local),
            ),
            (secure, here, silence(None, granted), Cause::NobodyNear),
            (
                secure,
                here,
                silence(None, None),
                Cause::PerhapsMixedContent,
            ),
            (secure, "soon", silence(None, None), Cause::NotAnAddress),
        ] {
            check(origin, url, silence, expected);
        }
    }

    #[test]
    fn what_is_forbidden_does_not_pass() {
        for cause in [
            Cause::NotAnAddress,
            Cause::Cors,
            Cause::NotAllowed(Space::Local),
            Cause::NotYetAllowed(Space::Loopback),
            Cause::MixedContent,
            Cause::PerhapsMixedContent,
        ] {
            assert!(!cause.may_pass(), "{cause:?}");
        }
        for cause in [Cause::Offline, Cause::NobodyNear, Cause::NobodyFar] {
            assert!(cause.may_pass(), "{cause:?}");
        }
    }

    #[test]
    fn an_offline_machine_reaches_itself() {
        let offline = Silence {
            is_online: false,
            ..silence(None, None)
        };
        let near = "http://localhost:1";
        check(near, "https://env.example", offline, Cause::Offline);
        check(near, "http://localhost:8041", offline, Cause::NobodyNear);
    }
}
