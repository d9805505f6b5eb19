//! Controls for values that are selected rather than typed.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_core::Json;
use volary_view::form::options::{FieldOption, value_options};
use volary_view::form::{FieldDraft, FieldPath, Shape};
use volary_view::pretty::one_line;

use super::Editor;
use super::slot::Slot;
use crate::text::inert;

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
    let options = value_options(&slot.field);
    let shown = option_views(&options, shape);
    let choose = on_choice(editor, slot.place.clone(), options);
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
                {shown}
            </select>
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// The options of a select. The option values are their indices.
pub(super) fn option_views(options: &[FieldOption], chosen: Memo<Shape>) -> AnyView {
    let options = options.iter().enumerate();
    let options = options.map(|(number, option)| {
        let shape = option.draft.shape();
        view! {
            <option value=number.to_string() selected=move || chosen.get() == shape>
                {inert(&option.text)}
            </option>
        }
    });
    options.collect_view().into_any()
}

/// The change listener of a select with [`option_views`]: puts the draft of the chosen option into the field.
pub(super) fn on_choice(
    editor: Editor,
    place: FieldPath,
    options: Vec<FieldOption>,
) -> impl Fn(Event) {
    move |event: Event| {
        let number: Result<usize, _> = event_target_value(&event).parse();
        if let Some(option) = number.ok().and_then(|number| options.get(number)) {
            editor.put(&place, option.draft.clone());
        }
    }
}
