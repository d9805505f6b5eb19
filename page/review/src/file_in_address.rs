//! The file that the address names: fetched if it is of this site, otherwise after a question.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_connectivity::linked_file::{Elsewhere, LinkedFile};
use volary_protocol::library::Origin;
use volary_view::route::{ReviewPlace, Route};

use volary_browser::{location, network};
use volary_library_client::{LibraryClient, imports};
use volary_ui::FetchQuestion;
use volary_ui::navigation::Pages;
use volary_view::review::address;

#[derive(Clone, Copy)]
pub(super) struct FileInAddress {
    client: LibraryClient,
    pages: Pages,
    place: Memo<ReviewPlace>,
    /// The file that needs the user's consent before it is fetched.
    pub asked: RwSignal<Option<Elsewhere>>,
    /// Incremented each time the user agrees.
    pub agreements: RwSignal<u32>,
}

impl FileInAddress {
    pub(super) fn new(
        client: LibraryClient,
        pages: Pages,
        place: Memo<ReviewPlace>,
    ) -> FileInAddress {
        FileInAddress {
            client,
            pages,
            place,
            asked: RwSignal::new(None),
            agreements: RwSignal::new(0),
        }
    }

    /// Fetches the file, now and on every change of the address.
    pub(super) fn follow(self) {
        let wanted = Memo::new(move |_| self.place.with(address::wanted_file));
        Effect::watch(
            move || wanted.get(),
            move |now, former, _| {
                if address::must_fetch(now, former) {
                    untrack(|| self.fetch_wanted());
                }
            },
            false,
        );
        self.fetch_wanted();
    }

    /// Fetches the file if that needs no consent; otherwise sets `asked`.
    fn fetch_wanted(self) {
        self.asked.set(None);
        let Some(url) = self.place.get_untracked().url else {
            return;
        };
        let whole = location::whole(&url).unwrap_or_default();
        match LinkedFile::of(&whole, &network::page().origin) {
            LinkedFile::SameOrigin { url } => self.fetch(&url, Origin::Imported),
            LinkedFile::Elsewhere(file) => self.asked.set(Some(file)),
            LinkedFile::Refused(why) => {
                self.client.notice.set(Some(Notice::new(
                    "The file in this address was not fetched.",
                    why.to_string(),
                    "To read it, download it and import it here.",
                )));
                self.leave();
            }
        }
    }

    /// Fetches a file and opens the trajectory in it that the address names.
    fn fetch(self, url: &str, origin: Origin) {
        let wanted = self.place.get_untracked();
        let Some(open) = wanted.open.filter(|_| wanted.episode.is_none()) else {
            return imports::fetch(self.client, url, origin);
        };
        imports::fetch_one(self.client, url, origin, open, move |id| {
            // The user may have navigated away before the page was notified.
            let here = Route::parse(&location::hash());
            let id = id.map(|id| id.to_string());
            if let Some(place) = address::arrived(&wanted, &here, id) {
                replace_place(self.pages, place);
            }
        });
    }

    /// Continues without the file.
    fn leave(self) {
        let place = address::without_file(self.place.get_untracked());
        replace_place(self.pages, place);
    }

    /// Asks whether to fetch a file, and whether to store its contents.
    pub(super) fn question(self, file: Elsewhere) -> AnyView {
        let keeps = RwSignal::new(false);
        let (url, host) = (file.url.clone(), file.host.clone());
        let fetch = move |()| {
            let origin = if keeps.get_untracked() {
                Origin::Imported
            } else {
                Origin::Linked
            };
            self.asked.set(None);
            self.fetch(&url, origin);
            self.agreements.update(|count| *count += 1);
        };
        let decline = move |()| {
            self.asked.set(None);
            self.leave();
        };
        view! {
            <section class="fetch-question" aria-label="Fetch a file">
                <h2>{format!("Fetch a file from {host}?")}</h2>
                <FetchQuestion
                    file
                    content="a file"
                    then=", up to 2 GB. Its size is shown when the host reports it, and you can cancel."
                    fetch
                    decline
                >
                    <label class="flag-line">
                        <input
                            type="checkbox"
                            prop:checked=keeps
                            on:change=move |event| keeps.set(event_target_checked(&event))
                        />
                        <span>{"Store its trajectories in this browser"}</span>
                    </label>
                    <p class="help">
                        {"Otherwise they are available until you leave or reload the page."}
                    </p>
                </FetchQuestion>
            </section>
        }
        .into_any()
    }
}

/// Replaces the current history entry.
pub(super) fn replace_place(pages: Pages, place: ReviewPlace) {
    let route = Route::Review(place);
    location::replace(&route.to_hash());
    pages.route.set(route);
}
