//! Notes on trajectories: their signals, storage, export and import.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::annotations::agreement::{Agreement, Judgement, agreement};
use volary_trajectory::annotations::labels::{self, Labels, target_of};
use volary_trajectory::annotations::{Annotation, Annotations, Target, Verdict, sidecar, tags};

use crate::browser::files::{self, GivenFile};
use crate::browser::storage::{self, Keep};
use crate::browser::{self, timers};
use crate::projection::notice::Notice;
use crate::projection::text::plural;

/// The storage key of the notes.
const KEPT: &str = "notes";
/// The storage key of the annotator's name.
const AUTHOR: &str = "annotator";
/// The storage key of the labels.
const LABELS: &str = "labels";
/// The file name of an export.
const FILE: &str = "annotations.json";
/// The maximum number of annotator pairs shown.
const MOST_AGREEMENTS: usize = 12;

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
    pub draft: NoteDraft,
    /// A message about the effect of the last label key.
    pub said: RwSignal<Option<String>>,
    /// The last error.
    pub notice: RwSignal<Option<Notice>>,
}

#[derive(Clone, Copy)]
pub struct NoteDraft {
    /// The id of an existing note; `None` for a new one.
    pub changes: RwSignal<Option<Text>>,
    pub target: RwSignal<Target>,
    pub text: RwSignal<String>,
    pub label: RwSignal<String>,
    pub verdict: RwSignal<Option<Verdict>>,
}

impl Notes {
    /// Loads the stored notes.
    pub fn new() -> Notes {
        let kept = storage::get(Keep::Always, KEPT).and_then(|text| sidecar::read(&text).ok());
        Notes {
            all: RwSignal::new(kept.map(|kept| kept.annotations).unwrap_or_default()),
            author: RwSignal::new(storage::get(Keep::Always, AUTHOR).unwrap_or_default()),
            labels: RwSignal::new(
                storage::get(Keep::Always, LABELS)
                    .and_then(|text| serde_json::from_str(&text).ok())
                    .unwrap_or_default(),
            ),
            draft: NoteDraft {
                changes: RwSignal::new(None),
                target: RwSignal::default(),
                text: RwSignal::default(),
                label: RwSignal::default(),
                verdict: RwSignal::new(None),
            },
            said: RwSignal::new(None),
            notice: RwSignal::new(None),
        }
    }

    /// Changes the labels assigned to the keys.
    pub fn set_labels(self, labels: Labels) {
        let text = serde_json::to_string(&labels).unwrap_or_default();
        self.labels.set(labels);
        if !storage::set(Keep::Always, LABELS, &text) {
            self.notice.set(Some(Notice::new(
                "The labels cannot be stored for the next visit.",
                "The browser's storage is full or disabled.",
                "They work until you leave the page.",
            )));
        }
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
        let done = if is_on { "on" } else { "off" };
        Some(format!("{}: label {label} {done}", target_text(&target)))
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
        let draft = self.draft;
        let text = draft.text.get_untracked().trim().to_owned();
        let label = draft.label.get_untracked().trim().to_owned();
        let verdict = draft.verdict.get_untracked();
        if text.is_empty() && label.is_empty() && verdict.is_none() {
            return;
        }
        let id = draft.changes.get_untracked();
        let author = self.author.get_untracked().trim().to_owned();
        storage::set(Keep::Always, AUTHOR, &author);
        let note = Annotation {
            id: id.unwrap_or_else(new_id),
            episode: episode.clone(),
            target: draft.target.get_untracked(),
            text: text.into(),
            label: (!label.is_empty()).then(|| label.into()),
            verdict,
            author: author.into(),
            ..Annotation::default()
        };
        // After a note on a step, another one on the same step is likely.
        let next = match note.target {
            Target::Step { step } => Target::Step { step },
            _ => Target::Episode,
        };
        self.change(|all| all.write(note, timers::wall_clock()));
        self.begin(next);
    }

    /// Starts a new note.
    pub fn begin(self, target: Target) {
        self.draft.changes.set(None);
        self.draft.target.set(target);
        self.draft.text.set(String::new());
        self.draft.label.set(String::new());
        self.draft.verdict.set(None);
    }

