//! Environments made of functions: a start function, which returns the first observation and the initial
//! state, and tools that work on that state.
//!
//! Invariants: tool failures are answered, never raised, and calls run one after the other
//! unless concurrency is allowed.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use crate::clock::Clock;
use crate::environment::{Environment, EnvironmentError, Reset, Setting, Step, no_tool_calls};
use crate::exec::{ExecOptions, exec_tool_calls};
use crate::frame::Frame;
use crate::json::{Json, Object, Text};
use crate::message::{AnyMessage, Message};
use crate::object;
use crate::tool::{BoundTool, ToolSet};

/// The state of a functional environment, which its tools modify.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionalState {
    /// The reward of every step until a tool changes it.
    pub reward: f64,
    /// Whether the episode is over.
    pub done: bool,
    /// The state returned by the start function and modified by tools.
    pub extras: Object,
}

/// The first observation and the extras of the state, from the configuration.
pub type Start = Rc<dyn Fn(&Object) -> Result<(Text, Object), EnvironmentError>>;

/// The error for two tools with the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Tool with name '{name}' already exists")]
pub struct DuplicateTool {
    pub name: Text,
}

/// A kind of functional environment: its start function and its tools.
#[derive(Clone)]
pub struct FunctionalBuilder {
    start: Start,
    tools: Vec<BoundTool<FunctionalState>>,
    allow_concurrency: bool,
}

impl FunctionalBuilder {
    /// A builder with a start function, which receives the configuration of the environment.
    pub fn start(
        start: impl Fn(&Object) -> Result<(Text, Object), EnvironmentError> + 'static,
    ) -> Self {
        FunctionalBuilder {
            start: Rc::new(start),
            tools: Vec::new(),
            allow_concurrency: false,
        }
    }

