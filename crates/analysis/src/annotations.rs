//! Notes about episodes: a text, a label or a verdict, attached to a step, a passage or a part of the state.
//! They are stored next to the episodes, never in them.
//!
//! - [`sidecar`]: the file format. [`agreement`]: the agreement of two annotators. [`labels`]: labels on keys.
//!   [`tags`]: tags of episodes.
//!
//! Invariants: merging is commutative and idempotent; of two versions of an annotation the later one wins, and
//! a deleted annotation stays deleted.

pub mod agreement;
pub mod labels;
pub mod sidecar;
pub mod tags;

use std::collections::BTreeMap;

use volary_core::json::{Object, Text};
use volary_episode::episode::Episode;
use volary_episode::history::StatePath;
use volary_episode::passages::{TextPosition, passage};

/// A note of an annotator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// The globally unique id.
    pub id: Text,
    /// The id of the episode.
    pub episode: Text,
    /// The annotated part of the episode.
    pub target: Target,
    /// The text of the note.
    pub text: Text,
    /// A label that the annotator chose ("loops", "asks twice").
    pub label: Option<Text>,
    /// The judgement, if there is one.
    pub verdict: Option<Verdict>,
    /// The name of the annotator.
    pub author: Text,
    /// The time of the last change, in seconds since 1970 (UTC).
    pub changed: f64,
    /// The number of changes, up to [`MOST_REVISIONS`]; the later version wins.
    pub revision: u64,
    /// Whether it was deleted. A tombstone: merging an older file must not restore it.
    pub deleted: bool,
    /// Unknown members of the file, preserved.
    pub extras: Object,
}

/// The highest revision. Every reader can represent it, including those with floats only.
pub const MOST_REVISIONS: u64 = (1 << 53) - 1;

/// The annotated part of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Target {
    /// The whole episode.
    #[default]
    Episode,
    /// A step, from 1; 0 is the start.
    Step {
        /// The number of the step.
        step: usize,
    },
    /// A range of characters in a text of the episode.
    Passage {
        /// The annotated text's location.
        position: TextPosition,
        /// The index of the first character.
        start: usize,
        /// The index after the last character.
        end: usize,
        /// The annotated characters.
        quote: Text,
    },
    /// A part of the state after a step.
    State {
        /// The frame: 0 is after the start, `i` after step `i`.
        frame: usize,
        /// The path of the part within the frame.
        part: StatePath,
    },
}

/// The judgement of an annotator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Right.
    Good,
    /// Wrong.
    Bad,
    /// Undecided.
    Unsure,
}

impl Verdict {
    pub const ALL: [Verdict; 3] = [Verdict::Good, Verdict::Bad, Verdict::Unsure];

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Bad => "bad",
            Verdict::Unsure => "unsure",
        }
    }
}

impl Target {
    /// The annotated step: 0 is the start; `None` for the whole episode.
    pub fn step(&self) -> Option<usize> {
        match self {
            Target::Episode => None,
            Target::Step { step } => Some(*step),
            Target::Passage { position, .. } => Some(position.step),
            Target::State { frame, .. } => Some(*frame),
        }
    }

    /// The position of its quote in the annotated text, in characters: the recorded position, otherwise the
    /// nearest match. `None` if the text no longer contains the quote, or the note is not about a passage.
    pub fn locate(&self, episode: &Episode) -> Option<std::ops::Range<usize>> {
        let Target::Passage {
            position,
            start,
            end,
            quote,
        } = self
        else {
            return None;
        };
        let text = passage(episode, *position)?;
        let length = end.checked_sub(*start)?;
        let here: String = text.chars().skip(*start).take(length).collect();
        if *here == **quote {
            return Some(*start..*end);
        }
        if quote.is_empty() {
            return None;
        }
        let mut nearest: Option<usize> = None;
        let (mut counted, mut at) = (0, 0);
        for (byte, _) in text.match_indices(&**quote) {
            counted += text[at..byte].chars().count();
            at = byte;
            if nearest.is_none_or(|known| counted.abs_diff(*start) < known.abs_diff(*start)) {
                nearest = Some(counted);
            }
        }
        nearest.map(|start| start..start + quote.chars().count())
    }
}

/// Notes keyed by id, including tombstones of deleted ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    by_id: BTreeMap<Text, Annotation>,
}

