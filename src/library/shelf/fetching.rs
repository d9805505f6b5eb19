//! Files from addresses that a person gave, and those that came with the site. The worker fetches them.

use std::time::Duration;

use leptos::prelude::*;
use volary_core::json::{Json, Text};
use volary_reach::Cause;
use volary_trace::table::Row;

use super::Shelf;
use crate::library::origin::Origin;
use crate::library::protocol::{Number, Request};
use crate::projection::notice::Notice;
use crate::shell::http::{self, Patience};
use crate::shell::{location, network};

/// The list of a site's files is no longer.
const LONGEST_LIST: usize = 16 << 20;

impl Shelf {
    /// Fetches a file from a whole address, and reads it. Of another origin the user must have agreed to it.
    pub fn fetch(self, url: &str, origin: Origin) {
        let number = self.begin_fetch(url);
        self.fetch_given(number, url, origin);
    }

    /// The same; `arrived` hears the id of one of its trajectories (they count from 1), as soon as its beginning is
    /// there, or that there is none.
    pub fn fetch_one(
        self,
        url: &str,
        origin: Origin,
        place: usize,
        arrived: impl FnOnce(Option<Text>) + 'static,
    ) {
        let number = self.begin_fetch(url);
        let arrived = Box::new(arrived);
        self.state
            .update_value(|state| state.awaited.push((number, place.max(1), arrived)));
        self.fetch_given(number, url, origin);
    }

    fn begin_fetch(self, url: &str) -> Number {
        self.begin(&format!("Fetching {url}"))
    }

    fn fetch_given(self, number: Number, url: &str, origin: Origin) {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let file = (name.into(), url.into());
        self.fetch_as(number, origin, vec![file]);
    }

    fn fetch_as(self, number: Number, origin: Origin, files: Vec<(Text, Text)>) {
        self.report.set(Vec::new());
        self.ask(&Request::Fetch {
            number,
            origin,
            files,
        });
    }

    /// Rows came: perhaps those that somebody waits for.
    pub(super) fn tell_arrived(self, number: Number, rows: &[Row]) {
        let found = self.state.try_update_value(|state| {
            let place = state.awaited.iter().position(|one| one.0 == number)?;
            let (_, left, _) = &mut state.awaited[place];
            match rows.get(*left - 1) {
                None => {
                    *left -= rows.len();
                    None
                }
                Some(row) => Some((state.awaited.swap_remove(place).2, row.id.clone())),
            }
        });
        if let Some((arrived, id)) = found.flatten() {
            arrived(Some(id));
        }
    }

    /// Nothing more comes of a reading.
    pub(super) fn tell_missing(self, number: Number) {
        let left = self.state.try_update_value(|state| {
            let awaited = state.awaited.iter();
            let place = awaited.clone().position(|one| one.0 == number)?;
            Some(state.awaited.swap_remove(place).2)
        });
        if let Some(arrived) = left.flatten() {
            arrived(None);
        }
    }

    /// Reads the library that came with the site, if one did.
    pub fn read_site(self) {
        let Some(manifest) = location::linked("volary-library") else {
            return;
        };
        let number = self.begin("Fetching the library of this site");
        crate::shell::spawn(async move {
            let Some(site) = Site::fetch(&manifest).await else {
                self.ended(number);
                self.notice.set(Some(Notice::new(
                    "The library of this site can't be read.",
                    format!("{manifest} is missing or damaged."),
                    "Load the page again; if that does not help, tell whoever keeps this site.",
                )));
                return;
            };
            self.site.set(Some(site.title));
            let files = site.files.into_iter().map(|(name, path)| {
                let url = location::beside(&manifest, &path);
                (name.into(), url.into())
            });
            match files.len() {
                0 => self.ended(number),
                _ => self.fetch_as(number, Origin::Published, files.collect()),
            }
        });
    }

    /// A file did not come: says why, once that is known, and what to do.
    pub(super) fn unfetched(
        self,
        number: Number,
        url: Text,
        reason: Text,
        status: Option<u16>,
        answered: bool,
    ) {
        self.tell_missing(number);
        crate::shell::spawn(async move {
            let notice = unfetched(&url, &reason, status, answered).await;
            self.notice.set(Some(notice));
        });
    }
}

/// The files of a library that comes with a site.
struct Site {
    title: Text,
    /// The name of each, and its path.
    files: Vec<(String, String)>,
}

impl Site {
    async fn fetch(manifest: &str) -> Option<Site> {
        let request = http::Request {
            method: "GET",
            url: manifest.to_owned(),
            ..http::Request::default()
        };
        let patience = Patience::of(Duration::from_secs(60));
        let whole = http::fetch(&request, patience, LONGEST_LIST).await.ok()?;
        let is_there = (200..300).contains(&whole.status);
        is_there.then(|| Site::read(&whole.body)).flatten()
    }

    fn read(text: &str) -> Option<Site> {
        let json = Json::parse(text).ok()?;
        let files = json.get("files")?.as_list()?.iter();
        let files = files.filter_map(|file| {
            let text = |key: &str| Some(file.get(key)?.as_text()?.to_string());
            Some((text("name")?, text("path")?))
        });
        Some(Site {
            title: json.get("title")?.as_text()?.clone(),
            files: files.collect(),
        })
    }
}

/// Why a file could not be fetched, and what to do.
async fn unfetched(url: &str, reason: &str, status: Option<u16>, answered: bool) -> Notice {
    let what = format!("{url} could not be fetched.");
    let by_hand = "Download the file with your browser, and import it here.";
    if !answered {
        let page = network::page();
        // To tell the causes apart would take another request, which nobody agreed to.
        let cause = Cause::of(url, &page, &network::without_asking(url).await);
        let (why, advice) = match cause {
            Cause::Cors | Cause::NobodyNear | Cause::NobodyFar => (
                format!(
                    "No answer came that this page may read. Either nothing answers at that address, or the server there \
                     does not allow pages of {} to read its files (CORS); browsers do not say which.",
                    page.origin
                ),
                format!(
                    "{by_hand} Or have the other site send the header Access-Control-Allow-Origin for it; sites that \
                     offer raw files (GitHub, Hugging Face) do."
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
        Some(404) => "Look whether the address is right.",
        _ => by_hand,
    };
    Notice::new(what, reason.to_owned(), advice)
}
