//! Plays an environment on a virtual clock.

use std::rc::Rc;
use std::time::Duration;

use volary_core::environment::Setting;
use volary_core::json::{Json, Object};
use volary_core::message::{Body, ToolRequestMessage};
use volary_core::tool::{ToolCall, ToolCallFunction};
use volary_core::view::{Block, Tone, View, ViewInput};
use volary_core::virtual_clock::VirtualClock;
use volary_core::{AnyMessage, Environment, Frame};
use volary_envs::registry;

/// An environment after its reset, with all messages.
pub struct Player {
    pub environment: Box<dyn Environment>,
    pub clock: VirtualClock,
    pub tools: Vec<String>,
    pub messages: Vec<AnyMessage>,
    name: &'static str,
    last: Option<(f64, bool)>,
}

/// The result of a step.
#[derive(Debug, PartialEq)]
pub struct Played {
    pub contents: Vec<String>,
    pub reward: f64,
    pub done: bool,
}

impl Player {
    pub fn new(name: &'static str, configuration: Object) -> Self {
        Player::with_seed(name, configuration, 0)
    }

    pub fn with_seed(name: &'static str, configuration: Object, seed: u64) -> Self {
        let clock = VirtualClock::new();
        let setting = Setting {
            seed,
            clock: Rc::new(clock.clone()),
            outside: Rc::new(volary_core::outside::Closed),
        };
        let environment = registry()
            .environment_from_name(name, None, &configuration, &setting)
            .unwrap();
        let mut player = Player {
            environment,
            clock,
            tools: Vec::new(),
            messages: Vec::new(),
            name,
            last: None,
        };
        player.reset();
        player
    }

    pub fn reset(&mut self) {
        let reset = self.clock.run(self.environment.reset()).unwrap().unwrap();
        let names = reset.tools.iter().map(|tool| tool.info.name.to_string());
        self.tools = names.collect();
        self.messages = reset.messages;
        self.last = None;
    }

    /// Takes an action with calls, each an id, a tool, and arguments.
    pub fn step(&mut self, calls: &[(&str, &str, Json)]) -> Result<Played, String> {
        self.act(request(calls).into())
    }

    /// Takes any action.
    pub fn act(&mut self, action: AnyMessage) -> Result<Played, String> {
        self.messages.push(action.clone());
        let step = self.clock.run(self.environment.step(action)).unwrap();
        let step = step.map_err(|error| error.to_string())?;
        assert!(!step.truncated);
        let contents = step.messages.iter().map(content).collect();
        self.messages.extend(step.messages);
        self.last = Some((step.reward, step.done));
        Ok(Played {
            contents,
            reward: step.reward,
            done: step.done,
        })
    }

    pub fn frame(&self) -> Frame {
        self.environment.export_frame()
    }

    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    pub fn view(&self) -> View {
        let registry = registry();
        let entry = registry.environment(self.name).unwrap();
        entry.view.map(|view| self.looking(view)).unwrap()
    }

    /// The tones and texts of the view's verdicts.
    pub fn verdicts(&self) -> Vec<(Tone, String)> {
        let blocks = self.view().blocks.into_iter();
        let verdicts = blocks.filter_map(|block| match block {
            Block::Verdict { tone, text } => Some((tone, text.to_string())),
            _ => None,
        });
        verdicts.collect()
    }

    pub fn oracle(&self) -> Option<ToolRequestMessage> {
        let registry = registry();
        let entry = registry.environment(self.name).unwrap();
        entry.oracle.and_then(|oracle| self.looking(oracle))
    }

    /// Lets the oracle act until it has no further action. Returns the last step.
    pub fn solve(&mut self) -> Option<Played> {
        let mut last = None;
        for _ in 0..50 {
            let Some(action) = self.oracle() else {
                return last;
            };
            last = self.act(action.into()).ok().or(last);
        }
        panic!("The oracle does not come to an end.");
    }

    fn looking<T>(&self, look: fn(&ViewInput<'_>) -> T) -> T {
        look(&ViewInput {
            frame: &self.frame(),
            messages: &self.messages,
            reward: self.last.map(|(reward, _)| reward),
            done: self.last.is_some_and(|(_, done)| done),
        })
    }
}

pub fn request(calls: &[(&str, &str, Json)]) -> ToolRequestMessage {
    let calls = calls.iter().map(|(id, name, arguments)| ToolCall {
        id: (*id).into(),
        function: ToolCallFunction {
            name: (*name).into(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        },
    });
    ToolRequestMessage {
        body: Body::default(),
        tool_calls: calls.collect(),
    }
}

pub fn content(message: &AnyMessage) -> String {
    message.body().content.as_deref().unwrap_or("").to_owned()
}

/// A successful step.
pub fn played(contents: &[&str], reward: f64, done: bool) -> Result<Played, String> {
    Ok(Played {
        contents: contents.iter().map(|&text| text.to_owned()).collect(),
        reward,
        done,
    })
}
