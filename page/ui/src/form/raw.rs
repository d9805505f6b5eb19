//! Editor of the whole value as JSON text.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_view::form::{FieldPath, Mode};

use super::Editor;

/// A text area with the value.
pub(super) fn raw_view(editor: Editor) -> AnyView {
    let Editor { form, .. } = editor;
    let id = editor.id(&FieldPath::default());
    let error_id = format!("{id}-error");
    let text = move || {
        form.with(|form| match form.mode() {
            Mode::Raw(text) => text.clone(),
            Mode::Fields(_) => String::new(),
        })
    };
    // Errors of raw JSON apply to the whole value.
    let errors = move || form.with(|form| form.errors());
    let is_wrong = move || (!errors().is_empty()).then_some("true");
    let reasons = move || {
        let reasons = errors().into_iter().map(|error| error.reason);
        reasons
            .map(|reason| view! { <p class="error">{reason}</p> })
            .collect_view()
    };
    let typed = move |event: Event| {
        let text = event_target_value(&event);
        form.update(|form| form.set_raw(text));
    };
    view! {
        <div class="field raw-field">
            <label for=id.clone()>{"JSON"}</label>
            <textarea
                id=id
                rows="4"
                spellcheck="false"
                autocapitalize="off"
                autocomplete="off"
                aria-invalid=is_wrong
                aria-describedby=error_id.clone()
                prop:value=text
                on:input=typed
            ></textarea>
            <div id=error_id>{reasons}</div>
        </div>
    }
    .into_any()
}
