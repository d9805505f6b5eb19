//! The playground: one episode, played step by step.
//!
//! [`PlaygroundMachine::update`] handles an event and returns effects. The page carries them out in order, reports their results
//! as further events, and draws what the methods without effects say. A page can have any number of playgrounds.
//!
//! - `event`, `effect`: its data. `attempts`: what needs the user's consent. `opening`: which episode is shown. `worker`: replies and losses of the worker. `running`:
//!   the runs of policies.
//! - [`session`]: state machine between the shown episode and the worker's environment; commands out, events in.
//! - [`known`]: the environments that can be opened.
//! - [`action`]: actions that the user makes by hand.
//! - [`chosen_action`]: an action with what its player records. [`player_move`]: the move of a player.
//! - [`address`]: the address of the shown episode.
//! - [`consent`]: whether an episode may run immediately or needs the user's consent.
//! - [`incoming_episode`]: the episode of a second play, which counts once it is complete.
//! - [`linked_code`]: a Python file at an address.
//! - [`policy`]: the policies and their settings; [`run`]: which run is current.
//! - [`redraw`]: throttle of redraws.
//! - [`replay`]: comparison of a replay with its record; [`replay_check`]: whether the result of a check still counts.
//! - [`rival_match`]: a policy plays the task that a person played.
//! - [`run_choice`]: what **Run** does.
//! - [`saver`]: under which id a played episode is stored.
//! - [`worker_losses`]: whether a lost worker is replaced at once.
//! - [`setup`]: which environment and task are chosen.
//! - [`sharing`]: contents of a shared link.
//! - [`tasks`]: lists of tasks, and the recipes of tasks.
//!
//! Invariants:
//! - The shown episode changes only in [`PlaygroundMachine::update`] and [`PlaygroundMachine::start_with`].
//! - A late reply changes nothing: replies count for the environment that is awaited, moves and pauses for the current
//!   run, timers for the step that they were started for.
//! - Nothing that came from content runs in a Python file or on a server before [`Event::Agree`].
//! - The steps of an episode are in an effect [`Effect::Store`] before something else takes their place.

pub mod action;
pub mod address;
mod attempts;
pub mod chosen_action;
pub mod consent;
mod effect;
mod event;
pub mod incoming_episode;
pub mod known;
pub mod linked_code;
mod opening;
pub mod player_move;
pub mod policy;
pub mod redraw;
pub mod replay;
pub mod replay_check;
pub mod rival_match;
pub mod run;
pub mod run_choice;
mod running;
pub mod saver;
pub mod session;
pub mod setup;
pub mod sharing;
pub mod tasks;
mod worker;
pub mod worker_losses;

use std::sync::Arc;

use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::{Ending, Episode, Link};
use volary_protocol::environments::{EnvironmentId, ServerEnvironment};

use crate::notice::Notice;
use address::last_step;
use consent::PlannedEpisode;
use known::KnownEnvironments;
use policy::PolicyKind;
use replay::is_over;
use run::{Run, Runs};
use running::RunStage;
use saver::{Branch, Saver};
use session::{Refusal, Session};
use setup::Setup;
use tasks::{TaskPlace, TaskSource};
use worker_losses::WorkerLosses;

pub use effect::Effect;
pub use event::Event;
pub use opening::episode_name;

/// An episode that is played, with the policy that plays it.
#[derive(Clone, Debug, Default)]
pub struct PlaygroundMachine {
    known: KnownEnvironments,
    setup: Setup,
    episode: Arc<Episode>,
    session: Session,
    /// Incremented whenever steps that were shown are replaced or removed.
    edition: u32,
    /// The selected step; 0 is the reset.
    selected: usize,
    /// The step to select when the next episode is shown.
    wanted_step: Option<usize>,
    /// The previously shown episode.
    former: Option<Arc<Episode>>,
    /// The episode that waits for the user's consent.
    planned: Option<PlannedEpisode>,
    /// The stored episode that is being read.
    reading: Option<Text>,
    saver: Saver,
    policy: PolicyKind,
    run: Run,
    runs: Runs,
    stage: RunStage,
    /// The environment in which the policy acts as soon as it is open.
    run_in: Option<EnvironmentId>,
    /// The number of the current worker.
    worker: u32,
    losses: WorkerLosses,
    /// The environments that are open on servers.
    on_servers: Vec<ServerEnvironment>,
}

impl PlaygroundMachine {
    /// A playground without an episode.
    pub fn new(known: KnownEnvironments, sources: Vec<TaskSource>) -> PlaygroundMachine {
        PlaygroundMachine {
            known,
            setup: Setup::new(sources),
            ..PlaygroundMachine::default()
        }
    }

    /// A playground whose worker has other playgrounds too. The ids of its environments are above `last`.
    pub fn in_shared_worker(known: KnownEnvironments, last: EnvironmentId) -> PlaygroundMachine {
        PlaygroundMachine {
            known,
            session: Session::with_ids_above(last),
            ..PlaygroundMachine::default()
        }
    }

