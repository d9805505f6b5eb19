//! An environment that is played within a lesson, independent of the playground: a playground's state machine
//! ([`PlaygroundMachine`]), and signals that show it, with the reader's action.
//!
//! Invariants: all players of a lesson share one worker, and each has its own range of environment ids. Questions of an
//! environment to the outside world are refused, so nothing is requested from anywhere, and nothing is stored.

use std::sync::Arc;
use std::task::{Poll, Waker};

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_agent::{Limits, Student};
use volary_app::notice::Notice;
use volary_app::playground::action::action;
use volary_app::playground::run::Run;
use volary_app::playground::run_choice::ActingParty;
use volary_app::playground::session::Command;
use volary_app::playground::{Effect, Event, PlaygroundMachine};
use volary_app::typed_arguments::as_understood;
use volary_core::json::{Json, Text};
use volary_core::tool::ToolCallFunction;
use volary_core::{AnyMessage, ToolCall};
use volary_episode::{Episode, Recipe};
use volary_protocol::WorkerPart;
use volary_protocol::environments::{self, EnvironmentId, Request};
use volary_view::form::Form;

use volary_browser as browser;
use volary_browser::worker_client::{Replies, WorkerClient};
use volary_playground::composer::arguments_schema;
use volary_playground::player::{BuiltIn, Player};
use volary_playground::state::Playground;

/// The number of environment ids of each player.
const IDS: EnvironmentId = 1 << 20;

/// Why an episode is not opened that would run code or use a server.
const NEEDS_CONSENT: &str =
    "This episode runs Python code, or on a server. Open it in the playground.";

/// The answer to a question of an environment.
const UNANSWERED: &str = "This environment asks for something from outside.";

/// The worker that all players share.
#[derive(Clone, Copy)]
pub struct Workbench {
    playground: Playground,
    worker: StoredValue<Option<WorkerClient>, LocalStorage>,
    players: StoredValue<EnvironmentId>,
}

impl Workbench {
    /// A workbench without a worker. The first player that needs a worker starts it.
    pub fn new(playground: Playground) -> Workbench {
        Workbench {
            playground,
            worker: StoredValue::new_local(None),
            players: StoredValue::new(0),
        }
    }

