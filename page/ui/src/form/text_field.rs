//! A text input for a string, a number or arbitrary JSON.

use leptos::ev::{Event, KeyboardEvent};
use leptos::prelude::*;
use volary_view::form::FieldKind;
use volary_view::form::labels::blank_text;
use volary_view::form::options::{asks_about_blank, blank_options};

use super::control::{on_choice, option_views};
use super::slot::{Fault, Slot};
use volary_browser as browser;

/// A text input, with a select for the meaning of a blank field.
pub(super) fn text_field(mut slot: Slot) -> AnyView {
    let fault = slot.fault();
    let control = match slot.field.kind {
        FieldKind::Integer | FieldKind::Number => number_input(&slot, fault),
        FieldKind::Text { long: true } => text_area(&slot, fault, "4", "auto"),
        FieldKind::Text { long: false } => text_area(&slot, fault, "1", "auto"),
        _ => text_area(&slot, fault, "1", "ltr"),
    };
    let blank = blank_choice(&slot, fault);
    view! {
        <div class=fault.class("field")>
            {slot.label_row(blank)}
            {control}
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// The text of the draft.
fn text_of(slot: &Slot) -> Signal<String> {
    let (editor, place) = (slot.editor, slot.place.clone());
    Signal::derive(move || {
        editor.form.with(|form| {
            let draft = form.draft(&place);
            draft
                .map(|draft| draft.text().to_owned())
                .unwrap_or_default()
        })
    })
}

/// The input listener, which stores the typed text in the form.
fn on_input(slot: &Slot) -> impl Fn(Event) + use<> {
    let (editor, field, place) = (slot.editor, slot.field.clone(), slot.place.clone());
    move |event: Event| {
        let text = event_target_value(&event);
        editor.edit(&place, |draft| draft.set_text(&field, text));
    }
}

/// A single-line input for a number. Its type is not `number`, because that would discard invalid input and round large
/// values; the form reports errors instead.
fn number_input(slot: &Slot, fault: Fault) -> AnyView {
    // If a blank field has several meanings, the select next to the label shows the current one.
    let placeholder = match slot.field.blanks().as_slice() {
        [blank] => Some(blank_text(&slot.field, *blank)),
        _ => None,
    };
    view! {
        <input
            class=if slot.field.is_hidden { "numeric masked" } else { "numeric" }
            type="text"
            placeholder=placeholder
            id=slot.id()
            spellcheck="false"
            autocapitalize="off"
            autocomplete="off"
            aria-required=slot.field.required.then_some("true")
            aria-invalid=fault.mark()
            aria-describedby=fault.described_by()
            prop:value=text_of(slot)
            on:input=on_input(slot)
        />
    }
    .into_any()
}

/// A text area that starts with one line. Enter submits while there is only one line; Shift+Enter inserts a line break.
fn text_area(slot: &Slot, fault: Fault, rows: &'static str, direction: &'static str) -> AnyView {
    let text = text_of(slot);
    let pressed = move |press: KeyboardEvent| {
        let one_line = || !text.with_untracked(|text| text.contains('\n'));
        let sends = press.key() == "Enter"
            && !press.is_composing()
            && !press.shift_key()
            && (press.ctrl_key() || press.meta_key() || one_line());
        if sends && browser::element::submit_form(&press) {
            press.prevent_default();
        }
    };
    view! {
        <textarea
            class=if slot.field.is_hidden { "masked" } else { "" }
            rows=rows
            dir=direction
            id=slot.id()
            spellcheck="false"
            autocapitalize="off"
            autocomplete="off"
            aria-required=slot.field.required.then_some("true")
            aria-invalid=fault.mark()
            aria-describedby=fault.described_by()
            prop:value=text
            on:keydown=pressed
            on:input=on_input(slot)
        ></textarea>
    }
    .into_any()
}

/// A select for the meaning of a blank field, if it has several.
fn blank_choice(slot: &Slot, fault: Fault) -> Option<AnyView> {
    let options = blank_options(&slot.field);
    if options.is_empty() {
        return None;
    }
    let (editor, label) = (slot.editor, slot.label);
    let (field, place) = (slot.field.clone(), slot.place.clone());
    let shape = editor.shape(&place);
    let is_shown = Memo::new(move |_| asks_about_blank(&field, shape.get(), fault.is_there()));
    let select = move || {
        let shown = option_views(&options, shape);
        let choose = on_choice(editor, place.clone(), options.clone());
        view! {
            <select
                class="blank-choice"
                aria-label=move || format!("If {} is blank", label.get())
                title="Value used when this field is blank"
                on:change=choose
            >
                {shown}
            </select>
        }
    };
    Some((move || is_shown.get().then(&select)).into_any())
}
