//! Asks for confirmation before a file of another origin is fetched because of the address.

use leptos::prelude::*;

use super::linked_file::Elsewhere;
use crate::components::markup::{El, button, el};
use crate::components::text::inert_in;
use crate::playground::controls::buttons;
use volary_protocol::library::Origin;

/// The question. `fetch` receives whether to store the contents; `decline` is called on refusal.
pub fn fetch_question(
    file: &Elsewhere,
    fetch: impl Fn(Origin) + 'static,
    decline: impl Fn() + 'static,
) -> El {
    let keeps = RwSignal::new(false);
    let keep = el("input")
        .attr("type", "checkbox")
        .flag_property("checked", keeps.into())
        .on("change", move |event: leptos::ev::Event| {
            keeps.set(event_target_checked(&event));
        });
    let origin = move || match keeps.get_untracked() {
        true => Origin::Imported,
        false => Origin::Linked,
    };
    el("section")
        .class("fetch-question")
        .attr("aria-label", "Fetch a file")
        .child(el("h2").child(format!("Fetch a file from {}?", file.host)))
        .child(inert_in("code", "", &file.url))
        .child(el("p").child(
            "The address of this page refers to this file. Nothing has been requested yet. If you \
             agree, your browser downloads the file from that host, without cookies and up to 2 \
             GB. Its size is shown when the host reports it, and you can cancel.",
        ))
        .child(
            file.warning()
                .map(|warning| el("p").class("near-address").child(warning)),
        )
        .child(
            el("label")
                .class("flag-line")
                .child(keep)
                .child(el("span").child("Store its trajectories in this browser")),
        )
        .child(
            el("p")
                .class("help")
                .child("Otherwise they are available until you leave or reload the page."),
        )
        .child(buttons([
            button("").on_click(decline).child("Don't fetch"),
            button("primary")
                .on_click(move || fetch(origin()))
                .child("Fetch"),
        ]))
}
