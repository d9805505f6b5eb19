//! The dialogs of **Export** and **Share**.

use leptos::prelude::*;

use super::code_consent::wheel_note;
use super::state::{Playground, use_playground};
use super::transfer::{self, Format, Shared};
use crate::components::field::Field;
use crate::components::text::inert;
use crate::components::{CopyButton, Dialog};

const FORMATS: [(Format, &str, &str); 3] = [
    (
        Format::Native,
        "Volary JSON",
        "Complete: can be imported, viewed and continued.",
    ),
    (
        Format::Renderer,
        "Renderer files (zip)",
        "The frames, in the format of aviary's Renderer.",
    ),
    (
        Format::Messages,
        "Messages (JSONL)",
        "The conversation, in the format of chat models.",
    ),
];

/// The formats to export.
pub fn export_dialog() -> AnyView {
    let playground = use_playground();
    let rows = FORMATS.map(|(format, name, words)| {
        view! {
            <li>
                <button type="button" on:click=move |_| transfer::export(playground, format)>
                    {name}
                </button>
                <span class="help">{words}</span>
            </li>
        }
    });
    let needs = move || {
        let is_open = playground.transfer.exporting.get();
        is_open.then(|| wheel_line(playground)).flatten()
    };
    view! {
        <Dialog open=playground.transfer.exporting title="Export this episode">
            <ul class="choices">{rows.into_iter().collect_view()}</ul>
            {needs}
        </Dialog>
    }
    .into_any()
}

/// The link, or why there is none.
pub fn share_dialog() -> AnyView {
    let playground = use_playground();
    let sharing = playground.transfer.sharing;
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        if sharing.with(Option::is_some) {
            open.set(true);
        }
    });
    let save = move |_| {
        open.set(false);
        transfer::export(playground, Format::Native);
    };
    let body = move || match sharing.get()? {
        Shared::Link(link) => Some(offer_link(link)),
        Shared::File(reason) => {
            let advice = view! {
                <p role="alert">{reason}</p>
                <p>"Share the episode as a file instead. Importing it shows the same episode."</p>
                <button type="button" class="primary" on:click=save>
                    "Save as a file"
                </button>
            };
            Some(advice.into_any())
        }
    };
    let needs = move || {
        sharing
            .with(Option::is_some)
            .then(|| wheel_line(playground))
    };
    view! {
        <Dialog open title="Share this episode">
            {body}
            {needs}
        </Dialog>
    }
    .into_any()
}

/// Which wheels the shown episode needs.
fn wheel_line(playground: Playground) -> Option<impl IntoView> {
    let words = playground.episode.with(|episode| {
        let recipe = episode.recipe.as_ref()?;
        wheel_note(recipe)
    })?;
    Some(view! { <p class="help">{inert(&words)}</p> })
}

fn offer_link(link: String) -> AnyView {
    let copied = link.clone();
    view! {
        <p>
            "The link contains the environment, configuration, seed and actions. Opening it runs "
            "the same episode in the recipient's browser."
        </p>
        <Field id="share-link" label="Link">
            <input type="text" id="share-link" readonly value=link.clone()/>
        </Field>
        <CopyButton text=move || copied.clone() label="Copy link"/>
    }
    .into_any()
}
