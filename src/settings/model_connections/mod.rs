//! Model connections: a list on the left, the selected one on the right.
//!
//! Input is applied on blur. Without a connection the form shows a draft, which becomes one with the first
//! change.

mod form;
mod names;
mod trial;

use leptos::prelude::*;
use volary_agent::model::Connection;
use volary_agent::model::connection::{PRESETS, Preset};
use volary_core::json::Text;

use super::section::{section as settings_section, small};
use crate::browser::element;
use crate::components::erased::{dynamic, flag, shown, words};
use crate::components::icon::{Glyph, icon};
use crate::components::markup::{El, all, button, el, keyed};
use crate::components::text::inert;
use crate::models::connections::{self, Saved, new_id};
use crate::secrets;

/// The section.
pub fn section() -> El {
    let editor = Editor::new();
    let about = "Requests go directly from this page to the address that you enter, with your key, \
         and nowhere else.";
    settings_section("settings-models", "Models", about).child(
        el("div")
            .class("connections")
            .child(list(editor))
            .child(form::form(editor)),
    )
}

/// The selected connection.
#[derive(Clone, Copy)]
struct Editor {
    /// Its id, or that of the draft.
    chosen: RwSignal<Text>,
    draft: RwSignal<Saved>,
    trial: trial::Trial,
    names: names::Names,
}

impl Editor {
    fn new() -> Self {
        let draft = fresh(&PRESETS[0]);
        let chosen = connections::read(|all| all.default_one().map(|saved| saved.id.clone()));
        Editor {
            chosen: RwSignal::new(chosen.unwrap_or_else(|| draft.id.clone())),
            draft: RwSignal::new(draft),
            trial: trial::Trial::new(),
            names: names::Names::new(),
        }
    }

    /// The selected connection. Tracks changes.
    fn shown(self) -> Saved {
        let chosen = self.chosen.get();
        let draft = self.draft.get();
        // Another tab may have deleted it.
        let found = connections::read(|all| match all.find(&chosen) {
            Some(saved) => Some(saved.clone()),
            None if chosen == draft.id => None,
            None => all.default_one().cloned(),
        });
        found.unwrap_or(draft)
    }

    fn shown_untracked(self) -> Saved {
        untrack(move || self.shown())
    }

    /// Edits the selected connection; a draft becomes a connection.
    fn edit(self, change: impl FnOnce(&mut Saved)) {
        let before = self.shown_untracked();
        connections::change(|all| {
            if all.find(&before.id).is_none() {
                all.add(before.clone());
            }
            all.edit(&before.id, change);
        });
        let after = self.shown_untracked();
        if after.connection.base_url != before.connection.base_url
            || after.connection.kind != before.connection.kind
        {
            self.names.forget();
        }
        if after != before {
            self.trial.forget();
        }
    }

    /// Selects another connection.
    fn choose(self, id: Text) {
        self.trial.forget();
        self.names.forget();
        self.chosen.set(id);
    }

    fn add(self) {
        let saved = fresh(&PRESETS[0]);
        let id = saved.id.clone();
        connections::change(|all| all.add(saved));
        self.choose(id);
        element::focus_id("connection-name");
    }

    fn duplicate(self) {
        let original = self.shown_untracked();
        let id = new_id();
        connections::change(|all| all.duplicate(&original.id, id.clone()));
        if let Some(copy) = untrack(|| connections::get(&id)) {
            // If it cannot be stored, it stays in memory.
            let _ = secrets::copy(&original.owner(), &copy.owner());
            self.choose(id);
        }
    }

    fn remove(self) {
        let gone = self.shown_untracked();
        // If the store fails, it is still removed from memory.
        let _ = secrets::remove(&gone.owner());
        connections::change(|all| all.remove(&gone.id));
        let next =
            untrack(|| connections::read(|all| all.default_one().map(|saved| saved.id.clone())));
        let draft = fresh(&PRESETS[0]);
        self.choose(next.unwrap_or_else(|| draft.id.clone()));
        self.draft.set(draft);
    }

    fn make_default(self) {
        let id = self.shown_untracked().id;
        connections::change(|all| all.set_default(&id));
    }
}

fn fresh(preset: &'static Preset) -> Saved {
    Saved {
        id: new_id(),
        preset: Some(preset),
        connection: Connection::of(preset),
    }
}

/// The connections, or the draft if there are none, so that nothing moves when it becomes one.
fn list(editor: Editor) -> El {
    let count = || connections::read(|all| all.list().len().max(1) as u64);
    let entries = keyed(
        move || (0..count()).collect(),
        move |place| entry(editor, place as usize),
    );
    let add = button("small")
        .on_click(move || editor.add())
        .child(icon(Glyph::Add))
        .child("Add connection");
    el("div")
        .class("connection-list")
        .child(el("ul").attr("aria-label", "Connections").child(entries))
        .child(add)
}

/// The entry at an index, whatever it currently shows: a click that blurs a field starts and ends on the same
/// button.
fn entry(editor: Editor, place: usize) -> AnyView {
    let at = move || {
        let saved = connections::read(|all| all.list().get(place).cloned());
        saved.unwrap_or_else(|| editor.draft.get())
    };
    let name = dynamic(move || inert(&at().connection.name));
    let model = dynamic(move || {
        let model = at().connection.model;
        inert(if model.is_empty() {
            "no model yet"
        } else {
            &model
        })
    });
    let badges = dynamic(move || badges(&at()));
    let pressed = words(move || (at().id == editor.shown().id).to_string());
    let choose = button("connection")
        .attr("aria-pressed", pressed)
        .on_click(move || editor.choose(untrack(at).id))
        .child(el("span").class("connection-name").child(name))
        .child(el("span").class("faint").child(model))
        .child(el("span").class("connection-badges").child(badges));
    el("li").child(choose).view()
}

fn badges(saved: &Saved) -> AnyView {
    let badge =
        |class: &'static str, words: &'static str| el("span").class(class).child(words).view();
    let is_default = connections::read(|all| {
        let default = all.default_one();
        all.list().len() > 1 && default.is_some_and(|default| default.id == saved.id)
    });
    let wants_key = saved.preset.is_none_or(|preset| preset.key_url.is_some());
    let mut badges = Vec::new();
    if is_default {
        badges.push(badge("badge good", "default"));
    }
    if wants_key && !saved.has_key() {
        badges.push(badge("badge notice", "no key"));
    }
    all(badges)
}

/// Actions on the connection.
fn actions(editor: Editor) -> AnyView {
    let is_default = flag(move || {
        let shown = editor.shown().id;
        connections::read(|all| all.default_one().is_some_and(|default| default.id == shown))
    });
    let is_saved = move || {
        let shown = editor.shown().id;
        connections::read(|all| all.find(&shown).is_some())
    };
    shown(is_saved, move || {
        all(vec![
            small("Make default", move || editor.make_default())
                .attr("disabled", is_default)
                .view(),
            small("Duplicate", move || editor.duplicate()).view(),
            small("Delete", move || editor.remove()).view(),
        ])
    })
}
