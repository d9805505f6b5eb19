//! Keyboard labels: words that the annotator chose, each bound to one of the keys 1 to 9. A key press toggles the label
//! on a step or an episode.
//!
//! Invariants: there are at most nine labels, none is empty, and no two are equal. Applying a label creates a note
//! without a text; removing it never deletes a text or a verdict.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;

use super::{Annotation, Annotations, Target};

/// The labels on the keys 1 to 9.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Labels(Vec<String>);

impl From<Vec<String>> for Labels {
    /// Drops empty labels, duplicates, and labels after the ninth.
    fn from(words: Vec<String>) -> Labels {
        let mut labels: Vec<String> = Vec::new();
        for word in words {
            let word = word.trim();
            if !word.is_empty()
                && labels.len() < Labels::MOST
                && labels.iter().all(|one| one != word)
            {
                labels.push(word.to_owned());
            }
        }
        Labels(labels)
    }
}

impl Labels {
    /// The number of keys.
    pub const MOST: usize = 9;

    /// All labels, that of key 1 first.
    pub fn list(&self) -> &[String] {
        &self.0
    }

    /// The label of a key.
    pub fn of_key(&self, key: &str) -> Option<&str> {
        let number: usize = key.parse().ok().filter(|_| key.len() == 1)?;
        self.0.get(number.checked_sub(1)?).map(String::as_str)
    }

    /// Replaces the label at an index, from 0; an empty label removes it.
    pub fn with(&self, index: usize, label: &str) -> Labels {
        let mut labels = self.0.clone();
        match labels.get_mut(index) {
            Some(known) => label.clone_into(known),
            None => labels.push(label.to_owned()),
        }
        Labels::from(labels)
    }
}

/// The target of a label: the selected step, or the whole episode at its start.
pub fn target_of(step: usize) -> Target {
    match step {
        0 => Target::Episode,
        step => Target::Step { step },
    }
}

/// The labels on a target, in the order in which they were applied.
pub fn labels_on<'a>(notes: &'a Annotations, episode: &str, target: &Target) -> Vec<&'a Text> {
    let on = notes
        .iter()
        .filter(|note| &*note.episode == episode && note.target == *target);
    let mut on: Vec<_> = on.filter(|note| note.label.is_some()).collect();
    on.sort_by(|one, other| one.changed.total_cmp(&other.changed));
    let mut labels: Vec<&Text> = Vec::new();
    for label in on.into_iter().filter_map(|note| note.label.as_ref()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// Toggles a label on the target of a note: applies it, or removes it if this author applied it. `note` has the new
/// note's id, episode, target, author and label. Returns whether the label is on the target now.
pub fn toggle(notes: &mut Annotations, note: Annotation, now: f64) -> bool {
    let known = notes.iter().filter(|known| {
        known.episode == note.episode
            && known.target == note.target
            && known.author == note.author
            && known.label == note.label
    });
    let known: Vec<Annotation> = known.cloned().collect();
    if known.is_empty() {
        notes.write(note, now);
        return true;
    }
    for known in known {
        if known.text.is_empty() && known.verdict.is_none() {
            notes.delete(&known.id, now);
        } else {
            notes.write(
                Annotation {
                    label: None,
                    ..known
                },
                now,
            );
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::{Verdict, sidecar};

    fn note(id: &str, label: &str, step: usize) -> Annotation {
        Annotation {
            id: id.into(),
            episode: "e".into(),
            target: target_of(step),
            label: Some(label.into()),
            author: "a".into(),
            ..Annotation::default()
        }
    }

    #[test]
    fn keys_have_labels() {
        let words = ["loop", " asks twice ", "", "loop"].map(str::to_owned);
        let labels = Labels::from(words.to_vec());
        assert_eq!(labels.list(), ["loop", "asks twice"]);
        let of = |key| labels.of_key(key);
        assert_eq!((of("1"), of("2")), (Some("loop"), Some("asks twice")));
        for none in ["0", "3", "10", "a", "", "+1"] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(labels.with(0, "").list(), ["asks twice"]);
        assert_eq!(labels.with(5, "new").list(), ["loop", "asks twice", "new"]);
        let many: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let text = serde_json::to_string(&many).unwrap();
        let read: Labels = serde_json::from_str(&text).unwrap();
        assert_eq!(read.list().len(), Labels::MOST);
        assert_eq!(
            serde_json::from_str::<Labels>(&serde_json::to_string(&read).unwrap()).unwrap(),
            read
        );
    }

    #[test]
    fn a_label_is_put_on_and_taken_away() {
        let mut notes = Annotations::default();
        assert!(toggle(&mut notes, note("1", "loop", 3), 1.0));
        assert!(toggle(&mut notes, note("2", "slow", 3), 2.0));
        assert!(toggle(&mut notes, note("3", "loop", 0), 3.0));
        let on = |notes: &Annotations, step| {
            let labels = labels_on(notes, "e", &target_of(step));
            labels
                .iter()
                .map(|label| label.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(on(&notes, 3), ["loop", "slow"]);
        assert_eq!(on(&notes, 0), ["loop"], "of the whole episode");
        assert!(!toggle(&mut notes, note("4", "loop", 3), 4.0));
        assert_eq!(on(&notes, 3), ["slow"]);
        // Labels survive export and import with the notes.
        let file = sidecar::read(&sidecar::to_text(&notes))
            .unwrap()
            .annotations;
        assert_eq!(on(&file, 3), ["slow"]);
        // A text is preserved, and so is the label of another author.
        let written = Annotation {
            text: "look here".into(),
            verdict: Some(Verdict::Bad),
            ..note("5", "cheats", 2)
        };
        notes.write(written, 5.0);
        notes.write(
            Annotation {
                author: "b".into(),
                ..note("6", "cheats", 2)
            },
            5.0,
        );
        assert!(!toggle(&mut notes, note("7", "cheats", 2), 6.0));
        assert_eq!(on(&notes, 2), ["cheats"]);
        assert_eq!(notes.get("5").map(|note| &*note.text), Some("look here"));
    }
}
