//! The guide above the first task: an invitation, a demonstration that is shown, or the steps of a person
//! who acts. Pure.

use volary_episode::Episode;

use crate::hidden_answer::has_submitted;

/// What a newcomer sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WelcomeStage {
    /// Nothing was done yet.
    Invitation,
    /// A scripted agent acts.
    Watching,
    /// A scripted agent has acted.
    Watched,
    /// The person acts.
    Acting,
    /// The person finished an episode, and needs no guide.
    Finished,
}

/// The stage of an episode. `demonstrates` says whether a scripted agent acts in it, or has acted.
pub fn stage(episode: &Episode, demonstrates: bool, is_running: bool) -> WelcomeStage {
    match (demonstrates, is_running) {
        (true, true) => WelcomeStage::Watching,
        (true, false) if !episode.steps.is_empty() => WelcomeStage::Watched,
        _ if has_submitted(episode) => WelcomeStage::Finished,
        _ if episode.steps.is_empty() => WelcomeStage::Invitation,
        _ => WelcomeStage::Acting,
    }
}

impl WelcomeStage {
    /// Whether it says more than the steps.
    pub fn is_large(self) -> bool {
        !matches!(self, WelcomeStage::Acting | WelcomeStage::Finished)
    }

    /// Whether the guide has the action that comes next, so that other buttons step back.
    pub fn leads(self) -> bool {
        self == WelcomeStage::Watched
    }

    /// The button below the text: what a newcomer does first, or next.
    pub fn action(self) -> &'static str {
        match self {
            WelcomeStage::Watching | WelcomeStage::Watched => "Now try it yourself",
            _ => "Watch it solve this",
        }
    }

    /// Its CSS classes.
    pub fn class(self) -> &'static str {
        match self {
            WelcomeStage::Invitation => "first-steps large",
            WelcomeStage::Watching | WelcomeStage::Watched => "first-steps large watched",
            WelcomeStage::Acting | WelcomeStage::Finished => "first-steps",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            WelcomeStage::Watching => "An agent is at work.",
            WelcomeStage::Watched => "That was an agent.",
            _ => "Watch an AI agent solve a task, or take its place.",
        }
    }

    /// What an agent is, for someone who has never heard of one.
    pub fn lead(self) -> &'static str {
        match self {
            WelcomeStage::Watching => {
                "In each step it calls a tool and gets the result back. A fixed script decides here; it could be an AI model, or you."
            }
            WelcomeStage::Watched => {
                "It called the calculator, read the result, and handed in its answer. The reward, a number, says how good that was."
            }
            _ => {
                "An agent is a program that works in steps: it reads the task, calls a tool, looks at the result, and \
                 goes on until it is done."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::ToolRequestMessage;
    use volary_episode::{Ending, Outcome, StepRecord};

    use super::*;

    fn episode(steps: usize, ending: Ending) -> Episode {
        let step = StepRecord::new(
            ToolRequestMessage::default().into(),
            Outcome::Observed {
                messages: Vec::new(),
                reward: 0.0,
                done: false,
                truncated: false,
            },
        );
        Episode {
            steps: vec![step; steps],
            ending,
            ..Episode::default()
        }
    }

    #[test]
    fn a_newcomer_is_invited_until_something_happens() {
        let stage = |steps, ending, demonstrates, is_running| {
            stage(&episode(steps, ending), demonstrates, is_running)
        };
        assert_eq!(
            stage(0, Ending::Open, false, false),
            WelcomeStage::Invitation
        );
        assert_eq!(stage(1, Ending::Open, false, false), WelcomeStage::Acting);
        assert_eq!(stage(2, Ending::Done, false, false), WelcomeStage::Finished);
        assert_eq!(stage(1, Ending::Open, false, true), WelcomeStage::Acting);
    }

    #[test]
    fn a_demonstration_is_no_finished_episode_of_the_person() {
        let stage = |steps, ending, is_running| stage(&episode(steps, ending), true, is_running);
        assert_eq!(stage(0, Ending::Open, true), WelcomeStage::Watching);
        assert_eq!(stage(2, Ending::Done, true), WelcomeStage::Watching);
        assert_eq!(stage(2, Ending::Done, false), WelcomeStage::Watched);
        for (steps, is_running) in [(0, true), (2, true), (2, false)] {
            let stage = stage(steps, Ending::Done, is_running);
            assert_eq!(stage.action(), "Now try it yourself");
            assert_eq!(stage.leads(), !is_running, "it waits for the agent");
        }
        let invitation = WelcomeStage::Invitation;
        assert_eq!(invitation.action(), "Watch it solve this");
        assert!(!invitation.leads(), "Step is as good a beginning");
        // Reset starts over.
        assert_eq!(stage(0, Ending::Open, false), WelcomeStage::Invitation);
    }
}
