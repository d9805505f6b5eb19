//! Components shared by the sections.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_connectivity::Space;

use volary_browser::network;
use volary_secrets::KeyOrigin;
use volary_ui::alert_box::AlertWords;

/// A section with its heading and description.
#[component]
pub(super) fn Section(
    /// The id of the heading.
    id: &'static str,
    title: &'static str,
    #[prop(into)] about: String,
    children: Children,
) -> impl IntoView {
    view! {
        <section class="settings-section" aria-labelledby=id>
            <h2 id=id>{title}</h2>
            <p class="help">{about}</p>
            {children()}
        </section>
    }
}

/// An inline error notice.
#[component]
pub(super) fn Problem(notice: Notice) -> impl IntoView {
    let Notice { what, why, advice } = notice;
    view! {
        <div class="alert inline" role="alert">
            <AlertWords what why advice/>
        </div>
    }
}

/// A warning next to key fields, shown if the page was loaded over an insecure connection.
#[component]
pub(super) fn InsecurePage() -> impl IntoView {
    let page = network::page();
    let is_secure = page.is_https || page.space == Space::Loopback;
    (!is_secure).then(|| {
        view! {
            <p class="error" role="note">
                "This page was loaded over plain http: others on the network can read what you "
                "enter and change the page. Open it over https before you enter a key."
            </p>
        }
    })
}

/// The text below a key field: its help text, or that the key belongs to another address. Both have the same height, so
/// that a button does not move away from a click that blurs the field.
#[component]
pub(super) fn ApiKeyHelp(
    elsewhere_id: &'static str,
    /// The address that the key belongs to; empty if it is the current one.
    #[prop(into)]
    elsewhere: Signal<String>,
    help_id: &'static str,
    children: Children,
) -> impl IntoView {
    let is_elsewhere = move || elsewhere.with(|elsewhere| !elsewhere.is_empty());
    view! {
        <div class="key-help">
            <p class="help" id=elsewhere_id role="status" aria-label="Keys for other addresses">
                {elsewhere}
            </p>
            <p class="help" id=help_id prop:hidden=is_elsewhere>
                {children()}
            </p>
        </div>
    }
}

/// A message that a key stays with other origins.
pub fn stays_with(origins: &[KeyOrigin]) -> String {
    let origins: Vec<&str> = origins.iter().map(KeyOrigin::as_str).collect();
    format!(
        "The key for {} stays with that address. Enter a key for this address, or go back.",
        origins.join(" and ")
    )
}

/// An external link without a referrer.
#[component]
pub(super) fn LinkAway(#[prop(into)] address: String, words: String) -> impl IntoView {
    view! {
        <a href=address target="_blank" rel="noopener noreferrer">
            {words}
        </a>
    }
}
