//! Converts an episode to slime's rollout: one system message, one opening of the user, and turns of one action each.
//!
//! Environments may return more than that: several messages are joined to one text, with blank lines between. Images
//! are omitted. A tool named `respond` is not declared: a turn without a call has the same meaning.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text};
use volary_core::tool::wire::ToolDumpOptions;
use volary_core::{AnyMessage, Object, Role, Tool};
use volary_episode::Episode;
use volary_rollout::{EnvReset, EnvStep, GenerateReply, ReplayedTurn};
use volary_tokens::action::RESPOND;

use super::NAME;
use crate::model::history::{echo_of, text_of_message};

/// The parts of an episode from which prompts and tokens are made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// The system message.
    pub system: Option<Text>,
    /// The first text of the user.
    pub opening: Text,
    /// The tools in OpenAI's format, without the one that answers the user.
    pub tools: Vec<Json>,
    /// Whether the environment has a tool to answer the user ([`RESPOND`]). In text, a turn without a call does that.
    pub has_respond: bool,
    /// The turns so far.
    pub turns: Vec<RecordedTurn>,
}

/// A turn as recorded in the episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedTurn {
    /// The reply of the server.
    pub reply: Json,
    pub observation: Text,
    /// The reward of the step.
    pub reward: f64,
}

/// Why an episode cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// Another policy took a step, so its tokens are unknown.
    #[error(
        "step {0} was not taken by this kind of model, so the tokens that it sampled are not known"
    )]
    OtherStep(usize),
    /// The recorded reply of a step is malformed.
    #[error("the reply that is stored with step {0} cannot be read: {1}")]
    Reply(usize, String),
}

impl Conversation {
    /// Converts an episode, with a system prompt before its own messages.
    pub fn of(episode: &Episode, system_prompt: Option<&str>) -> Result<Self, ConversationError> {
        let is_system = |message: &&AnyMessage| message.role() == Role::System;
        let (system, user): (Vec<&AnyMessage>, Vec<&AnyMessage>) =
            episode.start.iter().partition(is_system);
        let prompt = system_prompt.map(str::to_owned);
        let system = joined(prompt.into_iter().chain(texts(system)));
        let tools = episode.tools.iter().filter(|tool| !is_respond(tool));
        let turns = episode.steps.iter().enumerate();
        let turns = turns.map(|(index, step)| {
            let other = ConversationError::OtherStep(index + 1);
            let AnyMessage::Request(action) = &step.action else {
                return Err(other);
            };
            let echo = echo_of(action).filter(|echo| *echo.provider == *NAME);
            let reply = echo.and_then(|echo| echo.parts.into_iter().next());
            Ok(RecordedTurn {
                reply: reply.ok_or(other)?,
                observation: joined(texts(step.messages())).into(),
                reward: step.reward().unwrap_or(0.0),
            })
        });
        Ok(Conversation {
            system: (!system.is_empty()).then(|| system.into()),
            opening: joined(texts(user)).into(),
            tools: tools.map(declaration).collect(),
            has_respond: episode.tools.iter().any(is_respond),
            turns: turns.collect::<Result<_, _>>()?,
        })
    }

    /// The reset of the rollout.
    pub fn reset(&self) -> EnvReset {
        EnvReset {
            observation: self.opening.clone(),
            info: Object::new(),
        }
    }

    /// The turns of the rollout.
    pub fn turns(&self) -> Result<Vec<ReplayedTurn>, ConversationError> {
        let mut total = 0.0;
        let turns = self.turns.iter().enumerate().map(|(index, turn)| {
            let reply = GenerateReply::read(&turn.reply);
            let reply =
                reply.map_err(|error| ConversationError::Reply(index + 1, error.to_string()))?;
            total += turn.reward;
            Ok(ReplayedTurn {
                reply,
                step: EnvStep {
                    observation: turn.observation.clone(),
                    reward: total,
                    done: false,
                    info: Object::new(),
                },
            })
        });
        turns.collect()
    }
}

