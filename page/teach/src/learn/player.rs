//! An environment that is played within a lesson, independent of the playground: its episode, its worker, and the
//! reader's action.
//!
//! Invariants: all players of a lesson share one worker, and each has its own range of environment ids. Questions of an
//! environment to the outside world are refused, so nothing is requested from anywhere.

use std::sync::Arc;

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_agent::{Limits, Next, Policy, Student, decide, step_note};
use volary_app::playground::action::action;
use volary_app::playground::session::{Change, Command, Refusal, Session};
use volary_app::playground::unattended::{self, ShownChange, UnattendedReply};
use volary_app::typed_arguments::as_understood;
use volary_core::json::{Json, Text};
use volary_core::tool::ToolCallFunction;
use volary_core::{AnyMessage, ToolCall};
use volary_episode::{Episode, Recipe};
use volary_protocol::WorkerPart;
use volary_protocol::environments::{EnvironmentId, Event, Request};
use volary_view::form::Form;

use volary_browser as browser;
use volary_browser::worker_client::{Replies, WorkerClient};
use volary_playground::composer::arguments_schema;

/// The number of environment ids of each player.
const IDS: EnvironmentId = 1 << 20;

/// The worker that all players share.
#[derive(Clone, Copy)]
pub struct Workbench {
    worker: StoredValue<Option<WorkerClient>, LocalStorage>,
    players: StoredValue<EnvironmentId>,
}

impl Workbench {
    /// A workbench without a worker. The first player that needs a worker starts it.
    pub fn new() -> Workbench {
        Workbench {
            worker: StoredValue::new_local(None),
            players: StoredValue::new(0),
        }
    }

    fn call(self, request: &Request) -> Result<Replies<Event>, String> {
        let is_there = self
            .worker
            .with_value(|worker| worker.as_ref().is_some_and(|worker| !worker.is_lost()));
        if !is_there {
            let worker = WorkerClient::start(WorkerPart::Environments)?;
            self.worker.set_value(Some(worker));
        }
        let replies = self
            .worker
            .with_value(|worker| worker.as_ref().map(|worker| worker.call(request)));
        replies.ok_or_else(|| "The worker is not running.".to_owned())
    }
}

impl Default for Workbench {
    fn default() -> Self {
        Workbench::new()
    }
}

/// Signals of an episode, its environment in the worker, and the reader's action.
#[derive(Clone, Copy)]
pub struct EpisodePlayer {
    pub episode: RwSignal<Arc<Episode>>,
    /// Incremented whenever steps that were shown are replaced or removed.
    pub edition: RwSignal<u32>,
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    /// The state of the episode with respect to the worker.
    pub session: RwSignal<Session>,
    /// The tool whose form is shown.
    pub tool: RwSignal<Option<Text>>,
    /// The form of that tool's arguments.
    pub form: RwSignal<Form>,
    /// The last error.
    pub problem: RwSignal<Option<String>>,
    workbench: Workbench,
}

impl EpisodePlayer {
    /// A player without an episode.
    pub fn new(workbench: Workbench) -> EpisodePlayer {
        let number = workbench.players.get_value();
        workbench.players.set_value(number + 1);
        EpisodePlayer {
            episode: RwSignal::default(),
            edition: RwSignal::new(0),
            selected: RwSignal::new(0),
            session: RwSignal::new(Session::with_ids_above(number * IDS)),
            tool: RwSignal::new(None),
            form: RwSignal::default(),
            problem: RwSignal::new(None),
            workbench,
        }
    }

    /// Opens a recipe and replays actions. Resolves when that is done.
    pub async fn open(self, recipe: Recipe, actions: Vec<AnyMessage>, name: Text) {
        self.problem.set(None);
        let id = browser::random_id();
        let command = self
            .session
            .try_update(|session| session.open(recipe, actions, id, name));
        self.run(command).await;
    }

    /// Shows a recording from its start.
    pub fn show(self, episode: Episode) {
        self.problem.set(None);
        self.session.update(Session::clear);
        self.episode.set(Arc::new(episode));
        self.edition.update(|edition| *edition += 1);
        self.selected.set(0);
    }

    /// Takes an action. Resolves when the environment has responded.
    pub async fn take_action(self, action: AnyMessage) {
        self.problem.set(None);
        let command = self.ask(|session, episode| session.step(episode, action));
        self.run(command).await;
    }

    /// Goes back to a step.
    pub async fn go_back(self, steps: usize) {
        self.problem.set(None);
        let command = self.ask(|session, episode| session.go_back(episode, steps));
        self.run(command).await;
    }

    /// Lets a scripted student act until it stops.
    pub async fn watch(self, mut student: Student, limits: Limits) {
        loop {
            let Some(episode) = self.episode.try_get_untracked() else {
                return;
            };
            match decide(&mut student, &episode, &limits).await {
                Ok(Next::Act(action)) => {
                    let steps = episode.steps.len();
                    drop(episode);
                    self.take_action(action.into()).await;
                    if self.episode.is_disposed() {
                        return;
                    }
                    let has_grown = self
                        .episode
                        .with_untracked(|episode| episode.steps.len() > steps);
                    if !has_grown {
                        return;
                    }
                    self.note(student.note());
                }
                Ok(Next::Stop(stop)) => {
                    self.episode
                        .update(|episode| Arc::make_mut(episode).ending = stop.ending);
                    return;
                }
                Err(error) => return self.problem.set(Some(error.to_string())),
            }
        }
    }

