//! A field for a text, a number, or free JSON.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::field::{Fault, Slot, blank_words, hint};
use crate::components::erased::{changed, dynamic, flag, keyed, words};
use crate::projection::form::{Blank, Draft, Kind, Shape};
use crate::shell;

/// A field that is typed into, with a choice of what it means to leave it blank.
pub(super) fn text_field(mut slot: Slot) -> AnyView {
    let fault = slot.fault();
    let control = match slot.field.kind {
        Kind::Integer | Kind::Number => number_input(&slot, fault),
        _ => text_area(&slot, fault),
    };
    let aside = slot.aside.take();
    view! {
        <div class="field" class:invalid=fault.flag()>
            <div class="field-label">
                <label for=slot.id()>{slot.name()}</label>
                <span class="field-hint">{hint(&slot.field)}</span>
                {blank_choice(&slot, fault)}
                {aside}
            </div>
            {control}
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// What was typed.
fn text_of(slot: &Slot) -> Signal<String> {
    let (editor, place) = (slot.editor, slot.place.clone());
    words(move || {
        editor.form.with(|form| {
            let draft = form.draft(&place);
            draft
                .map(|draft| draft.text().to_owned())
                .unwrap_or_default()
        })
    })
}

fn take_text(slot: &Slot) -> Box<dyn FnMut(leptos::ev::Event)> {
    let (editor, field, place) = (slot.editor, slot.field.clone(), slot.place.clone());
    changed(move |event| {
        let text = event_target_value(&event);
        editor.edit(&place, |draft| draft.set_text(&field, text));
    })
}

/// One line for a number. It is not of type `number`: that would lose what is no number, and round
/// large ones; the form says what is wrong instead.
fn number_input(slot: &Slot, fault: Fault) -> AnyView {
    // Where a blank field can mean several things, the choice beside the label says which.
    let placeholder = match slot.field.blanks().as_slice() {
        [blank] => Some(blank_words(&slot.field, *blank)),
        _ => None,
    };
    view! {
        <input
            type="text"
            id=slot.id()
            class="numeric"
            spellcheck="false"
            autocomplete="off"
            placeholder=placeholder
            prop:value=text_of(slot)
            aria-required=slot.field.required.then_some("true")
            aria-invalid=fault.mark()
            aria-describedby=fault.described_by()
            on:input=take_text(slot)
        />
    }
    .into_any()
}

/// A text area that looks like one line until there are more. Enter submits as long as there is one
/// line; Shift and Enter begins another.
fn text_area(slot: &Slot, fault: Fault) -> AnyView {
    let text = text_of(slot);
    let pressed = keyed(move |press: KeyboardEvent| {
        let one_line = || !text.with_untracked(|text| text.contains('\n'));
        let sends = press.key() == "Enter"
            && !press.is_composing()
            && !press.shift_key()
            && (press.ctrl_key() || press.meta_key() || one_line());
        if sends && shell::element::submit_form(&press) {
            press.prevent_default();
        }
    });
    let (rows, direction) = match slot.field.kind {
        Kind::Text { long: true } => ("4", "auto"),
        Kind::Text { long: false } => ("1", "auto"),
        _ => ("1", "ltr"),
    };
    view! {
        <textarea
            id=slot.id()
            rows=rows
            dir=direction
            spellcheck="false"
            autocapitalize="off"
            autocomplete="off"
            prop:value=text
            aria-required=slot.field.required.then_some("true")
            aria-invalid=fault.mark()
            aria-describedby=fault.described_by()
            on:input=take_text(slot)
            on:keydown=pressed
        ></textarea>
    }
    .into_any()
}

/// A choice of what a blank field means, where that could be several things.
fn blank_choice(slot: &Slot, fault: Fault) -> AnyView {
    let (editor, label) = (slot.editor, slot.label);
    let (field, place) = (slot.field.clone(), slot.place.clone());
    let shape = editor.shape(&place);
    let mut meanings: Vec<Shape> = field.blanks().into_iter().map(Shape::Blank).collect();
    if meanings.is_empty() {
        meanings.push(Shape::Blank(Blank::LeftOut));
    }
    if matches!(field.kind, Kind::Text { .. }) {
        meanings.push(Shape::EmptyText);
    }
    if meanings.len() < 2 {
        return ().into_any();
    }
    let optional = !field.required || field.nullable;
    let shown = Memo::new(move |_| match shape.get() {
        Shape::EmptyText => true,
        Shape::Blank(_) => optional || fault.is_there(),
        _ => false,
    });
    dynamic(move || {
        if !shown.get() {
            return ().into_any();
        }
        let options = meanings
            .iter()
            .enumerate()
            .map(|(number, meaning)| {
                let meaning = *meaning;
                let words = match meaning {
                    Shape::Blank(blank) => blank_words(&field, blank),
                    _ => "an empty text".to_owned(),
                };
                let chosen = flag(move || shape.get() == meaning);
                view! {
                    <option value=number.to_string() selected=chosen>
                        {words}
                    </option>
                }
                .into_any()
            })
            .collect_view();
        let (meanings, place) = (meanings.clone(), place.clone());
        let choose = changed(move |event| {
            let number = event_target_value(&event).parse::<usize>();
            match number.ok().and_then(|number| meanings.get(number)) {
                Some(Shape::Blank(blank)) => editor.put(&place, Draft::Blank(*blank)),
                Some(_) => editor.put(&place, Draft::Text(String::new())),
                None => {}
            }
        });
        view! {
            <select
                class="blank-choice"
                aria-label=words(move || format!("What no {} means", label.get()))
                title="What it means to leave this blank"
                on:change=choose
            >
                {options}
            </select>
        }
        .into_any()
    })
}
