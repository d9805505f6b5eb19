//! The form for a note: a new one, or a change of one.
//!
//! Invariants: a changed note stays with its episode and keeps what the form does not show. A target is a place of the shown
//! episode: the selected step, until the person chooses another one or begins to write. A note that was deleted is not
//! changed.

use volary_analysis::annotations::labels::target_of;
use volary_analysis::annotations::{Annotation, Target, Verdict};
use volary_core::json::Text;

/// What the form contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteDraft {
    /// The note that is changed; `None` for a new one.
    changes: Option<Annotation>,
    /// Whether the person chose the target.
    is_aimed: bool,
    target: Target,
    pub text: String,
    pub label: String,
    pub verdict: Option<Verdict>,
}

impl NoteDraft {
    /// An empty form for a new note on a place that the person chose.
    pub fn new(target: Target) -> NoteDraft {
        NoteDraft {
            is_aimed: true,
            target,
            ..NoteDraft::default()
        }
    }

    /// A form that changes a note.
    pub fn of(note: &Annotation) -> NoteDraft {
        NoteDraft {
            changes: Some(note.clone()),
            is_aimed: true,
            target: note.target.clone(),
            text: note.text.to_string(),
            label: note.label.as_deref().unwrap_or_default().to_owned(),
            verdict: note.verdict,
        }
    }

    pub fn is_change(&self) -> bool {
        self.changes.is_some()
    }

    /// What the note is about.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Handles that the person chose what the note is about.
    pub fn aim(&mut self, target: Target) {
        self.target = target;
        self.is_aimed = true;
    }

    /// The target if this step is selected, unless it stays as it is.
    pub fn next_target(&self, selected: usize) -> Option<Target> {
        let is_untouched = self.text.is_empty() && self.label.is_empty() && self.verdict.is_none();
        let target = target_of(selected);
        (!self.is_aimed && is_untouched && target != self.target).then_some(target)
    }

    /// Handles that a step is selected.
    pub fn follow(&mut self, selected: usize) {
        if let Some(target) = self.next_target(selected) {
            self.target = target;
        }
    }

    /// The note on an episode, and the form that follows it; `None` if the form is empty. A new note gets this id.
    pub fn write(
        &self,
        episode: &Text,
        author: &str,
        new_id: Text,
    ) -> Option<(Annotation, NoteDraft)> {
        let (text, label) = (self.text.trim(), self.label.trim());
        if text.is_empty() && label.is_empty() && self.verdict.is_none() {
            return None;
        }
        let known = self.changes.clone().unwrap_or_else(|| Annotation {
            id: new_id,
            episode: episode.clone(),
            ..Annotation::default()
        });
        let note = Annotation {
            target: self.target.clone(),
            text: text.into(),
            label: (!label.is_empty()).then(|| label.into()),
            verdict: self.verdict,
            author: author.trim().into(),
            ..known
        };
        Some((note, NoteDraft::default()))
    }

    /// Handles that an episode is shown. What was typed for a new note stays.
    pub fn show(&mut self, episode: &str) {
        match &self.changes {
            Some(note) if *note.episode == *episode => {}
            Some(_) => *self = NoteDraft::default(),
            None => {
                self.target = Target::Episode;
                self.is_aimed = false;
            }
        }
    }

