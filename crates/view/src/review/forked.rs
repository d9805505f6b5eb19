//! The episode that continues another one from a step. Pure.
//!
//! Invariant: a fork has nothing that holds for the original as a whole, such as its result, its metadata or its tokens.

use volary_core::json::{Object, Text};
use volary_episode::{Episode, Link, Relation, Rewards};

/// The first `step` steps of an episode as a new one, which links to it.
pub fn forked(original: &Episode, step: usize) -> Episode {
    let mut fork = Episode {
        outcome: None,
        rewards: Rewards::Steps,
        scores: Vec::new(),
        total_usage: None,
        seconds: None,
        errors: Vec::new(),
        // Recorded tokens cover the steps that the fork leaves out.
        tokens: None,
        source: None,
        metadata: Object::new(),
        ..original.clone()
    };
    fork.raw.remove("tokens");
    fork.rewind(step);
    fork.id = format!("{}, from step {step}", original.id).into();
    fork.name = match original.name.trim() {
        "" => Text::default(),
        name => format!("{name}, from step {step}").into(),
    };
    fork.links = vec![Link {
        relation: Relation::Branch,
        episode: original.id.clone(),
        step: Some(step),
    }];
    fork
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use volary_core::Json;
    use volary_core::message::ToolRequestMessage;
    use volary_episode::token_record::TokenRecord;
    use volary_episode::{Ending, Outcome, StepRecord};

    use super::*;

    /// An episode of three steps with reward 1 each. The last one ends it.
    fn played() -> Episode {
        let step = |done| {
            let outcome = Outcome::Observed {
                messages: Vec::new(),
                reward: 1.0,
                done,
                truncated: false,
            };
            StepRecord::new(ToolRequestMessage::default().into(), outcome)
        };
        Episode {
            id: "e".into(),
            name: "Refund".into(),
            steps: vec![step(false), step(false), step(true)],
            ending: Ending::Done,
            rewards: Rewards::Whole(0.25),
            ..Episode::default()
        }
    }

    #[test]
    fn a_fork_is_open_and_has_the_steps_before_it() {
        let original = played();
        for (step, reward, is_open) in [(0, 0.0, true), (2, 2.0, true), (3, 3.0, false)] {
            let fork = forked(&original, step);
            assert_eq!(fork.steps, original.steps[..step]);
            assert_eq!(fork.reward(), Some(reward), "of its own steps");
            assert_eq!(fork.ending == Ending::Open, is_open, "step {step}");
        }
        assert_eq!(forked(&original, 9).steps.len(), 3, "there are no others");
    }

    #[test]
    fn a_fork_is_another_episode_that_names_its_original() {
        let original = played();
        let fork = forked(&original, 2);
        assert_eq!(
            (&*fork.id, &*fork.name),
            ("e, from step 2", "Refund, from step 2")
        );
        assert_eq!(
            fork.links,
            [Link {
                relation: Relation::Branch,
                episode: "e".into(),
                step: Some(2),
            }]
        );
        let of_fork = forked(&fork, 1);
        assert_eq!(
            of_fork.links.len(),
            1,
            "the original of the original is its own link"
        );
        assert_eq!(of_fork.links[0].episode, fork.id);
        let unnamed = Episode {
            name: " ".into(),
            ..original
        };
        assert_eq!(&*forked(&unnamed, 2).name, "", "its id is shown then");
    }

    #[test]
    fn nothing_about_the_whole_original_is_said_of_a_fork() {
        let mut original = Episode {
            outcome: Some("solved".into()),
            seconds: Some(9.0),
            errors: vec!["late".into()],
            tokens: Some(Arc::new(TokenRecord::default())),
            ..played()
        };
        original.metadata.insert("verdict", Json::from("good"));
        original.raw.insert("tokens", Json::from("recorded"));
        original.raw.insert("kept", Json::from("other"));
        let fork = forked(&original, 1);
        assert_eq!((fork.outcome, fork.seconds), (None, None));
        assert!(fork.errors.is_empty());
        assert!(fork.metadata.is_empty());
        assert_eq!(fork.tokens, None);
        assert_eq!(fork.raw.get("tokens"), None);
        assert_eq!(fork.raw.get("kept"), Some(&Json::from("other")));
    }
}
