//! An episode of an evaluation whose policy is a model. The model is called for each action within rate limits and
//! budget. Each step is stored as a draft, so that no step is paid for twice.
//!
//! Dropping the future aborts the request in flight. [`rate_limits`] decides when a request may be sent, and
//! [`ended`] what is recorded in the end.

mod ended;
mod rate_limits;

use std::rc::Rc;

use leptos::prelude::untrack;
use volary_agent::evaluation::{Actor, Cell, Failure, FailureKind, Job, PlannedPolicy};
use volary_agent::model::exchange::Exchange;
use volary_agent::model::limits::Exhausted;
use volary_agent::model::retry::Next;
use volary_agent::model::selector::ToolSelector;
use volary_agent::model::{Answer, Usage, select as select_action};
use volary_agent::{RunnerError, Stage};
use volary_analysis::table::Row;
use volary_app::evaluation::{Done, Draft};
use volary_core::ToolRequestMessage;
use volary_core::json::{Object, Text};
use volary_episode::{Ending, Episode, FramePatch, StepDetails, StepRecord, call_id, native};

use super::model_settings;
use super::run::OpenRun;
use super::stage::WorkerStage;
use ended::PlayedEpisode;
use rate_limits::Flight;
use volary_browser::database::DatabaseChange;
use volary_browser::{network, timers};
use volary_connections::models::{
    self, Ask, Asking, RequestProgress, Saved, connections, prices, record, rollout,
};
use volary_storage as storage;
use volary_storage::episodes::StoredEpisode;
use volary_storage::evaluations::{keeping_draft, keeping_step, steps};
use volary_storage::origin::EVALUATED;

const OFFLINE: &str =
    "The browser is offline. Nothing is lost: resume when the connection is back.";

/// Why the playing of an episode stopped early.
enum Halt {
    /// The episode failed. The result can be retried.
    Failed(Failure),
    /// The episode is suspended, and continues later from the stored steps.
    Suspended,
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Halt::Failed(failure)
    }
}

/// Plays a cell and stores the result.
pub(super) async fn play(run: Rc<OpenRun>, number: usize) {
    let Some(mut playing) = Playing::new(&run, number) else {
        return;
    };
    let end = playing.play().await;
    playing.record_tokens().await;
    let failure = match end {
        Err(Halt::Suspended) => return run.model_returned(number),
        Err(Halt::Failed(failure)) => Some(failure),
        Ok(()) => None,
    };
    if failure
        .as_ref()
        .is_none_or(|failure| failure.kind.is_of_model())
    {
        run.model_ended(failure.as_ref());
    }
    let Playing {
        job,
        episode,
        draft,
        seconds,
        unanswered,
        ..
    } = playing;
    let played = PlayedEpisode {
        job,
        episode,
        draft,
        seconds,
        unanswered,
    };
    let Done {
        result,
        episode,
        draft,
    } = played.done(failure);
    let episode = episode.map(|episode| {
        let row = Row::of(&episode, Vec::new());
        StoredEpisode::new(row, native::to_text(&episode).into(), EVALUATED)
    });
    run.model_played(Done {
        result,
        episode,
        draft,
    });
}

struct Playing<'a> {
    run: &'a Rc<OpenRun>,
    cell: Cell,
    policy: &'a PlannedPolicy,
    job: Job,
    episode: Episode,
    draft: Draft,
    /// Elapsed time in seconds, without the waits for rate limits.
    seconds: f64,
    /// The exchanges of the step that failed.
    unanswered: Vec<Exchange>,
}

/// A response and the data that its step records about it.
struct Reply {
    answer: Answer,
    details: StepDetails,
    extras: Object,
}

impl<'a> Playing<'a> {
    fn new(run: &'a Rc<OpenRun>, number: usize) -> Option<Self> {
        let cell = run.plan.cell(number)?;
        let draft = run.with(|evaluation| evaluation.draft(number).cloned());
        let draft = draft.unwrap_or_default();
        Some(Playing {
            run,
            cell,
            policy: run.plan.policy(cell)?,
            job: Job::of(&run.id, &run.plan, cell, draft.attempts)?,
            episode: Episode::default(),
            seconds: draft.spent.seconds,
            draft,
            unanswered: Vec::new(),
        })
    }

