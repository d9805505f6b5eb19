//! A form generated from a JSON Schema: one field per property, or the whole value as raw JSON. It edits a [`Form`] and
//! does not depend on the purpose of the value; the `<form>` element and its submit button belong to the caller.
//!
//! - [`field`]: a field with its label, help text and error. [`control`]: selects and checkboxes. [`text_field`]: typed
//!   input.
//! - [`nested`]: groups, tuples and variants. [`entries`]: lists and maps.
//! - [`raw`]: raw JSON.

mod control;
mod entries;
mod field;
mod nested;
mod raw;
mod slot;
mod text_field;

use std::sync::Arc;

use leptos::prelude::*;
use volary_view::form::{Field, FieldDraft, FieldKind, FieldPath, Form, Shape};
use volary_view::plain_words::PlainField;

/// State shared by all fields of a form.
#[derive(Clone, Copy)]
struct Editor {
    form: RwSignal<Form>,
    prefix: StoredValue<String>,
    /// The fields that have plain names, which are shown next to their own.
    plain: &'static [PlainField],
}

impl Editor {
    /// The id of the control at a path.
    fn id(self, place: &FieldPath) -> String {
        self.prefix.with_value(|prefix| place.id(prefix))
    }

    /// The shape of the draft at a path.
    fn shape(self, place: &FieldPath) -> Memo<Shape> {
        let place = place.clone();
        Memo::new(move |_| {
            let shape = self
                .form
                .with(|form| form.draft(&place).map(FieldDraft::shape));
            // The form changed while this field is about to be removed.
            shape.unwrap_or(Shape::Fixed)
        })
    }

    /// Edits the draft at a path.
    fn edit(self, place: &FieldPath, change: impl FnOnce(&mut FieldDraft)) {
        self.form.update(|form| {
            if let Some(draft) = form.draft_mut(place) {
                change(draft);
            }
        });
    }

    /// Replaces the draft at a path.
    fn put(self, place: &FieldPath, new: FieldDraft) {
        self.edit(place, |draft| *draft = new);
    }
}

/// The root field of a form. Equality is identity, so that another schema rebuilds the fields.
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
    form: RwSignal<Form>,
    /// Prefix of the ids of the fields.
    #[prop(into)]
    id_prefix: String,
    /// The legend of the field set.
    #[prop(optional, into)]
    legend: Option<String>,
    /// Whether editing is disabled.
    #[prop(optional, into)]
    disabled: Signal<bool>,
    /// The fields that have plain names.
    #[prop(optional)]
    plain: &'static [PlainField],
) -> impl IntoView {
    let editor = Editor {
        form,
        prefix: StoredValue::new(id_prefix),
        plain,
    };
    let root = Memo::new(move |_| Root(form.with(|form| Arc::clone(form.root()))));
    let is_raw = Memo::new(move |_| form.with(Form::is_raw));
    let fields = move || {
        let Root(root) = root.get();
        if is_raw.get() {
            return raw::raw_view(editor);
        }
        match &root.kind {
            FieldKind::Group(fields) if fields.is_empty() => {
                view! { <p class="faint">"Nothing to fill in."</p> }.into_any()
            }
            FieldKind::Group(fields) => {
                let whole = FieldPath::default();
                let fields = (0..).zip(fields);
                fields
                    .map(|(step, field)| field::field_view(editor, field, whole.then(step)))
                    .collect_view()
                    .into_any()
            }
            _ => field::field_view(editor, &root, FieldPath::default()),
        }
    };
    let whole_error = move || {
        let own = !is_raw.get() && matches!(root.get().0.kind, FieldKind::Group(_));
        let error = form.with(|form| form.error_at(&FieldPath::default()));
        let error = error.filter(|_| own);
        error.map(|error| view! { <p class="error">{error}</p> })
    };
    let class = match legend {
        Some(_) => "schema-form",
        None => "schema-form bare",
    };
    view! {
        <fieldset class=class disabled=disabled>
            {legend.map(|legend| view! { <legend>{legend}</legend> })}
            {fields}
            {whole_error}
            <div class="form-mode">
                <button
                    type="button"
                    class="quiet small"
                    title="Write the values as JSON, a text format for data, instead of filling in fields"
                    aria-pressed=move || is_raw.get().to_string()
                    on:click=move |_| form.update(Form::switch_mode)
                >
                    {"Raw JSON"}
                </button>
            </div>
        </fieldset>
    }
}
