//! The whole value as JSON text.

use leptos::prelude::*;

use super::Editor;
use crate::components::erased::{changed, dynamic, maybe, words};
use crate::projection::form::{Mode, Place};

/// A text area with the value.
pub(super) fn raw_view(editor: Editor) -> AnyView {
    let Editor { form, .. } = editor;
    let id = editor.id(&Place::default());
    let error_id = format!("{id}-error");
    let text = words(move || {
        form.with(|form| match form.mode() {
            Mode::Raw(text) => text.clone(),
            Mode::Fields(_) => String::new(),
        })
    });
    // All errors of raw JSON are errors of the whole.
    let errors = move || form.with(|form| form.errors());
    let wrong = maybe(move || (!errors().is_empty()).then_some("true"));
    let reasons = dynamic(move || {
        errors()
            .into_iter()
            .map(|error| view! { <p class="error">{error.reason}</p> }.into_any())
            .collect_view()
            .into_any()
    });
    let typed = changed(move |event| {
        let text = event_target_value(&event);
        form.update(|form| form.set_raw(text));
    });
    view! {
        <div class="field raw-field">
            <label for=id.clone()>"JSON"</label>
            <textarea
                id=id
                rows="4"
                spellcheck="false"
                autocapitalize="off"
                autocomplete="off"
                prop:value=text
                aria-invalid=wrong
                aria-describedby=error_id.clone()
                on:input=typed
            ></textarea>
            <div id=error_id>{reasons}</div>
        </div>
    }
    .into_any()
}
