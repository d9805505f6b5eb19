//! Nested fields: groups, tuples and variants, and the field set that they share with lists and maps.

use std::sync::Arc;

use leptos::prelude::*;
use volary_view::form::labels::blank_text;
use volary_view::form::options::kind_options;
use volary_view::form::{Blank, Field, FieldDraft, Shape};

use super::control::{on_choice, option_views};
use super::field::draw;
use super::slot::Slot;

/// A group of fields under a legend. If the value is omitted, a button offers to fill it in.
pub(super) fn group(slot: Slot, fields: &[Arc<Field>]) -> AnyView {
    let fields = fields.to_vec();
    nest(slot, move |slot| {
        let fields = (0..).zip(&fields);
        fields
            .map(|(step, field)| {
                let label = Signal::stored(field.name.to_string());
                draw(slot.within(step, field, label))
            })
            .collect_view()
            .into_any()
    })
}

pub(super) fn tuple(slot: Slot, fields: &[Arc<Field>]) -> AnyView {
    let fields = fields.to_vec();
    nest(slot, move |slot| {
        let label = slot.label;
        let fields = (0..).zip(&fields);
        fields
            .map(|(step, field)| {
                let label = Signal::derive(move || format!("{} {}", label.get(), step + 1));
                draw(slot.within(step, field, label))
            })
            .collect_view()
            .into_any()
    })
}

/// A field with several variants, which are selected next to the label.
pub(super) fn either(slot: Slot, variants: &[Arc<Field>]) -> AnyView {
    let fault = slot.fault();
    let chosen = slot.editor.shape(&slot.place);
    let help = slot.help();
    let variants = variants.to_vec();
    let inner = move || {
        let select = kind_choice(&slot, chosen);
        let kind = match chosen.get() {
            Shape::Variant(variant) => Some(variant),
            _ => None,
        };
        let field = kind.and_then(|kind| Some((kind, variants.get(kind as usize)?)));
        match field {
            Some((kind, field)) => draw(Slot {
                aside: Some(select),
                ..slot.within(kind, field, slot.label)
            }),
            None => view! {
                <div class="field-label">
                    <span class="label">{slot.name()}</span>
                    {select}
                </div>
            }
            .into_any(),
        }
    };
    view! {
        <div class="either">
            {inner}
            {help}
            {fault.words()}
        </div>
    }
    .into_any()
}

fn kind_choice(slot: &Slot, chosen: Memo<Shape>) -> AnyView {
    let label = slot.label;
    let options = kind_options(&slot.field);
    let shown = option_views(&options, chosen);
    let choose = on_choice(slot.editor, slot.place.clone(), options);
    view! {
        <select
            class="kind-choice"
            aria-label=move || format!("Type of {}", label.get())
            on:change=choose
        >
            {shown}
        </select>
    }
    .into_any()
}

/// The field set around nested fields: legend, help text, error, and buttons that omit the value if that is allowed.
pub(super) fn nest(slot: Slot, inside: impl Fn(&Slot) -> AnyView + Send + 'static) -> AnyView {
    nest_boxed(slot, Box::new(inside))
}

fn nest_boxed(mut slot: Slot, inside: Box<dyn Fn(&Slot) -> AnyView + Send>) -> AnyView {
    let (editor, label, fault) = (slot.editor, slot.label, slot.fault());
    let shape = editor.shape(&slot.place);
    let (name, aside, help) = (slot.name(), slot.aside.take(), slot.help());
    let ways_out = ways_out(&slot, shape);
    let body = move || {
        let Shape::Blank(blank) = shape.get() else {
            return inside(&slot);
        };
        let (field, place) = (Arc::clone(&slot.field), slot.place.clone());
        let fill_in = move |_| editor.put(&place, FieldDraft::begun(&field));
        view! {
            <p class="nest-blank">
                <span class="faint">{blank_text(&slot.field, blank)}</span>
                <button type="button" class="quiet small" on:click=fill_in>
                    {move || format!("Fill in {}", label.get())}
                </button>
            </p>
        }
        .into_any()
    };
    view! {
        <fieldset class=fault.class("nest") aria-describedby=fault.described_by()>
            <legend>{name}</legend>
            {aside}
            {help}
            {body}
            {fault.words()}
            <div class="button-row">{ways_out}</div>
        </fieldset>
    }
    .into_any()
}

/// Buttons that omit the value or set it to null.
fn ways_out(slot: &Slot, shape: Memo<Shape>) -> impl IntoView + use<> {
    let (editor, place) = (slot.editor, slot.place.clone());
    let blanks = slot.field.blanks();
    move || {
        let shape = shape.get();
        let ways = blanks.iter().copied();
        let ways = ways.filter(|blank| shape != Shape::Blank(*blank));
        let buttons = ways.map(|blank| {
            let place = place.clone();
            let words = match blank {
                Blank::Null => "Set to null",
                Blank::LeftOut => "Remove value",
            };
            view! {
                <button
                    type="button"
                    class="quiet small"
                    on:click=move |_| editor.put(&place, FieldDraft::Blank(blank))
                >
                    {words}
                </button>
            }
        });
        buttons.collect_view()
    }
}
