//! What Export and Share offer.

use leptos::prelude::*;

use super::controls::field;
use super::state::use_playground;
use super::transfer::{Format, Shared};
use crate::components::erased::{dynamic, watch};
use crate::components::markup::{all, button, el, nothing};
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
    let list = move || {
        let rows = FORMATS.map(|(format, name, words)| {
            el("li")
                .child(
                    button("")
                        .on_click(move || playground.export(format))
                        .child(name),
                )
                .child(el("span").class("help").child(words))
        });
        let list = el("ul").class("choices");
        rows.into_iter()
            .fold(list, |list, row| list.child(row))
            .view()
    };
    view! {
        <Dialog open=playground.transfer.exporting title="Export this episode">{list()}</Dialog>
    }
    .into_any()
}

/// The link, or why there is none.
pub fn share_dialog() -> AnyView {
    let playground = use_playground();
    let sharing = playground.transfer.sharing;
    let open = RwSignal::new(false);
    watch(move || {
        if sharing.with(Option::is_some) {
            open.set(true);
        }
    });
    let body = move || match sharing.get() {
        None => nothing(),
        Some(Shared::Link(link)) => offer_link(link),
        Some(Shared::File(reason)) => all(vec![
            el("p").attr("role", "alert").child(reason).view(),
            el("p")
                .child("Share the episode as a file instead. Importing it shows the same episode.")
                .view(),
            button("primary")
                .on_click(move || {
                    open.set(false);
                    playground.export(Format::Native);
                })
                .child("Save as a file")
                .view(),
        ]),
    };
    view! { <Dialog open=open title="Share this episode">{dynamic(body)}</Dialog> }.into_any()
}

fn offer_link(link: String) -> AnyView {
    let copied = link.clone();
    let input = el("input")
        .attr("type", "text")
        .attr("readonly", "")
        .attr("value", link);
    all(vec![
        el("p")
            .child(
                "The link contains the environment, configuration, seed and actions. Opening it \
                 runs the same episode in the recipient's browser.",
            )
            .view(),
        field("share-link", "Link", input).view(),
        view! { <CopyButton text=Callback::new(move |()| copied.clone()) label="Copy link"/> }
            .into_any(),
    ])
}
