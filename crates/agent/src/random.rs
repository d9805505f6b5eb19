//! A policy that calls any tool with arguments drawn from its schema.

use futures_util::future::LocalBoxFuture;
use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::random::Random;
use volary_core::tool::ToolCallFunction;
use volary_core::{Tool, ToolCall, ToolRequestMessage};
use volary_episode::call_id;

use crate::draw::draw_object;
use crate::policy::{Decision, Policy, PolicyError, PolicyInput};

/// Takes one random call per step. Each call depends only on the seed and the number of the
/// step, so an interrupted episode continues as it would have without the interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomPolicy {
    seed: u64,
}

impl RandomPolicy {
    /// The policy with a seed.
    pub fn new(seed: u64) -> Self {
        RandomPolicy { seed }
    }

    fn decide(self, tools: &[Tool], step: usize) -> Decision {
        let mut random = Random::new(self.seed).fork(&format!("step {step}"));
        let Some(tool) = random.pick(tools) else {
            return Decision::End {
                reason: "There are no tools to call.".into(),
            };
        };
        let call = ToolCall {
            id: call_id(step, 0),
            function: ToolCallFunction {
                name: tool.info.name.clone(),
                arguments: arguments(tool, &mut random),
            },
        };
        Decision::Act(ToolRequestMessage {
            body: Body::default(),
            tool_calls: vec![call],
        })
    }
}

/// Random arguments for a tool.
pub fn arguments(tool: &Tool, random: &mut Random) -> Object {
    match &tool.info.parameters {
        Some(parameters) => draw_object(&Json::Object(parameters.dump(false)), random),
        None => Object::new(),
    }
}

impl Policy for RandomPolicy {
    fn name(&self) -> Text {
        "random".into()
    }

    fn act<'a>(
        &'a mut self,
        input: PolicyInput<'a>,
    ) -> LocalBoxFuture<'a, Result<Decision, PolicyError>> {
        let decision = self.decide(input.tools, input.episode.steps.len());
        Box::pin(std::future::ready(Ok(decision)))
    }
}
