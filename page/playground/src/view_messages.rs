//! The messages that an environment's own view draws from. Pure.
//!
//! Invariant: an episode that grows is not read again from its start, so a view near the end of a long one does not copy
//! every message. An episode whose steps were replaced or removed has another edition.

use volary_core::AnyMessage;
use volary_episode::Episode;

/// All messages of an episode in one vector, as views expect them, with the end index of each step.
#[derive(Default)]
pub(super) struct ViewMessages {
    edition: u32,
    row: Vec<AnyMessage>,
    ends: Vec<usize>,
}

impl ViewMessages {
    /// Adds the messages of new steps; reads all of another edition.
    pub(super) fn follow(&mut self, episode: &Episode, edition: u32) {
        if self.edition != edition || self.ends.is_empty() {
            self.edition = edition;
            self.row.clone_from(&episode.start);
            self.ends.clear();
            self.ends.push(self.row.len());
        }
        for step in episode.steps.iter().skip(self.ends.len() - 1) {
            self.row.push(step.action.clone());
            self.row.extend(step.messages().iter().cloned());
            self.ends.push(self.row.len());
        }
    }

    /// The messages up to a step, where 0 is the reset.
    pub(super) fn until(&self, step: usize) -> &[AnyMessage] {
        let end = self.ends.get(step).copied().unwrap_or(self.row.len());
        self.row.get(..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::message::{Message, ToolRequestMessage};
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    /// A step with this number of observed messages.
    fn step(name: &str, messages: usize) -> StepRecord {
        let action = ToolRequestMessage {
            body: volary_core::message::Body::text(name),
            ..ToolRequestMessage::default()
        };
        let messages = (0..messages).map(|number| Message::user(format!("{name} {number}")));
        let outcome = Outcome::Observed {
            messages: messages.map(Into::into).collect(),
            reward: 0.0,
            done: false,
            truncated: false,
        };
        StepRecord::new(action.into(), outcome)
    }

    fn episode(steps: Vec<StepRecord>) -> Episode {
        Episode {
            start: vec![Message::user("Go on.").into()],
            steps,
            ..Episode::default()
        }
    }

    #[test]
    fn a_step_shows_the_messages_up_to_its_own() {
        let mut messages = ViewMessages::default();
        assert!(messages.until(0).is_empty(), "nothing is shown yet");
        messages.follow(&episode(vec![step("a", 2), step("b", 0)]), 1);
        assert_eq!(messages.until(0).len(), 1);
        assert_eq!(messages.until(1).len(), 4);
        assert_eq!(messages.until(2).len(), 5);
        assert_eq!(messages.until(usize::MAX).len(), 5, "beyond the last step");
    }

    #[test]
    fn another_edition_replaces_the_messages() {
        let mut messages = ViewMessages::default();
        messages.follow(&episode(vec![step("a", 1), step("b", 1)]), 1);
        let other = episode(vec![step("c", 1)]);
        messages.follow(&other, 2);
        assert_eq!(messages.until(9)[1], other.steps[0].action);
        assert_eq!(messages.until(9).len(), 3);
    }

    proptest! {
        /// Each change either adds steps, or goes back and counts an edition.
        #[test]
        fn what_grew_step_by_step_is_the_same_as_what_is_read_at_once(
            changes in proptest::collection::vec((any::<bool>(), 0..4usize), 0..20)
        ) {
            let mut shown = episode(Vec::new());
            let mut messages = ViewMessages::default();
            let mut edition = 0;
            for (number, (grows, size)) in changes.into_iter().enumerate() {
                if grows {
                    shown.steps.push(step(&number.to_string(), size));
                } else {
                    shown.steps.truncate(size);
                    edition += 1;
                }
                messages.follow(&shown, edition);
                let mut fresh = ViewMessages::default();
                fresh.follow(&shown, edition);
                for step in 0..=shown.steps.len() + 1 {
                    prop_assert_eq!(messages.until(step), fresh.until(step));
                }
            }
        }
    }
}
