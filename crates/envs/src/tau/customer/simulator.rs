//! A model that plays a customer, by one of four strategies.
//!
//! From the customer's perspective the agent is the user and the customer the assistant.

use volary_core::json::Text;
use volary_core::json::text::strip;
use volary_core::message::Role;

use super::super::domain::STOP;
use super::prompts::{Prompts, about, system};
use super::{ChatMessage, CustomerError, CustomerStep};

/// The assumed first message of the agent.
const GREETING: &str = "Hi! How can I help you today?";

/// The maximum number of replies that [`Strategy::Verify`] requests.
const TRIES: usize = 3;

const THOUGHT: &str = "Thought:";
const RESPONSE: &str = "User Response:";

/// The strategy of a simulated customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One reply.
    Llm,
    /// A thought, then the reply.
    React {
        /// Whether the agent receives everything after `Thought:`, including the thought, as in the original.
        legacy: bool,
    },
    /// Up to three replies, until a judge accepts one. If the judge accepts none, the last is sent, but not
    /// added to the conversation.
    Verify,
    /// One reply; if a judge rejects it, a second one after a hint. Both are added to the conversation; the
    /// first is sent if the judge rejects both.
    Reflection,
}

/// The model's latest request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    /// A reply, after this many rejected ones.
    Reply {
        turned_down: usize,
    },
    /// A judgement of this reply.
    Judge {
        reply: Text,
        turned_down: usize,
    },
    /// A hint about this reply.
    Hint {
        reply: Text,
    },
    /// A reply after a hint.
    Second {
        first: Text,
        asked: Vec<ChatMessage>,
    },
    /// A judgement of the second reply.
    JudgeSecond {
        first: Text,
        second: Text,
    },
}

/// A model that plays a customer.
#[derive(Clone, Debug)]
pub struct Simulator {
    strategy: Strategy,
    prompts: Prompts,
    messages: Vec<ChatMessage>,
    stage: Stage,
}

impl Simulator {
    /// A simulator before its first conversation.
    pub fn new(strategy: Strategy, prompts: Prompts) -> Self {
        Simulator {
            strategy,
            prompts,
            messages: Vec::new(),
            stage: Stage::Idle,
        }
    }

    /// The conversation from the customer's perspective.
    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// Starts a conversation. Returns the request to the model.
    pub fn reset(&mut self, instruction: Option<&str>) -> Vec<ChatMessage> {
        let prompt = match self.strategy {
            Strategy::React { .. } => &self.prompts.react,
            _ => &self.prompts.plain,
        };
        self.messages = vec![
            ChatMessage::new(Role::System, system(prompt, instruction)),
            ChatMessage::new(Role::User, GREETING),
        ];
        self.ask(0)
    }

    /// Adds the agent's message. Returns the request to the model.
    pub fn step(&mut self, content: &str) -> Vec<ChatMessage> {
        self.messages.push(ChatMessage::new(Role::User, content));
        self.ask(0)
    }

    /// Adds the customer's recorded message, instead of asking the model.
    pub fn recall(&mut self, said: &str) {
        self.stage = Stage::Idle;
        self.remember(said);
    }

    fn ask(&mut self, turned_down: usize) -> Vec<ChatMessage> {
        self.stage = Stage::Reply { turned_down };
        self.messages.clone()
    }

