//! A form generated from a JSON Schema: one field per property, or the whole value as raw JSON. It edits a
//! [`Form`] without knowing the purpose of the value; the `<form>` element and its submit button belong to the
//! caller.
//!
//! - [`field`]: a field with its label, help and error. [`control`]: choices. [`text_field`]: typed input.
//! - [`nested`]: groups, tuples and variants. [`entries`]: lists and maps.
//! - [`raw`]: raw JSON.

mod control;
mod entries;
mod field;
mod nested;
mod raw;
mod text_field;

use std::sync::Arc;

use leptos::prelude::*;

use super::erased::{dynamic, words};
use super::markup::{all, button, el, nothing};
use crate::later::{self, Later};
use crate::projection::form::{Draft, Field, Form, Kind, Place, Shape};

static RAW: Later<fn(Editor) -> AnyView> = Later::new();

pub(crate) fn install() {
    RAW.set(raw::raw_view);
    field::install();
}

/// The state shared by all fields of a form.
#[derive(Clone, Copy)]
struct Editor {
    form: RwSignal<Form>,
    prefix: StoredValue<String>,
}

impl Editor {
    /// The id of the control at a path.
    fn id(self, place: &Place) -> String {
        self.prefix.with_value(|prefix| place.id(prefix))
    }

    /// The shape of the draft at a path.
    fn shape(self, place: &Place) -> Memo<Shape> {
        let place = place.clone();
        Memo::new(move |_| {
            let shape = self.form.with(|form| form.draft(&place).map(Draft::shape));
            // The form changed under a field that is about to be removed.
            shape.unwrap_or(Shape::Fixed)
        })
    }

    /// Edits the draft at a path.
    fn edit(self, place: &Place, change: impl FnOnce(&mut Draft)) {
        self.form.update(|form| {
            if let Some(draft) = form.draft_mut(place) {
                change(draft);
            }
        });
    }

    /// Replaces the draft at a path.
    fn put(self, place: &Place, new: Draft) {
        self.edit(place, |draft| *draft = new);
    }
}

/// The root of a form; equal only if identical, so that another schema rebuilds the fields.
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
    /// The form.
    form: RwSignal<Form>,
    /// The prefix of the ids of its fields.
    #[prop(into)]
    id_prefix: String,
    /// The name of the group of fields.
    #[prop(optional, into)]
    legend: Option<String>,
    /// Whether editing is disabled.
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
            return RAW.get().map_or_else(nothing, |view| view(editor));
        }
        match &root.kind {
            Kind::Group(fields) if fields.is_empty() => {
                el("p").class("faint").child("Nothing to fill in.").view()
            }
            Kind::Group(fields) => {
                let whole = Place::default();
                let fields = (0..).zip(fields);
                all(fields
                    .map(|(step, field)| field::field_view(editor, field, whole.then(step)))
                    .collect())
            }
            _ => field::field_view(editor, &root, Place::default()),
        }
    });
    let whole_error = dynamic(move || {
        let own = !is_raw.get() && matches!(root.get().0.kind, Kind::Group(_));
        let error = form.with(|form| form.error_at(&Place::default()));
        match error.filter(|_| own) {
            Some(error) => el("p").class("error").child(error).view(),
            None => nothing(),
        }
    });
    let switch = move || later::once_here(move || form.update(Form::switch_mode));
    let mode = button("quiet small")
        .attr("aria-pressed", words(move || is_raw.get().to_string()))
        .on_click(switch)
        .child("Raw JSON");
    let class = match legend {
        Some(_) => "schema-form",
        None => "schema-form bare",
    };
    el("fieldset")
        .class(class)
        .attr("disabled", disabled)
        .child(legend.map(|legend| el("legend").child(legend)))
        .child(fields)
        .child(whole_error)
        .child(el("div").class("form-mode").child(mode))
        .view()
}
