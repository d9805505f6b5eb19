//! A field with its label, help and error.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::Json;

use super::Editor;
use super::control::{choice, flag, text_field};
use super::entries::{list, map};
use super::nested::{either, group, tuple};
use crate::components::text::inert;
use crate::projection::form::{Blank, Field, Kind, Place};
use crate::projection::pretty::one_line;

/// Draws a field under its own name.
pub(super) fn field_view(editor: Editor, field: &Arc<Field>, place: Place) -> AnyView {
    let name = field.name.to_string();
    labelled_field(editor, field, place, Signal::stored(name), None)
}

/// Draws a field under a label. `aside` stands beside the label.
pub(super) fn labelled_field(
    editor: Editor,
    field: &Arc<Field>,
    place: Place,
    label: Signal<String>,
    aside: Option<AnyView>,
) -> AnyView {
    match &field.kind {
        Kind::Group(fields) => group(editor, field, fields, place, label),
        Kind::Tuple(fields) => tuple(editor, field, fields, place, label),
        Kind::List { item, most, .. } => list(editor, field, item, *most, place, label),
        Kind::Map { value } => map(editor, field, value, place, label),
        Kind::Either(variants) => either(editor, field, variants, place, label),
        Kind::Flag if is_plain_flag(field) => flag(editor, field, place, label),
        Kind::Flag | Kind::Choice(_) => choice(editor, field, place, label, aside),
        Kind::Fixed(value) => {
            let value = one_line(value, 200);
            view! {
                <div class="field">
                    <div class="field-label">
                        <span class="label">{move || shown_name(&label.get())}</span>
                        {aside}
                    </div>
                    <p class="fixed-value">{inert(&value)}</p>
                    {help_text(editor, field, &place)}
                </div>
            }
            .into_any()
        }
        Kind::Text { .. } | Kind::Integer | Kind::Number | Kind::Free => {
            text_field(editor, field, place, label, aside)
        }
    }
}

/// Whether a check box can say all that there is to say.
fn is_plain_flag(field: &Field) -> bool {
    let default = matches!(field.default, Some(Json::Bool(_)));
    !field.nullable && (field.required || default)
}

/// A name as a label shows it: foreign text.
pub(super) fn shown_name(name: &str) -> AnyView {
    inert(name)
}

/// What is said beside a label.
pub(super) fn hint(field: &Field) -> String {
    let kind = match &field.kind {
        Kind::Integer => "whole number",
        Kind::Number => "number",
        Kind::Free => "JSON",
        _ => "",
    };
    let optional = match field.required || field.default.as_ref().is_some_and(|it| !it.is_null()) {
        true => "",
        false => "optional",
    };
    let separator = if kind.is_empty() || optional.is_empty() {
        ""
    } else {
        ", "
    };
    format!("{kind}{separator}{optional}")
}

/// What a field that is left blank means, in words.
pub(super) fn blank_words(field: &Field, blank: Blank) -> String {
    match (blank, &field.default) {
        (Blank::Null, _) => "null".to_owned(),
        (Blank::LeftOut, _) if field.required => "not given".to_owned(),
        (Blank::LeftOut, Some(default)) if !default.is_null() => {
            format!("default: {}", one_line(default, 40))
        }
        (Blank::LeftOut, _) => "left out".to_owned(),
    }
}

/// The help of a field.
pub(super) fn help_text(editor: Editor, field: &Field, place: &Place) -> Option<AnyView> {
    let id = format!("{}-help", editor.id(place));
    let help = field.help.as_ref()?;
    Some(view! { <p class="help" id=id dir="auto">{inert(help)}</p> }.into_any())
}

/// What is wrong with a field.
#[derive(Clone, Copy)]
pub(super) struct Fault {
    reason: Memo<Option<String>>,
}

impl Fault {
    pub(super) fn of(editor: Editor, place: &Place) -> Self {
        let place = place.clone();
        Fault {
            reason: Memo::new(move |_| editor.form.with(|form| form.error_at(&place))),
        }
    }

    /// Whether there is one.
    pub(super) fn is_there(self) -> bool {
        self.reason.with(Option::is_some)
    }

    /// For `aria-invalid`.
    pub(super) fn mark(self) -> Option<&'static str> {
        self.is_there().then_some("true")
    }

    /// The words under the field.
    pub(super) fn words(self, id: String) -> impl IntoView {
        move || {
            let id = id.clone();
            self.reason.get().map(|reason| {
                view! { <p class="error" id=format!("{id}-error")>{inert(&reason)}</p> }
            })
        }
    }

    /// For `aria-describedby`: the help, and the error while there is one.
    pub(super) fn described_by(
        self,
        id: String,
        field: &Field,
    ) -> impl Fn() -> Option<String> + Clone + Send + 'static {
        let help = field.help.is_some();
        move || match (help, self.is_there()) {
            (true, true) => Some(format!("{id}-help {id}-error")),
            (true, false) => Some(format!("{id}-help")),
            (false, true) => Some(format!("{id}-error")),
            (false, false) => None,
        }
    }
}
