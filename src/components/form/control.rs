//! Controls for values that are selected rather than typed.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_core::Json;

use super::field::{Slot, blank_words};
use crate::components::text::inert;
use crate::projection::form::{Blank, Field, FieldDraft, FieldKind, Shape};
use crate::projection::pretty::one_line;

/// A constant value, which cannot be edited.
pub(super) fn fixed(mut slot: Slot, value: &Json) -> AnyView {
    view! {
        <div class="field">
            <div class="field-label">
                <span class="label">{slot.name()}</span>
                {slot.aside.take()}
            </div>
            <p class="fixed-value">{inert(&one_line(value, 200))}</p>
            {slot.help()}
        </div>
    }
    .into_any()
}

/// A checkbox.
pub(super) fn check_box(mut slot: Slot) -> AnyView {
    let (editor, fault) = (slot.editor, slot.fault());
    let shape = editor.shape(&slot.place);
    let default = slot.field.default.as_ref().and_then(Json::as_bool);
    let checked = move || match shape.get() {
        Shape::Flag(flag) => flag,
        _ => default.unwrap_or_default(),
    };
    let place = slot.place.clone();
    let choose = move |event: Event| {
        editor.put(&place, FieldDraft::Flag(event_target_checked(&event)));
    };
    view! {
        <div class=fault.class("field")>
            <div class="flag-line">
                <input
                    type="checkbox"
                    id=slot.id()
                    aria-invalid=fault.mark()
                    aria-describedby=fault.described_by()
                    prop:checked=checked
                    on:change=choose
                />
                <label for=slot.id()>{slot.name()}</label>
                {slot.aside.take()}
            </div>
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// A select among a few values, or between yes and no for an optional boolean.
pub(super) fn choice(mut slot: Slot) -> AnyView {
    let (editor, fault) = (slot.editor, slot.fault());
    let shape = editor.shape(&slot.place);
    let drafts = options(&slot.field);
    let shapes = drafts
        .iter()
        .map(|(draft, words)| (draft.shape(), words.clone()))
        .collect();
    let place = slot.place.clone();
    let choose = on_choice(move |number: usize| {
        if let Some((draft, _)) = drafts.get(number) {
            editor.put(&place, draft.clone());
        }
    });
    view! {
        <div class=fault.class("field")>
            {slot.label_row(None)}
            <select
                id=slot.id()
                aria-required=slot.field.required.then_some("true")
                aria-invalid=fault.mark()
                aria-describedby=fault.described_by()
                on:change=choose
            >
                {shape_options(shapes, shape)}
            </select>
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// Options for the shapes of a draft, from their labels. The option values are their indices.
pub(super) fn shape_options(options: Vec<(Shape, String)>, chosen: Memo<Shape>) -> AnyView {
    let options = options.into_iter().enumerate();
    let options = options.map(|(number, (shape, words))| {
        view! {
            <option value=number.to_string() selected=move || chosen.get() == shape>
                {inert(&words)}
            </option>
        }
    });
    options.collect_view().into_any()
}

/// The change listener of a select with [`shape_options`]. `choose` receives the selected index.
pub(super) fn on_choice(choose: impl Fn(usize)) -> impl Fn(Event) {
    move |event: Event| {
        if let Ok(number) = event_target_value(&event).parse() {
            choose(number);
        }
    }
}

/// The options with their labels.
fn options(field: &Field) -> Vec<(FieldDraft, String)> {
    let mut options = Vec::new();
    if field.required && !field.nullable {
        options.push((FieldDraft::Blank(Blank::LeftOut), "Choose…".to_owned()));
    }
    for blank in field.blanks() {
        options.push((FieldDraft::Blank(blank), blank_words(field, blank)));
    }
    match &field.kind {
        FieldKind::Choice(values) => {
            for (place, value) in values.iter().enumerate() {
                let words = match value {
                    Json::Text(text) if !text.is_empty() => text.to_string(),
                    other => one_line(other, 200),
                };
                options.push((FieldDraft::Choice(place), words));
            }
        }
        _ => {
            for flag in [true, false] {
                options.push((FieldDraft::Flag(flag), flag.to_string()));
            }
        }
    }
    options
}
