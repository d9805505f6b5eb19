//! The reader's notes on the shown episode: a list, and a form for a new one on the selected step.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::embed::notes::{EmbedNotes, Note};

use volary_browser as browser;
use volary_ui::DisclosureButton;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::text::inert;

/// The notes, collapsed.
#[component]
pub fn NotesFold(
    notes: RwSignal<Option<EmbedNotes>>,
    /// The selected step; 0 is the start.
    selected: RwSignal<usize>,
    /// Called with a note that was written, or deleted (`true`).
    report: Callback<(Note, bool)>,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let list = Memo::new(move |_| {
        notes.with(|notes| {
            let notes = notes.as_ref().map(EmbedNotes::list);
            notes.unwrap_or_default().to_vec()
        })
    });
    let name = move || match list.with(Vec::len) {
        0 => "Notes".to_owned(),
        count => format!("Notes ({count})"),
    };
    view! {
        <div class="lesson-state">
            <DisclosureButton is_open name=Signal::derive(name)/>
            <Show when=move || is_open.get()>
                <div class="embed-notes">
                    <ul class="notes" aria-label="Notes">
                        <For each=move || list.get() key=|note| note.id.clone() let:note>
                            {item(note, notes, selected, report)}
                        </For>
                    </ul>
                    <NewNote notes selected report/>
                </div>
            </Show>
        </div>
    }
}

/// A step, in words.
fn step_text(step: usize) -> String {
    match step {
        0 => "Start".to_owned(),
        step => format!("Step {step}"),
    }
}

fn item(
    note: Note,
    notes: RwSignal<Option<EmbedNotes>>,
    selected: RwSignal<usize>,
    report: Callback<(Note, bool)>,
) -> impl IntoView {
    let Note {
        id,
        step,
        text,
        label,
    } = note;
    let delete = move |_| {
        let removed = notes.try_update(|notes| notes.as_mut()?.remove(&id));
        if let Some(note) = removed.flatten() {
            report.run((note, true));
        }
    };
    let label = (!label.is_empty()).then(|| {
        view! {
            <span class="tag" dir="auto">
                {inert(&label)}
            </span>
        }
    });
    view! {
        <li class="note">
            <button
                type="button"
                class="quiet small note-target"
                on:click=move |_| selected.set(step)
            >
                {step_text(step)}
            </button>
            {label}
            <span class="note-text" dir="auto">
                {inert(&text)}
            </span>
            <button type="button" class="quiet small icon-button" on:click=delete>
                <NamedIcon glyph=Glyph::Close name="Delete note"/>
            </button>
        </li>
    }
}

/// The form of a new note on the selected step.
#[component]
fn NewNote(
    notes: RwSignal<Option<EmbedNotes>>,
    selected: RwSignal<usize>,
    report: Callback<(Note, bool)>,
) -> impl IntoView {
    let (text, label) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let write = move |event: SubmitEvent| {
        event.prevent_default();
        let note = Note {
            id: browser::random_id(),
            step: selected.get_untracked(),
            text: text.get_untracked().into(),
            label: label.get_untracked().into(),
        };
        let added = notes.try_update(|notes| notes.as_mut()?.add(note));
        if let Some(note) = added.flatten() {
            text.set(String::new());
            label.set(String::new());
            report.run((note, false));
        }
    };
    view! {
        <form class="field-row" aria-label="New note" novalidate on:submit=write>
            <div class="field">
                <label for="embed-note">
                    {move || format!("Note on {}", step_text(selected.get()).to_lowercase())}
                </label>
                <input
                    type="text"
                    id="embed-note"
                    bind:value=text
                />
            </div>
            <div class="field">
                <label for="embed-label">{"Label"}</label>
                <input
                    type="text"
                    id="embed-label"
                    bind:value=label
                />
            </div>
            <button type="submit" class="small">
                {"Add note"}
            </button>
        </form>
    }
}