    /// Handles that a note was deleted.
    pub fn deleted(&mut self, id: &str) {
        if self.changes.as_ref().is_some_and(|note| *note.id == *id) {
            *self = NoteDraft::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_analysis::annotations::Annotations;
    use volary_core::json::Json;

    use super::*;

    fn known() -> Annotation {
        let mut note = Annotation {
            id: "n".into(),
            episode: "a".into(),
            target: Target::Step { step: 3 },
            text: "asks twice".into(),
            label: Some("loop".into()),
            verdict: Some(Verdict::Bad),
            author: "Ada".into(),
            ..Annotation::default()
        };
        note.extras.insert("reviewed", Json::from(true));
        note
    }

    fn written(draft: &NoteDraft) -> Annotation {
        let written = draft.write(&"a".into(), "Ada", "new".into());
        written.expect("it is not empty").0
    }

    #[test]
    fn a_new_note_belongs_to_the_shown_episode() {
        let draft = NoteDraft {
            text: "  asks twice\n".to_owned(),
            label: " ".to_owned(),
            ..NoteDraft::new(Target::Step { step: 3 })
        };
        assert!(!draft.is_change());
        let written = draft.write(&"a".into(), " Ada ", "new".into());
        let (note, next) = written.expect("it has a text");
        let expected = Annotation {
            id: "new".into(),
            episode: "a".into(),
            target: Target::Step { step: 3 },
            text: "asks twice".into(),
            label: None,
            author: "Ada".into(),
            ..Annotation::default()
        };
        assert_eq!(note, expected);
        assert_eq!(next, NoteDraft::default());
    }

    #[test]
    fn a_new_note_is_about_the_selected_step() {
        let mut draft = NoteDraft::default();
        draft.follow(3);
        assert_eq!(*draft.target(), Target::Step { step: 3 });
        assert_eq!(draft.next_target(3), None, "nothing to do");
        draft.follow(5);
        assert_eq!(*draft.target(), Target::Step { step: 5 });
        // At the start of the episode no step is selected.
        draft.follow(0);
        assert_eq!(*draft.target(), Target::Episode);
        draft.follow(2);
        draft.text = "asks twice".to_owned();
        draft.follow(4);
        assert_eq!(written(&draft).target, Target::Step { step: 2 });
        // The next note is about the step that is selected then.
        let (_, mut next) = draft
            .write(&"a".into(), "Ada", "new".into())
            .expect("it has a text");
        next.follow(4);
        assert_eq!(*next.target(), Target::Step { step: 4 });
    }

    #[test]
    fn what_the_person_chose_to_write_about_stays() {
        let mut draft = NoteDraft::default();
        draft.follow(3);
        draft.aim(Target::Episode);
        draft.follow(4);
        assert_eq!(*draft.target(), Target::Episode);
        let mut draft = NoteDraft::new(Target::Step { step: 1 });
        draft.follow(4);
        assert_eq!(*draft.target(), Target::Step { step: 1 });
        let mut draft = NoteDraft::of(&known());
        draft.follow(4);
        assert_eq!(draft, NoteDraft::of(&known()));
    }

    #[test]
    fn a_written_note_leaves_an_empty_form() {
        let position = Default::default();
        let passage = Target::Passage {
            position,
            start: 0,
            end: 2,
            quote: "as".into(),
        };
        for target in [passage, Target::Episode] {
            let draft = NoteDraft {
                verdict: Some(Verdict::Good),
                ..NoteDraft::new(target)
            };
            let written = draft.write(&"a".into(), "", "new".into());
            assert_eq!(written.map(|(_, next)| next), Some(NoteDraft::default()));
        }
    }

    #[test]
    fn an_empty_form_writes_nothing() {
        let blank = NoteDraft {
            text: " \n".to_owned(),
            label: "\t".to_owned(),
            ..NoteDraft::new(Target::Step { step: 1 })
        };
        assert_eq!(blank.write(&"a".into(), "Ada", "new".into()), None);
        // Each of the three is enough.
        for draft in [
            NoteDraft {
                text: "x".to_owned(),
                ..blank.clone()
            },
            NoteDraft {
                label: "x".to_owned(),
                ..blank.clone()
            },
            NoteDraft {
                verdict: Some(Verdict::Unsure),
                ..blank.clone()
            },
        ] {
            assert!(draft.write(&"a".into(), "", "new".into()).is_some());
        }
    }

    #[test]
    fn a_change_keeps_what_the_form_does_not_show() {
        let mut draft = NoteDraft::of(&known());
        assert!(draft.is_change());
        assert_eq!(written(&draft), known(), "nothing was changed");
        draft.text = "asks three times".to_owned();
        draft.label = String::new();
        draft.verdict = None;
        let expected = Annotation {
            text: "asks three times".into(),
            label: None,
            verdict: None,
            ..known()
        };
        assert_eq!(written(&draft), expected);
    }

    #[test]
    fn a_change_replaces_the_note_and_the_next_is_new() {
        let mut all: Annotations = [known()].into_iter().collect();
        let mut draft = NoteDraft::of(&known());
        draft.text = "asks three times".to_owned();
        let (note, next) = draft
            .write(&"a".into(), "Ada", "new".into())
            .expect("it has a text");
        all.write(note, 1.0);
        assert_eq!(all.iter().count(), 1);
        assert!(!next.is_change());
    }

    #[test]
    fn a_changed_note_never_moves_to_another_episode() {
        let mut draft = NoteDraft::of(&known());
        // Even if the page had not said that another one is shown.
        let moved = draft.write(&"b".into(), "Ada", "new".into());
        assert_eq!(moved.map(|(note, _)| note.episode), Some("a".into()));
        draft.show("a");
        assert!(draft.is_change(), "it is opened again");
        draft.show("b");
        assert_eq!(draft, NoteDraft::default());
    }

    #[test]
    fn what_was_typed_stays_but_not_its_place() {
        let mut draft = NoteDraft {
            text: "asks twice".to_owned(),
            verdict: Some(Verdict::Bad),
            ..NoteDraft::new(Target::Step { step: 90 })
        };
        draft.show("b");
        let expected = NoteDraft {
            text: "asks twice".to_owned(),
            verdict: Some(Verdict::Bad),
            ..NoteDraft::default()
        };
        assert_eq!(draft, expected);
    }

    #[test]
    fn a_deleted_note_is_not_written_again() {
        let mut draft = NoteDraft::of(&known());
        draft.deleted("other");
        assert!(draft.is_change());
        draft.deleted("n");
        assert_eq!(draft, NoteDraft::default());
        let mut new = NoteDraft {
            text: "x".to_owned(),
            ..NoteDraft::default()
        };
        new.deleted("n");
        assert_eq!(new.text, "x");
    }
}
