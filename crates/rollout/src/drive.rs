//! Runs a rollout with a synchronous environment and model.

use volary_core::Text;

use crate::chat::{ChatEffect, ChatEvent, ChatReply, ChatRequest, ChatRollout};
use crate::environment::RolloutEnvironment;
use crate::rollout::{Effect, Event, GenerateFailure, Rollout, UnexpectedEvent};
use crate::sglang::{GenerateReply, GenerateRequest};

/// Runs a rollout to its end, starting with its first effect.
pub fn drive(
    rollout: &mut Rollout,
    first: Effect,
    environment: &mut dyn RolloutEnvironment,
    generate: &mut dyn FnMut(GenerateRequest) -> Result<GenerateReply, GenerateFailure>,
) -> Result<(), UnexpectedEvent> {
    let mut effect = first;
    loop {
        let event = match effect {
            Effect::Reset(task) => Event::Reset(environment.reset(task)),
            Effect::Generate(request) => Event::Generated(generate(request)),
            Effect::Step(action) => Event::Stepped(environment.step(&action)),
            Effect::Finished => return Ok(()),
        };
        effect = rollout.handle(event)?;
    }
}

/// Runs a rollout with a chat model to its end, starting with its first effect.
pub fn drive_chat(
    rollout: &mut ChatRollout,
    first: ChatEffect,
    environment: &mut dyn RolloutEnvironment,
    ask: &mut dyn FnMut(ChatRequest) -> Result<ChatReply, Text>,
) -> Result<(), UnexpectedEvent> {
    let mut effect = first;
    loop {
        let event = match effect {
            ChatEffect::Reset(task) => ChatEvent::Reset(environment.reset(task)),
            ChatEffect::Ask(request) => ChatEvent::Answered(ask(request)),
            ChatEffect::Step(action) => ChatEvent::Stepped(environment.step(&action)),
            ChatEffect::Finished => return Ok(()),
        };
        effect = rollout.handle(event)?;
    }
}
