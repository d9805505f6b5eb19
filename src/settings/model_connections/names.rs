//! The **Model** field: free text, with suggestions after the provider has listed its models.

use leptos::prelude::*;
use volary_core::json::Text;

use super::super::section::Problem;
use super::Editor;
use super::form::TextInput;
use crate::browser;
use crate::components::field::Field;
use crate::models::{diagnose, list};
use crate::projection::notice::Notice;
use crate::projection::text::count_text;

/// State of the list of models.
#[derive(Clone, Debug, Default, PartialEq)]
enum OfferedModels {
    /// Not requested yet.
    #[default]
    NotYet,
    /// Requested; there is no response yet.
    Asking,
    /// The response.
    Names(list::Names),
    Failed(Notice),
}

#[derive(Clone, Copy)]
pub(super) struct Names {
    listed: RwSignal<OfferedModels>,
    /// Generation counter of requests: late responses to earlier ones are dropped.
    asked: StoredValue<u32>,
}

impl Names {
    pub(super) fn new() -> Self {
        Names {
            listed: RwSignal::default(),
            asked: StoredValue::new(0),
        }
    }

    /// Resets the list, because it belongs to another connection.
    pub(super) fn forget(self) {
        self.asked.update_value(|asked| *asked += 1);
        if self
            .listed
            .with_untracked(|listed| *listed != OfferedModels::NotYet)
        {
            self.listed.set(OfferedModels::NotYet);
        }
    }

    /// Requests the list from the provider.
    pub(super) fn ask(self, editor: Editor) {
        self.forget();
        self.listed.set(OfferedModels::Asking);
        let asked = self.asked.get_value();
        let saved = editor.shown_untracked();
        browser::spawn(async move {
            let listed = match list::list(&saved).await {
                Ok(names) if names.shown.is_empty() => OfferedModels::Failed(Notice::new(
                    "The list of models is empty.",
                    "The server responded but listed no models.",
                    "Install or load a model on the server, or type a name.",
                )),
                Ok(names) => OfferedModels::Names(names),
                Err(unanswered) => {
                    let found = diagnose(&saved, untrack(|| saved.has_key()), &unanswered).await;
                    OfferedModels::Failed(Notice::new(found.what, found.why, found.remedy))
                }
            };
            if self.asked.try_get_value() == Some(asked) {
                self.listed.set(listed);
            }
        });
    }
}

#[component]
pub(super) fn ModelField(editor: Editor) -> impl IntoView {
    let listed = editor.names.listed;
    let take = move |model: String| {
        editor.edit(|saved| saved.connection.model = model.trim().into());
    };
    let suggestions = move || {
        let names = match listed.get() {
            OfferedModels::Names(names) => names.shown,
            _ => examples(editor),
        };
        let names = names.into_iter();
        names
            .map(|name| view! { <option value=name.to_string()></option> })
            .collect_view()
    };
    let is_asking = Memo::new(move |_| listed.with(|listed| *listed == OfferedModels::Asking));
    let failure = move || match listed.get() {
        OfferedModels::Failed(notice) => Some(view! { <Problem notice/> }),
        _ => None,
    };
    view! {
        <Field id="connection-model" label="Model">
            <TextInput
                editor
                id="connection-model"
                value=|saved| saved.connection.model.to_string()
                take
                attr:list="connection-names"
            />
            <datalist id="connection-names">{suggestions}</datalist>
            <div class="button-row">
                <button
                    type="button"
                    class="quiet small"
                    disabled=is_asking
                    on:click=move |_| editor.names.ask(editor)
                >
                    {move || if is_asking.get() { "Loading…" } else { "List models" }}
                </button>
                {move || match listed.get() {
                    OfferedModels::Names(names) => Some(view! { <Pick editor names/> }),
                    _ => None,
                }}
            </div>
            {failure}
        </Field>
    }
}

/// A select of all listed models. The input's suggestions show only models that start with the current text.
#[component]
fn Pick(editor: Editor, names: list::Names) -> impl IntoView {
    let first = match names.more {
        0 => format!("Choose one of {}", count_text(names.shown.len())),
        more => format!(
            "Choose one of the first {}, or type one of the {} others",
            count_text(names.shown.len()),
            count_text(more)
        ),
    };
    let options = names.shown.into_iter();
    let options =
        options.map(|name| view! { <option value=name.to_string()>{name.to_string()}</option> });
    let pick = move |event| {
        let model = event_target_value(&event);
        if !model.is_empty() {
            editor.edit(|saved| saved.connection.model = model.as_str().into());
        }
    };
    view! {
        <select
            class="pick"
            aria-label="Listed models"
            prop:value=move || editor.shown().connection.model.to_string()
            on:change=pick
        >
            <option value="">{first}</option>
            {options.collect_view()}
        </select>
    }
}

fn examples(editor: Editor) -> Vec<Text> {
    let preset = editor.shown().preset;
    let models = preset.map_or(&[][..], |preset| preset.models);
    models.iter().map(|model| (*model).into()).collect()
}
