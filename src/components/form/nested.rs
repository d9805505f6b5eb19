//! Nested fields: groups, tuples and variants, and the frame that they share with lists and maps.

use std::sync::Arc;

use leptos::prelude::*;

use super::control::shape_select;
use super::field::{Slot, blank_words, draw};
use crate::components::erased::{dynamic, words};
use crate::components::markup::{El, all, button, el};
use crate::projection::form::{Blank, Draft, Field, Shape};

/// A group of fields under a legend. If omitted, it offers to be filled in.
pub(super) fn group(slot: Slot, fields: &[Arc<Field>]) -> AnyView {
    let fields = fields.to_vec();
    nest(slot, move |slot| {
        let fields = (0..).zip(&fields);
        all(fields
            .map(|(step, field)| {
                let label = Signal::stored(field.name.to_string());
                draw(slot.within(step, field, label))
            })
            .collect())
    })
}

/// A tuple.
pub(super) fn tuple(slot: Slot, fields: &[Arc<Field>]) -> AnyView {
    let fields = fields.to_vec();
    nest(slot, move |slot| {
        let label = slot.label;
        let fields = (0..).zip(&fields);
        all(fields
            .map(|(step, field)| {
                let label = words(move || format!("{} {}", label.get(), step + 1));
                draw(slot.within(step, field, label))
            })
            .collect())
    })
}

/// One of several variants, selected next to the label.
pub(super) fn either(slot: Slot, variants: &[Arc<Field>]) -> AnyView {
    let fault = slot.fault();
    let chosen = slot.editor.shape(&slot.place);
    let help = slot.help();
    let variants = variants.to_vec();
    let inner = dynamic(move || {
        let select = kind_choice(&slot, &variants, chosen);
        let kind = match chosen.get() {
            Shape::Variant(variant) => Some(variant),
            _ => None,
        };
        let field = kind.and_then(|kind| Some((kind, variants.get(kind as usize)?)));
        match field {
            Some((kind, field)) => draw(Slot {
                aside: Some(select.view()),
                ..slot.within(kind, field, slot.label)
            }),
            None => el("div")
                .class("field-label")
                .child(el("span").class("label").child(slot.name()))
                .child(select)
                .view(),
        }
    });
    el("div")
        .class("either")
        .child(inner)
        .child(help)
        .child(fault.words())
        .view()
}

fn kind_choice(slot: &Slot, variants: &[Arc<Field>], chosen: Memo<Shape>) -> El {
    let (editor, label) = (slot.editor, slot.label);
    let (field, place) = (Arc::clone(&slot.field), slot.place.clone());
    let mut kinds: Vec<(Shape, String)> = Vec::new();
    for blank in field.blanks() {
        kinds.push((Shape::Blank(blank), blank_words(&field, blank)));
    }
    for (kind, variant) in (0..).zip(variants) {
        kinds.push((Shape::Variant(kind), variant.name.to_string()));
    }
    let shapes: Vec<Shape> = kinds.iter().map(|(shape, _)| *shape).collect();
    let choose = move |number: usize| match shapes.get(number) {
        Some(Shape::Blank(blank)) => editor.put(&place, Draft::Blank(*blank)),
        Some(Shape::Variant(kind)) => editor.put(&place, Draft::of_variant(&field, *kind)),
        Some(_) | None => {}
    };
    shape_select(kinds, chosen, choose)
        .class("kind-choice")
        .attr(
            "aria-label",
            words(move || format!("Type of {}", label.get())),
        )
}

/// The frame around nested fields: legend, help, error, and buttons that omit the value if that is allowed.
pub(super) fn nest(slot: Slot, inside: impl Fn(&Slot) -> AnyView + Send + 'static) -> AnyView {
    nest_boxed(slot, Box::new(inside))
}

fn nest_boxed(mut slot: Slot, inside: Box<dyn Fn(&Slot) -> AnyView + Send>) -> AnyView {
    let (editor, label, fault) = (slot.editor, slot.label, slot.fault());
    let shape = editor.shape(&slot.place);
    let frame = el("fieldset")
        .class(fault.class("nest"))
        .attr("aria-describedby", fault.described_by())
        .child(el("legend").child(slot.name()))
        .child(slot.aside.take())
        .child(slot.help());
    let ways_out = ways_out(&slot, shape);
    let body = dynamic(move || {
        let Shape::Blank(blank) = shape.get() else {
            return inside(&slot);
        };
        let (field, place) = (Arc::clone(&slot.field), slot.place.clone());
        let words_of_blank = blank_words(&slot.field, blank);
        let fill_in = button("quiet small")
            .on_click(move || editor.put(&place, Draft::begun(&field)))
            .child(words(move || format!("Fill in {}", label.get())));
        el("p")
            .class("nest-blank")
            .child(el("span").class("faint").child(words_of_blank))
            .child(fill_in)
            .view()
    });
    frame
        .child(body)
        .child(fault.words())
        .child(ways_out)
        .view()
}

/// Buttons that remove the value or set it to null.
fn ways_out(slot: &Slot, shape: Memo<Shape>) -> El {
    let (editor, place) = (slot.editor, slot.place.clone());
    let blanks = slot.field.blanks();
    let buttons = dynamic(move || {
        let mut buttons = Vec::new();
        for blank in blanks.iter().copied() {
            if shape.get() == Shape::Blank(blank) {
                continue;
            }
            let place = place.clone();
            let words = match blank {
                Blank::Null => "Set to null",
                Blank::LeftOut => "Remove value",
            };
            let leave = button("quiet small")
                .on_click(move || editor.put(&place, Draft::Blank(blank)))
                .child(words);
            buttons.push(leave.view());
        }
        all(buttons)
    });
    el("div").class("button-row").child(buttons)
}