    /// Lets the calls of an action run concurrently.
    #[must_use]
    pub fn allow_concurrency(mut self) -> Self {
        self.allow_concurrency = true;
        self
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// [`DuplicateTool`] if a tool of the same name exists.
    pub fn tool(mut self, tool: BoundTool<FunctionalState>) -> Result<Self, DuplicateTool> {
        let name = &tool.tool.info.name;
        if self.tools.iter().any(|other| other.tool.info.name == *name) {
            return Err(DuplicateTool { name: name.clone() });
        }
        self.tools.push(tool);
        Ok(self)
    }

    /// An environment of this kind.
    pub fn make(&self, configuration: Object, setting: &Setting) -> FunctionalEnvironment {
        FunctionalEnvironment {
            start: Rc::clone(&self.start),
            configuration,
            tools: ToolSet::new(self.tools.iter().cloned()),
            options: ExecOptions {
                concurrency: self.allow_concurrency,
                handle_tool_exc: true,
                ..ExecOptions::default()
            },
            clock: Rc::clone(&setting.clock),
            state: RefCell::default(),
        }
    }
}

/// An environment made by a [`FunctionalBuilder`].
pub struct FunctionalEnvironment {
    start: Start,
    configuration: Object,
    tools: ToolSet<FunctionalState>,
    options: ExecOptions,
    clock: Rc<dyn Clock>,
    state: RefCell<FunctionalState>,
}

impl FunctionalEnvironment {
    fn begin(&mut self) -> Result<Reset, EnvironmentError> {
        let (observation, extras) = (self.start)(&self.configuration)?;
        self.state = RefCell::new(FunctionalState {
            extras,
            ..FunctionalState::default()
        });
        Ok(Reset {
            messages: vec![Message::user(observation).into()],
            tools: self.tools.definitions(),
        })
    }
}

impl Environment for FunctionalEnvironment {
    fn kind(&self) -> &'static str {
        "FunctionalEnvironment"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(std::future::ready(self.begin()))
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async move {
            let AnyMessage::Request(request) = action else {
                return Ok(no_tool_calls());
            };
            let responses = exec_tool_calls(
                &self.tools,
                &self.state,
                &request,
                &self.options,
                &*self.clock,
            )
            .await?;
            let state = self.state.borrow();
            Ok(Step {
                messages: responses.into_iter().map(AnyMessage::from).collect(),
                reward: state.reward,
                done: state.done,
                truncated: false,
            })
        })
    }

    fn export_frame(&self) -> Frame {
        let state = self.state.borrow();
        let extras = state.extras.clone();
        let names: Vec<Json> = self.tools.names().cloned().map(Json::from).collect();
        Frame::new(
            object!({"done": (state.done), "reward": (state.reward), "extras": extras}),
            object!({"tool_names": names}),
        )
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::clock::Standstill;
    use crate::message::ToolRequestMessage;
    use crate::tool::{ToolBuilder, ToolCall, ToolCallFunction, ToolError};

    fn tell() -> BoundTool<FunctionalState> {
        ToolBuilder::new("tell")
            .description("Tell a story.")
            .typed::<Text>("story", "The story.")
            .handler::<FunctionalState, _>(|context, arguments| {
                let mut state = context.state_mut()?;
                let story = arguments.get("story").and_then(Json::as_text);
                let story = story.ok_or_else(|| ToolError::value("no story"))?;
                state.reward += 1.5;
                state.done = story.contains("owl");
                let told = state.extras.get("told").and_then(Json::as_i64);
                state.extras.insert("told", told.unwrap_or(0) + 1);
                Ok(())
            })
            .unwrap()
    }

    fn environment() -> FunctionalEnvironment {
        let setting = Setting {
            seed: 0,
            clock: Rc::new(Standstill),
            outside: Rc::new(crate::outside::Closed),
        };
        let builder = FunctionalBuilder::start(|configuration| {
            let topic = configuration.get("topic").and_then(Json::as_text);
            let topic = topic.ok_or_else(|| EnvironmentError::Failed {
                message: "There is no topic.".into(),
            })?;
            let observation = format!("Write about {topic}");
            Ok((observation.into(), object!({"told": 0})))
        });
        let builder = builder.tool(tell()).unwrap();
        builder.make(object!({"topic": "owls"}), &setting)
    }

    fn action(name: &str, story: Json) -> AnyMessage {
        let call = ToolCall {
            id: "1".into(),
            function: ToolCallFunction {
                name: name.into(),
                arguments: object!({"story": story}),
            },
        };
        let request = ToolRequestMessage {
            tool_calls: vec![call],
            ..ToolRequestMessage::default()
        };
        request.into()
    }

    fn step(environment: &mut FunctionalEnvironment, action: AnyMessage) -> Step {
        let step = environment.step(action).now_or_never();
        step.unwrap().unwrap()
    }

    fn frame(done: bool, reward: f64, told: i64) -> Frame {
        let extras = object!({"told": told});
        Frame::new(
            object!({"done": done, "reward": reward, "extras": extras}),
            object!({"tool_names": ["tell"]}),
        )
    }

    #[test]
    fn an_episode() {
        let mut environment = environment();
        let reset = environment.reset().now_or_never().unwrap().unwrap();
        assert_eq!(reset.messages, [Message::user("Write about owls").into()]);
        assert_eq!(reset.tools.len(), 1);
        assert_eq!(environment.export_frame(), frame(false, 0.0, 0));

        let told = step(&mut environment, action("tell", "a cat".into()));
        assert_eq!(
            (told.reward, told.done, told.truncated),
            (1.5, false, false)
        );
        let told = step(&mut environment, action("tell", "an owl".into()));
        assert_eq!((told.reward, told.done), (3.0, true));
        assert_eq!(environment.export_frame(), frame(true, 3.0, 2));

        environment.reset().now_or_never().unwrap().unwrap();
        assert_eq!(environment.export_frame(), frame(false, 0.0, 0));
    }

    #[test]
    fn failures_are_answered_and_change_nothing() {
        let mut environment = environment();
        environment.reset().now_or_never().unwrap().unwrap();
        for (name, content) in [
            (
                "tell",
                "Encountered exception during tool call: ValueError('no story')",
            ),
            ("sing", "Invalid tool call: sing"),
        ] {
            let failed = step(&mut environment, action(name, Json::Null));
            assert_eq!(failed.messages[0].body().content.as_deref(), Some(content));
            assert_eq!((failed.reward, failed.done), (0.0, false));
        }
        assert_eq!(environment.export_frame(), frame(false, 0.0, 0));
    }

    #[test]
    fn other_messages_get_the_default_answer() {
        let mut environment = environment();
        environment.reset().now_or_never().unwrap().unwrap();
        step(&mut environment, action("tell", "a cat".into()));
        let answer = step(&mut environment, Message::user("hello").into());
        assert_eq!(answer, no_tool_calls());
        assert_eq!(answer.reward, 0.0);
    }

    #[test]
    fn it_has_no_id_and_can_be_looked_at_before_the_first_reset() {
        let environment = environment();
        let error = environment.id().unwrap_err().to_string();
        assert_eq!(
            error,
            "Getting ID is not yet implemented for environment FunctionalEnvironment."
        );
        let empty = Frame::new(
            object!({"done": false, "reward": 0.0, "extras": {}}),
            object!({"tool_names": ["tell"]}),
        );
        assert_eq!(environment.export_frame(), empty);
    }

    #[test]
    fn two_tools_of_one_name_are_refused() {
        let builder = FunctionalBuilder::start(|_| Ok(("".into(), Object::new())));
        let error = builder.tool(tell()).unwrap().tool(tell()).err().unwrap();
        assert_eq!(error.to_string(), "Tool with name 'tell' already exists");
    }

    #[test]
    fn a_start_that_fails_fails_the_reset() {
        let setting = Setting {
            seed: 0,
            clock: Rc::new(Standstill),
            outside: Rc::new(crate::outside::Closed),
        };
        let builder = FunctionalBuilder::start(|_| {
            let message = "no luck".into();
            Err(EnvironmentError::Failed { message })
        });
        let mut environment = builder.allow_concurrency().make(Object::new(), &setting);
        let error = environment.reset().now_or_never().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "no luck");
    }
}