    async fn play(&mut self) -> Result<(), Halt> {
        let (saved, settings) = self.model()?;
        let connection = saved.connection.clone();
        let mut stage = self.open().await?;
        self.take_recorded(&stage);
        self.episode.policy = Some(self.policy.name.clone());
        self.episode.model = Some(connection.model.clone());
        let mut selector = ToolSelector::new(connection.model.clone(), false, false);
        while self.episode.ending == Ending::Open {
            let step = self.episode.steps.len();
            if step >= self.policy.max_steps {
                self.episode.ending = Ending::Truncated {
                    reason: format!("The limit of {step} steps was reached.").into(),
                };
                break;
            }
            let said = self.ask(&saved, &settings).await?;
            let provider = connection.provider().name();
            let action = select_action(&mut selector, &said.answer, provider, |place| {
                call_id(step, place)
            });
            let action: ToolRequestMessage = action.map_err(|error| Failure::of_model(&error))?;
            let before = timers::now();
            let stepped = stage.step(action.into()).await;
            let mut stepped = stepped.map_err(|error| {
                self.episode.ending = crashed(&error);
                Failure::of_runner(&error)
            })?;
            self.seconds += timers::now() - before;
            self.take_recorded(&stage);
            stepped.record.details = said.details;
            stepped.record.extras.extend(said.extras);
            let kept = keeping_step(&self.run.id, self.cell.number, step, &stepped.record);
            self.record(stepped.record, stepped.frame)?;
            self.keep_draft(Some(kept)).await;
            self.unanswered.clear();
        }
        Ok(())
    }

    /// Opens the environment and replays it to the last stored step.
    async fn open(&mut self) -> Result<WorkerStage, Halt> {
        let kept = steps(&self.run.id, self.cell.number).await;
        // Steps that cannot be read are played and paid for again, which is better than no result.
        let kept = kept.unwrap_or_default();
        let actions = kept.iter().map(|step| step.action.clone()).collect();
        let pool = self.run.pool();
        let mut recipe = self.job.recipe.clone();
        recipe.configuration.extend(self.draft.recorded.clone());
        let opened = WorkerStage::open(&pool, recipe, actions).await;
        let (stage, mut episode) = opened.map_err(|error| Failure::of_runner(&error))?;
        // Restore the details of steps that only the draft contains.
        for (step, kept) in episode.steps.iter_mut().zip(kept) {
            step.details = kept.details;
            step.extras = kept.extras;
        }
        self.episode = episode;
        Ok(stage)
    }

    /// Copies the recorded answers of the outside world into the episode, and into the draft that continues it.
    fn take_recorded(&mut self, stage: &WorkerStage) {
        let recorded = stage.recorded();
        if let Some(recipe) = &mut self.episode.recipe {
            recipe.configuration.extend(recorded.clone());
        }
        self.draft.recorded = recorded;
    }

    /// The rollout's turn, if a rollout server samples the model.
    fn rollout_turn(&self, saved: &Saved, settings: &Object) -> Option<rollout::RolloutTurn> {
        let prompt = model_settings::system_prompt(settings).map(|prompt| &**prompt);
        let model = &saved.connection.model;
        let request = model_settings::request(model, settings, &self.episode);
        rollout::RolloutTurn::of(&saved.connection, &self.episode, prompt, &request)
    }

    /// Records the tokens of a rollout in the episode, also if the episode failed.
    async fn record_tokens(&mut self) {
        let Ok((saved, settings)) = self.model() else {
            return;
        };
        let Some(turn) = self.rollout_turn(&saved, &settings) else {
            return;
        };
        if self.episode.start.is_empty() {
            return;
        }
        match turn.record(self.episode.ending != Ending::Open).await {
            Ok(members) => self.episode.raw.extend(members),
            Err(error) => {
                let reason = error.to_string();
                self.episode.metadata.insert("tokens_missing", reason);
            }
        }
    }

    fn record(&mut self, step: StepRecord, frame: FramePatch) -> Result<(), Failure> {
        self.episode.record(step, frame).map_err(|error| Failure {
            kind: FailureKind::Environment,
            message: error.to_string().into(),
        })
    }

    /// The current version of the connection, and the settings of the request.
    fn model(&self) -> Result<(Saved, Object), Halt> {
        let Actor::Model {
            connection,
            settings,
        } = &self.policy.actor
        else {
            return Err(Halt::Failed(Failure {
                kind: FailureKind::Policy,
                message: "This policy does not use a model.".into(),
            }));
        };
        let saved = untrack(|| {
            connections::read(|known| {
                let mut list = known.list().iter();
                list.find(|saved| saved.connection.name == *connection)
                    .cloned()
            })
        });
        let saved = saved.ok_or_else(|| Failure {
            kind: FailureKind::Policy,
            message: format!(
                "The connection \"{connection}\" no longer exists. Add a connection with this name \
                 in the settings."
            )
            .into(),
        })?;
        let limit = self.run.pace().budget.cost;
        if let Some(limit) = limit.filter(|_| !prices::has_price(&saved.connection)) {
            return Err(rate_limits::give_back(
                self,
                Exhausted::CostUnknown { limit }.to_string(),
            ));
        }
        Ok((saved, settings.clone()))
    }

