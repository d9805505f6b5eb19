//! Python code in a file whose URL is in the address: `#/run/python?url=…`.
//!
//! Invariants: a file of another origin is fetched only after consent, and its code runs only after a second consent,
//! whose dialog shows the code ([`super::plan_dialog`]).

use std::time::Duration;

use leptos::prelude::*;
use volary_connectivity::linked_file::{Elsewhere, LinkedFile};
use volary_core::Object;

use super::planned;
use super::state::{Playground, use_playground};
use crate::browser::http::{self, Request, Timeouts};
use crate::browser::{self, location, network};
use crate::components::{Dialog, FetchQuestion};
use crate::navigation::{Page, use_pages};
use crate::projection::notice::Notice;
use crate::python::files::{self, Description, PythonSource};
use volary_app::playground::consent::{PlannedEpisode, Then};

/// The environment name in an address that points to Python code at another URL.
pub const ENVIRONMENT: &str = "python";
/// Maximum file size in bytes.
const LARGEST: usize = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(30);
const ADVICE: &str = "Download the file and import it under Environments.";

/// The URL of the file, while the user is asked whether to fetch it.
pub fn asked(playground: Playground) -> RwSignal<Option<Elsewhere>> {
    *playground.linked_code.get_or_init(RwSignal::default)
}

/// Plans the code of a file. If the file has another origin, first asks whether to fetch it.
pub fn open(playground: Playground, url: &str) {
    asked(playground).set(None);
    let whole = location::whole(url).unwrap_or_default();
    match LinkedFile::of(&whole, &network::page().origin) {
        LinkedFile::SameOrigin { url } => fetch(playground, url),
        LinkedFile::Elsewhere(file) => {
            planned::begin_behind(playground);
            asked(playground).set(Some(file));
        }
        LinkedFile::Refused(why) => refuse(playground, why.to_string()),
    }
}

fn refuse(playground: Playground, reason: String) {
    planned::begin_behind(playground);
    playground.alert(Notice::new(
        "The Python file in this address was not fetched.",
        reason,
        ADVICE,
    ));
}

fn fetch(playground: Playground, url: String) {
    browser::spawn(async move {
        let request = Request {
            method: "GET",
            url,
            ..Request::default()
        };
        let reply = http::fetch(&request, Timeouts::of(TIMEOUT), LARGEST).await;
        match reply {
            Ok(reply) if (200..300).contains(&reply.status) => plan(playground, &reply.body),
            Ok(reply) => refuse(
                playground,
                format!("The server responded with {}.", reply.status),
            ),
            Err(error) => refuse(playground, error.to_string()),
        }
    });
}

/// Shows the code in the plan dialog, which asks whether to run it.
fn plan(playground: Playground, code: &str) {
    planned::plan(
        playground,
        PlannedEpisode {
            recipe: files::recipe(
                &PythonSource::of_code(code),
                &Description::default(),
                &Object::new(),
                0,
            ),
            actions: Vec::new(),
            then: Then::Open(None),
        },
    );
}

/// Dialog that asks whether to fetch the file.
#[component]
pub fn FetchCodeDialog() -> impl IntoView {
    let (playground, pages) = (use_playground(), use_pages());
    let open = RwSignal::new(false);
    let wanted = Memo::new(move |_| {
        let is_asked = asked(playground).with(Option::is_some);
        is_asked && pages.shown.get() == Page::Playground
    });
    Effect::new(move |_| open.set(wanted.get()));
    let decline = move || asked(playground).set(None);
    Effect::new(move |_| {
        // React only to Escape or the dialog's button, not to closing because another page is shown.
        if !open.get() && wanted.get_untracked() {
            decline();
        }
    });
    let question = move || {
        asked(playground).get().map(|file| {
            let url = file.url.clone();
            let agree = move |()| {
                decline();
                fetch(playground, url.clone());
            };
            view! {
                <FetchQuestion
                    file
                    content="Python code"
                    then=", up to 1 MB, and shows the code. It does not run by itself."
                    fetch=agree
                    decline=move |()| decline()
                />
            }
        })
    };
    view! {
        <Dialog open title="Fetch this Python file?">
            {question}
        </Dialog>
    }
}
