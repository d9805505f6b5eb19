//! Python code in a file whose URL is in the address: `#/run/python?url=…`. Carries out the effects of
//! [`volary_app::playground::linked_code`].
//!
//! Invariants: a file of another origin is fetched only after consent, and its code runs only after a second consent,
//! whose dialog shows the code ([`super::plan_dialog`]).

use std::time::Duration;

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground as machine;
use volary_app::playground::consent::{PlannedEpisode, Then};
use volary_app::playground::linked_code::{self as state, Event, FetchId, Fetched, LinkedCode};
use volary_connectivity::linked_file::LinkedFile;
use volary_core::Object;

use super::opening_record;
use super::state::{Playground, use_playground};
use volary_app::python::files::{self, Description, PythonSource};
use volary_browser::http::{self, Request, Timeouts};
use volary_browser::{self as browser, location, network};
use volary_ui::navigation::{Page, use_pages};
use volary_ui::{Dialog, FetchQuestion};

/// Maximum file size in bytes.
const LARGEST: usize = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(30);
const ADVICE: &str = "Download the file and import it under Environments.";

/// The state of the file.
fn linked_code(playground: Playground) -> RwSignal<LinkedCode> {
    let slot = playground.linked_code();
    slot.get_value().unwrap_or_else(|| {
        let code = RwSignal::default();
        slot.set_value(Some(code));
        code
    })
}

/// Plans the code of a file. If the file has another origin, first asks whether to fetch it.
pub fn open(playground: Playground, url: &str) {
    let whole = location::whole(url).unwrap_or_default();
    let file = LinkedFile::of(&whole, &network::page().origin);
    update(playground, Event::Follow(file));
}

/// Drops the file, because something else is opened.
pub fn leave(playground: Playground) {
    update(playground, Event::Leave);
}

/// Returns whether the file is being fetched or waits for consent.
pub(super) fn is_pending(playground: Playground) -> bool {
    linked_code(playground).with_untracked(LinkedCode::is_pending)
}

fn update(playground: Playground, event: Event) {
    let code = linked_code(playground);
    let mut effects = Vec::new();
    code.maybe_update(|code| {
        let before = code.clone();
        effects = code.update(event);
        *code != before
    });
    for effect in effects {
        match effect {
            state::Effect::Fetch { id, url } => fetch(playground, id, url),
            state::Effect::ShowBackground => opening_record::begin_behind(playground),
            state::Effect::Plan { code } => plan(playground, &code),
            state::Effect::Refuse { reason } => refuse(playground, reason),
        }
    }
}

fn refuse(playground: Playground, reason: String) {
    opening_record::begin_behind(playground);
    playground.alert(Notice::new(
        "The Python file in this address was not fetched.",
        reason,
        ADVICE,
    ));
}

fn fetch(playground: Playground, id: FetchId, url: String) {
    browser::spawn(async move {
        let request = Request {
            method: "GET",
            url,
            ..Request::default()
        };
        let result = match http::fetch(&request, Timeouts::of(TIMEOUT), LARGEST).await {
            Ok(reply) => Fetched::Response {
                status: reply.status,
                body: reply.body,
            },
            Err(error) => Fetched::Failed(error.to_string()),
        };
        update(playground, Event::Fetched { id, result });
    });
}

/// Shows the code in the plan dialog, which asks whether to run it.
fn plan(playground: Playground, code: &str) {
    playground.update(machine::Event::Plan(PlannedEpisode {
        recipe: files::recipe(
            &PythonSource::of_code(code),
            &Description::default(),
            &Object::new(),
            0,
        ),
        actions: Vec::new(),
        then: Then::Open(None),
    }));
}

/// Dialog that asks whether to fetch the file.
#[component]
pub fn FetchCodeDialog() -> impl IntoView {
    let (playground, pages) = (use_playground(), use_pages());
    let code = linked_code(playground);
    let open = RwSignal::new(false);
    let wanted = Memo::new(move |_| {
        let is_asked = code.with(|code| code.asked().is_some());
        is_asked && pages.shown.get() == Page::Playground
    });
    Effect::new(move |_| open.set(wanted.get()));
    let decline = move || update(playground, Event::Decline);
    Effect::new(move |_| {
        // React only to Escape or the dialog's button, not to closing because another page is shown.
        if !open.get() && wanted.get_untracked() {
            decline();
        }
    });
    let question = move || {
        code.with(|code| code.asked().cloned()).map(|file| {
            view! {
                <FetchQuestion
                    file
                    content="Python code"
                    then=", up to 1 MB, and shows the code. It does not run by itself."
                    fetch=move |()| update(playground, Event::Agree)
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
