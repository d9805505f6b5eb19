//! The shapes that the sections share.

use leptos::prelude::*;
use volary_reach::Space;

use crate::browser::network;
use crate::components::alert_box::alert_words;
use crate::components::erased::flag;
use crate::components::markup::{Child, El, button, el, nothing};
use crate::projection::notice::Notice;
use crate::secrets::Origin;

/// A section with its heading, and what it is about.
pub fn section(id: &'static str, title: &'static str, about: impl Child) -> El {
    el("section")
        .class("settings-section")
        .attr("aria-labelledby", id)
        .child(el("h2").attr("id", id).child(title))
        .child(el("p").class("help").child(about))
}

/// What went wrong, why, and what to do, where it happened.
pub fn trouble(notice: &Notice) -> El {
    el("div")
        .class("alert inline")
        .attr("role", "alert")
        .child(alert_words(&notice.what, &notice.why, &notice.advice))
}

/// A warning beside a field for keys, where others on the network can read and change this page; else nothing.
pub fn insecure_page() -> AnyView {
    let page = network::page();
    if page.is_https || page.space == Space::Loopback {
        return nothing();
    }
    el("p")
        .class("error")
        .attr("role", "note")
        .child(
            "This page was loaded over plain http: others on the network can read what you enter \
             and change the page. Open it over https before you enter a key.",
        )
        .view()
}

/// What is said below a field for keys: the help, or in its place where the key is that was entered for another address.
/// It takes the same room, so that a button is still where it was pressed when leaving the field changed this.
pub fn key_help(ids: [&'static str; 2], elsewhere: Signal<String>, help: impl Child) -> El {
    let [elsewhere_id, help_id] = ids;
    let is_elsewhere = flag(move || elsewhere.with(|elsewhere| !elsewhere.is_empty()));
    el("div")
        .class("key-help")
        .child(
            el("p")
                .class("help")
                .attr("id", elsewhere_id)
                .attr("role", "status")
                .attr("aria-label", "Keys for other addresses")
                .child(elsewhere),
        )
        .child(
            el("p")
                .class("help")
                .attr("id", help_id)
                .flag_property("hidden", is_elsewhere)
                .child(help),
        )
}

/// The words for a key that stays with other origins.
pub fn stays_with(origins: &[Origin]) -> String {
    let origins: Vec<&str> = origins.iter().map(Origin::as_str).collect();
    format!(
        "The key for {} stays with that address. Enter a key for this address, or go back.",
        origins.join(" and ")
    )
}

/// A button of little weight.
pub fn small(name: &'static str, act: impl Fn() + 'static) -> El {
    button("quiet small").on_click(act).child(name)
}

/// A link that leads away, and tells that place nothing of this one.
pub fn link_away(address: &str, words: impl Into<String>) -> AnyView {
    el("a")
        .attr("href", address.to_owned())
        .attr("target", "_blank")
        .attr("rel", "noopener noreferrer")
        .child(words.into())
        .view()
}
