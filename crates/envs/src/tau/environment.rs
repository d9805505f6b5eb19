//! An episode as an environment: tools, a tool that answers the customer, and a customer.
//!
//! Invariant: the customer's messages are part of the episode, so that a replay asks
//! nobody; and the customer's instruction is in no frame before the end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use volary_core::environment::{Setting, no_tool_calls};
use volary_core::exec::{ExecOptions, exec_tool_calls};
use volary_core::json::{Key, Object, Text};
use volary_core::message::{Message, Role, ToolRequestMessage};
use volary_core::outside::{ModelRequest, Outside};
use volary_core::tool::definition::{ParameterDefinition, define};
use volary_core::tool::{BoundTool, CallContext, Tool, ToolError, ToolSet, ToolValue};
use volary_core::{
    AnyMessage, Environment, EnvironmentError, Frame, Json, Reset, Step, json, object,
};

use super::customer::{Customer, CustomerStep};
use super::domain::{Action, Domain, RESPOND, Task};
use super::episode::{Episode, TurnResult};
use super::reward::Reward;
use super::tool::{Parameter, ParameterKind, TauTool};

/// A task of a domain as an environment.
pub struct TauEnvironment {
    domain: Arc<Domain>,
    task: Task,
    /// The id of the task.
    id: Text,
    customer: Customer,
    /// The customer's recorded messages, for a replay.
    replies: Vec<Text>,
    tools: ToolSet<Play>,
    /// `None` before the first reset.
    play: Option<RefCell<Play>>,
    setting: Setting,
}

/// The state of the tools.
pub struct Play {
    episode: Episode,
    customer: Customer,
    outside: Rc<dyn Outside>,
    /// The customer's remaining recorded messages.
    known: VecDeque<Text>,
    /// The customer's messages so far.
    said: Vec<Text>,
    /// The reward, once the episode is over.
    reward: Option<Reward>,
}

impl TauEnvironment {
    /// An environment of a task with a customer.
    pub fn new(
        domain: Arc<Domain>,
        task: Task,
        id: impl Into<Text>,
        customer: Customer,
        setting: &Setting,
    ) -> Self {
        let tools = domain.tools.iter().zip(&domain.definitions);
        let tools = tools.map(|(tool, definition)| bound(tool, Arc::clone(definition)));
        TauEnvironment {
            tools: ToolSet::new(tools.chain([respond()])),
            domain,
            task,
            id: id.into(),
            customer,
            replies: Vec::new(),
            play: None,
            setting: setting.clone(),
        }
    }

    /// Sets the customer's recorded messages. After them, the customer is asked.
    #[must_use]
    pub fn with_replies(mut self, replies: Vec<Text>) -> Self {
        self.replies = replies;
        self
    }

    async fn begin(&mut self) -> Result<Reset, EnvironmentError> {
        let play = RefCell::new(Play {
            episode: Episode::new(Arc::clone(&self.domain), self.task.clone()),
            customer: self.customer.clone(),
            outside: Rc::clone(&self.setting.outside),
            known: self.replies.iter().cloned().collect(),
            said: Vec::new(),
            reward: None,
        });
        let instruction = Text::clone(&self.task.instruction);
        let opening = said(&play, move |customer| customer.reset(Some(&instruction))).await;
        let opening = opening.map_err(|error| EnvironmentError::Failed {
            message: error.to_string().into(),
        })?;
        self.play = Some(play);
        Ok(Reset {
            messages: vec![
                Message::new(Role::System, self.domain.policy.clone()).into(),
                Message::user(opening).into(),
            ],
            tools: self.tools.definitions(),
        })
    }

    async fn act(&self, action: AnyMessage) -> Result<Step, EnvironmentError> {
        let play = self.play.as_ref().ok_or(EnvironmentError::NotReset)?;
        let messages = match action {
            AnyMessage::Request(request) if !request.tool_calls.is_empty() => {
                self.call(play, &request).await?
            }
            AnyMessage::Request(request) => match request.body.content {
                // A message without calls goes to the customer.
                Some(content) if !content.is_empty() => {
                    let reply = answer(play, content.into()).await;
                    let reply = reply.map_err(|error| EnvironmentError::Failed {
                        message: error.to_string().into(),
                    })?;
                    vec![Message::user(reply).into()]
                }
                _ => return Ok(no_tool_calls()),
            },
            AnyMessage::Response(_) | AnyMessage::Plain(_) => return Ok(no_tool_calls()),
        };
        let reward = &play.borrow().reward;
        Ok(Step {
            messages,
            reward: reward.as_ref().map_or(0.0, |reward| reward.value),
            done: reward.is_some(),
            truncated: false,
        })
    }

