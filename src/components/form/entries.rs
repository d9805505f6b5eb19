//! Lists and maps: any number of entries, to add, move and remove.

use std::sync::Arc;

use leptos::prelude::*;

use super::Editor;
use super::field::{labelled_field, shown_name};
use super::nested::nest;
use crate::components::icon::{Glyph, Icon};
use crate::projection::form::edit::Direction;
use crate::projection::form::{Draft, Field, Place};
use crate::shell;

/// Any number of values.
pub(super) fn list(
    editor: Editor,
    field: &Arc<Field>,
    item: &Arc<Field>,
    most: Option<usize>,
    place: Place,
    label: Signal<String>,
) -> AnyView {
    let (field_of_list, item, at) = (Arc::clone(field), Arc::clone(item), place.clone());
    let entries = move || {
        entries(
            editor,
            &field_of_list,
            most,
            &at,
            label,
            Callback::new({
                let (item, at) = (Arc::clone(&item), at.clone());
                move |(key, number): (u32, Signal<usize>)| {
                    let label =
                        Signal::derive(move || format!("{} {}", label.get(), number.get() + 1));
                    labelled_field(editor, &item, at.then(key), label, None)
                }
            }),
        )
    };
    nest(editor, field, place, label, ViewFn::from(entries))
}

/// Any number of keys with values.
pub(super) fn map(
    editor: Editor,
    field: &Arc<Field>,
    value: &Arc<Field>,
    place: Place,
    label: Signal<String>,
) -> AnyView {
    let (field_of_map, value, at) = (Arc::clone(field), Arc::clone(value), place.clone());
    let entries = move || {
        entries(
            editor,
            &field_of_map,
            None,
            &at,
            label,
            Callback::new({
                let (value, at) = (Arc::clone(&value), at.clone());
                move |(key, number): (u32, Signal<usize>)| {
                    let words = move |what: &'static str| {
                        Signal::derive(move || {
                            format!("{} {what} {}", label.get(), number.get() + 1)
                        })
                    };
                    view! {
                        {key_field(editor, &at, key, words("key"))}
                        {labelled_field(editor, &value, at.then(key), words("value"), None)}
                    }
                    .into_any()
                }
            }),
        )
    };
    nest(editor, field, place, label, ViewFn::from(entries))
}

fn key_field(editor: Editor, at: &Place, key: u32, label: Signal<String>) -> impl IntoView + use<> {
    let id = format!("{}-key", editor.id(&at.then(key)));
    let name = {
        let at = at.clone();
        Memo::new(move |_| {
            editor.form.with(|form| {
                let mut entries = form.draft(&at)?.entries().iter();
                Some(entries.find(|entry| entry.key == key)?.name.clone())
            })
        })
    };
    let at = at.clone();
    view! {
        <div class="field">
            <label for=id.clone()>{move || shown_name(&label.get())}</label>
            <input
                type="text"
                id=id
                autocomplete="off"
                spellcheck="false"
                prop:value=move || name.get().unwrap_or_default()
                on:input=move |event| {
                    let name = event_target_value(&event);
                    editor.edit(&at, |draft| draft.rename_entry(key, name));
                }
            />
        </div>
    }
}

/// What can be done with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryAct {
    Move(Direction),
    Remove,
}

impl EntryAct {
    fn words(self, list: &str, number: usize) -> String {
        match self {
            EntryAct::Move(Direction::Up) => format!("Move {list} {number} up"),
            EntryAct::Move(Direction::Down) => format!("Move {list} {number} down"),
            EntryAct::Remove => format!("Remove {list} {number}"),
        }
    }

    const fn glyph(self) -> Glyph {
        match self {
            EntryAct::Move(Direction::Up) => Glyph::Up,
            EntryAct::Move(Direction::Down) => Glyph::Down,
            EntryAct::Remove => Glyph::Close,
        }
    }

    fn apply(self, draft: &mut Draft, key: u32) {
        match self {
            EntryAct::Move(direction) => draft.move_entry(key, direction),
            EntryAct::Remove => draft.remove_entry(key),
        }
    }
}

/// The entries of a list or map, with buttons to add, move and remove them.
fn entries(
    editor: Editor,
    field: &Arc<Field>,
    most: Option<usize>,
    place: &Place,
    label: Signal<String>,
    entry: Callback<(u32, Signal<usize>), AnyView>,
) -> AnyView {
    let keys = editor.look(
        place,
        |draft| {
            draft
                .entries()
                .iter()
                .map(|entry| entry.key)
                .collect::<Vec<_>>()
        },
        Vec::new(),
    );
    let add = {
        let (field, place) = (Arc::clone(field), place.clone());
        move |_| {
            let mut added = None;
            editor.edit(&place, |draft| added = draft.add_entry(&field));
            // Its field stands on the page by then.
            if let Some(id) = added.map(|key| editor.id(&place.then(key))) {
                shell::timers::next_frame(move || _ = shell::element::focus_id(&id));
            }
        }
    };
    let add_id = format!("{}-add", editor.id(place));
    let focus_add = StoredValue::new(add_id.clone());
    let full = move || most.is_some_and(|most| keys.with(Vec::len) >= most);
    let place = StoredValue::new(place.clone());
    let draw = move |key: u32| {
        let number = Memo::new(move |_| {
            keys.with(|keys| keys.iter().position(|known| *known == key))
                .unwrap_or_default()
        });
        let last = move || number.get() + 1 == keys.with(Vec::len);
        let button = move |act: EntryAct| {
            let words = move || act.words(&label.get(), number.get() + 1);
            // Not disabled: that would take the focus away from whoever moves an entry to the end.
            let vain = move || match act {
                EntryAct::Move(Direction::Up) => number.get() == 0,
                EntryAct::Move(Direction::Down) => last(),
                EntryAct::Remove => false,
            };
            view! {
                <button
                    type="button"
                    class="quiet icon-button small"
                    title=words
                    aria-disabled=move || vain().then_some("true")
                    on:click=move |_| {
                        let place = place.get_value();
                        editor.edit(&place, |draft| act.apply(draft, key));
                        if act == EntryAct::Remove {
                            focus_add.with_value(|id| shell::element::focus_id(id));
                        }
                    }
                >
                    <Icon glyph=act.glyph() />
                    <span class="visually-hidden">{words}</span>
                </button>
            }
        };
        view! {
            <div class="entry">
                <div class="entry-fields">{entry.run((key, number.into()))}</div>
                <div class="entry-tools">
                    {button(EntryAct::Move(Direction::Up))}
                    {button(EntryAct::Move(Direction::Down))}
                    {button(EntryAct::Remove)}
                </div>
            </div>
        }
    };
    view! {
        <div class="entries">
            <For each=move || keys.get() key=|key| *key children=draw />
        </div>
        <button type="button" class="quiet small" id=add_id disabled=full on:click=add>
            <Icon glyph=Glyph::Add />
            {move || format!("Add to {}", label.get())}
        </button>
    }
    .into_any()
}
