//! The whole value as JSON text.

use leptos::ev::Event;
use leptos::prelude::*;

use super::Editor;
use crate::components::erased::{dynamic, maybe_words, words};
use crate::components::markup::{all, el};
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
    // All errors of raw JSON belong to the whole value.
    let errors = move || form.with(|form| form.errors());
    let wrong = maybe_words(move || (!errors().is_empty()).then(|| "true".to_owned()));
    let reasons = dynamic(move || {
        let reasons = errors().into_iter().map(|error| error.reason);
        all(reasons
            .map(|reason| el("p").class("error").child(reason).view())
            .collect())
    });
    let typed = move |event: Event| {
        let text = event_target_value(&event);
        form.update(|form| form.set_raw(text));
    };
    let text_area = el("textarea")
        .attr("id", id.clone())
        .attr("rows", "4")
        .attr("spellcheck", "false")
        .attr("autocapitalize", "off")
        .attr("autocomplete", "off")
        .attr("aria-invalid", wrong)
        .attr("aria-describedby", error_id.clone())
        .text_property("value", text)
        .on("input", typed);
    el("div")
        .class("field raw-field")
        .child(el("label").attr("for", id).child("JSON"))
        .child(text_area)
        .child(el("div").attr("id", error_id).child(reasons))
        .view()
}
