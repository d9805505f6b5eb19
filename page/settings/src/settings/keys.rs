//! The **API keys** section: where keys are stored, and deletion.

use leptos::prelude::*;

use super::section::{InsecurePage, Section};
use volary_browser::network;
use volary_secrets::{self as secrets, Keeping};

#[component]
pub(super) fn Keys() -> impl IntoView {
    let about = "API keys of models and servers. A key is only sent to the address that it was \
         entered for and never appears in links, exports or stored episodes.";
    let refused = RwSignal::new(false);
    let neighbours = format!(
        "Other pages on {} share this page's origin. While this page is open they can read every \
         key, even keys in memory. On hosts such as github.io all sites of one user share an \
         origin: use keys only if you trust all of them, or host this page on its own domain.",
        network::page().origin
    );
    let choices = Keeping::ALL.map(|keeping| view! { <Choice keeping refused/> });
    view! {
        <Section id="settings-keys" title="API keys" about>
            <p class="help">{neighbours}</p>
            <InsecurePage/>
            <fieldset class="choices">
                <legend>{"Store keys"}</legend>
                {choices.into_iter().collect_view()}
            </fieldset>
            <Show when=move || refused.get()>
                <p class="error" role="alert">
                    {"The browser refused to store them: its storage is full or blocked. They stay \
                      in memory."}
                </p>
            </Show>
            <Show when=secrets::has_unreadable>
                <p class="error" role="alert">
                    {"Another version of this page stored keys that this version cannot read in \
                      full. They are left unchanged, and keys that you enter stay in memory. Delete \
                      all keys to store keys again."}
                </p>
            </Show>
            <Deletion/>
        </Section>
    }
}

#[component]
fn Choice(
    keeping: Keeping,
    /// Whether the browser refused to store keys.
    refused: RwSignal<bool>,
) -> impl IntoView {
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
    view! {
        <div class="choice">
            <input
                type="radio"
                name="keep-keys"
                id=id
                aria-describedby=help_id.clone()
                prop:checked=move || secrets::keeping() == keeping
                on:change=move |_| refused.set(secrets::keep(keeping).is_err())
            />
            <label for=id>{name}</label>
            <p class="help" id=help_id>
                {meaning}
            </p>
        </div>
    }
}

#[component]
fn Deletion() -> impl IntoView {
    let is_done = RwSignal::new(false);
    let delete = move |_| {
        secrets::forget_all();
        is_done.set(true);
    };
    let status = move || match (secrets::count(), is_done.get()) {
        (0, true) => "All keys deleted.".to_owned(),
        (0, false) => "No keys stored.".to_owned(),
        (1, _) => "1 key stored.".to_owned(),
        (count, _) => format!("{count} keys stored."),
    };
    view! {
        <div class="button-row">
            <button
                type="button"
                class="danger"
                disabled=|| secrets::count() == 0
                on:click=delete
            >
                {"Delete all keys"}
            </button>
            <span role="status" aria-label="API keys">
                {status}
            </span>
        </div>
    }
}
