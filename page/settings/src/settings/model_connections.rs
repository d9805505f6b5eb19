//! The **Models** section: a list on the left, the selected connection on the right.
//!
//! Input is applied on blur. Without any connection the form shows a draft, which becomes a connection with the first
//! change.

mod built_in;
mod connection_test;
mod form;
mod generate;
mod names;
mod offered_models;

use form::ConnectionForm;
use leptos::prelude::*;
use volary_agent::model::Connection;
use volary_agent::model::connection::{PRESETS, Preset};
use volary_core::json::Text;

use super::section::Section;
use volary_browser::element;
use volary_connections::models::connections::{self, Saved, new_id};
use volary_secrets as secrets;
use volary_ui::UnsavedNotice;
use volary_ui::icon::{Glyph, Icon};
use volary_ui::text::inert;

#[component]
pub(super) fn ModelConnections() -> impl IntoView {
    let editor = Editor::new();
    let about = "Requests go directly from this page to the address that you enter, with your key, \
         and nowhere else.";
    view! {
        <Section id="settings-models" title="Models" about>
            <UnsavedNotice what="the model connections" unsaved=connections::unsaved()/>
            <div class="connections">
                <List editor/>
                <ConnectionForm editor/>
            </div>
        </Section>
    }
}

/// Signals of the selected connection.
#[derive(Clone, Copy)]
struct Editor {
    /// The id of the selected connection, or of the draft.
    chosen: RwSignal<Text>,
    draft: RwSignal<Saved>,
    test: connection_test::TestRun,
    names: names::Names,
}

impl Editor {
    fn new() -> Self {
        let draft = fresh(&PRESETS[0]);
        let chosen = connections::read(|all| all.default_one().map(|saved| saved.id.clone()));
        Editor {
            chosen: RwSignal::new(chosen.unwrap_or_else(|| draft.id.clone())),
            draft: RwSignal::new(draft),
            test: connection_test::TestRun::new(),
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

    /// Edits the selected connection. A draft becomes a connection.
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
            self.test.forget(self);
        }
    }

    /// Selects another connection.
    fn choose(self, id: Text) {
        self.test.forget(self);
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
            // If the copied keys cannot be stored, they stay in memory.
            let _ = secrets::copy(&original.owner(), &copy.owner());
            self.choose(id);
        }
    }

    fn remove(self) {
        let gone = self.shown_untracked();
        // If the storage fails, the keys are still removed from memory.
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

/// The list of connections. If there are none it shows the draft, so that nothing moves when the draft becomes a
/// connection.
#[component]
fn List(editor: Editor) -> impl IntoView {
    let count = Memo::new(|_| connections::read(|all| all.list().len().max(1)));
    view! {
        <div class="connection-list">
            <ul aria-label="Connections">
                <For each=move || 0..count.get() key=|place| *place let(place)>
                    <Entry editor place/>
                </For>
            </ul>
            <button type="button" class="small" on:click=move |_| editor.add()>
                <Icon glyph=Glyph::Add/>
                {"Add connection"}
            </button>
        </div>
    }
}

/// The list entry at an index, whichever connection it currently shows: a click that blurs a field then starts and ends
/// on the same button.
#[component]
fn Entry(editor: Editor, place: usize) -> impl IntoView {
    let at = move || {
        let saved = connections::read(|all| all.list().get(place).cloned());
        saved.unwrap_or_else(|| editor.draft.get())
    };
    let model = move || {
        let model = at().connection.model;
        inert(if model.is_empty() {
            "no model yet"
        } else {
            &model
        })
    };
    view! {
        <li>
            <button
                type="button"
                class="connection"
                aria-pressed=move || (at().id == editor.shown().id).to_string()
                on:click=move |_| editor.choose(untrack(at).id)
            >
                <span class="connection-name">{move || inert(&at().connection.name)}</span>
                <span class="faint">{model}</span>
                <span class="connection-badges">{move || badges(&at())}</span>
            </button>
        </li>
    }
}

fn badges(saved: &Saved) -> impl IntoView + use<> {
    let is_default = connections::read(|all| {
        let default = all.default_one();
        all.list().len() > 1 && default.is_some_and(|default| default.id == saved.id)
    });
    let wants_key = saved.connection.kind.has_server()
        && saved.preset.is_none_or(|preset| preset.key_url.is_some());
    let lacks_key = wants_key && !saved.has_key();
    view! {
        {is_default.then(|| view! { <span class="badge good">"default"</span> })}
        {lacks_key.then(|| view! { <span class="badge notice">"no key"</span> })}
    }
}

/// Actions on the connection.
#[component]
fn Actions(editor: Editor) -> impl IntoView {
    let is_default = move || {
        let shown = editor.shown().id;
        connections::read(|all| all.default_one().is_some_and(|default| default.id == shown))
    };
    let is_saved = move || {
        let shown = editor.shown().id;
        connections::read(|all| all.find(&shown).is_some())
    };
    view! {
        <Show when=is_saved>
            <button
                type="button"
                class="quiet small"
                disabled=is_default
                on:click=move |_| editor.make_default()
            >
                {"Make default"}
            </button>
            <button type="button" class="quiet small" on:click=move |_| editor.duplicate()>
                {"Duplicate"}
            </button>
            <button type="button" class="quiet small" on:click=move |_| editor.remove()>
                {"Delete"}
            </button>
        </Show>
    }
}
