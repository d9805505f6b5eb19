//! Controls for single values: texts, numbers, free JSON; yes or no; a choice.

use std::sync::Arc;

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use volary_core::Json;

use super::Editor;
use super::field::{Fault, blank_words, help_text, hint, shown_name};
use crate::components::text::inert;
use crate::projection::form::{Blank, Draft, Field, Kind, Place};
use crate::projection::pretty::one_line;
use crate::shell;

/// A field for a text, a number, or free JSON. It grows with what is typed; Enter submits as long as
/// there is one line, Shift and Enter begins another.
pub(super) fn text_field(
    editor: Editor,
    field: &Arc<Field>,
    place: Place,
    label: Signal<String>,
    aside: Option<AnyView>,
) -> AnyView {
    let id = editor.id(&place);
    let fault = Fault::of(editor, &place);
    let text = editor.look(&place, |draft| draft.text().to_owned(), String::new());
    let blank = editor.look(&place, Meaning::of, Meaning::Filled);
    // Where a blank field can mean several things, a choice beside the label says which.
    let placeholder = match field.blanks().as_slice() {
        [blank] if !matches!(field.kind, Kind::Text { .. }) => Some(blank_words(field, *blank)),
        _ => None,
    };
    let typed = {
        let (field, place) = (Arc::clone(field), place.clone());
        move |event| {
            let text = event_target_value(&event);
            editor.edit(&place, |draft| draft.set_text(&field, text));
        }
    };
    let pressed = move |press: KeyboardEvent| {
        let sends = press.key() == "Enter"
            && !press.is_composing()
            && !press.shift_key()
            && (press.ctrl_key()
                || press.meta_key()
                || !text.with_untracked(|text| text.contains('\n')));
        if sends && shell::element::submit_form(&press) {
            press.prevent_default();
        }
    };
    let (rows, prose) = match field.kind {
        Kind::Text { long } => (if long { "4" } else { "1" }, true),
        _ => ("1", false),
    };
    let numeric = matches!(field.kind, Kind::Integer | Kind::Number);
    view! {
        <div class="field" class:invalid=move || fault.is_there()>
            <div class="field-label">
                <label for=id.clone()>{move || shown_name(&label.get())}</label>
                <span class="field-hint">{hint(field)}</span>
                {blank_choice(editor, field, &place, label, fault, blank)}
                {aside}
            </div>
            <textarea
                id=id.clone()
                class:numeric=numeric
                rows=rows
                dir=if prose { "auto" } else { "ltr" }
                spellcheck="false"
                autocapitalize="off"
                autocomplete="off"
                placeholder=placeholder
                prop:value=text
                aria-required=field.required.then_some("true")
                aria-invalid=move || fault.mark()
                aria-describedby=fault.described_by(id.clone(), field)
                on:input=typed
                on:keydown=pressed
            ></textarea>
            {help_text(editor, field, &place)}
            {fault.words(id)}
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

    const fn value(self) -> &'static str {
        match self {
            Meaning::Filled => "",
            Meaning::Blank(Blank::LeftOut) => "left-out",
            Meaning::Blank(Blank::Null) => "null",
            Meaning::EmptyText => "empty",
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
fn blank_choice(
    editor: Editor,
    field: &Arc<Field>,
    place: &Place,
    label: Signal<String>,
    fault: Fault,
    blank: Memo<Meaning>,
) -> impl IntoView + use<> {
    let mut meanings: Vec<Meaning> = field.blanks().into_iter().map(Meaning::Blank).collect();
    if meanings.is_empty() {
        meanings.push(Meaning::Blank(Blank::LeftOut));
    }
    if matches!(field.kind, Kind::Text { .. }) {
        meanings.push(Meaning::EmptyText);
    }
    let meanings = StoredValue::new(meanings);
    let (field, place) = (Arc::clone(field), place.clone());
    let shown = Memo::new({
        let optional = !field.required || field.nullable;
        move |_| {
            let several = meanings.with_value(|meanings| meanings.len() > 1);
            let said = optional || fault.is_there() || blank.get() == Meaning::EmptyText;
            blank.get() != Meaning::Filled && several && said
        }
    });
    move || {
        if !shown.get() {
            return None;
        }
        let options = meanings
            .get_value()
            .into_iter()
            .map(|meaning| {
                let words = match meaning {
                    Meaning::Blank(blank) => blank_words(&field, blank),
                    Meaning::EmptyText | Meaning::Filled => "an empty text".to_owned(),
                };
                view! {
                    <option value=meaning.value() selected=move || blank.get() == meaning>
                        {words}
                    </option>
                }
            })
            .collect_view();
        let place = place.clone();
        let choose = move |event| {
            let value = event_target_value(&event);
            let chosen = meanings
                .with_value(|meanings| meanings.iter().copied().find(|it| it.value() == value));
            if let Some(meaning) = chosen {
                editor.edit(&place, |draft| *draft = meaning.draft());
            }
        };
        Some(view! {
            <select
                class="blank-choice"
                aria-label=move || format!("What no {} means", label.get())
                title="What it means to leave this blank"
                on:change=choose
            >
                {options}
            </select>
        })
    }
}

/// A check box.
pub(super) fn flag(
    editor: Editor,
    field: &Arc<Field>,
    place: Place,
    label: Signal<String>,
) -> AnyView {
    let id = editor.id(&place);
    let fault = Fault::of(editor, &place);
    let flag = editor.look(
        &place,
        |draft| match draft {
            Draft::Flag(flag) => Some(*flag),
            _ => None,
        },
        None,
    );
    let default = field.default.as_ref().and_then(Json::as_bool);
    let checked = move || flag.get().or(default).unwrap_or_default();
    let target = place.clone();
    view! {
        <div class="field flag" class:invalid=move || fault.is_there()>
            <div class="flag-line">
                <input
                    type="checkbox"
                    id=id.clone()
                    prop:checked=checked
                    aria-invalid=move || fault.mark()
                    aria-describedby=fault.described_by(id.clone(), field)
                    on:change=move |event| {
                        let checked = event_target_checked(&event);
                        editor.edit(&target, |draft| *draft = Draft::Flag(checked));
                    }
                />
                <label for=id.clone()>{move || shown_name(&label.get())}</label>
            </div>
            {help_text(editor, field, &place)}
            {fault.words(id)}
        </div>
    }
    .into_any()
}

/// A choice among a few values; also yes or no where neither may be given.
pub(super) fn choice(
    editor: Editor,
    field: &Arc<Field>,
    place: Place,
    label: Signal<String>,
    aside: Option<AnyView>,
) -> AnyView {
    let id = editor.id(&place);
    let fault = Fault::of(editor, &place);
    let drafts = StoredValue::new(options(field));
    let chosen = {
        let place = place.clone();
        Memo::new(move |_| {
            let draft = editor.form.with(|form| form.draft(&place).cloned());
            drafts.with_value(|drafts| {
                drafts
                    .iter()
                    .position(|(known, _)| Some(known) == draft.as_ref())
            })
        })
    };
    let options = drafts
        .get_value()
        .into_iter()
        .enumerate()
        .map(|(number, (_, words))| {
            view! {
                <option value=number.to_string() selected=move || chosen.get() == Some(number)>
                    {inert(&words)}
                </option>
            }
        })
        .collect_view();
    let target = place.clone();
    let choose = move |event| {
        let number = event_target_value(&event).parse::<usize>();
        let draft = number.ok().and_then(|number| {
            drafts.with_value(|drafts| drafts.get(number).map(|(draft, _)| draft.clone()))
        });
        if let Some(new) = draft {
            editor.edit(&target, |draft| *draft = new);
        }
    };
    view! {
        <div class="field" class:invalid=move || fault.is_there()>
            <div class="field-label">
                <label for=id.clone()>{move || shown_name(&label.get())}</label>
                <span class="field-hint">{hint(field)}</span>
                {aside}
            </div>
            <select
                id=id.clone()
                aria-required=field.required.then_some("true")
                aria-invalid=move || fault.mark()
                aria-describedby=fault.described_by(id.clone(), field)
                on:change=choose
            >
                {options}
            </select>
            {help_text(editor, field, &place)}
            {fault.words(id)}
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
