//! Notes on trajectories: their signals, storage, export and import.

use leptos::prelude::*;
use volary_analysis::annotations::labels::{self, Labels, target_of};
use volary_analysis::annotations::{Annotation, Annotations, Target, sidecar, tags};
use volary_app::notice::Notice;
use volary_app::review::note_draft::NoteDraft;
use volary_core::json::Text;

use super::stored_notes::{self, merge_stored};
use volary_browser::files::{self, GivenFile};
use volary_browser::shared::{Shared, Unsaved};
use volary_browser::storage::{self, Keep};
use volary_browser::{self as browser, timers};
use volary_view::review::note_texts::{agreement_texts, imported, label_text};

/// The storage key of the notes.
const KEPT: &str = "notes";
/// The storage key of the annotator's name.
const AUTHOR: &str = "annotator";
/// The file name of an export.
const FILE: &str = "annotations.json";

thread_local! {
    static LABELS: Shared<Labels> = Shared::new(
        "labels",
        |text| serde_json::from_str(text).ok(),
        |labels| serde_json::to_string(labels).unwrap_or_default(),
        |_| {},
    );
}

/// Signals of the user's notes and imported ones.
#[derive(Clone, Copy)]
pub struct Notes {
    /// All notes, including imported ones.
    pub all: RwSignal<Annotations>,
    /// The annotator's name.
    pub author: RwSignal<String>,
    /// The labels assigned to the keys 1 to 9.
    pub labels: RwSignal<Labels>,
    /// The note that is being edited.
    pub draft: RwSignal<NoteDraft>,
    /// A message about the effect of the last label key.
    pub said: RwSignal<Option<String>>,
    /// The last error.
    pub notice: RwSignal<Option<Notice>>,
}

impl Notes {
    /// Loads the stored notes.
    pub fn new() -> Notes {
        let mut kept = Annotations::default();
        // What another version stored is not overwritten, see `change`.
        let _ = merge_stored(&mut kept, storage::get(Keep::Always, KEPT).as_deref());
        let all = RwSignal::new(kept);
        storage::on_change_elsewhere(KEPT, move |stored| {
            // A page that is being left has no signals any more.
            let _ = all.try_update(|all| merge_stored(all, stored.as_deref()));
        });
        Notes {
            all,
            author: RwSignal::new(storage::get(Keep::Always, AUTHOR).unwrap_or_default()),
            labels: LABELS.with(Shared::signal).into(),
            draft: RwSignal::default(),
            said: RwSignal::new(None),
            notice: RwSignal::new(None),
        }
    }

    /// Changes the labels assigned to the keys.
    pub fn set_labels(self, labels: Labels) {
        LABELS.with(|known| known.change(|known| *known = labels));
    }

    /// Whether changes of the labels are only in memory.
    pub fn unsaved_labels() -> Unsaved {
        LABELS.with(Shared::unsaved)
    }

    /// Toggles the label of a key on a step of an episode. Returns a message about what was done; `None` if the key has
    /// no label.
    pub fn toggle_label(self, episode: &Text, step: usize, key: &str) -> Option<String> {
        let label = self
            .labels
            .with_untracked(|labels| labels.of_key(key).map(Text::from))?;
        let target = target_of(step);
        let note = Annotation {
            id: new_id(),
            episode: episode.clone(),
            target: target.clone(),
            label: Some(label.clone()),
            author: self.author.get_untracked().trim().into(),
            ..Annotation::default()
        };
        let mut is_on = false;
        self.change(|all| is_on = labels::toggle(all, note, timers::wall_clock()));
        Some(label_text(&target, &label, is_on))
    }

    /// Keeps a tag of episodes, or its removal, as notes.
    pub fn tag(self, episodes: &[Text], tag: &str, on: bool) {
        let author = self.author.get_untracked().trim().into();
        let now = timers::wall_clock();
        self.change(|all| {
            for episode in episodes {
                tags::set(all, episode, tag, on, &author, now);
            }
        });
    }

    /// Saves the draft, unless it is empty.
    pub fn write(self, episode: &Text) {
        let author = self.author.get_untracked();
        let written = self
            .draft
            .with_untracked(|draft| draft.write(episode, &author, new_id()));
        if let Some((note, next)) = written {
            storage::set(Keep::Always, AUTHOR, author.trim());
            self.change(|all| all.write(note, timers::wall_clock()));
            self.draft.set(next);
        }
    }

    /// Starts a new note.
    pub fn begin(self, target: Target) {
        self.draft.set(NoteDraft::new(target));
    }

    /// Deletes a note.
    pub fn delete(self, id: &str) {
        self.change(|all| {
            all.delete(id, timers::wall_clock());
        });
        self.draft.update(|draft| draft.deleted(id));
    }

    /// Exports all notes as a file.
    pub fn save(self) {
        let text = self.all.with_untracked(sidecar::to_text);
        files::download(FILE, "application/json", text.as_bytes());
    }

    /// Adds notes of others.
    pub fn merge(self, others: Annotations) {
        self.change(|all| {
            all.merge(others);
        });
    }

    /// Imports notes from a file.
    pub fn take_over(self, file: GivenFile) {
        browser::spawn(async move {
            let content = file.read().await;
            self.notice.set(None);
            let notice = match imported(&file.name, content) {
                Err(notice) => Some(notice),
                Ok((others, notice)) => {
                    self.merge(others);
                    notice
                }
            };
            if notice.is_some() {
                self.notice.set(notice);
            }
        });
    }

    /// Inter-annotator agreement: one line per pair of annotators, by verdict and by label.
    pub fn agreement_texts(self) -> Vec<String> {
        self.all.with(agreement_texts)
    }

    fn change(self, change: impl FnOnce(&mut Annotations)) {
        let stored = storage::get(Keep::Always, KEPT);
        let text = self
            .all
            .try_update(|all| stored_notes::change(all, stored.as_deref(), change));
        let problem = match text {
            None => return,
            Some(Err(_)) => (
                "Those that are stored were written by another version of this page.",
                "Save the notes as a file, and update this page.",
            ),
            Some(Ok(text)) if !storage::set(Keep::Always, KEPT, &text) => (
                "The browser's storage is full or disabled.",
                "Save the notes as a file.",
            ),
            Some(Ok(_)) => return,
        };
        let (why, advice) = problem;
        let what = "The note cannot be stored for the next visit.";
        self.notice.set(Some(Notice::new(what, why, advice)));
    }
}

/// Generates the id of a new note.
fn new_id() -> Text {
    browser::random_id()
}

impl Default for Notes {
    fn default() -> Self {
        Notes::new()
    }
}
