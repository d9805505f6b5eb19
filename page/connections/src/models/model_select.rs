//! The choice of a connection for something that asks a model.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_ui::field::Field;
use volary_ui::text::inert;

use super::connections;

/// A list of the connections, or the way to Settings if there is none. Says when the key of the chosen one is missing.
#[component]
pub fn ModelSelect<F: Fn(Text) + Copy + Send + Sync + 'static>(
    id: &'static str,
    /// The id of the chosen connection.
    chosen: Signal<Option<Text>>,
    pick: F,
) -> impl IntoView {
    let options = move || {
        connections::read(|known| {
            let list = known.list().iter();
            list.map(|saved| {
                let text = format!("{}: {}", saved.connection.name, saved.connection.model);
                view! { <option value=saved.id.to_string()>{inert(&text)}</option> }
            })
            .collect_view()
        })
    };
    let has_model = Memo::new(move |_| chosen.with(Option::is_some));
    let key = move || {
        let saved = connections::get(&chosen.get()?)?;
        let is_needed = saved.connection.kind.has_server() && !saved.has_key();
        is_needed.then(|| {
            view! {
                <p class="help">
                    {"There is no API key for this address. "} <a href="#/settings">{"Settings"}</a>
                </p>
            }
        })
    };
    view! {
        <Show
            when=move || has_model.get()
            fallback=|| {
                view! {
                    <p class="help">
                        {"There is no connection to a model yet. "}
                        <a href="#/settings">{"Add one in Settings"}</a>
                    </p>
                }
            }
        >
            <Field id=id label="Connection">
                <select
                    id=id
                    prop:value=move || chosen.get().map(|id| id.to_string()).unwrap_or_default()
                    on:change=move |event| pick(event_target_value(&event).into())
                >
                    {options}
                </select>
            </Field>
            {key}
        </Show>
    }
}