fn is_respond(tool: &Tool) -> bool {
    &*tool.info.name == RESPOND
}

fn declaration(tool: &Tool) -> Json {
    Json::Object(tool.dump(ToolDumpOptions::WIRE))
}

fn texts<'a>(messages: impl IntoIterator<Item = &'a AnyMessage>) -> impl Iterator<Item = String> {
    let texts = messages.into_iter().map(text_of_message);
    texts.filter(|text| !text.is_empty())
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use volary_core::json::{from_json, to_json};
    use volary_core::{Message, json, object};
    use volary_episode::{Outcome, StepRecord};
    use volary_rollout::{Replay, RolloutSettings};
    use volary_tokens::{Builtin, ToyTokenizer};

    use super::*;
    use crate::model::selector::ToolSelector;
    use crate::model::{Answer, ProviderKind, select};

    fn episode(replies: &[(&str, &str)]) -> Episode {
        let steps = replies.iter().map(|(text, observation)| {
            let body = json!({
                "text": (*text),
                "meta_info": {"finish_reason": {"type": "stop"}}
            });
            let answer = ProviderKind::Sglang.provider().read(&body).unwrap();
            step(&answer, observation)
        });
        Episode {
            start: vec![
                Message::new(Role::System, "POLICY").into(),
                Message::user("hi").into(),
            ],
            steps: steps.collect(),
            ..Episode::default()
        }
    }

    fn step(answer: &Answer, observation: &str) -> StepRecord {
        let mut selector = ToolSelector::new("m", false, false);
        let action = select(&mut selector, answer, NAME, |index| {
            format!("{index}").into()
        });
        let outcome = Outcome::Observed {
            messages: vec![Message::user(observation).into(), Message::user("!").into()],
            reward: 0.5,
            done: false,
            truncated: false,
        };
        StepRecord::new(action.unwrap().into(), outcome)
    }

    #[test]
    fn an_episode_is_rendered_as_slime_does() {
        let episode = episode(&[("Hello<|im_end|>", "bye")]);
        let conversation = Conversation::of(&episode, Some("Be brief.")).unwrap();
        let stored = to_json(&conversation).unwrap();
        assert_eq!(from_json(&stored), Ok(conversation.clone()));
        let mut settings = RolloutSettings::new(Rc::new(Builtin::Qwen25.template().unwrap()));
        settings.wiki.clone_from(&conversation.system);
        let mut replay = Replay::new(settings, Rc::new(ToyTokenizer), conversation.reset());
        let turns = conversation.turns().unwrap();
        replay.advance(&turns).unwrap();
        let sent = replay.request().unwrap().to_json();
        assert_eq!(
            sent.get("text").and_then(Json::as_text).map(|text| &**text),
            Some(
                "<|im_start|>system\nBe brief.\n\nPOLICY<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n\
                 <|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nbye\n\n!<|im_end|>\n\
                 <|im_start|>assistant\n"
            )
        );
        assert_eq!(replay.result().reward, 0.5);
    }

    #[test]
    fn steps_of_others_and_damaged_replies_are_named() {
        let mut episode = episode(&[("a", "x"), ("b", "y")]);
        let others = Answer {
            text: Some("b".to_owned()),
            ..Answer::default()
        };
        episode.steps[1] = step(&others, "y");
        let found = Conversation::of(&episode, None);
        assert_eq!(found, Err(ConversationError::OtherStep(2)));

        let damaged = Conversation {
            turns: vec![RecordedTurn {
                reply: Json::Object(object!({"text": "a"})),
                observation: "x".into(),
                reward: 0.0,
            }],
            ..Conversation::default()
        };
        let error = damaged.turns().unwrap_err().to_string();
        assert!(
            error.contains("step 1") && error.contains("meta_info"),
            "{error}"
        );
    }
}