impl Annotations {
    /// The notes that are not deleted, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Annotation> {
        self.by_id.values().filter(|annotation| !annotation.deleted)
    }

    /// The notes of an episode, by step; those on the whole episode come first.
    pub fn of_episode<'a>(&'a self, episode: &'a str) -> Vec<&'a Annotation> {
        let mut found: Vec<_> = self
            .iter()
            .filter(|note| &*note.episode == episode)
            .collect();
        found.sort_by_key(|note| note.target.step());
        found
    }

    /// A note that is not deleted.
    pub fn get(&self, id: &str) -> Option<&Annotation> {
        self.by_id.get(id).filter(|annotation| !annotation.deleted)
    }

    /// Adds a note, or a new version of it, at a time in seconds since 1970. Increments the revision.
    pub fn write(&mut self, mut annotation: Annotation, now: f64) {
        let known = self
            .by_id
            .get(&annotation.id)
            .map_or(0, |known| known.revision);
        let before = known.max(annotation.revision);
        annotation.revision = before.saturating_add(1).min(MOST_REVISIONS);
        annotation.changed = now;
        if before >= MOST_REVISIONS {
            // The revision no longer orders the versions, so the time does.
            let last = self
                .by_id
                .get(&annotation.id)
                .map_or(0.0, |known| known.changed);
            annotation.changed = now.max(last.next_up());
        }
        self.by_id.insert(annotation.id.clone(), annotation);
    }

    /// Deletes a note; returns whether it existed.
    pub fn delete(&mut self, id: &str, now: f64) -> bool {
        let Some(known) = self.get(id) else {
            return false;
        };
        let deleted = Annotation {
            id: known.id.clone(),
            episode: known.episode.clone(),
            author: known.author.clone(),
            deleted: true,
            ..Annotation::default()
        };
        self.write(deleted, now);
        true
    }

    /// Merges the notes of others. Returns the number of notes that are new or changed.
    pub fn merge(&mut self, others: Annotations) -> usize {
        let mut taken = 0;
        for (id, other) in others.by_id {
            let known = self.by_id.get(&id);
            if known.is_none_or(|known| sidecar::rank(known) < sidecar::rank(&other)) {
                self.by_id.insert(id, other);
                taken += 1;
            }
        }
        taken
    }

    /// The notes that `others` lacks, or has older versions of.
    pub fn newer_than(&self, others: &Annotations) -> Annotations {
        let is_newer = |note: &&Annotation| {
            let known = others.by_id.get(&note.id);
            known.is_none_or(|known| sidecar::rank(known) < sidecar::rank(note))
        };
        self.iter_all().filter(is_newer).cloned().collect()
    }

    /// All notes by id, including tombstones.
    pub fn iter_all(&self) -> impl Iterator<Item = &Annotation> {
        self.by_id.values()
    }

    /// The annotators, sorted.
    pub fn authors(&self) -> Vec<&Text> {
        let mut authors: Vec<_> = self.iter().map(|annotation| &annotation.author).collect();
        authors.sort();
        authors.dedup();
        authors
    }
}

impl FromIterator<Annotation> for Annotations {
    /// Of several notes with the same id, the latest wins.
    fn from_iter<I: IntoIterator<Item = Annotation>>(annotations: I) -> Self {
        let mut all = Annotations::default();
        for annotation in annotations {
            let by_id = BTreeMap::from([(annotation.id.clone(), annotation)]);
            all.merge(Annotations { by_id });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_notes_are_those_that_a_merge_takes() {
        let mut mine = Annotations::from_iter([note("mine", 2)]);
        let others = mine.clone();
        assert_eq!(mine.newer_than(&others), Annotations::default());
        mine.delete("a", 1.0);
        let newer = mine.newer_than(&others);
        assert_eq!(newer.iter_all().count(), 1, "a tombstone is a version");
        assert_eq!(others.newer_than(&mine), Annotations::default());
        assert_eq!(mine.newer_than(&Annotations::default()), mine);
    }

    fn note(text: &str, revision: u64) -> Annotation {
        Annotation {
            id: "a".into(),
            episode: "e".into(),
            text: text.into(),
            revision,
            ..Annotation::default()
        }
    }

    #[test]
    fn a_note_of_the_highest_revision_can_be_changed_and_read() {
        for revision in [MOST_REVISIONS, i64::MAX as u64, u64::MAX] {
            let file = Annotations::from_iter([note("theirs", revision)]);
            let file = sidecar::read(&sidecar::to_text(&file)).unwrap().annotations;
            assert_eq!(file.get("a").unwrap().revision, MOST_REVISIONS);
            let mut mine = file.clone();
            // The clock of the annotator may be behind.
            mine.write(note("mine", 0), 0.0);
            mine.write(note("mine again", 0), 0.0);
            let text = sidecar::to_text(&mine);
            let mut read = sidecar::read(&text).unwrap().annotations;
            assert_eq!(read.get("a").map(|note| &*note.text), Some("mine again"));
            // The later version wins, whichever is merged into the other.
            assert_eq!(read.merge(file.clone()), 0);
            let mut other = file;
            assert_eq!(other.merge(read), 1);
            assert_eq!(other.get("a").map(|note| &*note.text), Some("mine again"));
        }
    }
}
