//! A field at its position in the form, and its error.

use std::sync::Arc;

use leptos::prelude::*;
use volary_view::form::labels::hint;
use volary_view::form::{Field, FieldPath};
use volary_view::plain_words::PlainField;

use super::Editor;
use crate::text::inert;

/// A field and its position in the form.
pub(super) struct Slot {
    pub(super) editor: Editor,
    pub(super) field: Arc<Field>,
    pub(super) place: FieldPath,
    /// The label at this position; entries of a list have no names of their own.
    pub(super) label: Signal<String>,
    /// Content next to the label.
    pub(super) aside: Option<AnyView>,
}

impl Slot {
    /// The id of the field's control.
    pub(super) fn id(&self) -> String {
        self.editor.id(&self.place)
    }

    /// The error of the field.
    pub(super) fn fault(&self) -> Fault {
        let (editor, place) = (self.editor, self.place.clone());
        Fault {
            reason: Memo::new(move |_| editor.form.with(|form| form.error_at(&place))),
            id: StoredValue::new(self.id()),
            helped: self.field.help.is_some() || self.plain().is_some(),
        }
    }

    /// The text of the label, which is untrusted.
    pub(super) fn name(&self) -> AnyView {
        let label = self.label;
        (move || inert(&label.get())).into_any()
    }

    /// The field in plain words, if it has any.
    fn plain(&self) -> Option<&'static PlainField> {
        let mut plain = self.editor.plain.iter();
        plain.find(|(name, ..)| *name == &*self.field.name)
    }

    /// The label and the content next to it. A plain name precedes the field's own, which labels the control.
    pub(super) fn label_row(&mut self, between: Option<AnyView>) -> AnyView {
        let plain = self.plain();
        let plain = plain.map(|(_, plain, _)| view! { <span class="label plain">{*plain}</span> });
        view! {
            <div class="field-label">
                {plain}
                <label for=self.id()>{self.name()}</label>
                <span class="field-hint">{hint(&self.field)}</span>
                {between}
                {self.aside.take()}
            </div>
        }
        .into_any()
    }

    /// The help text, if any.
    pub(super) fn help(&self) -> Option<AnyView> {
        let id = format!("{}-help", self.id());
        let help = match self.plain() {
            Some((_, _, help)) => help,
            None => &**self.field.help.as_ref()?,
        };
        let help = view! {
            <p class="help" dir="auto" id=id>
                {inert(help)}
            </p>
        };
        Some(help.into_any())
    }

    /// Creates the slot of a nested field.
    pub(super) fn within(&self, step: u32, field: &Arc<Field>, label: Signal<String>) -> Slot {
        Slot {
            editor: self.editor,
            field: Arc::clone(field),
            place: self.place.then(step),
            label,
            aside: None,
        }
    }
}

/// The error of a field.
#[derive(Clone, Copy)]
pub(super) struct Fault {
    reason: Memo<Option<String>>,
    /// The id of the control.
    id: StoredValue<String>,
    helped: bool,
}

impl Fault {
    /// Returns whether there is an error.
    pub(super) fn is_there(self) -> bool {
        self.reason.with(Option::is_some)
    }

    /// The classes of the field's container.
    pub(super) fn class(self, classes: &'static str) -> Signal<String> {
        Signal::derive(move || {
            if self.is_there() {
                format!("{classes} invalid")
            } else {
                classes.to_owned()
            }
        })
    }

    /// The value of `aria-invalid`.
    pub(super) fn mark(self) -> Signal<Option<String>> {
        Signal::derive(move || self.is_there().then(|| "true".to_owned()))
    }

    /// The error message below the field.
    pub(super) fn words(self) -> AnyView {
        (move || {
            let reason = self.reason.get()?;
            let id = self.id.with_value(|id| format!("{id}-error"));
            Some(view! {
                <p class="error" dir="auto" id=id>
                    {inert(&reason)}
                </p>
            })
        })
        .into_any()
    }

    /// The value of `aria-describedby`: the ids of the help text and of the error, while there is one.
    pub(super) fn described_by(self) -> Signal<Option<String>> {
        Signal::derive(move || {
            self.id
                .with_value(|id| match (self.helped, self.is_there()) {
                    (true, true) => Some(format!("{id}-help {id}-error")),
                    (true, false) => Some(format!("{id}-help")),
                    (false, true) => Some(format!("{id}-error")),
                    (false, false) => None,
                })
        })
    }
}