    /// Starts editing a note.
    pub fn begin_changing(self, note: &Annotation) {
        self.draft.changes.set(Some(note.id.clone()));
        self.draft.target.set(note.target.clone());
        self.draft.text.set(note.text.to_string());
        let label = note.label.as_ref().map(|label| label.to_string());
        self.draft.label.set(label.unwrap_or_default());
        self.draft.verdict.set(note.verdict);
    }

    /// Deletes a note.
    pub fn delete(self, id: &str) {
        self.change(|all| {
            all.delete(id, timers::wall_clock());
        });
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
            let name = file.name.clone();
            let taken = match file.read().await {
                Ok(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => sidecar::read(&text).map_err(|error| error.to_string()),
                    Err(_) => Err("This is not a text file.".to_owned()),
                },
                Err(reason) => Err(reason),
            };
            let notice = match taken {
                Err(reason) => Notice::new(
                    format!("{name} could not be imported."),
                    reason,
                    "Choose an annotation file saved by Volary. Your notes are unchanged.",
                ),
                Ok(reading) if reading.faults.is_empty() => {
                    self.change(|all| {
                        all.merge(reading.annotations);
                    });
                    return;
                }
                Ok(reading) => {
                    let faults = plural(reading.faults.len(), "note");
                    let first = reading.faults.first().map(|fault| fault.to_string());
                    self.change(|all| {
                        all.merge(reading.annotations);
                    });
                    Notice::new(
                        format!("{faults} of {name} could not be read; the others were imported."),
                        first.unwrap_or_default(),
                        "Ask the author for a new file.",
                    )
                }
            };
            self.notice.set(Some(notice));
        });
    }

    /// Inter-annotator agreement: one line per pair of annotators, by verdict and by label.
    pub fn agreement_texts(self) -> Vec<String> {
        self.all.with(|all| {
            let authors = all.authors();
            let mut texts = Vec::new();
            for (place, one) in authors.iter().enumerate() {
                for other in authors.iter().skip(place + 1) {
                    let judged = [
                        (Judgement::Verdict, "judged"),
                        (Judgement::Label, "labelled"),
                    ];
                    texts.extend(judged.into_iter().filter_map(|(by, did)| {
                        agreement_text(one, other, did, &agreement(all, one, other, by))
                    }));
                    if texts.len() >= MOST_AGREEMENTS {
                        return texts;
                    }
                }
            }
            texts
        })
    }

    fn change(self, change: impl FnOnce(&mut Annotations)) {
        self.all.update(change);
        let text = self.all.with_untracked(sidecar::to_text);
        if !storage::set(Keep::Always, KEPT, &text) {
            self.notice.set(Some(Notice::new(
                "The note cannot be stored for the next visit.",
                "The browser's storage is full or disabled.",
                "Save the notes as a file.",
            )));
        }
    }
}

/// Generates the id of a new note.
fn new_id() -> Text {
    browser::random_id()
}

fn agreement_text(one: &str, other: &str, did: &str, found: &Agreement) -> Option<String> {
    let observed = found.observed?;
    let kappa = match found.kappa {
        Some(kappa) => format!("Cohen's kappa {kappa:.2}"),
        None => "Cohen's kappa is not defined".to_owned(),
    };
    Some(format!(
        "{one} and {other} {did} {}, agreeing on {:.0}% ({kappa}).",
        plural(found.items, "item"),
        observed * 100.0
    ))
}

impl Default for Notes {
    fn default() -> Self {
        Notes::new()
    }
}

/// Describes the target of a note.
pub fn target_text(target: &Target) -> String {
    match target {
        Target::Episode => "Whole episode".to_owned(),
        Target::Step { step: 0 } => "Start".to_owned(),
        Target::Step { step } => format!("Step {step}"),
        Target::Passage { place, quote, .. } => {
            let short: String = quote.chars().take(60).collect();
            let more = if short.len() < quote.len() { "…" } else { "" };
            format!("Step {}: \u{201c}{short}{more}\u{201d}", place.step)
        }
        Target::State { frame, part } => {
            let path = crate::projection::state_path::words(part);
            format!("State after step {frame}: {path}")
        }
    }
}
