//! Controls for single values that are chosen, not typed.

use leptos::prelude::*;
use volary_core::Json;

use super::field::{Slot, blank_words, hint};
use crate::components::erased::{changed, flag};
use crate::components::text::inert;
use crate::projection::form::{Blank, Draft, Field, Kind, Shape};
use crate::projection::pretty::one_line;

/// What can't be chosen.
pub(super) fn fixed(mut slot: Slot, value: &Json) -> AnyView {
    let aside = slot.aside.take();
    view! {
        <div class="field">
            <div class="field-label">
                <span class="label">{slot.name()}</span>
                {aside}
            </div>
            <p class="fixed-value">{inert(&one_line(value, 200))}</p>
            {slot.help()}
        </div>
    }
    .into_any()
}

/// A check box.
pub(super) fn check_box(mut slot: Slot) -> AnyView {
    let (editor, id, fault) = (slot.editor, slot.id(), slot.fault());
    let shape = editor.shape(&slot.place);
    let default = slot.field.default.as_ref().and_then(Json::as_bool);
    let checked = flag(move || match shape.get() {
        Shape::Flag(flag) => flag,
        _ => default.unwrap_or_default(),
    });
    let place = slot.place.clone();
    let choose = changed(move |event| {
        editor.put(&place, Draft::Flag(event_target_checked(&event)));
    });
    let aside = slot.aside.take();
    view! {
        <div class="field" class:invalid=fault.flag()>
            <div class="flag-line">
                <input
                    type="checkbox"
                    id=id.clone()
                    prop:checked=checked
                    aria-invalid=fault.mark()
                    aria-describedby=fault.described_by()
                    on:change=choose
                />
                <label for=id>{slot.name()}</label>
                {aside}
            </div>
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// A choice among a few values; also yes or no where neither may be given.
pub(super) fn choice(mut slot: Slot) -> AnyView {
    let (editor, id, fault) = (slot.editor, slot.id(), slot.fault());
    let shape = editor.shape(&slot.place);
    let drafts = options(&slot.field);
    let options = drafts
        .iter()
        .enumerate()
        .map(|(number, (draft, words))| {
            let own = draft.shape();
            let chosen = flag(move || shape.get() == own);
            view! {
                <option value=number.to_string() selected=chosen>
                    {inert(words)}
                </option>
            }
            .into_any()
        })
        .collect_view();
    let place = slot.place.clone();
    let choose = changed(move |event| {
        let number = event_target_value(&event).parse::<usize>();
        if let Some((draft, _)) = number.ok().and_then(|number| drafts.get(number)) {
            editor.put(&place, draft.clone());
        }
    });
    let aside = slot.aside.take();
    view! {
        <div class="field" class:invalid=fault.flag()>
            <div class="field-label">
                <label for=id.clone()>{slot.name()}</label>
                <span class="field-hint">{hint(&slot.field)}</span>
                {aside}
            </div>
            <select
                id=id
                aria-required=slot.field.required.then_some("true")
                aria-invalid=fault.mark()
                aria-describedby=fault.described_by()
                on:change=choose
            >
                {options}
            </select>
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// What can be chosen, each with its words.
fn options(field: &Field) -> Vec<(Draft, String)> {
    let mut options = Vec::new();
    if field.required && !field.nullable {
        options.push((Draft::Blank(Blank::LeftOut), "Choose…".to_owned()));
    }
    for blank in field.blanks() {
        options.push((Draft::Blank(blank), blank_words(field, blank)));
    }
    match &field.kind {
        Kind::Choice(values) => {
            for (place, value) in values.iter().enumerate() {
                let words = match value {
                    Json::Text(text) if !text.is_empty() => text.to_string(),
                    other => one_line(other, 200),
                };
                options.push((Draft::Choice(place), words));
            }
        }
        _ => {
            for flag in [true, false] {
                options.push((Draft::Flag(flag), flag.to_string()));
            }
        }
    }
    options
}
