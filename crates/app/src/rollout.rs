//! The worker's side of rollouts: builds prompts, parses replies and records tokens, using `volary_rollout`.
//!
//! Invariant: a reply depends only on its request and the tokenizer. State between requests is a cache and only saves
//! time.

use std::rc::Rc;

use volary_agent::model::sglang::conversation::Conversation;
use volary_agent::model::sglang::setup::sampling_params;
use volary_core::json::{Json, Object, Text, from_json};
use volary_protocol::rollout::{Event, Request, RolloutCall, RolloutSetup, RolloutTask};
use volary_rollout::export::{LOG_PROBS, TrialIndex, slime_sample};
use volary_rollout::sglang::{GenerateReply, GenerateRequest, Prompt};
use volary_rollout::{InteractionResult, Replay, ReplayedTurn, RolloutSettings};
use volary_tokens::{
    Builtin, ChatTemplate, FileTokenizer, MaskMode, RenderInput, Tokenizer, ToyTokenizer,
    call_to_action,
};

/// The members of a slime sample that the raw record of an episode contains. The episode itself holds everything else.
const MEMBERS: [&str; 7] = [
    "prompt",
    "tokens",
    "response",
    "response_length",
    "loss_mask",
    LOG_PROBS,
    "weight_versions",
];

/// The rollouts of a worker.
#[derive(Default)]
pub struct Rollouts {
    /// The tokenizer that was read last, with the identifier of its file.
    tokenizer: Option<(Text, Rc<dyn Tokenizer>)>,
    /// The rollout that was continued last.
    last: Option<Running>,
}

/// A rollout, and the input that it was built from.
struct Running {
    setup: RolloutSetup,
    /// The conversation without its turns.
    opening: Conversation,
    replay: Replay,
}

impl Rollouts {
    /// Whether the tokenizer of a setup has to be read first.
    pub fn lacks_tokenizer(&self, setup: &RolloutSetup) -> bool {
        match (&setup.tokenizer, &self.tokenizer) {
            (None, _) => false,
            (Some(wanted), Some((known, _))) => wanted != known,
            (Some(_), None) => true,
        }
    }

    /// Reads the tokenizer of a setup from its file.
    pub fn read_tokenizer(&mut self, setup: &RolloutSetup, file: &[u8]) -> Result<(), Text> {
        let Some(key) = setup.tokenizer.clone() else {
            return Ok(());
        };
        let tokenizer = FileTokenizer::read(file).map_err(|error| Text::from(error.to_string()))?;
        self.tokenizer = Some((key, Rc::new(tokenizer)));
        Ok(())
    }

    /// Handles a request.
    pub fn handle(&mut self, request: Request) -> Event {
        let done = self.try_handle(request);
        done.unwrap_or_else(|reason| Event::Failed {
            reason: reason.into(),
        })
    }

    fn try_handle(&mut self, request: Request) -> Result<Event, String> {
        let Request {
            setup,
            conversation,
            task,
        } = request;
        if let RolloutTask::Render = task {
            let body = render(&setup, &conversation)?;
            return Ok(Event::Body { body });
        }
        let mut conversation: Conversation =
            from_json(&Json::Object(conversation)).map_err(said)?;
        let turns = conversation.turns().map_err(said)?;
        conversation.turns.clear();
        match task {
            RolloutTask::Render | RolloutTask::Next => {
                let replay = self.advanced(setup, conversation, &turns)?;
                let body = replay.request().map_err(said)?.to_json();
                let body = body.as_object().cloned().unwrap_or_default();
                Ok(Event::Body { body })
            }
            RolloutTask::Read { reply } => {
                let reply = GenerateReply::read(&Json::Object(reply)).map_err(said)?;
                let has_respond = conversation.has_respond;
                let replay = self.advanced(setup, conversation, &turns)?;
                let completion = replay.read(&reply).map_err(said)?;
                if completion.said.trim().is_empty() {
                    return Err("The model returned an empty reply".to_owned());
                }
                let parsed = completion.parsed;
                let action = call_to_action(&parsed.calls, &parsed.normal_text).map_err(said)?;
                let text = match (action.is_respond(), has_respond) {
                    (true, true) => Text::default(),
                    _ => parsed.normal_text,
                };
                let call = (!action.is_respond() || has_respond).then(|| RolloutCall {
                    name: action.name,
                    arguments: Json::Object(action.kwargs).to_python_text().into(),
                });
                Ok(Event::Said { text, call })
            }
            RolloutTask::Record { is_over } => {
                let members = if is_over {
                    // No turn follows the last observation, and tokens may show that.
                    let mut replay = self.begin(&setup, &conversation, turns.len())?;
                    replay.advance(&turns).map_err(said)?;
                    recorded(replay.result())
                } else {
                    recorded(self.advanced(setup, conversation, &turns)?.result())
                };
                Ok(Event::Recorded { members })
            }
        }
    }