    async fn call(
        &self,
        play: &RefCell<Play>,
        request: &ToolRequestMessage,
    ) -> Result<Vec<AnyMessage>, EnvironmentError> {
        let options = ExecOptions {
            concurrency: false,
            ..ExecOptions::default()
        };
        let clock = &*self.setting.clock;
        let replies = exec_tool_calls(&self.tools, play, request, &options, clock).await?;
        Ok(replies.into_iter().map(AnyMessage::Response).collect())
    }
}

impl Environment for TauEnvironment {
    fn kind(&self) -> &'static str {
        "TauEnv"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(self.begin())
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(self.act(action))
    }

    fn export_frame(&self) -> Frame {
        let state = object!({"domain": (self.domain.name), "task": (self.id.clone())});
        match &self.play {
            Some(play) => play.borrow().frame(state),
            None => Frame::new(state, Json::Null),
        }
    }

    fn id(&self) -> Result<Text, EnvironmentError> {
        Ok(self.id.clone())
    }

    fn recorded(&self) -> Object {
        let said = self.play.as_ref().map(|play| play.borrow().said.clone());
        match (&self.customer, said) {
            // A script repeats its messages by itself.
            (Customer::Scripted(_), _) | (_, None) => Object::new(),
            (_, Some(said)) => object!({"replies": said}),
        }
    }
}

impl Play {
    /// The state visible to the agent; after the end also the customer's instruction, and the parts of the reward.
    fn frame(&self, mut state: Object) -> Frame {
        state.insert("changed", self.episode.state().written());
        state.insert("actions", self.episode.actions().len() as i64);
        let Some(reward) = &self.reward else {
            return Frame::new(state, Json::Null);
        };
        let task = self.episode.task();
        let gold: Vec<Json> = task.actions.iter().map(Action::to_json).collect();
        let differences = reward.differences.iter().map(|one| {
            json!({
                "table": (one.table), "key": (one.key.to_string()),
                "is": (one.here.clone()), "should_be": (one.there.clone()),
            })
        });
        let outputs = reward.outputs.iter();
        let outputs: Object = outputs
            .map(|(output, said)| (Key::from(output.to_string()), (*said).into()))
            .collect();
        let info = object!({
            "reward": (reward.value),
            "instruction": (task.instruction.clone()),
            "gold_actions": gold,
            "data_is_right": (reward.data_is_right),
            "differences": (Json::List(differences.collect())),
            "outputs": outputs,
        });
        Frame::new(state, info)
    }

    /// Takes an action other than a message to the customer.
    fn act(&mut self, action: Action) -> Result<Text, ToolError> {
        match self
            .episode
            .act(action)
            .map_err(|error| ToolError::runtime(error.0))?
        {
            TurnResult::Step(step) => {
                self.reward = step.reward.or(self.reward.take());
                Ok(step.observation)
            }
            TurnResult::Customer(_) => {
                Err(ToolError::runtime("The customer is spoken to elsewhere."))
            }
        }
    }
}

/// Binds a tool of the domain. Its arguments are checked like those of a Python function.
fn bound(tool: &'static TauTool, definition: Arc<Tool>) -> BoundTool<Play> {
    BoundTool::sync(
        definition,
        move |context: CallContext<'_, Play>, arguments| {
            let mut play = context.state_mut()?;
            let action = Action {
                name: tool.name.into(),
                kwargs: arguments.clone(),
            };
            play.act(action).map(ToolValue::Text)
        },
    )
}

/// The definition of a tool for a model.
pub fn definition(tool: &TauTool) -> Tool {
    let parameters = tool.parameters.iter().map(parameter).collect();
    define(tool.name, tool.description, parameters, Object::new(), true)
}

