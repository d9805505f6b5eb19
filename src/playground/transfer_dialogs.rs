//! What Export and Share offer.

use leptos::prelude::*;

use super::state::use_playground;
use super::transfer::{Format, Shared};
use crate::components::erased::{dynamic, pressed, watch};
use crate::components::{CopyButton, Dialog};

/// The formats to export.
#[component]
pub fn ExportDialog() -> impl IntoView {
    let playground = use_playground();
    let choice = move |format: Format, name: &'static str, words: &'static str| {
        view! {
            <li>
                <button type="button" on:click=pressed(move |_| playground.export(format))>
                    {name}
                </button>
                <span class="help">{words}</span>
            </li>
        }
    };
    view! {
        <Dialog open=playground.transfer.exporting title="Export this episode">
            <ul class="choices">
                {choice(
                    Format::Native,
                    "Volary JSON",
                    "Everything: it can be imported, shown and continued.",
                )}
                {choice(
                    Format::Renderer,
                    "Renderer files (zip)",
                    "The frames, as aviary's Renderer writes them.",
                )}
                {choice(
                    Format::Messages,
                    "Messages (JSONL)",
                    "The conversation, as chat models take it.",
                )}
            </ul>
        </Dialog>
    }
}

/// The link, or why there is none.
#[component]
pub fn ShareDialog() -> impl IntoView {
    let playground = use_playground();
    let sharing = playground.transfer.sharing;
    let open = RwSignal::new(false);
    watch(move || {
        if sharing.with(Option::is_some) {
            open.set(true);
        }
    });
    let body = move || match sharing.get() {
        None => ().into_any(),
        Some(Shared::Link(link)) => {
            let copied = link.clone();
            view! {
                <p>"The link holds environment, configuration, seed and actions. Whoever opens it runs the same episode in their own browser."</p>
                <div class="field">
                    <label for="share-link">"Link"</label>
                    <input id="share-link" type="text" readonly prop:value=link/>
                </div>
                <CopyButton text=Callback::new(move |()| copied.clone()) label="Copy link"/>
            }
            .into_any()
        }
        Some(Shared::File(reason)) => view! {
            <p role="alert">{reason}</p>
            <p>"Share the episode as a file instead: whoever imports it sees the same."</p>
            <button
                type="button"
                class="primary"
                on:click=pressed(move |_| {
                    open.set(false);
                    playground.export(Format::Native);
                })
            >
                "Save as a file"
            </button>
        }
        .into_any(),
    };
    view! { <Dialog open=open title="Share this episode">{dynamic(body)}</Dialog> }
}
