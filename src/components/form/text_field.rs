//! A field for a string, a number or free JSON.

use leptos::ev::{Event, KeyboardEvent};
use leptos::prelude::*;

use super::control::shape_select;
use super::field::{Fault, Slot, blank_words};
use crate::browser;
use crate::components::erased::{dynamic, words};
use crate::components::markup::{El, el, nothing};
use crate::projection::form::{Blank, Draft, Kind, Shape};

/// A text field, with a choice of what it means when blank.
pub(super) fn text_field(mut slot: Slot) -> AnyView {
    let fault = slot.fault();
    let control = match slot.field.kind {
        Kind::Integer | Kind::Number => number_input(&slot),
        Kind::Text { long: true } => text_area(&slot, "4", "auto"),
        Kind::Text { long: false } => text_area(&slot, "1", "auto"),
        _ => text_area(&slot, "1", "ltr"),
    };
    let (editor, field, place) = (slot.editor, slot.field.clone(), slot.place.clone());
    let typed = move |event: Event| {
        let text = event_target_value(&event);
        editor.edit(&place, |draft| draft.set_text(&field, text));
    };
    let control = control
        .attr("id", slot.id())
        .attr("spellcheck", "false")
        .attr("autocapitalize", "off")
        .attr("autocomplete", "off")
        .attr("aria-required", slot.field.required.then_some("true"))
        .attr("aria-invalid", fault.mark())
        .attr("aria-describedby", fault.described_by())
        .text_property("value", text_of(&slot))
        .on("input", typed);
    let blank = blank_choice(&slot, fault);
    el("div")
        .class(fault.class("field"))
        .child(slot.label_row(blank))
        .child(control)
        .child(slot.help())
        .child(fault.words())
        .view()
}

/// The typed text.
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

/// A one-line field for a number. Its type is not `number`, which would drop invalid input and round large
/// values; the form reports errors instead.
fn number_input(slot: &Slot) -> El {
    // If a blank field has several meanings, the choice next to the label states the current one.
    let placeholder = match slot.field.blanks().as_slice() {
        [blank] => Some(blank_words(&slot.field, *blank)),
        _ => None,
    };
    el("input")
        .class("numeric")
        .attr("type", "text")
        .attr("placeholder", placeholder)
}

/// A text area that starts with one line. Enter submits while there is only one line; Shift+Enter adds a line.
fn text_area(slot: &Slot, rows: &'static str, direction: &'static str) -> El {
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
    el("textarea")
        .attr("rows", rows)
        .attr("dir", direction)
        .on("keydown", pressed)
}

/// A choice of what a blank field means, if it could mean several things.
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
        return nothing();
    }
    let optional = !field.required || field.nullable;
    let shown = Memo::new(move |_| match shape.get() {
        Shape::EmptyText => true,
        Shape::Blank(_) => optional || fault.is_there(),
        _ => false,
    });
    dynamic(move || {
        if !shown.get() {
            return nothing();
        }
        let words_of = |meaning: &Shape| match meaning {
            Shape::Blank(blank) => blank_words(&field, *blank),
            _ => "empty string".to_owned(),
        };
        let options = meanings
            .iter()
            .map(|meaning| (*meaning, words_of(meaning)))
            .collect();
        let (meanings, place) = (meanings.clone(), place.clone());
        let choose = move |number: usize| match meanings.get(number) {
            Some(Shape::Blank(blank)) => editor.put(&place, Draft::Blank(*blank)),
            Some(_) => editor.put(&place, Draft::Text(String::new())),
            None => {}
        };
        shape_select(options, shape, choose)
            .class("blank-choice")
            .attr(
                "aria-label",
                words(move || format!("If {} is blank", label.get())),
            )
            .attr("title", "Value used when this field is blank")
            .view()
    })
}
