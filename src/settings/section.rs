//! Elements shared by the sections.

use leptos::prelude::*;
use volary_connectivity::Space;

use crate::browser::network;
use crate::components::alert_box::alert_words;
use crate::components::erased::flag;
use crate::components::markup::{Child, El, button, el, nothing};
use crate::projection::notice::Notice;
use crate::secrets::Origin;

/// A section with its heading and description.
pub fn section(id: &'static str, title: &'static str, about: impl Child) -> El {
    el("section")
        .class("settings-section")
        .attr("aria-labelledby", id)
        .child(el("h2").attr("id", id).child(title))
        .child(el("p").class("help").child(about))
}

/// An error notice in place.
pub fn trouble(notice: &Notice) -> El {
    el("div")
        .class("alert inline")
        .attr("role", "alert")
        .child(alert_words(&notice.what, &notice.why, &notice.advice))
}

/// A warning next to key fields if the page was loaded over an insecure connection.
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

/// The text below a key field: its help, or that the key belongs to another address. Both take the same space,
/// so that a button does not move away from a click that blurs the field.
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

/// The text about a key that stays with other origins.
pub fn stays_with(origins: &[Origin]) -> String {
    let origins: Vec<&str> = origins.iter().map(Origin::as_str).collect();
    format!(
        "The key for {} stays with that address. Enter a key for this address, or go back.",
        origins.join(" and ")
    )
}

/// A small button.
pub fn small(name: &'static str, act: impl Fn() + 'static) -> El {
    button("quiet small").on_click(act).child(name)
}

/// An external link, without referrer.
pub fn link_away(address: &str, words: impl Into<String>) -> AnyView {
    el("a")
        .attr("href", address.to_owned())
        .attr("target", "_blank")
        .attr("rel", "noopener noreferrer")
        .child(words.into())
        .view()
}
