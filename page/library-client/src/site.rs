//! Fetches the manifest of the library that is published with the site.

use std::time::Duration;

use volary_app::library::site::{Addresses, Site};
use volary_app::notice::Notice;

use volary_browser::http::{self, Timeouts};
use volary_browser::location;

/// The maximum size of the list of a site's files, in bytes.
const LONGEST_LIST: usize = 16 << 20;

/// Addresses as the browser resolves them.
pub(super) struct OfBrowser;

impl Addresses for OfBrowser {
    fn beside(&self, address: &str, path: &str) -> String {
        location::beside(address, path)
    }

    fn absolute(&self, address: &str) -> Option<String> {
        location::whole(address)
    }
}

/// Fetches the manifest; `None` if it is missing or damaged.
pub(super) async fn fetch(manifest: &str) -> Option<Site> {
    let request = http::Request {
        method: "GET",
        url: manifest.to_owned(),
        own_cookies: true,
        ..http::Request::default()
    };
    let timeouts = Timeouts::of(Duration::from_secs(60));
    let whole = http::fetch(&request, timeouts, LONGEST_LIST).await.ok()?;
    let is_there = (200..300).contains(&whole.status);
    is_there
        .then(|| Site::read(manifest, &whole.body, &OfBrowser))
        .flatten()
}

/// What to do about a list that can't be read.
pub(super) fn unreadable(manifest: &str) -> Notice {
    Notice::new(
        "The library of this site cannot be read.",
        format!("{manifest} is missing or damaged."),
        "Reload the page. If that does not help, tell the owner of this site.",
    )
}
