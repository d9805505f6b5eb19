//! aviary's HotPotQA environment: answer a question by searching an encyclopedia.
//!
//! - [`config`]: the question, rewards, and the source of pages.
//! - [`page`], [`html`]: the result of a search. [`pages`]: sources of pages: the built-in
//!   [`encyclopedia`], or a wiki through the API in [`mediawiki`].
//! - [`tools`]: the three tools and their state. [`text`]: normalization of texts.
//! - [`dataset`]: built-in questions, and those of a file provided by the user.
//!
//! Invariant: the pages that were read are part of the episode, so that a replay fetches none.

pub mod config;
pub mod dataset;
pub mod encyclopedia;
pub mod html;
pub mod mediawiki;
pub mod page;
pub mod pages;
pub mod text;
pub mod tools;
mod view;

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_core::environment::{Setting, no_tool_calls};
use volary_core::exec::{ExecOptions, exec_tool_calls};
use volary_core::json::{Object, Text};
use volary_core::message::{Message, ToolRequestMessage};
use volary_core::registry::EnvironmentEntry;
use volary_core::{
    AnyMessage, Environment, EnvironmentError, Frame, Json, Reset, Step, ToolSet, object,
};

pub use config::Config;
pub use page::Page;
use pages::Pages;
use tools::{State, TOOLS, World};

/// The entry in the registry.
pub const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "hotpotqa",
    summary: "Answer a question that takes two articles: search, look up, submit.",
    configuration: config::schema,
    make: |configuration, setting| {
        let config = Config::read(configuration)?;
        let pages = pages::of(&config, setting);
        Ok(Box::new(HotPotQa::new(config, pages, setting)))
    },
    from_task: Some(config::from_task),
    view: Some(view::view),
    oracle: None,
};

/// aviary's `HotPotQAEnv`.
pub struct HotPotQa {
    config: Rc<Config>,
    pages: Rc<dyn Pages>,
    tools: ToolSet<World>,
    /// `None` before the first reset.
    world: Option<RefCell<World>>,
    setting: Setting,
}

impl HotPotQa {
    /// An environment with a source of pages.
    pub fn new(config: Config, pages: Rc<dyn Pages>, setting: &Setting) -> Self {
        HotPotQa {
            config: Rc::new(config),
            pages,
            tools: TOOLS.with(ToolSet::clone),
            world: None,
            setting: setting.clone(),
        }
    }

    /// The state; before the first reset, that after one.
    pub fn state(&self) -> State {
        let world = self.world.as_ref();
        world.map_or_else(State::default, |world| world.borrow().state.clone())
    }

    async fn act(&self, action: ToolRequestMessage) -> Result<Step, EnvironmentError> {
        let world = self.world.as_ref().ok_or(EnvironmentError::NotReset)?;
        world.borrow_mut().state.steps += 1;
        if action.tool_calls.is_empty() {
            let names = "{'search', 'lookup', 'submit_answer'}";
            let text = format!("Must call one of the provided tools {names}.");
            return Ok(Step {
                messages: vec![Message::user(text).into()],
                reward: self.config.tool_failure_reward,
                done: world.borrow().state.done,
                truncated: false,
            });
        }
        world.borrow_mut().state.reward = 0.0;
        let options = ExecOptions {
            concurrency: false,
            ..ExecOptions::default()
        };
        let clock = &*self.setting.clock;
        let replies = exec_tool_calls(&self.tools, world, &action, &options, clock).await?;
        let state = &world.borrow().state;
        Ok(Step {
            messages: replies.into_iter().map(AnyMessage::Response).collect(),
            reward: state.reward,
            done: state.done,
            truncated: false,
        })
    }
}

impl Environment for HotPotQa {
    fn kind(&self) -> &'static str {
        "HotPotQAEnv"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        self.world = Some(RefCell::new(World::new(
            Rc::clone(&self.config),
            Rc::clone(&self.pages),
            Rc::clone(&self.setting.outside),
        )));
        let question = format!("Question: {}", self.config.question);
        let reset = Reset {
            messages: vec![Message::user(question).into()],
            tools: self.tools.definitions(),
        };
        Box::pin(std::future::ready(Ok(reset)))
    }

    fn step(&mut self, action: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(async move {
            match action {
                AnyMessage::Request(request) => self.act(request).await,
                AnyMessage::Response(_) | AnyMessage::Plain(_) => Ok(no_tool_calls()),
            }
        })
    }

    fn export_frame(&self) -> Frame {
        let state = self.state();
        let info = object!({
            "question_id": (self.config.question_id.clone()),
            "question": (self.config.question.clone()),
            "steps": (state.steps),
            "done": (state.done),
            "reward": (state.reward),
            "answer": (state.answer),
        });
        Frame::new(Json::Null, info)
    }

    fn id(&self) -> Result<Text, EnvironmentError> {
        let id = self.config.question_id.clone();
        id.ok_or_else(|| EnvironmentError::NoId {
            reason: "No question ID was configured.".into(),
        })
    }

    /// The pages that were read, unless they come from the built-in encyclopedia.
    fn recorded(&self) -> Object {
        match &self.world {
            Some(world) if self.config.wiki.is_some() => world.borrow().recorded(),
            _ => Object::new(),
        }
    }
}