    fn note(self, note: Option<Text>) {
        self.episode.update(|episode| {
            if let Some(step) = Arc::make_mut(episode).steps.last_mut() {
                step.details.errors.extend(note.map(step_note));
            }
        });
        // The step was already drawn.
        self.edition.update(|edition| *edition += 1);
    }

    /// Chooses a tool and shows an empty form for it.
    pub fn choose_tool(self, name: &Text) {
        let schema = self.episode.with_untracked(|episode| {
            let mut tools = episode.tools.iter();
            let tool = tools.find(|tool| tool.info.name == *name);
            tool.map(arguments_schema)
        });
        self.tool.set(Some(name.clone()));
        self.form.set(Form::new(schema.unwrap_or_default()));
    }

    /// The action in the form. If a field is invalid, marks it and returns `None`.
    pub fn made_action(self) -> Option<AnyMessage> {
        let name = self.tool.get_untracked()?;
        let Some(Json::Object(arguments)) = self.form.try_update(Form::submit).flatten() else {
            return None;
        };
        let steps = self.episode.with_untracked(|episode| episode.steps.len());
        let arguments = if self.form.with_untracked(Form::is_raw) {
            arguments
        } else {
            self.with_environment(|environment| as_understood(environment, &name, arguments))
        };
        let call = ToolCall {
            function: ToolCallFunction { name, arguments },
            ..ToolCall::default()
        };
        Some(action(steps, vec![call], "").into())
    }

    /// Calls a function with the environment of the episode.
    pub fn with_environment<T>(self, ask: impl FnOnce(Option<&str>) -> T) -> T {
        self.episode.with_untracked(|episode| {
            let recipe = episode.recipe.as_ref();
            ask(recipe.map(|recipe| &*recipe.environment))
        })
    }

    /// Replaces the form that was sent with a blank one.
    pub fn clear_form(self) {
        if let Some(name) = self.tool.get_untracked() {
            self.choose_tool(&name);
        }
    }

    fn ask(
        self,
        ask: impl FnOnce(&mut Session, &mut Episode) -> Result<Command, Refusal>,
    ) -> Option<Command> {
        let answer = self.session.try_update(|session| {
            self.episode
                .try_update_untracked(|episode| ask(session, Arc::make_mut(episode)))
        });
        match answer.flatten()? {
            Ok(command) => Some(command),
            Err(refusal) => {
                let problem = format!("{refusal} {}", refusal.advice());
                self.problem.set(Some(problem));
                None
            }
        }
    }

    /// Runs a command and the commands that follow from its result.
    async fn run(self, command: Option<Command>) {
        let mut next = command;
        while let Some(command) = next.take() {
            next = self.carry_out(command).await;
        }
    }

    async fn carry_out(self, command: Command) -> Option<Command> {
        let environment = command.environment();
        let request = command.into_request(|_| Vec::new());
        let mut replies = match self.workbench.call(&request) {
            Ok(replies) => replies,
            Err(reason) => return self.lose(reason.into()),
        };
        while let Some(reply) = replies.next().await {
            if self.episode.is_disposed() {
                return None;
            }
            let received = self.session.try_update_untracked(|session| {
                self.episode.try_update_untracked(|episode| {
                    let reply = reply.map(|reply| reply.event);
                    unattended::receive(session, Arc::make_mut(episode), environment, reply)
                })
            });
            match received.flatten()? {
                UnattendedReply::Waiting => {}
                UnattendedReply::Unwanted => return None,
                UnattendedReply::Changed(change) => return self.follow(change),
                UnattendedReply::Lost { reason, change } => {
                    self.problem.set(Some(reason.to_string()));
                    return self.follow(change);
                }
            }
        }
        None
    }

    /// Shows a change of the episode. Returns the follow-up command, if any.
    fn follow(self, change: Change) -> Option<Command> {
        let ShownChange {
            is_replaced,
            selects_last,
            problem,
            next,
        } = change.into();
        if is_replaced {
            self.edition.update(|edition| *edition += 1);
        }
        if selects_last {
            let steps = self.episode.with_untracked(|episode| episode.steps.len());
            self.selected.set(steps);
        }
        if is_replaced {
            self.reselect_tool();
        }
        if let Some(problem) = problem {
            self.problem.set(Some(problem.to_string()));
        }
        let next =
            next.and_then(|action| self.ask(|session, episode| session.step(episode, action)));
        self.session.notify();
        self.episode.notify();
        next
    }

    fn lose(self, reason: Text) -> Option<Command> {
        let change = self.session.try_update_untracked(|session| {
            self.episode.try_update_untracked(|episode| {
                session.lost(reason.clone(), Arc::make_mut(episode))
            })
        });
        self.problem.set(Some(reason.to_string()));
        self.follow(change.flatten()?)
    }

    /// Selects the first tool if the newly shown episode lacks the chosen one.
    fn reselect_tool(self) {
        let names: Vec<Text> = self.episode.with_untracked(|episode| {
            let tools = episode.tools.iter();
            tools.map(|tool| tool.info.name.clone()).collect()
        });
        let chosen = self.tool.get_untracked();
        if !chosen.is_some_and(|name| names.contains(&name))
            && let Some(first) = names.first()
        {
            self.choose_tool(first);
        }
    }
}
