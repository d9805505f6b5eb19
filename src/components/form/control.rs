//! Controls for values that are chosen rather than typed.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_core::Json;

use super::field::{Slot, blank_words};
use crate::components::erased::flag;
use crate::components::markup::{El, el, nothing};
use crate::components::text::inert;
use crate::projection::form::{Blank, Draft, Field, Kind, Shape};
use crate::projection::pretty::one_line;

/// Unknown options.
pub(super) fn fixed(mut slot: Slot, value: &Json) -> AnyView {
    let value = el("p")
        .class("fixed-value")
        .child(inert(&one_line(value, 200)));
    let name = el("span").class("label").child(slot.name());
    let label = el("div")
        .class("field-label")
        .child(name)
        .child(slot.aside.take());
    el("div")
        .class("field")
        .child(label)
        .child(value)
        .child(slot.help())
        .view()
}

/// A checkbox.
pub(super) fn check_box(mut slot: Slot) -> AnyView {
    let (editor, fault) = (slot.editor, slot.fault());
    let shape = editor.shape(&slot.place);
    let default = slot.field.default.as_ref().and_then(Json::as_bool);
    let checked = flag(move || match shape.get() {
        Shape::Flag(flag) => flag,
        _ => default.unwrap_or_default(),
    });
    let place = slot.place.clone();
    let choose = move |event: Event| {
        editor.put(&place, Draft::Flag(event_target_checked(&event)));
    };
    let control = el("input")
        .attr("type", "checkbox")
        .attr("id", slot.id())
        .attr("aria-invalid", fault.mark())
        .attr("aria-describedby", fault.described_by())
        .flag_property("checked", checked)
        .on("change", choose);
    let line = el("div")
        .class("flag-line")
        .child(control)
        .child(el("label").attr("for", slot.id()).child(slot.name()))
        .child(slot.aside.take());
    el("div")
        .class(fault.class("field"))
        .child(line)
        .child(slot.help())
        .child(fault.words())
        .view()
}

/// A select among a few values, or yes and no for an optional boolean.
pub(super) fn choice(mut slot: Slot) -> AnyView {
    let (editor, fault) = (slot.editor, slot.fault());
    let shape = editor.shape(&slot.place);
    let drafts = options(&slot.field);
    let shapes = drafts
        .iter()
        .map(|(draft, words)| (draft.shape(), words.clone()))
        .collect();
    let place = slot.place.clone();
    let choose = move |number: usize| {
        if let Some((draft, _)) = drafts.get(number) {
            editor.put(&place, draft.clone());
        }
    };
    let control = shape_select(shapes, shape, choose)
        .attr("id", slot.id())
        .attr("aria-required", slot.field.required.then_some("true"))
        .attr("aria-invalid", fault.mark())
        .attr("aria-describedby", fault.described_by());
    el("div")
        .class(fault.class("field"))
        .child(slot.label_row(nothing()))
        .child(control)
        .child(slot.help())
        .child(fault.words())
        .view()
}

/// A select among shapes of drafts with their labels. `choose` receives the index of the choice.
pub(super) fn shape_select(
    options: Vec<(Shape, String)>,
    chosen: Memo<Shape>,
    choose: impl Fn(usize) + 'static,
) -> El {
    let options = options.into_iter().enumerate();
    let options = options.map(|(number, (shape, words))| {
        el("option")
            .attr("value", number.to_string())
            .attr("selected", flag(move || chosen.get() == shape))
            .child(inert(&words))
            .view()
    });
    let options = options.collect::<Vec<_>>();
    let choose = move |event: Event| {
        if let Ok(number) = event_target_value(&event).parse() {
            choose(number);
        }
    };
    el("select").on("change", choose).child(options)
}

/// The options with their labels.
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
