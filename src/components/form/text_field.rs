//! A field for a text, a number, or free JSON.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::field::{Fault, Slot, blank_words, hint};
use crate::components::erased::{changed, dynamic, flag, keyed, words};
use crate::projection::form::{Blank, Draft, Kind};
use crate::shell;

/// A text area that grows with what is typed. Enter submits as long as there is one line; Shift and
/// Enter begins another.
pub(super) fn text_field(mut slot: Slot) -> AnyView {
    let (editor, id, fault) = (slot.editor, slot.id(), slot.fault());
    let text = editor.look(&slot.place, |draft| draft.text().to_owned(), String::new());
    // Where a blank field can mean several things, a choice beside the label says which.
    let placeholder = match slot.field.blanks().as_slice() {
        [blank] if !matches!(slot.field.kind, Kind::Text { .. }) => {
            Some(blank_words(&slot.field, *blank))
        }
        _ => None,
    };
    let typed = {
        let (field, place) = (slot.field.clone(), slot.place.clone());
        changed(move |event| {
            let text = event_target_value(&event);
            editor.edit(&place, |draft| draft.set_text(&field, text));
        })
    };
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
    let numeric = matches!(slot.field.kind, Kind::Integer | Kind::Number);
    let aside = slot.aside.take();
    view! {
        <div class="field" class:invalid=fault.flag()>
            <div class="field-label">
                <label for=id.clone()>{slot.name()}</label>
                <span class="field-hint">{hint(&slot.field)}</span>
                {blank_choice(&slot, fault)}
                {aside}
            </div>
            <textarea
                id=id
                class:numeric=numeric
                rows=rows
                dir=direction
                spellcheck="false"
                autocapitalize="off"
                autocomplete="off"
                placeholder=placeholder
                prop:value=words(move || text.get())
                aria-required=slot.field.required.then_some("true")
                aria-invalid=fault.mark()
                aria-describedby=fault.described_by()
                on:input=typed
                on:keydown=pressed
            ></textarea>
            {slot.help()}
            {fault.words()}
        </div>
    }
    .into_any()
}

/// What a text field stands for when nothing is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Something is in it.
    Filled,
    Blank(Blank),
    EmptyText,
}

impl Meaning {
    fn of(draft: &Draft) -> Self {
        match draft {
            Draft::Blank(blank) => Meaning::Blank(*blank),
            Draft::Text(text) if text.is_empty() => Meaning::EmptyText,
            _ => Meaning::Filled,
        }
    }

    fn draft(self) -> Draft {
        match self {
            Meaning::Blank(blank) => Draft::Blank(blank),
            Meaning::EmptyText | Meaning::Filled => Draft::Text(String::new()),
        }
    }
}

/// A choice of what a blank field means, where that could be several things.
fn blank_choice(slot: &Slot, fault: Fault) -> AnyView {
    let (editor, label) = (slot.editor, slot.label);
    let (field, place) = (slot.field.clone(), slot.place.clone());
    let blank = editor.look(&place, Meaning::of, Meaning::Filled);
    let mut meanings: Vec<Meaning> = field.blanks().into_iter().map(Meaning::Blank).collect();
    if meanings.is_empty() {
        meanings.push(Meaning::Blank(Blank::LeftOut));
    }
    if matches!(field.kind, Kind::Text { .. }) {
        meanings.push(Meaning::EmptyText);
    }
    if meanings.len() < 2 {
        return ().into_any();
    }
    let optional = !field.required || field.nullable;
    let shown = Memo::new(move |_| {
        let said = optional || fault.is_there() || blank.get() == Meaning::EmptyText;
        said && blank.get() != Meaning::Filled
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
                    Meaning::Blank(blank) => blank_words(&field, blank),
                    Meaning::EmptyText | Meaning::Filled => "an empty text".to_owned(),
                };
                let chosen = flag(move || blank.get() == meaning);
                view! {
                    <option value=number.to_string() selected=chosen>
                        {words}
                    </option>
                }
            })
            .collect_view();
        let (meanings, place) = (meanings.clone(), place.clone());
        let choose = changed(move |event| {
            let number = event_target_value(&event).parse::<usize>();
            if let Some(meaning) = number.ok().and_then(|number| meanings.get(number)) {
                editor.put(&place, meaning.draft());
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
