//! Files from addresses that a person gave, and those that came with the site.

use leptos::prelude::*;
use volary_core::json::{Json, Text};
use volary_reach::Cause;

use super::Shelf;
use crate::library::origin::Origin;
use crate::library::protocol::Number;
use crate::projection::notice::Notice;
use crate::projection::text::size_text;
use crate::shell::files::GivenFile;
use crate::shell::files::fetched::{FetchError, fetch};
use crate::shell::http::HttpError;
use crate::shell::{location, network};

impl Shelf {
    /// Fetches a file from an address that the person gave, and reads it.
    pub fn fetch(self, url: String) {
        let number = self.begin(&format!("Fetching {url}"));
        crate::shell::spawn(async move {
            match self.fetched(number, &url).await {
                Ok(file) => self.read_as(number, Origin::Imported, &[file]),
                Err(FetchError::Cancelled) => self.ended(number),
                Err(error) => {
                    self.ended(number);
                    let notice = unfetched(&url, error).await;
                    self.notice.set(Some(notice));
                }
            }
        });
    }

    /// Reads the library that came with the site, if one did.
    pub fn read_site(self) {
        let Some(manifest) = location::linked("volary-library") else {
            return;
        };
        let number = self.begin("Fetching the library of this site");
        crate::shell::spawn(async move {
            let listed = self.fetched(number, &manifest).await;
            let listed = match listed {
                Ok(file) => file.read().await.ok().and_then(|bytes| Site::read(&bytes)),
                Err(_) => None,
            };
            let Some(site) = listed else {
                self.ended(number);
                self.notice.set(Some(Notice::new(
                    "The library of this site can't be read.",
                    format!("{manifest} is missing or damaged."),
                    "Load the page again; if that does not help, tell whoever keeps this site.",
                )));
                return;
            };
            self.site.set(Some(site.title));
            let mut files = Vec::new();
            for (name, path) in site.files {
                let url = location::beside(&manifest, &path);
                match self.fetched(number, &url).await {
                    Ok(file) => files.extend(GivenFile::of(&name, file.as_js().clone())),
                    Err(FetchError::Cancelled) => break,
                    Err(error) => {
                        let notice = unfetched(&url, error).await;
                        self.notice.set(Some(notice));
                    }
                }
            }
            match files.is_empty() {
                true => self.ended(number),
                false => self.read_as(number, Origin::Published, &files),
            }
        });
    }

    async fn fetched(self, number: Number, url: &str) -> Result<GivenFile, FetchError> {
        let name = url.rsplit('/').next().unwrap_or(url);
        fetch(url, |came, length| {
            let of = length.map_or_else(String::new, |length| {
                format!(" of {}", size_text(length as usize))
            });
            let doing = format!("Fetching {name}: {}{of}", size_text(came as usize));
            self.show_progress(number, doing.into(), length.map(|length| came / length));
            !self.is_ending(number)
        })
        .await
    }
}

/// The files of a library that comes with a site.
struct Site {
    title: Text,
    /// The name of each, and its path.
    files: Vec<(String, String)>,
}

impl Site {
    fn read(bytes: &[u8]) -> Option<Site> {
        let json = Json::parse(std::str::from_utf8(bytes).ok()?).ok()?;
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
async fn unfetched(url: &str, error: FetchError) -> Notice {
    let what = format!("{url} could not be fetched.");
    let by_hand = "Download the file with your browser, and import it here.";
    if let FetchError::Http {
        error: HttpError::NoReply { .. },
    } = &error
    {
        let page = network::page();
        let cause = Cause::of(url, &page, &network::probe(url).await);
        let advice = match cause {
            Cause::Cors => format!(
                "{by_hand} Or have the other site send the header Access-Control-Allow-Origin for it; sites that \
                 offer raw files (GitHub, Hugging Face) do."
            ),
            cause => format!("{} {by_hand}", cause.in_the_browser().unwrap_or_default()),
        };
        return Notice::new(what, cause.why(url, &page), advice.trim().to_owned());
    }
    let advice = match error {
        FetchError::Status { status: 404 } => "Look whether the address is right.",
        _ => by_hand,
    };
    Notice::new(what, error.to_string(), advice)
}
