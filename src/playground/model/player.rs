//! The model as a player: asks it for one action after the other, and records requests, tokens and cost.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::prelude::*;
use volary_agent::model::limits::{Exhausted, Spent};
use volary_agent::model::selector::ToolSelector;
use volary_agent::model::{Answer, ModelError, ModelRequest, ProviderKind, diagnosis, select};
use volary_agent::rollout::Stop;
use volary_app::playground::chosen_action::{ChosenAction, StepAside};
use volary_app::playground::replay::is_over;
use volary_core::json::{Object, Text};
use volary_core::message::{Message, Role};
use volary_core::{AnyMessage, ToolRequestMessage};
use volary_trajectory::{Ending, Episode, call_id};

use super::settings::Settings;
use super::state::{ModelState, state};
use crate::browser::{self, timers};
use crate::models::{
    Ask, Asked, Limits, Saved, Stopped, ask_within, connections, diagnose, prices, record, rollout,
};
use crate::playground::player::{Move, Player};
use crate::playground::policy_settings::POLICY_FORM;
use crate::playground::saving::played;
use crate::playground::session_driver::settled;
use crate::playground::state::Playground;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::projection::turn::Stage;

/// Returns a player for the configured model. If a setting is invalid, marks it and returns `None`.
pub(super) fn seated(playground: Playground) -> Option<Box<dyn Player>> {
    let state = state();
    if untrack(|| connections::read(|connections| connections.list().is_empty())) {
        playground.alert(Notice::new(
            "The model cannot be called.",
            "No model is connected.",
            "Connect one in the settings, then press Run again.",
        ));
        return None;
    }
    untrack(|| super::settings_view::follow(playground, state));
    let submit = |form: RwSignal<Form>| form.try_update(Form::submit).flatten();
    let (asking, sampling, limits) = (
        submit(state.asking),
        submit(state.sampling),
        submit(state.limits),
    );
    let (Some(asking), Some(sampling), Some(limits)) = (asking, sampling, limits) else {
        browser::show_fault(POLICY_FORM);
        return None;
    };
    let settings = Settings::read(&asking, &sampling, &limits);
    let saved = untrack(|| {
        connections::read(|connections| {
            let mut list = connections.list().iter();
            list.find(|saved| saved.connection.name == settings.connection)
                .cloned()
        })
    })?;
    if let Err(error) = saved.connection.check() {
        playground.alert(Notice::new(
            format!("The connection {} is incomplete.", settings.connection),
            error.to_string(),
            "Complete it in the settings.",
        ));
        return None;
    }
    Some(Box::new(ModelPlayer {
        saved,
        settings,
        state,
        playground,
        started: timers::now(),
        lost: Spent::default(),
    }))
}

struct ModelPlayer {
    saved: Saved,
    settings: Settings,
    state: ModelState,
    playground: Playground,
    /// Start of the run, on the page's clock.
    started: f64,
    /// Tokens and cost in this run of answers that did not become a step.
    lost: Spent,
}

impl Player for ModelPlayer {
    fn name(&self) -> Text {
        "model".into()
    }

    fn play(&mut self, episode: Arc<Episode>) -> LocalBoxFuture<'_, Move> {
        let request = self.request(&episode);
        let turn = self.rollout_turn(&episode, &request);
        let spent = self.spent(&episode);
        let (steps, ending) = (episode.steps.len(), episode.ending.clone());
        // Drop the handle as early as possible: a second handle would make the next step copy the whole episode.
        drop(episode);
        async move {
            if ending != Ending::Open {
                return over(ending);
            }
            self.ask(request, turn, spent, steps).await
        }
        .boxed_local()
    }

    fn stopped(&mut self) {
        self.state.change(|turn| {
            if turn.is_going() {
                turn.stage = Stage::Stopped;
            }
        });
    }
}

