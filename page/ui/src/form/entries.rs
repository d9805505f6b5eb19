//! Lists and maps: variable numbers of entries that can be added, moved and removed.

use std::sync::Arc;

use leptos::ev::Event;
use leptos::prelude::*;
use volary_view::form::{EntryAction, Field, FieldDraft, MoveDirection};

use super::field::draw;
use super::nested::nest;
use super::slot::Slot;
use crate::icon::{Glyph, Icon};
use crate::keyed::keyed;
use crate::text::inert;
use volary_browser as browser;

/// Renders the fields of an entry from its key and index.
type DrawEntry = Arc<dyn Fn(&Slot, u32, Memo<usize>) -> AnyView + Send + Sync>;

pub(super) fn list(slot: Slot, item: &Arc<Field>, most: Option<usize>) -> AnyView {
    let item = Arc::clone(item);
    let draw_entry: DrawEntry = Arc::new(move |slot, key, number| {
        let label = slot.label;
        let label = Signal::derive(move || format!("{} {}", label.get(), number.get() + 1));
        draw(slot.within(key, &item, label))
    });
    nest(slot, move |slot| entries(slot, most, &draw_entry))
}

pub(super) fn map(slot: Slot, value: &Arc<Field>) -> AnyView {
    let value = Arc::clone(value);
    let draw_entry: DrawEntry = Arc::new(move |slot, key, number| {
        let label = slot.label;
        let part = move |what: &'static str| {
            Signal::derive(move || format!("{} {what} {}", label.get(), number.get() + 1))
        };
        view! {
            {key_field(slot, key, part("key"))}
            {draw(slot.within(key, &value, part("value")))}
        }
        .into_any()
    });
    nest(slot, move |slot| entries(slot, None, &draw_entry))
}

fn key_field(slot: &Slot, key: u32, label: Signal<String>) -> AnyView {
    let (editor, place) = (slot.editor, slot.place.clone());
    let id = format!("{}-key", editor.id(&place.then(key)));
    let name = {
        let place = place.clone();
        Signal::derive(move || {
            editor.form.with(|form| {
                let entries = form
                    .draft(&place)
                    .map(FieldDraft::entries)
                    .unwrap_or_default();
                let entry = entries.iter().find(|entry| entry.key == key);
                entry.map(|entry| entry.name.clone()).unwrap_or_default()
            })
        })
    };
    let typed = move |event: Event| {
        let name = event_target_value(&event);
        editor.edit(&place, |draft| draft.rename_entry(key, name));
    };
    view! {
        <div class="field">
            <label for=id.clone()>{move || inert(&label.get())}</label>
            <input
                type="text"
                id=id
                autocomplete="off"
                spellcheck="false"
                prop:value=name
                on:input=typed
            />
        </div>
    }
    .into_any()
}

const fn glyph(action: EntryAction) -> Glyph {
    match action {
        EntryAction::Move(MoveDirection::Up) => Glyph::Up,
        EntryAction::Move(MoveDirection::Down) => Glyph::Down,
        EntryAction::Remove => Glyph::Close,
    }
}

/// The entries of a list or map, with buttons to add, move and remove them.
fn entries(slot: &Slot, most: Option<usize>, draw_entry: &DrawEntry) -> AnyView {
    let (editor, label) = (slot.editor, slot.label);
    let keys = {
        let place = slot.place.clone();
        Memo::new(move |_| {
            editor.form.with(|form| {
                let entries = form
                    .draft(&place)
                    .map(FieldDraft::entries)
                    .unwrap_or_default();
                let keys = entries.iter().map(|entry| u64::from(entry.key));
                keys.collect::<Vec<_>>()
            })
        })
    };
    let add_id = format!("{}-add", slot.id());
    let (field, place) = (Arc::clone(&slot.field), slot.place.clone());
    let add = move |_| {
        let mut added = None;
        editor.edit(&place, |draft| added = draft.add_entry(&field));
        // The entry's field is mounted by then.
        if let Some(id) = added.map(|key| editor.id(&place.then(key))) {
            browser::timers::next_frame(move || _ = browser::element::focus_id(&id));
        }
    };
    let is_full = move || most.is_some_and(|most| keys.with(Vec::len) >= most);
    // Shared by all entries, however often they are rendered.
    let pattern = StoredValue::new_local(Slot {
        editor,
        field: Arc::clone(&slot.field),
        place: slot.place.clone(),
        label,
        aside: None,
    });
    let draw_entry = Arc::clone(draw_entry);
    let draw = move |key: u64| {
        let number = Memo::new(move |_| {
            let place = keys.with(|keys| keys.iter().position(|known| *known == key));
            place.unwrap_or_default()
        });
        // Entry keys have 32 bits.
        let entry = key as u32;
        pattern.with_value(|slot| {
            let acts =
                EntryAction::ALL.map(|action| entry_button(slot, action, entry, number, keys));
            view! {
                <div class="entry">
                    <div class="entry-fields">{draw_entry(slot, entry, number)}</div>
                    <div class="entry-tools">{Vec::from(acts)}</div>
                </div>
            }
            .into_any()
        })
    };
    view! {
        <div class="entries">
            {keyed(move || keys.get(), draw)}
        </div>
        <button
            type="button"
            class="quiet small"
            id=add_id
            disabled=is_full
            on:click=add
        >
            <Icon glyph=Glyph::Add/>
            {move || format!("Add to {}", label.get())}
        </button>
    }
    .into_any()
}

fn entry_button(
    slot: &Slot,
    action: EntryAction,
    key: u32,
    number: Memo<usize>,
    keys: Memo<Vec<u64>>,
) -> AnyView {
    let (editor, label, place) = (slot.editor, slot.label, slot.place.clone());
    let name = move || action.text(&label.get(), number.get() + 1);
    // Not `disabled`, which would drop the focus when an entry is moved to the end.
    let is_idle = move || {
        let is_idle = action.is_idle(number.get(), keys.with(Vec::len));
        is_idle.then_some("true")
    };
    let add_id = format!("{}-add", slot.id());
    let apply = move |_| {
        editor.edit(&place, |draft| action.apply(draft, key));
        if action == EntryAction::Remove {
            browser::element::focus_id(&add_id);
        }
    };
    view! {
        <button
            type="button"
            class="quiet icon-button small"
            title=name
            aria-disabled=is_idle
            on:click=apply
        >
            <Icon glyph=glyph(action)/>
            <span class="visually-hidden">{name}</span>
        </button>
    }
    .into_any()
}
