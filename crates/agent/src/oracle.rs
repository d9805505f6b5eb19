//! A policy that plays the solution, for environments that provide one.

use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;
use volary_core::registry::EnvironmentEntry;
use volary_core::view::ViewInput;
use volary_core::{AnyMessage, ToolRequestMessage};
use volary_episode::{StepRecord, call_id};

use crate::policy::{Decision, Policy, PolicyError, PolicyInput};

/// Takes the action that the environment's registry entry returns as correct.
#[derive(Clone, Copy)]
pub struct Oracle {
    solve: Solve,
}

type Solve = fn(&ViewInput<'_>) -> Option<ToolRequestMessage>;

impl Oracle {
    /// The oracle of an environment; an error if it has none.
    pub fn new(entry: &EnvironmentEntry) -> Result<Self, PolicyError> {
        let unfit = || PolicyError::Unfit {
            policy: "oracle".into(),
            reason: format!("no solution is known for {}.", entry.name).into(),
        };
        Ok(Oracle {
            solve: entry.oracle.ok_or_else(unfit)?,
        })
    }

    /// The next action; `None` if it has no more.
    pub(crate) fn action(&self, input: &PolicyInput<'_>) -> Option<ToolRequestMessage> {
        let messages: Vec<AnyMessage> = input.episode.messages().cloned().collect();
        (self.solve)(&ViewInput {
            frame: input.frame,
            messages: &messages,
            reward: input.episode.steps.last().and_then(StepRecord::reward),
            done: input.episode.is_over(),
        })
    }

    fn decide(self, input: &PolicyInput<'_>) -> Decision {
        match self.action(input) {
            None => Decision::End {
                reason: "The oracle has no more actions.".into(),
            },
            Some(mut action) => {
                let step = input.episode.steps.len();
                for (index, call) in action.tool_calls.iter_mut().enumerate() {
                    call.id = call_id(step, index);
                }
                Decision::Act(action)
            }
        }
    }
}

impl Policy for Oracle {
    fn name(&self) -> Text {
        "oracle".into()
    }

    fn act<'a>(
        &'a mut self,
        input: PolicyInput<'a>,
    ) -> LocalBoxFuture<'a, Result<Decision, PolicyError>> {
        Box::pin(std::future::ready(Ok(self.decide(&input))))
    }
}