    /// Continues with the model's answer.
    ///
    /// # Errors
    ///
    /// There was no request, or the answer has the wrong format.
    pub fn completed(&mut self, completion: &str) -> Result<CustomerStep, CustomerError> {
        match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => Err(CustomerError::NothingAsked),
            Stage::Reply { turned_down } => self.replied(completion, turned_down),
            Stage::Judge { reply, turned_down } => Ok(match self.strategy {
                Strategy::Reflection => self.judged_first(reply, accepts(completion)),
                _ => self.judged(reply, accepts(completion), turned_down),
            }),
            Stage::Hint { reply } => self.hinted(reply, completion),
            Stage::Second { first, asked } => {
                self.remember(completion);
                let prompt = self.judge_prompt(&asked, completion);
                self.stage = Stage::JudgeSecond {
                    first,
                    second: completion.into(),
                };
                Ok(CustomerStep::Ask(prompt))
            }
            Stage::JudgeSecond { first, second } => Ok(CustomerStep::Say(if accepts(completion) {
                second
            } else {
                first
            })),
        }
    }

    fn replied(
        &mut self,
        completion: &str,
        turned_down: usize,
    ) -> Result<CustomerStep, CustomerError> {
        match self.strategy {
            Strategy::Llm => {
                self.remember(completion);
                return Ok(CustomerStep::Say(completion.into()));
            }
            Strategy::React { legacy } => {
                self.remember(completion);
                return said(completion, legacy).map(CustomerStep::Say);
            }
            Strategy::Verify => {}
            Strategy::Reflection => self.remember(completion),
        }
        // The judge sees the conversation before this reply.
        let known = self.messages.len() - usize::from(self.strategy == Strategy::Reflection);
        let prompt = self.judge_prompt(&self.messages[..known], completion);
        self.stage = Stage::Judge {
            reply: completion.into(),
            turned_down,
        };
        Ok(CustomerStep::Ask(prompt))
    }

    /// The next state of [`Strategy::Verify`] after its judge.
    fn judged(&mut self, reply: Text, accepted: bool, turned_down: usize) -> CustomerStep {
        if accepted {
            self.remember(&reply);
            return CustomerStep::Say(reply);
        }
        match turned_down + 1 {
            TRIES => CustomerStep::Say(reply),
            more => CustomerStep::Ask(self.ask(more)),
        }
    }

    /// The next state of [`Strategy::Reflection`] after its first judge.
    fn judged_first(&mut self, reply: Text, accepted: bool) -> CustomerStep {
        if accepted {
            return CustomerStep::Say(reply);
        }
        let known = &self.messages[..self.messages.len() - 1];
        let prompt = about(&self.prompts.reflect, &transcript(known), &reply);
        self.stage = Stage::Hint { reply };
        CustomerStep::Ask(vec![ChatMessage::new(Role::User, prompt)])
    }

    /// The next state of [`Strategy::Reflection`] after the hint, which is added to this request only.
    fn hinted(&mut self, reply: Text, completion: &str) -> Result<CustomerStep, CustomerError> {
        let mut asked = self.messages[..self.messages.len() - 1].to_vec();
        let hint = only_after(completion, "Response:")?;
        asked.push(ChatMessage::new(Role::User, hint));
        self.stage = Stage::Second {
            first: reply,
            asked: asked.clone(),
        };
        Ok(CustomerStep::Ask(asked))
    }

    fn judge_prompt(&self, known: &[ChatMessage], reply: &str) -> Vec<ChatMessage> {
        let prompt = about(&self.prompts.judge, &transcript(known), reply);
        vec![ChatMessage::new(Role::User, prompt)]
    }

    fn remember(&mut self, reply: &str) {
        self.messages.push(ChatMessage::new(Role::Assistant, reply));
    }
}

/// Whether a judge's answer accepts a reply.
fn accepts(answer: &str) -> bool {
    answer.to_lowercase().contains("true")
}

/// The conversation as formatted for judges. As in the original, the labels are swapped: the
/// customer is the assistant here.
fn transcript(messages: &[ChatMessage]) -> String {
    let lines = messages.iter().map(|message| {
        let label = match message.role {
            Role::User => "Customer",
            Role::Assistant => "Agent",
            _ => "System",
        };
        format!("{label}: {}", message.content)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The part of an answer with a thought that the agent receives.
fn said(completion: &str, legacy: bool) -> Result<Text, CustomerError> {
    if completion.contains(STOP) {
        return Ok(STOP.into());
    }
    if !legacy && let Some((_, reply)) = completion.rsplit_once(RESPONSE) {
        return Ok(strip(reply).into());
    }
    if completion.contains(THOUGHT) {
        only_after(completion, THOUGHT)
    } else {
        only_after(completion, RESPONSE)
    }
}

/// The text after a label that must occur exactly once.
fn only_after(completion: &str, label: &str) -> Result<Text, CustomerError> {
    let mut parts = completion.split(label);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(behind), None) => Ok(strip(behind).into()),
        _ => Err(CustomerError::InvalidFormat {
            completion: completion.into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thought_stays_with_the_customer_by_default() {
        let reply = "Thought:\nx\nUser Response:\n hi \n";
        assert_eq!(said(reply, false), Ok("hi".into()));
        assert_eq!(said(reply, true), Ok("x\nUser Response:\n hi".into()));
        assert_eq!(said("Thought: ###STOP###", false), Ok(STOP.into()));
        assert!(said("Thought: a Thought: b", true).is_err());
        assert!(said("hi", false).is_err());
    }

    #[test]
    fn nothing_can_be_completed_twice() {
        let mut simulator = Simulator::new(Strategy::Llm, Prompts::default());
        assert_eq!(simulator.completed("x"), Err(CustomerError::NothingAsked));
        assert_eq!(simulator.reset(None).len(), 2);
        assert_eq!(simulator.completed("x"), Ok(CustomerStep::Say("x".into())));
        assert_eq!(simulator.completed("x"), Err(CustomerError::NothingAsked));
    }
}