    fn call(self, request: &Request) -> Result<Replies<environments::Event>, String> {
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

/// The state machine of an episode, and signals that show it.
#[derive(Clone, Copy)]
pub struct EpisodePlayer {
    machine: StoredValue<PlaygroundMachine>,
    /// The shown episode.
    pub episode: RwSignal<Arc<Episode>>,
    /// Changes whenever steps that were shown are replaced or removed.
    pub edition: RwSignal<u32>,
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    /// Whether an operation is in progress.
    pub is_busy: RwSignal<bool>,
    /// The tool whose form is shown.
    pub tool: RwSignal<Option<Text>>,
    /// The form of that tool's arguments.
    pub form: RwSignal<Form>,
    /// The last error.
    pub problem: RwSignal<Option<String>>,
    /// The policy of the run, unless it is deciding.
    policy: StoredValue<Option<BuiltIn>, LocalStorage>,
    /// The tasks that wait until no operation is in progress.
    waiting: StoredValue<Vec<Waker>>,
    workbench: Workbench,
}

impl EpisodePlayer {
    /// A player without an episode.
    pub fn new(workbench: Workbench) -> EpisodePlayer {
        let number = workbench.players.get_value();
        workbench.players.set_value(number + 1);
        let known = workbench.playground.built_in_environments();
        EpisodePlayer {
            machine: StoredValue::new(PlaygroundMachine::in_shared_worker(known, number * IDS)),
            episode: RwSignal::default(),
            edition: RwSignal::new(0),
            selected: RwSignal::new(0),
            is_busy: RwSignal::new(false),
            tool: RwSignal::new(None),
            form: RwSignal::default(),
            problem: RwSignal::new(None),
            policy: StoredValue::new_local(None),
            waiting: StoredValue::default(),
            workbench,
        }
    }

    /// Opens a recipe and replays actions. Resolves when that is done.
    pub async fn open(self, recipe: Recipe, actions: Vec<AnyMessage>, name: Text) {
        self.begin();
        self.update(Event::Open {
            recipe,
            actions,
            id: browser::random_id(),
            name: Some(name),
        });
        if self
            .machine
            .with_value(|machine| machine.planned().is_some())
        {
            self.update(Event::Decline);
            self.problem.set(Some(NEEDS_CONSENT.to_owned()));
        }
        self.settled().await;
    }

    /// Shows a recording from its start.
    pub fn show(self, episode: Episode) {
        self.begin();
        self.update(Event::SelectOnceShown(Some(0)));
        self.update(Event::Show(Box::new(episode)));
    }

    /// Takes an action. Resolves when the environment has responded.
    pub async fn take_action(self, action: AnyMessage) {
        self.begin();
        self.select_last();
        self.update(Event::ActByHand(action));
        self.settled().await;
    }

    /// Goes back to a step.
    pub async fn go_back(self, steps: usize) {
        self.begin();
        self.update(Event::GoBack(steps));
        self.settled().await;
    }

    /// Lets a scripted student act until it stops.
    pub async fn watch(self, student: Student, limits: Limits) {
        if self.machine.is_disposed() {
            return;
        }
        self.policy.set_value(Some(BuiltIn {
            policy: Box::new(student),
            limits,
        }));
        self.select_last();
        self.update(Event::Run(ActingParty::Policy));
        self.settled().await;
    }

    fn begin(self) {
        self.problem.set(None);
    }

    fn select_last(self) {
        let last = self.machine.with_value(PlaygroundMachine::last_step);
        self.selected.set(last);
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

    /// Handles an event and carries out its effects.
    fn update(self, event: Event) {
        let selected = self.selected.try_get_untracked();
        // The lesson may have been left meanwhile.
        let Some(selected) = selected else { return };
        let effects = self.machine.try_update_value(|machine| {
            machine.select(selected);
            machine.update(event)
        });
        for effect in effects.into_iter().flatten() {
            self.carry_out(effect);
        }
        self.show_machine();
    }

    fn carry_out(self, effect: Effect) {
        match effect {
            Effect::Send(command) => self.send(command),
            Effect::Ask { id, .. } => {
                let refusal = Request::Answer {
                    question: id,
                    answer: Err(UNANSWERED.into()),
                };
                // The answer has no replies.
                drop(self.workbench.call(&refusal));
            }
            Effect::Seat { run } => self.seat(run),
            Effect::Decide { run, steps } => self.decide(run, steps),
            Effect::DropPlayer => self.policy.set_value(None),
            Effect::AdaptAction => self.reselect_tool(),
            Effect::Alert(Notice { what, why, .. }) => {
                self.problem.set(Some(format!("{what} {why}")));
            }
            Effect::SayUnloaded => {
                let text = "The environments could not be loaded. Try again.";
                self.problem.set(Some(text.to_owned()));
            }
            // The other players need the worker, and it is restarted when it is called.
            Effect::StartWorker | Effect::DropWorker | Effect::CloseOthers(_) => {}
            // A lesson has no servers, no Python and no connections.
            Effect::CloseOnServers(_) | Effect::StopPython | Effect::SayNotConnected(_) => {}
            // It draws each state at once, and shows no messages but problems.
            Effect::Pause { .. }
            | Effect::AwaitStep { .. }
            | Effect::StopPlayback
            | Effect::Redraw
            | Effect::RedrawForStep
            | Effect::Say(_) => {}
            // It has no setup.
            Effect::ChoosePolicy
            | Effect::StartOver
            | Effect::Configure { .. }
            | Effect::ShowRecipe(_)
            | Effect::ShowSeed(_)
            | Effect::Reset
            | Effect::Proceed(_)
            | Effect::ShowOpening
            | Effect::AgreeToCode(_)
            | Effect::RefuseField { .. } => {}
            // It has no address and no store.
            Effect::RestoreAddress
            | Effect::WriteAddress
            | Effect::ReadStored { .. }
            | Effect::StoredIsMissing
            | Effect::Store(_) => {}
        }
    }

    fn send(self, command: Command) {
        let environment = command.environment();
        let worker = self.machine.with_value(PlaygroundMachine::worker);
        let mut replies = match self.workbench.call(&command.into_request(|_| Vec::new())) {
            Ok(replies) => replies,
            Err(reason) => return self.problem.set(Some(reason)),
        };
        browser::spawn(async move {
            while let Some(reply) = replies.next().await {
                self.update(match reply {
                    Ok(reply) => Event::Replied {
                        worker,
                        environment,
                        event: reply.event,
                    },
                    Err(loss) => Event::WorkerLost { worker, loss },
                });
            }
        });
    }

    fn seat(self, run: u32) {
        let name = self
            .policy
            .with_value(|policy| policy.as_ref().map(Player::name));
        browser::spawn(async move {
            self.update(match name {
                Some(name) => Event::Seated {
                    run,
                    name,
                    delay: 0.0,
                },
                None => Event::NotSeated { run },
            });
        });
    }

    fn decide(self, run: u32, steps: usize) {
        let policy = self.policy.try_update_value(Option::take).flatten();
        let episode = self
            .machine
            .with_value(|machine| Arc::clone(machine.episode()));
        browser::spawn(async move {
            let Some(mut policy) = policy else {
                return self.update(Event::NotSeated { run });
            };
            let next = policy.play(episode).await;
            let is_current = self
                .machine
                .try_with_value(|machine| machine.current_run().is_current(run));
            if is_current == Some(true) {
                self.policy.set_value(Some(policy));
            }
            self.update(Event::Decided { run, steps, next });
        });
    }

    /// Sets each signal whose value in the machine is another one.
    fn show_machine(self) {
        let shown = self.machine.try_with_value(|machine| {
            (
                Arc::clone(machine.episode()),
                machine.edition(),
                machine.selected(),
                machine.session().is_busy() || machine.current_run() != Run::Idle,
            )
        });
        let Some((episode, edition, selected, is_busy)) = shown else {
            return;
        };
        let is_same = self
            .episode
            .with_untracked(|shown| Arc::ptr_eq(shown, &episode));
        if !is_same {
            self.episode.set(episode);
        }
        if self.selected.get_untracked() != selected {
            self.selected.set(selected);
        }
        if self.edition.get_untracked() != edition {
            self.edition.set(edition);
        }
        if self.is_busy.get_untracked() != is_busy {
            self.is_busy.set(is_busy);
        }
        if !is_busy {
            let waiting = self.waiting.try_update_value(std::mem::take);
            waiting.into_iter().flatten().for_each(Waker::wake);
        }
    }

    /// Resolves when no operation is in progress, or the lesson was left.
    async fn settled(self) {
        std::future::poll_fn(|context| {
            if self.is_busy.try_get_untracked() != Some(true) {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            self.waiting.try_update_value(|waiting| waiting.push(waker));
            Poll::Pending
        })
        .await;
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
