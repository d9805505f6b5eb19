//! The library that is published with the site, and errors of fetching files.

use std::time::Duration;

use volary_connectivity::Cause;
use volary_core::json::{Json, Text};
use volary_protocol::library::{RemoteFile, Unfetched};

use crate::browser::http::{self, Patience};
use crate::browser::{location, network};
use crate::projection::notice::Notice;

/// The maximum size of the list of a site's files, in bytes.
const LONGEST_LIST: usize = 16 << 20;

/// A library that is published with a site.
pub(super) struct Site {
    /// The title that the site chose.
    pub title: Text,
    pub files: Vec<RemoteFile>,
    /// The address of the list of further files, if there is one.
    pub list: Option<Text>,
    /// The address of the events of what changes, if there is one.
    pub events: Option<Text>,
    /// The address of the notes, if the server keeps them.
    pub notes: Option<Text>,
}

/// What changed, in an event.
pub(super) struct Changes {
    /// The files that are new, or were written to.
    pub changed: Vec<RemoteFile>,
    /// The addresses of those that are gone, or of folders.
    pub gone: Vec<Text>,
    /// Whether the file of notes was written to.
    pub has_notes: bool,
}

impl Changes {
    /// Reads the data of an event; `None` if they are damaged.
    pub fn read(events: &str, text: &str) -> Option<Changes> {
        let json = Json::parse(text).ok()?;
        let changed = json.get("changed")?.as_list()?.iter().filter_map(|file| {
            let text = |key: &str| file.get(key)?.as_text();
            Some(RemoteFile {
                name: text("name")?.clone(),
                url: location::beside(events, text("path")?).into(),
            })
        });
        let gone = json
            .get("gone")?
            .as_list()?
            .iter()
            .filter_map(Json::as_text);
        Some(Changes {
            changed: changed.collect(),
            gone: gone
                .map(|path| location::beside(events, path).into())
                .collect(),
            has_notes: json.get("notes") == Some(&Json::Bool(true)),
        })
    }
}

impl Site {
    /// Fetches the manifest; `None` if it is missing or damaged.
    pub async fn fetch(manifest: &str) -> Option<Site> {
        let request = http::Request {
            method: "GET",
            url: manifest.to_owned(),
            own_cookies: true,
            ..http::Request::default()
        };
        let patience = Patience::of(Duration::from_secs(60));
        let whole = http::fetch(&request, patience, LONGEST_LIST).await.ok()?;
        let is_there = (200..300).contains(&whole.status);
        is_there
            .then(|| Site::read(manifest, &whole.body))
            .flatten()
    }

    fn read(manifest: &str, text: &str) -> Option<Site> {
        let json = Json::parse(text).ok()?;
        let files = json.get("files")?.as_list()?.iter();
        let files = files.filter_map(|file| {
            let text = |key: &str| file.get(key)?.as_text();
            let url = match text("url") {
                Some(url) => location::whole(url).filter(|url| is_on_the_web(url))?,
                None => location::beside(manifest, text("path")?),
            };
            Some(RemoteFile {
                name: text("name")?.clone(),
                url: url.into(),
            })
        });
        let linked = |key: &str| {
            let path = json.get(key).and_then(Json::as_text)?;
            Some(location::beside(manifest, path).into())
        };
        Some(Site {
            title: json.get("title")?.as_text()?.clone(),
            files: files.collect(),
            list: linked("list"),
            events: linked("events"),
            notes: linked("notes"),
        })
    }
}

fn is_on_the_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// What to do about a list that can't be read.
pub(super) fn unreadable(manifest: &str) -> Notice {
    Notice::new(
        "The library of this site cannot be read.",
        format!("{manifest} is missing or damaged."),
        "Reload the page. If that does not help, tell the owner of this site.",
    )
}

/// The error of a file that could not be fetched, with advice.
pub(super) async fn unfetched(unfetched: &Unfetched) -> Notice {
    let Unfetched {
        url,
        reason,
        status,
        answered,
    } = unfetched;
    let what = format!("{url} could not be fetched.");
    let by_hand = "Download the file with your browser and import it here.";
    if !*answered {
        let page = network::page();
        // Telling the causes apart would take another request, to which nobody agreed.
        let cause = Cause::of(url, &page, &network::without_asking(url).await);
        let (why, advice) = match cause {
            Cause::Cors | Cause::NobodyNear | Cause::NobodyFar => (
                format!(
                    "No readable response. Either the address does not respond, or its server does \
                     not allow pages of {} to read its files (CORS). Browsers do not tell which.",
                    page.origin
                ),
                format!(
                    "{by_hand} Or configure the other site to send the header \
                     Access-Control-Allow-Origin. Sites that offer raw files (GitHub, Hugging \
                     Face) do."
                ),
            ),
            cause => (
                cause.why(url, &page),
                format!("{} {by_hand}", cause.in_the_browser().unwrap_or_default()),
            ),
        };
        return Notice::new(what, why, advice.trim().to_owned());
    }
    let advice = match status {
        Some(404) => "Check the address.",
        _ => by_hand,
    };
    Notice::new(what, reason.to_string(), advice)
}
