//! Where API keys are stored, and deleting them.

use leptos::ev::Event;
use leptos::prelude::*;

use super::section::{insecure_page, section as settings_section};
use crate::browser::network;
use crate::components::erased::{dynamic, flag, words};
use crate::components::markup::{El, all, button, el, nothing};
use crate::secrets::{self, Keeping};

/// The section.
pub fn section() -> El {
    let about = "API keys of models and servers. A key is only sent to the address that it was \
         entered for and never appears in links, exports or stored episodes.";
    let refused = RwSignal::new(false);
    let choices = Keeping::ALL.map(|keeping| choice(keeping, refused).view());
    let group = el("fieldset")
        .class("choices")
        .child(el("legend").child("Store keys"))
        .child(all(choices.into()));
    let trouble = dynamic(move || match refused.get() {
        true => el("p")
            .class("error")
            .attr("role", "alert")
            .child(
                "The browser refused to store them: its storage is full or blocked. They stay \
                 in memory.",
            )
            .view(),
        false => nothing(),
    });
    let neighbours = format!(
        "Other pages on {} share this page's origin. While this page is open they can read every \
         key, even keys in memory. On hosts such as github.io all sites of one user share an \
         origin: use keys only if you trust all of them, or host this page on its own domain.",
        network::page().origin
    );
    settings_section("settings-keys", "API keys", about)
        .child(el("p").class("help").child(neighbours))
        .child(insecure_page())
        .child(group)
        .child(trouble)
        .child(forget())
}

fn choice(keeping: Keeping, refused: RwSignal<bool>) -> El {
    let (id, name) = match keeping {
        Keeping::Page => (
            "keep-page",
            "In memory, until this page is closed or reloaded",
        ),
        Keeping::Tab => ("keep-tab", "In this tab, until it is closed"),
        Keeping::Device => ("keep-device", "On this device, until you delete them"),
    };
    let origin = network::page().origin;
    let meaning = match keeping {
        Keeping::Page => "Safest. You need to enter them again next time.".to_owned(),
        Keeping::Tab => format!(
            "They survive a reload. Every page on {origin} that is opened in this tab can read \
             them, even after you leave this page."
        ),
        Keeping::Device => format!(
            "They are stored as plain text. Every page on {origin} can read them at any time, \
             whoever made it, and so can anyone who uses this browser."
        ),
    };
    let help_id = format!("{id}-help");
    let radio = el("input")
        .attr("type", "radio")
        .attr("name", "keep-keys")
        .attr("id", id)
        .attr("aria-describedby", help_id.clone())
        .flag_property("checked", flag(move || secrets::keeping() == keeping))
        .on("change", move |_: Event| {
            refused.set(secrets::keep(keeping).is_err());
        });
    el("div")
        .class("choice")
        .child(radio)
        .child(el("label").attr("for", id).child(name))
        .child(el("p").class("help").attr("id", help_id).child(meaning))
}

fn forget() -> El {
    let forgotten = RwSignal::new(false);
    let press = move || {
        secrets::forget_all();
        forgotten.set(true);
    };
    let said = words(move || match (secrets::count(), forgotten.get()) {
        (0, true) => "All keys deleted.".to_owned(),
        (0, false) => "No keys stored.".to_owned(),
        (1, _) => "1 key stored.".to_owned(),
        (count, _) => format!("{count} keys stored."),
    });
    el("div")
        .class("button-row")
        .child(
            button("danger")
                .attr("disabled", flag(|| secrets::count() == 0))
                .on_click(press)
                .child("Delete all keys"),
        )
        .child(
            el("span")
                .attr("role", "status")
                .attr("aria-label", "API keys")
                .child(said),
        )
}