fn parameter(parameter: &Parameter) -> ParameterDefinition {
    let text = || object!({"type": "string"});
    let schema = match parameter.kind {
        ParameterKind::Text => text(),
        ParameterKind::OneOf(texts) => object!({"type": "string", "enum": (texts.to_vec())}),
        ParameterKind::Integer => object!({"type": "integer"}),
        ParameterKind::Number => object!({"type": "number"}),
        ParameterKind::Texts => object!({"type": "array", "items": (text())}),
        ParameterKind::Objects(members) => {
            let properties = members.iter().map(|(name, description)| {
                let kind = if *name == "amount" {
                    "number"
                } else {
                    "string"
                };
                let member = json!({"type": kind, "description": (*description)});
                (Key::Borrowed(*name), member)
            });
            let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
            object!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": (properties.collect::<Object>()),
                    "required": required,
                },
            })
        }
    };
    ParameterDefinition {
        name: parameter.name.into(),
        schema,
        description: parameter.description.into(),
        default: None,
    }
}

/// The tool that answers the customer.
fn respond() -> BoundTool<Play> {
    let content = ParameterDefinition {
        name: "content".into(),
        schema: object!({"type": "string"}),
        description: "What to say.".into(),
        default: None,
    };
    let description = "Say something to the customer, and get the customer's answer.";
    let tool = define(RESPOND, description, vec![content], Object::new(), false);
    BoundTool::asynchronous(Arc::new(tool), |context, arguments| {
        let content = arguments.get("content").cloned();
        Box::pin(async move {
            let content = content.ok_or_else(|| ToolError::arguments("'content' is missing"))?;
            answer(context.state, content).await.map(ToolValue::Text)
        })
    })
}

/// Sends a message to the customer; returns the customer's reply.
async fn answer(play: &RefCell<Play>, content: Json) -> Result<Text, ToolError> {
    let told = {
        let action = Action::respond(content);
        match play.borrow_mut().episode.act(action) {
            Ok(TurnResult::Customer(content)) => content,
            Ok(TurnResult::Step(_)) => return Err(ToolError::runtime("Nothing was said.")),
            Err(error) => return Err(ToolError::runtime(error.0)),
        }
    };
    let Json::Text(told) = told else {
        return Err(ToolError::arguments("'content' must be a text"));
    };
    let reply = said(play, move |customer| customer.step(&told)).await?;
    let mut play = play.borrow_mut();
    let step = play
        .episode
        .answer(reply)
        .map_err(|error| ToolError::runtime(error.0))?;
    play.reward = step.reward.or(play.reward.take());
    Ok(step.observation)
}

/// The reply of the customer, which may have to be requested.
async fn said<E: std::fmt::Display>(
    play: &RefCell<Play>,
    begin: impl FnOnce(&mut Customer) -> Result<CustomerStep, E>,
) -> Result<Text, ToolError> {
    let failed =
        |error: &dyn std::fmt::Display| ToolError::runtime(format!("The customer failed: {error}"));
    let mut progress = {
        let play = &mut *play.borrow_mut();
        let asked = begin(&mut play.customer).map_err(|error| failed(&error))?;
        match play.known.pop_front() {
            Some(text) => {
                play.customer.recall(&text);
                CustomerStep::Say(text)
            }
            None => asked,
        }
    };
    let outside = Rc::clone(&play.borrow().outside);
    loop {
        let completion = match progress {
            CustomerStep::Say(text) => {
                play.borrow_mut().said.push(Text::clone(&text));
                return Ok(text);
            }
            CustomerStep::Show(text) => outside.ask(&text).await,
            CustomerStep::Ask(messages) => {
                let messages = messages.into_iter().map(|one| (one.role, one.content));
                let request = ModelRequest {
                    purpose: "customer",
                    model: Json::Null,
                    temperature: Json::Null,
                    messages: messages.collect(),
                };
                outside.complete(request).await
            }
        };
        let completion = completion.map_err(|error| failed(&error))?;
        let next = play.borrow_mut().customer.completed(&completion);
        progress = next.map_err(|error| failed(&error))?;
    }
}