impl ModelPlayer {
    fn request(&self, episode: &Episode) -> ModelRequest {
        let settings = &self.settings;
        let prompt = settings.system_prompt.clone();
        let told = prompt.map(|prompt| AnyMessage::Plain(Message::new(Role::System, prompt)));
        let mut request = ModelRequest {
            model: self.saved.connection.model.clone(),
            messages: told
                .into_iter()
                .chain(episode.messages().cloned())
                .collect(),
            tools: episode.tools.clone(),
            tool_choice: Some(settings.tool_choice.clone()),
            stream: true,
            ..ModelRequest::default()
        };
        settings.sampling.apply(&mut request);
        request
    }

    /// Usage that counts against the limits: the episode's steps, tokens and cost, and the run's seconds.
    fn spent(&self, episode: &Episode) -> Spent {
        let mut spent = self.lost;
        for usage in episode.steps.iter().filter_map(|step| step.details.usage) {
            spent.add(&Spent {
                tokens: usage
                    .input
                    .unwrap_or_default()
                    .saturating_add(usage.output.unwrap_or_default()),
                cost: usage.cost,
                ..Spent::default()
            });
        }
        spent.steps = episode.steps.len() as u64;
        spent.seconds = timers::now() - self.started;
        spent
    }

    /// The rollout's turn, if a rollout server samples the model.
    fn rollout_turn(
        &self,
        episode: &Episode,
        request: &ModelRequest,
    ) -> Option<rollout::RolloutTurn> {
        let prompt = self.settings.system_prompt.as_deref();
        rollout::RolloutTurn::of(&self.saved.connection, episode, prompt, request)
    }

    /// Records the tokens of a rollout, either when the step after `steps` steps is taken or when no further step
    /// follows.
    fn record_tokens(&self, steps: usize, request: &ModelRequest, is_stopped: bool) {
        let connection = self.saved.connection.clone();
        if connection.kind != ProviderKind::Sglang {
            return;
        }
        let (playground, request) = (self.playground, request.clone());
        let prompt = self.settings.system_prompt.clone();
        let expected = if is_stopped { steps } else { steps + 1 };
        browser::spawn(async move {
            settled(playground).await;
            let episode = playground.episode.get_untracked();
            let id = episode.id.clone();
            if episode.steps.len() != expected {
                return;
            }
            let is_over = is_stopped || is_over(&episode);
            let turn = rollout::RolloutTurn::of(&connection, &episode, prompt.as_deref(), &request);
            drop(episode);
            let Some(turn) = turn else { return };
            match turn.record(is_over).await {
                Ok(members) => {
                    let is_same = playground.episode.with_untracked(|episode| {
                        episode.id == id && episode.steps.len() == expected
                    });
                    if is_same {
                        playground.episode.update_untracked(|episode| {
                            Arc::make_mut(episode).raw.extend(members);
                        });
                        played(playground);
                    }
                }
                Err(error) => playground.say(format!("No tokens were recorded. {error}")),
            }
        });
    }