    /// Calls the model as soon as rate limits and budget allow it. Retries errors that may be transient.
    async fn ask(&mut self, saved: &Saved, settings: &Object) -> Result<Reply, Halt> {
        let connection = &saved.connection;
        let mut request = model_settings::request(&connection.model, settings, &self.episode);
        let turn = self.rollout_turn(saved, settings);
        if let Some(turn) = &turn {
            let prepared = turn.prepare(&mut request).await;
            prepared.map_err(|error| Failure::of_model(&error))?;
        }
        let ask = Ask::of(saved);
        let mut asking = Asking::new(ask.clone(), &mut request);
        let mut notes = Vec::new();
        let mut started = None;
        loop {
            let flight = rate_limits::permit(self).await?;
            let before = timers::now();
            let started = *started.get_or_insert_with(timers::wall_clock);
            let mut heard = |progress: RequestProgress<'_>| {
                if let RequestProgress::FellBack { fallback, .. } = progress {
                    notes.push(fallback.explanation().to_owned());
                }
            };
            let sent = asking.send(&mut request, &mut heard).await;
            self.seconds += timers::now() - before;
            let (answer, exchange) = match &sent {
                Ok(asked) => (Some(&asked.answer), &asked.exchange),
                Err((unanswered, _)) => (unanswered.partial.as_ref(), &unanswered.exchange),
            };
            let cost = self.land(flight, &connection.model, answer);
            self.unanswered.push(exchange.clone());
            let (unanswered, next) = match sent {
                Err(failed) => failed,
                Ok(asked) => {
                    let mut answer = asked.answer;
                    if let Some(turn) = &turn {
                        let read = turn.read(&answer).await;
                        answer = read.map_err(|error| Failure::of_model(&error))?;
                    }
                    return Ok(Reply {
                        details: record::details(&connection.model, &answer, cost, started),
                        extras: record::extras(&self.episode.steps, &self.unanswered, &notes),
                        answer,
                    });
                }
            };
            if unanswered.partial.is_some() {
                // The cost counts even though there is no action.
                self.keep_draft(None).await;
            }
            match next {
                Next::FallBack(_) => {}
                _ if !network::is_online() => {
                    return Err(rate_limits::give_back(self, OFFLINE.to_owned()));
                }
                Next::Wait(seconds) => {
                    let error = &unanswered.error;
                    let why = format!(", then retrying. Last error: {error}");
                    rate_limits::wait(self, seconds, &why).await?;
                }
                Next::GiveUp => {
                    let mut failure = Failure::of_model(&unanswered.error);
                    let diagnosis = models::diagnose(saved, ask.has_key(), &unanswered).await;
                    let words = [diagnosis.what, diagnosis.why, diagnosis.remedy];
                    failure.message = ask.redact(words.join(" ").trim()).into();
                    return Err(failure.into());
                }
            }
        }
    }

    /// Records the cost of a complete or partial response and returns it.
    fn land(&mut self, flight: Flight, model: &Text, answer: Option<&Answer>) -> Option<f64> {
        let usage = answer?.usage;
        let cost = usage.as_ref().and_then(|usage| price(model, usage));
        self.draft.spent.add_answer(usage.as_ref(), cost);
        flight.landed(usage.as_ref(), cost);
        cost
    }

    async fn keep_draft(&mut self, step: Option<DatabaseChange>) {
        self.draft.spent.seconds = self.seconds;
        self.draft.spent.steps = self.episode.steps.len() as u64;
        let draft = keeping_draft(&self.run.id, self.cell.number, &self.draft);
        let (number, changed) = (self.cell.number, self.draft.clone());
        self.run
            .update(|evaluation| evaluation.set_draft(number, changed));
        self.run.planned().await;
        // If the browser refuses the write, the draft is in memory, and the page reports it.
        let _ = storage::write(step.into_iter().chain([draft]).collect()).await;
    }
}

fn crashed(error: &RunnerError) -> Ending {
    let message = error.loss().cloned();
    message.map_or(Ending::Open, |message| Ending::Crashed { message })
}

fn price(model: &str, usage: &Usage) -> Option<f64> {
    untrack(|| prices::read(|prices| prices.cost(model, usage)))
}