    /// The rollout of a conversation after these turns.
    fn advanced(
        &mut self,
        setup: RolloutSetup,
        opening: Conversation,
        turns: &[ReplayedTurn],
    ) -> Result<&Replay, String> {
        let known = self.last.take();
        let known = known.filter(|last| last.setup == setup && last.opening == opening);
        let continued = known.and_then(|mut last| {
            last.replay.advance(turns).ok()?;
            Some(last)
        });
        let running = match continued {
            Some(running) => running,
            None => {
                let mut replay = self.begin(&setup, &opening, usize::MAX)?;
                replay.advance(turns).map_err(said)?;
                Running {
                    setup,
                    opening,
                    replay,
                }
            }
        };
        Ok(&self.last.insert(running).replay)
    }

    fn begin(
        &self,
        setup: &RolloutSetup,
        conversation: &Conversation,
        max_num_steps: usize,
    ) -> Result<Replay, String> {
        let tokenizer: Rc<dyn Tokenizer> = match (&setup.tokenizer, &self.tokenizer) {
            (None, _) => Rc::new(ToyTokenizer),
            (Some(_), Some((_, tokenizer))) => Rc::clone(tokenizer),
            (Some(_), None) => return Err("The tokenizer's file is missing.".to_owned()),
        };
        let settings = RolloutSettings {
            wiki: conversation.system.clone(),
            tools: conversation.tools.clone(),
            mode: MaskMode::from_name(&setup.mask).unwrap_or(MaskMode::Fixed),
            strict: true,
            is_reconstructed: setup.tokenizer.is_none(),
            sampling_params: sampling_params(setup.temperature, setup.max_tokens),
            send_ids: setup.send_tokens,
            return_logprob: true,
            max_num_steps,
            ..RolloutSettings::new(Rc::new(template(setup)?))
        };
        Ok(Replay::new(settings, tokenizer, conversation.reset()))
    }
}

fn template(setup: &RolloutSetup) -> Result<ChatTemplate, String> {
    let template = match Builtin::from_name(&setup.template) {
        Some(builtin) => builtin.template(),
        None => ChatTemplate::new(&setup.template),
    };
    template.map_err(|error| format!("The chat template can't be used: {error}"))
}

/// The body of a request for messages that are rendered unchanged.
fn render(setup: &RolloutSetup, conversation: &Object) -> Result<Object, String> {
    let list = |key: &str| conversation.get(key).and_then(Json::as_list);
    let input = RenderInput {
        messages: list("messages").unwrap_or_default(),
        tools: list("tools").unwrap_or_default(),
        add_generation_prompt: true,
        ..RenderInput::default()
    };
    let request = GenerateRequest {
        prompt: Prompt::Text(template(setup)?.render(&input).map_err(said)?),
        sampling_params: sampling_params(setup.temperature, setup.max_tokens),
        return_logprob: false,
    };
    Ok(request.to_json().as_object().cloned().unwrap_or_default())
}

fn recorded(result: &InteractionResult) -> Object {
    let sample = slime_sample(result, TrialIndex::default());
    let mut members = Object::new();
    for key in MEMBERS {
        if let Some(value) = sample.get(key) {
            members.insert(key, value.clone());
        }
    }
    if result.is_reconstructed {
        members.insert("is_reconstructed", true);
    }
    members
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests;
