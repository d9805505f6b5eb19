//! Fields within fields: groups, tuples, one of several kinds, and the frame that they share with
//! lists and maps.

use std::sync::Arc;

use leptos::prelude::*;

use super::Editor;
use super::field::{Fault, blank_words, field_view, help_text, labelled_field, shown_name};
use crate::projection::form::{Blank, Draft, Field, Place};

/// A group of fields under a legend. Left out, it offers to be filled in.
pub(super) fn group(
    editor: Editor,
    field: &Arc<Field>,
    fields: &[Arc<Field>],
    place: Place,
    label: Signal<String>,
) -> AnyView {
    let fields = fields.to_vec();
    let at = place.clone();
    let members = move || {
        (0..)
            .zip(&fields)
            .map(|(step, field)| field_view(editor, field, at.then(step)))
            .collect_view()
            .into_any()
    };
    nest(editor, field, place, label, ViewFn::from(members))
}

/// One value for each place.
pub(super) fn tuple(
    editor: Editor,
    field: &Arc<Field>,
    fields: &[Arc<Field>],
    place: Place,
    label: Signal<String>,
) -> AnyView {
    let fields = fields.to_vec();
    let at = place.clone();
    let members = move || {
        (0..)
            .zip(&fields)
            .map(|(step, field)| {
                let label = Signal::derive(move || format!("{} {}", label.get(), step + 1));
                labelled_field(editor, field, at.then(step), label, None)
            })
            .collect_view()
            .into_any()
    };
    nest(editor, field, place, label, ViewFn::from(members))
}

/// One of several kinds: which one is chosen beside the label.
pub(super) fn either(
    editor: Editor,
    field: &Arc<Field>,
    variants: &[Arc<Field>],
    place: Place,
    label: Signal<String>,
) -> AnyView {
    let fault = Fault::of(editor, &place);
    let id = editor.id(&place);
    let chosen = editor.look(&place, Variant::of, Variant::Blank(Blank::LeftOut));
    let mut options: Vec<(Variant, String)> = field
        .blanks()
        .into_iter()
        .map(|blank| (Variant::Blank(blank), blank_words(field, blank)))
        .collect();
    options.extend(
        (0..)
            .zip(variants)
            .map(|(place, variant)| (Variant::Kind(place), variant.name.to_string())),
    );
    let options = StoredValue::new(options);
    let choose = StoredValue::new({
        let (field, place) = (Arc::clone(field), place.clone());
        Callback::new(move |number: usize| {
            let option =
                options.with_value(|options| options.get(number).map(|(variant, _)| *variant));
            let new = match option {
                Some(Variant::Blank(blank)) => Draft::Blank(blank),
                Some(Variant::Kind(variant)) => Draft::of_variant(&field, variant),
                None => return,
            };
            editor.edit(&place, |draft| *draft = new);
        })
    });
    let select = move || {
        let options = options
            .get_value()
            .into_iter()
            .enumerate()
            .map(|(number, (variant, words))| {
                view! {
                    <option value=number.to_string() selected=move || chosen.get() == variant>
                        {words}
                    </option>
                }
            })
            .collect_view();
        view! {
            <select
                class="kind-choice"
                aria-label=move || format!("Kind of {}", label.get())
                on:change=move |event| {
                    if let Ok(number) = event_target_value(&event).parse() {
                        choose.with_value(|choose| choose.run(number));
                    }
                }
            >
                {options}
            </select>
        }
        .into_any()
    };
    let inner = {
        let (variants, place) = (variants.to_vec(), place.clone());
        move || match chosen.get() {
            Variant::Kind(variant) => variants.get(variant as usize).map(|field| {
                labelled_field(editor, field, place.then(variant), label, Some(select()))
            }),
            Variant::Blank(_) => Some(
                view! {
                    <div class="field-label">
                        <span class="label">{move || shown_name(&label.get())}</span>
                        {select()}
                    </div>
                }
                .into_any(),
            ),
        }
    };
    view! {
        <div class="either">
            {inner}
            {help_text(editor, field, &place)}
            {fault.words(id)}
        </div>
    }
    .into_any()
}

/// What of several kinds is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Blank(Blank),
    Kind(u32),
}

impl Variant {
    fn of(draft: &Draft) -> Self {
        match draft {
            Draft::Variant(variant, _) => Variant::Kind(*variant),
            Draft::Blank(blank) => Variant::Blank(*blank),
            _ => Variant::Blank(Blank::LeftOut),
        }
    }
}

/// The frame around fields within a field: legend, help, error; and, where it may be left out, the
/// buttons for that.
pub(super) fn nest(
    editor: Editor,
    field: &Arc<Field>,
    place: Place,
    label: Signal<String>,
    inside: ViewFn,
) -> AnyView {
    let fault = Fault::of(editor, &place);
    let id = editor.id(&place);
    let blank = editor.look(
        &place,
        |draft| match draft {
            Draft::Blank(blank) => Some(*blank),
            _ => None,
        },
        None,
    );
    let fill_in = {
        let (field, place) = (Arc::clone(field), place.clone());
        Callback::new(move |()| editor.edit(&place, |draft| *draft = Draft::begun(&field)))
    };
    let leave_out = {
        let place = place.clone();
        Callback::new(move |blank| editor.edit(&place, |draft| *draft = Draft::Blank(blank)))
    };
    let blanks = StoredValue::new(field.blanks());
    let words_of = {
        let field = Arc::clone(field);
        move |blank| blank_words(&field, blank)
    };
    let body = {
        let words_of = words_of.clone();
        move || match blank.get() {
            Some(blank) => view! {
                <p class="nest-blank">
                    <span class="faint">{words_of(blank)}</span>
                    <button type="button" class="quiet small" on:click=move |_| fill_in.run(())>
                        {move || format!("Fill in {}", label.get())}
                    </button>
                </p>
            }
            .into_any(),
            None => inside.run(),
        }
    };
    let others = move || {
        let now = blank.get();
        let others = blanks
            .get_value()
            .into_iter()
            .filter(move |other| Some(*other) != now);
        others
            .map(|other| {
                let words = match other {
                    Blank::Null => "Make it null",
                    Blank::LeftOut => "Leave it out",
                };
                view! {
                    <button type="button" class="quiet small" on:click=move |_| leave_out.run(other)>
                        {words}
                    </button>
                }
            })
            .collect_view()
    };
    let described_by = fault.described_by(id.clone(), field);
    view! {
        <fieldset class="nest" class:invalid=move || fault.is_there() aria-describedby=described_by>
            <legend>{move || shown_name(&label.get())}</legend>
            {help_text(editor, field, &place)}
            {body}
            {fault.words(id)}
            <div class="button-row">{others}</div>
        </fieldset>
    }
    .into_any()
}
