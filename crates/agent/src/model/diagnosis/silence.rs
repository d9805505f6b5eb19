//! Requests that failed before any reply.

use super::{Diagnosis, Page, Permission, Trouble};
use crate::model::connection::{Connection, Space};

/// What it means that there was no reply.
pub(super) fn of_silence(
    connection: &Connection,
    page: &Page,
    answers_without_cors: Option<bool>,
    permission: Option<Permission>,
    is_online: bool,
) -> Diagnosis {
    let name = &connection.name;
    let base = &connection.base_url;
    let what = format!("{name} can't be reached from this page.");
    let diagnosis = |trouble, why: String, remedy: String| Diagnosis {
        trouble,
        what: what.clone(),
        why,
        remedy,
    };
    let Some(address) = connection.address() else {
        return diagnosis(
            Trouble::Unreachable,
            format!("{base} is no web address."),
            "Enter a base URL that begins with https:// or http://.".to_owned(),
        );
    };
    let space = address.space();
    if !is_online && space != Space::Loopback {
        return diagnosis(
            Trouble::Offline,
            "The browser says that this machine is offline.".to_owned(),
            "Connect to the network and try again. What came so far is kept.".to_owned(),
        );
    }
    if answers_without_cors == Some(true) {
        return diagnosis(
            Trouble::Cors,
            format!(
                "A server answers at {base}, but it does not allow pages of {} to read its answers (CORS).",
                page.origin
            ),
            cors_remedy(connection, space, &page.origin),
        );
    }
    // Whoever goes from a farther network to a nearer one is asked about.
    let goes_inward = space < page.space;
    let network = match space {
        Space::Loopback => "programs on this machine",
        _ => "the local network",
    };
    if goes_inward && permission == Some(Permission::Denied) {
        return diagnosis(
            Trouble::LocalNetwork,
            format!("The browser does not allow this page to reach {network}."),
            "Allow it in the browser's settings of this site (the icon left of the address: local network), \
             then reload the page."
                .to_owned(),
        );
    }
    if page.is_https && !address.is_secure && space == Space::Public {
        return diagnosis(
            Trouble::MixedContent,
            "This page came over https, and browsers let such pages not reach http addresses of other machines."
                .to_owned(),
            format!("Use an https address of {name}."),
        );
    }
    if goes_inward && permission == Some(Permission::Prompt) {
        return diagnosis(
            Trouble::LocalNetwork,
            format!(
                "The browser asks before a page may reach {network}, and there was no consent yet."
            ),
            "Test again, and choose Allow when the browser asks.".to_owned(),
        );
    }
    if page.is_https && !address.is_secure && space != Space::Public && permission.is_none() {
        return diagnosis(
            Trouble::MixedContent,
            format!(
                "Perhaps nothing runs at {base}. Perhaps this browser lets https pages not reach http addresses, \
                 not even near ones; Safari does not."
            ),
            format!(
                "Check that the server runs. If it does, use Chrome, Edge or Firefox, or serve this page from \
                 http://localhost. {}",
                own_server(connection, &page.origin)
            ),
        );
    }
    if space == Space::Public {
        return diagnosis(
            Trouble::Unreachable,
            format!(
                "Nothing answers at {base}: the name may be wrong, the server down, or something between (a \
                 blocker, a firewall) holds the request back."
            ),
            "Check the base URL, then the network and browser extensions that block requests."
                .to_owned(),
        );
    }
    diagnosis(
        Trouble::Unreachable,
        format!("Nothing answers at {base}."),
        format!(
            "Start the server and check its port. {}",
            own_server(connection, &page.origin)
        ),
    )
}

fn cors_remedy(connection: &Connection, space: Space, origin: &str) -> String {
    let told = own_server(connection, origin);
    if !told.is_empty() {
        told
    } else if space == Space::Public {
        format!(
            "This provider can't be used from a page directly. Use one that can, or put a proxy before it that \
             allows {origin} (LiteLLM is one)."
        )
    } else {
        format!("Start the server so that it allows the origin {origin}.")
    }
}

/// What lets this page in, for servers of one's own.
fn own_server(connection: &Connection, origin: &str) -> String {
    let allow = connection.preset().map_or("", |preset| preset.allow);
    allow.replace("https://example.org", origin)
}