    async fn ask(
        &mut self,
        mut request: ModelRequest,
        turn: Option<rollout::RolloutTurn>,
        mut spent: Spent,
        steps: usize,
    ) -> Move {
        let state = self.state;
        let prices = untrack(|| prices::read(Clone::clone));
        let saved = self.saved.clone();
        let ask = Ask::of(&saved);
        let mut limits = Limits {
            budget: &self.settings.budget,
            spent: &mut spent,
            prices: &prices,
        };
        if let Some(end) = limits.budget.exhausted(limits.spent) {
            self.record_tokens(steps, &request, true);
            return exhausted(end);
        }
        let edition = self.playground.edition.get_untracked();
        state.begin(edition, steps, &self.saved.connection.model);
        if let Some(turn) = &turn
            && let Err(error) = turn.prepare(&mut request).await
        {
            let connection = &saved.connection;
            return self.fail(&ask, diagnosis::of_error(connection, ask.has_key(), &error));
        }
        let started = timers::wall_clock();
        let before = *limits.spent;
        let asked = ask_within(&ask, &mut request, &mut limits, &mut |progress| {
            state.handle(progress);
        })
        .await;
        match asked {
            Ok(asked) => {
                let read = match &turn {
                    Some(turn) => turn.read(&asked.answer).await,
                    None => Ok(asked.answer.clone()),
                };
                state.change(|turn| {
                    turn.keep(&asked.exchange);
                    turn.complete(read.as_ref().unwrap_or(&asked.answer));
                });
                match read.and_then(|answer| self.action(&answer, steps)) {
                    Ok(action) => {
                        self.record_tokens(steps, &request, false);
                        let cost = asked.answer.usage.as_ref();
                        let cost = cost.and_then(|usage| prices.cost(&request.model, usage));
                        let aside = self.aside(&asked, cost, started);
                        Move::Act(Box::new(ChosenAction {
                            message: action.into(),
                            aside: Some(Box::new(aside)),
                        }))
                    }
                    Err(error) => {
                        self.lose(&before, &spent);
                        let connection = &saved.connection;
                        self.fail(&ask, diagnosis::of_error(connection, ask.has_key(), &error))
                    }
                }
            }
            Err(Stopped::Exhausted(end)) => {
                self.stopped();
                exhausted(end)
            }
            Err(Stopped::Unanswered(unanswered)) => {
                self.lose(&before, &spent);
                state.change(|turn| turn.keep(&unanswered.exchange));
                let diagnosis = diagnose(&saved, ask.has_key(), &unanswered).await;
                self.fail(&ask, diagnosis)
            }
        }
    }

    /// Adds the usage of an answer that does not become a step.
    fn lose(&mut self, before: &Spent, after: &Spent) {
        self.lost.tokens += after.tokens.saturating_sub(before.tokens);
        let more = after
            .cost
            .zip(before.cost)
            .map(|(after, before)| after - before);
        self.lost.cost = self.lost.cost.zip(more).map(|(lost, more)| lost + more);
    }

    fn fail(&self, ask: &Ask<'_>, diagnosis: diagnosis::Diagnosis) -> Move {
        let notice = Notice::new(
            ask.redact(&diagnosis.what),
            ask.redact(&diagnosis.why),
            ask.redact(&diagnosis.remedy),
        );
        self.state
            .change(|turn| turn.stage = Stage::Failed(notice.clone()));
        Move::Failed(notice)
    }

    fn action(&self, answer: &Answer, steps: usize) -> Result<ToolRequestMessage, ModelError> {
        let connection = &self.saved.connection;
        let mut selector = ToolSelector::new(connection.model.clone(), false, false);
        let provider = connection.provider().name();
        select(&mut selector, answer, provider, |place| {
            call_id(steps, place)
        })
    }

    fn aside(&self, asked: &Asked, cost: Option<f64>, started: f64) -> StepAside {
        let model = &self.saved.connection.model;
        let extras = self.state.turn.with_untracked(|turn| match turn {
            Some(turn) => self.playground.episode.with_untracked(|episode| {
                record::extras(&episode.steps, &turn.exchanges, &turn.notes)
            }),
            None => Object::new(),
        });
        StepAside {
            details: record::details(model, &asked.answer, cost, started),
            extras,
        }
    }
}

/// A limit truncates the episode, which may continue under another limit. A limit that cannot be enforced is an error,
/// not an ending.
fn exhausted(end: Exhausted) -> Move {
    if let Exhausted::CostUnknown { .. } = end {
        return Move::Failed(Notice::new(
            "The run was stopped.",
            end.to_string(),
            "Then press Run again. The episode continues from its current step.",
        ));
    }
    let reason = Text::from(end.to_string());
    Move::Stop(Stop {
        ending: Ending::Truncated {
            reason: reason.clone(),
        },
        reason,
    })
}

fn over(ending: Ending) -> Move {
    let reason = match &ending {
        Ending::Truncated { reason } => reason.clone(),
        Ending::Crashed { message } => message.clone(),
        _ => "The environment is done.".into(),
    };
    Move::Stop(Stop { ending, reason })
}
