//! A form made from a JSON Schema: one field for each property, labelled with its name, or the whole
//! as raw JSON. It edits a [`Form`] and knows nothing of what the value is for; the `<form>` around it
//! and its button are the caller's.
//!
//! - [`field`]: a field with its label, help and error. [`control`]: what is filled in;
//!   [`text_field`]: what is typed.
//! - [`nested`]: groups, tuples, one of several kinds; [`entries`]: lists and maps.
//! - [`raw`]: the whole as JSON.

mod control;
mod entries;
mod field;
mod nested;
mod raw;
mod text_field;

use std::sync::Arc;

use leptos::prelude::*;

use super::erased::{dynamic, flag, pressed, words};
use crate::projection::form::{Draft, Field, Form, Kind, Place, Shape};

/// What all fields of a form share.
#[derive(Clone, Copy)]
struct Editor {
    form: RwSignal<Form>,
    prefix: StoredValue<String>,
}

impl Editor {
    /// The id of the control at a place.
    fn id(self, place: &Place) -> String {
        self.prefix.with_value(|prefix| place.id(prefix))
    }

    /// The shape of what was filled in at a place.
    fn shape(self, place: &Place) -> Memo<Shape> {
        let place = place.clone();
        Memo::new(move |_| {
            let shape = self.form.with(|form| form.draft(&place).map(Draft::shape));
            // Of a form that changes under a field which is about to go.
            shape.unwrap_or(Shape::Fixed)
        })
    }

    /// Changes what was filled in at a place.
    fn edit(self, place: &Place, change: impl FnOnce(&mut Draft)) {
        self.form.update(|form| {
            if let Some(draft) = form.draft_mut(place) {
                change(draft);
            }
        });
    }

    /// Puts a draft at a place.
    fn put(self, place: &Place, new: Draft) {
        self.edit(place, |draft| *draft = new);
    }
}

/// The root of a form; equal only if it is the very same, so that another schema draws other fields.
#[derive(Clone)]
struct Root(Arc<Field>);

impl PartialEq for Root {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The fields of a form.
#[component]
pub fn SchemaForm(
    /// What is edited.
    form: RwSignal<Form>,
    /// What the ids of its fields begin with.
    #[prop(into)]
    id_prefix: String,
    /// The name of the group of fields.
    #[prop(optional, into)]
    legend: Option<String>,
    /// Whether nothing can be changed now.
    #[prop(optional, into)]
    disabled: Signal<bool>,
) -> impl IntoView {
    let editor = Editor {
        form,
        prefix: StoredValue::new(id_prefix),
    };
    let root = Memo::new(move |_| Root(form.with(|form| Arc::clone(form.root()))));
    let is_raw = Memo::new(move |_| form.with(Form::is_raw));
    let fields = dynamic(move || {
        let Root(root) = root.get();
        if is_raw.get() {
            return raw::raw_view(editor);
        }
        match &root.kind {
            Kind::Group(fields) if fields.is_empty() => {
                view! { <p class="faint">"Nothing to fill in."</p> }.into_any()
            }
            Kind::Group(fields) => (0..)
                .zip(fields)
                .map(|(step, field)| field::field_view(editor, field, Place::default().then(step)))
                .collect_view()
                .into_any(),
            _ => field::field_view(editor, &root, Place::default()),
        }
    });
    let whole_error = dynamic(move || {
        let own = !is_raw.get() && matches!(root.get().0.kind, Kind::Group(_));
        let error = form.with(|form| form.error_at(&Place::default()));
        error
            .filter(|_| own)
            .map(|error| view! { <p class="error">{error}</p> })
            .into_any()
    });
    let switch = pressed(move |_| {
        form.update(|form| match form.is_raw() {
            true => _ = form.edit_fields(),
            false => form.edit_raw(),
        });
    });
    let bare = legend.is_none();
    view! {
        <fieldset class="schema-form" class:bare=bare disabled=flag(move || disabled.get())>
            {legend.map(|legend| view! { <legend>{legend}</legend> })}
            {fields}
            {whole_error}
            <div class="form-mode">
                <button
                    type="button"
                    class="quiet small"
                    aria-pressed=words(move || is_raw.get().to_string())
                    on:click=switch
                >
                    "Raw JSON"
                </button>
            </div>
        </fieldset>
    }
    .into_any()
}