    /// Shows the first episode of a task. It is a method of its own so that a page can show one before the code behind
    /// [`PlaygroundMachine::update`] is loaded.
    pub fn start_with(&mut self, episode: Episode, task: Option<TaskPlace>) {
        if let Some(recipe) = &episode.recipe {
            self.setup.choose(recipe.environment.clone(), task);
        }
        self.show_record(episode);
    }

    fn show_record(&mut self, episode: Episode) {
        self.episode = Arc::new(episode);
        self.session.show();
        self.count_edition();
    }

    /// Handles an event and returns the effects for the page.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.handle(event.renamed(), &mut effects);
        self.go_on_with_run(&mut effects);
        effects
    }

    fn handle(&mut self, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::Known(known) => {
                self.known = known;
                effects.push(Effect::Redraw);
            }
            Event::Sources(sources) => self.setup.replace_sources(sources),
            Event::AddTasks(source) => self.add_tasks(source, effects),
            Event::PickTask(place) => self.pick_task(place, effects),
            Event::Begin(environment) => self.begin(environment.as_deref(), effects),
            Event::BeginTask {
                environment,
                id,
                seed,
            } => self.begin_task(environment.as_deref(), id.as_deref(), seed, effects),
            Event::Reset {
                configuration,
                seed,
                schema,
                id,
            } => self.reset(configuration, seed, &schema, id, effects),
            Event::Open {
                recipe,
                actions,
                id,
                name,
            } => self.open_chosen(recipe, actions, (id, name), effects),
            Event::Replay {
                recipe,
                actions,
                id,
            } => {
                if !self.must_show_code(&recipe, &actions, effects) {
                    self.show_recipe(&recipe, effects);
                    self.open(recipe, actions, (id, None), effects);
                }
            }
            Event::Show(episode) => self.show(*episode, effects),
            Event::OpenStored { id } => {
                self.reading = Some(id.clone());
                effects.push(Effect::ReadStored { id });
            }
            Event::StoredRead { id, episode } => self.stored_read(&id, episode, effects),
            Event::Navigate { step } => {
                self.reading = None;
                self.wanted_step = step;
                self.planned = None;
            }
            Event::SelectOnceShown(step) => self.wanted_step = step,
            Event::BringBack => {
                if let Some(former) = self.former.take() {
                    self.show(Arc::unwrap_or_clone(former), effects);
                }
            }
            Event::Rescued(episode) => self.former = Some(Arc::new(*episode)),
            Event::GoBack(steps) => self.go_back(steps, effects),
            Event::Leave => self.store(effects),
            Event::Attempt(attempt) => self.attempt(attempt, effects),
            Event::Undo => self.undo(effects),
            Event::Plan(plan) => self.plan(plan, effects),
            Event::Agree { id } => self.agree(id, effects),
            Event::Decline => self.decline(effects),
            Event::ActByHand(action) => self.act_by_hand(action, effects),
            Event::ChoosePolicy(policy) => self.policy = policy,
            Event::Run(actor) => self.run(actor, effects),
            Event::RunOnceOpened => self.run_in = self.session.awaited(),
            Event::RunOnce => self.start_run(true, effects),
            Event::Seated { run, name, delay } => self.seated(run, name, delay, effects),
            Event::NotSeated { run } => {
                if self.run.is_current(run) {
                    self.end_run(effects);
                }
            }
            Event::Decided { run, steps, next } => self.decided(run, steps, next, effects),
            Event::Paused { run } => self.paused(run, effects),
            Event::Stop => self.stop(effects),
            Event::StepIsLate { edition, steps } => self.step_is_late(edition, steps, effects),
            Event::Recorded {
                episode,
                steps,
                members,
            } => {
                if (&episode, steps) == (&self.episode.id, self.steps()) {
                    Arc::make_mut(&mut self.episode).raw.extend(members);
                    self.played(effects);
                }
            }
            Event::Replied {
                worker,
                environment,
                event,
            } => {
                if worker == self.worker {
                    self.replied(environment, event, effects);
                }
            }
            Event::Closing(event) => self.note_servers(&event),
            Event::WorkerLost { worker, loss } => {
                if worker == self.worker {
                    self.worker_lost(loss, effects);
                }
            }
            Event::CloseServers => self.close_servers(effects),
        }
    }

    fn act_by_hand(&mut self, action: AnyMessage, effects: &mut Vec<Effect>) {
        if self.session.is_stepping() && self.run == Run::Idle {
            // Pressed twice: the first step is in progress, and may be too short for the page to show it.
            return;
        }
        if let Err(refusal) = self.may_step() {
            return refuse(refusal, effects);
        }
        if self.policy == PolicyKind::Model {
            self.halt(effects);
        }
        self.set_policy_name("manual");
        self.take_action(action, effects);
    }

    /// Notes that a step was taken here.
    fn played(&mut self, effects: &mut Vec<Effect>) {
        self.saver.step_taken();
        if is_over(&self.episode) {
            self.store(effects);
        }
    }

    /// Stores the shown episode if steps were taken since it was stored.
    fn store(&mut self, effects: &mut Vec<Effect>) {
        let branch = self.branch();
        let Some(id) = self.saver.take(branch.clone()) else {
            return;
        };
        if self.episode.steps.is_empty() {
            return;
        }
        let mut copy = Episode {
            id,
            ..Episode::clone(&self.episode)
        };
        if let Some(origin) = self.saver.fork_of(&branch) {
            copy.links.retain(|link| link.relation != origin.relation);
            copy.links.push(origin);
        }
        // The page may be about to close. The address of a long episode contains its id.
        effects.push(Effect::WriteAddress);
        effects.push(Effect::Store(Box::new(copy)));
    }

    /// Follows the replacement or removal of steps: selects the wanted step, or the last one.
    fn replaced(&mut self, effects: &mut Vec<Effect>) {
        self.count_edition();
        effects.push(Effect::AdaptAction);
    }

    fn count_edition(&mut self) {
        self.edition += 1;
        let step = self.wanted_step.take().unwrap_or(self.steps());
        self.selected = step.min(self.last_step());
    }

    fn set_ending(&mut self, ending: Ending) {
        if self.episode.ending != ending {
            Arc::make_mut(&mut self.episode).ending = ending;
        }
    }

    fn set_policy_name(&mut self, name: &str) {
        if self.episode.policy.as_deref() != Some(name) {
            Arc::make_mut(&mut self.episode).policy = Some(name.into());
        }
    }

    fn branch(&self) -> Branch {
        (self.episode.id.clone(), self.edition)
    }

    /// Allocates an id for an environment that is opened alongside the shown one.
    pub fn new_environment(&mut self) -> EnvironmentId {
        self.session.new_environment()
    }

    /// Notes the step that the user selected on the page.
    pub fn select(&mut self, step: usize) {
        self.selected = step;
    }

    /// The environments that can be opened.
    pub fn known(&self) -> &KnownEnvironments {
        &self.known
    }

    /// The chosen environment and task.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The shown episode. While a clone of the `Arc` is held, each step copies the whole episode.
    pub fn episode(&self) -> &Arc<Episode> {
        &self.episode
    }

    /// The state of the episode with respect to its worker.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// A number that changes whenever steps that were shown are replaced or removed; 0 before the first episode.
    pub fn edition(&self) -> u32 {
        self.edition
    }

    /// The selected step; 0 is the reset.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The step that is selected when the next episode is shown.
    pub fn wanted_step(&self) -> Option<usize> {
        self.wanted_step
    }

    /// The previously shown episode.
    pub fn former(&self) -> Option<&Arc<Episode>> {
        self.former.as_ref()
    }

    /// The episode that waits for the user's consent.
    pub fn planned(&self) -> Option<&PlannedEpisode> {
        self.planned.as_ref()
    }

    /// Whether a stored episode is being read.
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// The policy that chooses the actions.
    pub fn policy(&self) -> PolicyKind {
        self.policy
    }

    /// The run of a policy.
    pub fn current_run(&self) -> Run {
        self.run
    }

    /// The number of the current worker. A worker that was dropped has another one.
    pub fn worker(&self) -> u32 {
        self.worker
    }

    /// The number of steps of the shown episode.
    pub fn steps(&self) -> usize {
        self.episode.steps.len()
    }

    /// The last step that can be selected. An imported episode may have more frames than steps.
    pub fn last_step(&self) -> usize {
        last_step(&self.episode)
    }

    /// Whether an action may be taken, or why not.
    pub fn may_step(&self) -> Result<(), Refusal> {
        self.session.may_step(&self.episode)?;
        if self.is_known() {
            Ok(())
        } else {
            Err(Refusal::Unknown)
        }
    }

    /// Whether the episode may go back to an earlier step and continue from there.
    pub fn may_go_back(&self) -> bool {
        !self.session.is_busy() && self.is_known()
    }

    fn is_known(&self) -> bool {
        let recipe = self.episode.recipe.as_ref();
        recipe.is_some_and(|recipe| self.known.knows(&recipe.environment))
    }

    /// The stored branch of which the shown episode is a fork, if any.
    pub fn fork(&self) -> Option<Link> {
        self.saver.fork_of(&self.branch())
    }

    /// The id under which the shown episode is stored completely.
    pub fn stored_id(&self) -> Option<Text> {
        self.saver.stored_id(&self.branch())
    }
}

/// Says why something is not possible now.
fn refuse(refusal: Refusal, effects: &mut Vec<Effect>) {
    effects.push(Effect::Alert(Notice::new(
        "This is not possible right now.",
        refusal.to_string(),
        refusal.advice(),
    )));
}

#[cfg(test)]
mod tests;
