//! Automatic players, which choose one action after the other. Policies that need nothing but the episode play through
//! [`BuiltIn`]; models play through `model`.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_agent::{Limits, Next, Policy, decide, step_note};
use volary_app::notice::Notice;
use volary_app::playground::chosen_action::{ChosenAction, StepAside};
use volary_app::playground::player_move::Move;
use volary_core::json::Text;
use volary_episode::Episode;

/// Chooses actions.
pub trait Player {
    /// The name that the episode records as its policy.
    fn name(&self) -> Text;

    /// Decides the next move. Dropping the future cancels it. Don't hold the episode for longer than needed: while
    /// another handle exists, each step copies the whole episode.
    fn play(&mut self, episode: Arc<Episode>) -> LocalBoxFuture<'_, Move>;

    /// Called when the future was dropped without a result.
    fn stopped(&mut self) {}
}

/// A player for a policy that needs nothing but the episode.
pub struct BuiltIn {
    pub policy: Box<dyn Policy>,
    pub limits: Limits,
}

impl Player for BuiltIn {
    fn name(&self) -> Text {
        self.policy.name()
    }

    fn play(&mut self, episode: Arc<Episode>) -> LocalBoxFuture<'_, Move> {
        async move {
            match decide(self.policy.as_mut(), &episode, &self.limits).await {
                Ok(Next::Act(action)) => {
                    let mut aside = Box::<StepAside>::default();
                    let note = self.policy.note().map(step_note);
                    aside.details.errors.extend(note);
                    Move::Act(Box::new(ChosenAction {
                        message: action.into(),
                        aside: Some(aside),
                    }))
                }
                Ok(Next::Stop(mut stop)) => {
                    if let Some(afterword) = self.policy.afterword() {
                        stop.reason = format!("{} {afterword}", stop.reason).into();
                    }
                    Move::Stop(stop)
                }
                Err(error) => Move::Failed(Notice::new(
                    "The policy could not act.",
                    error.to_string(),
                    "Choose another policy, or act by hand.",
                )),
            }
        }
        .boxed_local()
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::{Decision, PolicyError, PolicyInput};
    use volary_core::ToolRequestMessage;
    use volary_core::message::Body;
    use volary_episode::{Ending, Outcome, StepRecord};

    use super::*;

    /// A policy that acts, or fails, and has something to say about it.
    struct Speaking {
        fails: bool,
    }

    impl Policy for Speaking {
        fn name(&self) -> Text {
            "speaking".into()
        }

        fn act<'a>(
            &'a mut self,
            _: PolicyInput<'a>,
        ) -> LocalBoxFuture<'a, Result<Decision, PolicyError>> {
            let decision = if self.fails {
                Err(PolicyError::Unfit {
                    policy: self.name(),
                    reason: "no idea".into(),
                })
            } else {
                Ok(Decision::Act(ToolRequestMessage {
                    body: Body::text("go"),
                    ..ToolRequestMessage::default()
                }))
            };
            async move { decision }.boxed_local()
        }

        fn note(&self) -> Option<Text> {
            Some("a deliberate fault".into())
        }

        fn afterword(&self) -> Option<Text> {
            Some("It made one fault.".into())
        }
    }

    fn next(fails: bool, episode: Episode) -> Move {
        let mut player = BuiltIn {
            policy: Box::new(Speaking { fails }),
            limits: Limits { max_steps: 1 },
        };
        let next = player.play(Arc::new(episode)).now_or_never();
        next.expect("nothing is awaited")
    }

    #[test]
    fn the_note_of_a_policy_is_recorded_with_its_action() {
        let Move::Act(action) = next(false, Episode::default()) else {
            panic!("it acts")
        };
        assert_eq!(action.message.body().content.as_deref(), Some("go"));
        let aside = action.aside.expect("a record");
        assert_eq!(
            aside.details.errors,
            [step_note("a deliberate fault".into())]
        );
    }

    #[test]
    fn the_end_carries_the_afterword_of_the_policy() {
        let mut episode = Episode::default();
        episode.steps.push(StepRecord::new(
            ToolRequestMessage::default().into(),
            Outcome::Observed {
                messages: vec![],
                reward: 0.0,
                done: false,
                truncated: false,
            },
        ));
        let Move::Stop(stop) = next(false, episode) else {
            panic!("the limit is reached")
        };
        assert!(matches!(stop.ending, Ending::Truncated { .. }));
        assert!(
            stop.reason.ends_with(" It made one fault."),
            "{}",
            stop.reason
        );
    }

    #[test]
    fn a_policy_that_cannot_act_changes_nothing() {
        let Move::Failed(notice) = next(true, Episode::default()) else {
            panic!("it fails")
        };
        assert!(notice.why.contains("no idea"), "{notice:?}");
    }
}
