//! Fields within fields: groups, tuples, one of several kinds, and the frame that they share with
//! lists and maps.

use std::sync::Arc;

use leptos::prelude::*;

use super::field::{Slot, blank_words, draw};
use crate::components::erased::{changed, dynamic, flag, pressed, words};
use crate::projection::form::{Blank, Draft, Field, Shape};

/// A group of fields under a legend. Left out, it offers to be filled in.
pub(super) fn group(slot: Slot, fields: &[Arc<Field>]) -> AnyView {
    let fields = fields.to_vec();
    nest(slot, move |slot| {
        (0..)
            .zip(&fields)
            .map(|(step, field)| {
                let label = Signal::stored(field.name.to_string());
                draw(slot.within(step, field, label))
            })
            .collect_view()
            .into_any()
    })
}

/// One value for each place.
pub(super) fn tuple(slot: Slot, fields: &[Arc<Field>]) -> AnyView {
    let fields = fields.to_vec();
    nest(slot, move |slot| {
        let label = slot.label;
        (0..)
            .zip(&fields)
            .map(|(step, field)| {
                let label = words(move || format!("{} {}", label.get(), step + 1));
                draw(slot.within(step, field, label))
            })
            .collect_view()
            .into_any()
    })
}

/// One of several kinds: which one is chosen beside the label.
pub(super) fn either(slot: Slot, variants: &[Arc<Field>]) -> AnyView {
    let (editor, fault) = (slot.editor, slot.fault());
    let chosen = editor.shape(&slot.place);
    let help = slot.help();
    let variants = variants.to_vec();
    let inner = dynamic(move || {
        let select = kind_choice(&slot, &variants, chosen);
        match chosen.get() {
            Shape::Variant(variant) => variants.get(variant as usize).map(|field| {
                draw(Slot {
                    aside: Some(select),
                    ..slot.within(variant, field, slot.label)
                })
            }),
            _ => Some(
                view! {
                    <div class="field-label">
                        <span class="label">{slot.name()}</span>
                        {select}
                    </div>
                }
                .into_any(),
            ),
        }
        .into_any()
    });
    view! { <div class="either">{inner} {help} {fault.words()}</div> }.into_any()
}

fn kind_choice(slot: &Slot, variants: &[Arc<Field>], chosen: Memo<Shape>) -> AnyView {
    let (editor, label) = (slot.editor, slot.label);
    let (field, place) = (Arc::clone(&slot.field), slot.place.clone());
    let blanks = field.blanks().into_iter();
    let mut kinds: Vec<(Shape, String)> = blanks
        .map(|blank| (Shape::Blank(blank), blank_words(&field, blank)))
        .collect();
    let names = variants.iter().map(|variant| variant.name.to_string());
    kinds.extend((0..).map(Shape::Variant).zip(names));
    let options = kinds
        .iter()
        .enumerate()
        .map(|(number, (kind, words))| {
            let kind = *kind;
            let chosen = flag(move || chosen.get() == kind);
            view! {
                <option value=number.to_string() selected=chosen>
                    {words.clone()}
                </option>
            }
            .into_any()
        })
        .collect_view();
    let choose = changed(move |event| {
        let number = event_target_value(&event).parse::<usize>();
        let kind = number.ok().and_then(|number| kinds.get(number));
        match kind {
            Some((Shape::Blank(blank), _)) => editor.put(&place, Draft::Blank(*blank)),
            Some((Shape::Variant(kind), _)) => editor.put(&place, Draft::of_variant(&field, *kind)),
            Some(_) | None => {}
        }
    });
    view! {
        <select
            class="kind-choice"
            aria-label=words(move || format!("Kind of {}", label.get()))
            on:change=choose
        >
            {options}
        </select>
    }
    .into_any()
}

/// The frame around fields within a field: legend, help, error; and, where it may be left out, the
/// buttons for that.
pub(super) fn nest(mut slot: Slot, inside: impl Fn(&Slot) -> AnyView + Send + 'static) -> AnyView {
    nest_boxed(slot.aside.take(), slot, Box::new(inside))
}

fn nest_boxed(
    aside: Option<AnyView>,
    slot: Slot,
    inside: Box<dyn Fn(&Slot) -> AnyView + Send>,
) -> AnyView {
    let (editor, label, fault) = (slot.editor, slot.label, slot.fault());
    let shape = editor.shape(&slot.place);
    let name = slot.name();
    let help = slot.help();
    let ways_out = ways_out(&slot, shape);
    let body = dynamic(move || {
        let Shape::Blank(blank) = shape.get() else {
            return inside(&slot);
        };
        let (field, place) = (Arc::clone(&slot.field), slot.place.clone());
        let fill_in = pressed(move |_| editor.put(&place, Draft::begun(&field)));
        view! {
            <p class="nest-blank">
                <span class="faint">{blank_words(&slot.field, blank)}</span>
                <button type="button" class="quiet small" on:click=fill_in>
                    {words(move || format!("Fill in {}", label.get()))}
                </button>
            </p>
        }
        .into_any()
    });
    view! {
        <fieldset class="nest" class:invalid=fault.flag() aria-describedby=fault.described_by()>
            <legend>{name}</legend>
            {aside}
            {help}
            {body}
            {fault.words()}
            {ways_out}
        </fieldset>
    }
    .into_any()
}

/// Buttons that leave out what is filled in, or make it null.
fn ways_out(slot: &Slot, shape: Memo<Shape>) -> AnyView {
    let (editor, place) = (slot.editor, slot.place.clone());
    let blanks = slot.field.blanks();
    let buttons = dynamic(move || {
        let now = shape.get();
        let others = blanks.iter().filter(|other| Shape::Blank(**other) != now);
        others
            .map(|other| {
                let (other, place) = (*other, place.clone());
                let words = match other {
                    Blank::Null => "Make it null",
                    Blank::LeftOut => "Leave it out",
                };
                let leave = pressed(move |_| editor.put(&place, Draft::Blank(other)));
                view! {
                    <button type="button" class="quiet small" on:click=leave>
                        {words}
                    </button>
                }
                .into_any()
            })
            .collect_view()
            .into_any()
    });
    view! { <div class="button-row">{buttons}</div> }.into_any()
}
