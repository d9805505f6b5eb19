//! The dialog in which the user answers a question of an environment: whether a host or a model may be asked, or what
//! the customer says.

use leptos::prelude::*;

use super::outside::{self, Asked, Outside};
use super::state::{Playground, use_playground};
use crate::components::Dialog;
use crate::components::text::inert;
use crate::navigation::{Page, use_pages};

/// The dialog, open while a question waits and the playground is shown.
#[component]
pub fn OutsideDialog() -> impl IntoView {
    let (playground, pages) = (use_playground(), use_pages());
    let waiting = Outside::of(playground).waiting;
    let asked = Memo::new(move |_| {
        waiting.with(|waiting| waiting.first().map(|waiting| waiting.asked.clone()))
    });
    let open = RwSignal::new(false);
    let wanted =
        Memo::new(move |_| asked.with(Option::is_some) && pages.shown.get() == Page::Playground);
    Effect::new(move |_| {
        // The next question opens the dialog again if Escape closed it.
        asked.track();
        open.set(wanted.get());
    });
    Effect::new(move |_| {
        // Closed by Escape or its button, not because another page is shown.
        if !open.get() && wanted.get_untracked() {
            outside::decline(playground);
        }
    });
    let content = move || {
        asked.get().map(|asked| match asked {
            Asked::Host(file) => {
                let text = format!(
                    "The environment wants to read pages of {}. Your browser requests them without cookies. What it \
                     reads becomes part of the episode, so a replay needs no network.",
                    file.host,
                );
                let warning = file.warning();
                let address = inert(&file.url);
                view! {
                    <p>{text}</p>
                    <code dir="auto">{address}</code>
                    {warning.map(|warning| view! { <p class="near-address">{warning}</p> })}
                    <Choice playground allow="Allow"/>
                }
                .into_any()
            }
            Asked::Model {
                purpose,
                connection,
                base_url,
            } => {
                let text = format!(
                    "The environment needs a model as the {purpose}. If you agree, your connection {connection} ({base_url}) \
                     is called with the conversation, at your cost, for the rest of this visit.",
                );
                view! {
                    <p>{text}</p>
                    <Choice playground allow="Allow"/>
                }
                .into_any()
            }
            Asked::Person { shown } => view! { <Customer playground shown=shown.to_string()/> }.into_any(),
        })
    };
    view! {
        <Dialog open title="The environment asks">
            {content}
        </Dialog>
    }
}

/// The buttons of a question about permission.
#[component]
fn Choice(playground: Playground, allow: &'static str) -> impl IntoView {
    view! {
        <div class="button-row">
            <button type="button" on:click=move |_| outside::decline(playground)>
                {"Don't allow"}
            </button>
            <button type="button" class="primary" on:click=move |_| outside::allow(playground)>
                {allow}
            </button>
        </div>
    }
}

/// The user plays the customer.
#[component]
fn Customer(playground: Playground, shown: String) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let is_blank = move || text.with(|text| text.trim().is_empty());
    let send = move |_| {
        if !is_blank() {
            outside::reply(playground, text.get_untracked());
        }
    };
    let shown = inert(&shown);
    view! {
        <p>{"You play the customer. Read what the agent says and answer it."}</p>
        <div class="customer-message" dir="auto">{shown}</div>
        <label class="field">
            <span>{"Your answer"}</span>
            <textarea
                rows={"4"}
                prop:value=move || text.get()
                on:input=move |event| text.set(event_target_value(&event))
            ></textarea>
        </label>
        <div class="button-row">
            <button
                type="button"
                class="primary"
                aria-disabled=move || is_blank().to_string()
                on:click=send
            >
                {"Send"}
            </button>
        </div>
    }
}
