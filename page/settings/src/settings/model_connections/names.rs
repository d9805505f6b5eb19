//! The **Model** field: free text, with suggestions after the provider has listed its models.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_core::json::Text;

use super::super::section::Problem;
use super::Editor;
use super::form::TextInput;
use super::offered_models::{ModelList, OfferedModels, choice_words};
use volary_browser as browser;
use volary_connections::models::{diagnose, list};
use volary_ui::field::Field;

/// The list of models as signals.
#[derive(Clone, Copy)]
pub(super) struct Names {
    state: RwSignal<OfferedModels>,
    listed: Memo<ModelList>,
}

impl Names {
    pub(super) fn new() -> Self {
        let state = RwSignal::new(OfferedModels::default());
        Names {
            state,
            listed: Memo::new(move |_| state.with(|state| state.list().clone())),
        }
    }

    /// Resets the list, because it belongs to another connection.
    pub(super) fn forget(self) {
        self.state.update(OfferedModels::forget);
    }

    /// Requests the list from the provider.
    pub(super) fn ask(self, editor: Editor) {
        let Some(request) = self.state.try_update(OfferedModels::ask) else {
            return;
        };
        let saved = editor.shown_untracked();
        browser::spawn(async move {
            let names = match list::list(&saved).await {
                Ok(names) => Ok(names),
                Err(unanswered) => {
                    let found = diagnose(&saved, untrack(|| saved.has_key()), &unanswered).await;
                    Err(Notice::new(found.what, found.why, found.remedy))
                }
            };
            // The page may have been left.
            self.state
                .try_update(|state| state.answered(request, names));
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
            ModelList::Names(names) => names.shown,
            _ => examples(editor),
        };
        let names = names.into_iter();
        names
            .map(|name| view! { <option value=name.to_string()></option> })
            .collect_view()
    };
    let is_asking = Memo::new(move |_| listed.with(|listed| *listed == ModelList::Asking));
    let failure = move || match listed.get() {
        ModelList::Failed(notice) => Some(view! { <Problem notice/> }),
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
                    ModelList::Names(names) => Some(view! { <Pick editor names/> }),
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
    let first = choice_words(&names);
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
