//! The model as a player: asks it for one action after the other, and records requests, tokens and cost.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::prelude::*;
use volary_agent::model::limits::Spent;
use volary_agent::model::{ModelRequest, ProviderKind, diagnosis};
use volary_app::notice::Notice;
use volary_app::playground::chosen_action::{ChosenAction, StepAside};
use volary_app::playground::player_move::Move;
use volary_app::playground::replay::is_over;
use volary_core::json::{Object, Text};
use volary_episode::{Ending, Episode};
use volary_view::form::Form;
use volary_view::turn::Stage;

use super::settings::Settings;
use super::turn_rules::{self, AwaitedState};
use super::{ModelState, state};
use crate::player::Player;
use crate::policy_settings::POLICY_FORM;
use crate::state::Playground;
use volary_browser::{self as browser, timers};
use volary_connections::models::{
    Ask, Asked, Limits, Saved, Stopped, ask_within, connections, diagnose, prices, record, rollout,
};

/// Returns a player for the configured model. If a setting is invalid, marks it and returns `None`.
pub(super) fn seated(playground: Playground) -> Option<Box<dyn Player>> {
    let state = state(playground);
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
        let request = turn_rules::request(&self.saved.connection, &self.settings, &episode);
        let turn = self.rollout_turn(&episode, &request);
        let spent = turn_rules::spent(self.lost, &episode, timers::now() - self.started);
        let (steps, ending) = (episode.steps.len(), episode.ending.clone());
        // Drop the handle as early as possible: a second handle would make the next step copy the whole episode.
        drop(episode);
        async move {
            if ending != Ending::Open {
                return turn_rules::over(ending);
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
        let awaited = playground
            .episode()
            .with_untracked(|episode| AwaitedState::of(episode, expected));
        browser::spawn(async move {
            playground.settled().await;
            let episode = playground.episode().get_untracked();
            if !awaited.is(&episode) {
                return;
            }
            let is_over = is_stopped || is_over(&episode);
            let turn = rollout::RolloutTurn::of(&connection, &episode, prompt.as_deref(), &request);
            drop(episode);
            let Some(turn) = turn else { return };
            match turn.record(is_over).await {
                Ok(members) => playground.update(awaited.recorded(members)),
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
            return turn_rules::exhausted(end);
        }
        let edition = self.playground.edition().get_untracked();
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
                match read.and_then(|answer| turn_rules::action(&saved.connection, &answer, steps))
                {
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
                        turn_rules::lose(&mut self.lost, &before, &spent);
                        let connection = &saved.connection;
                        self.fail(&ask, diagnosis::of_error(connection, ask.has_key(), &error))
                    }
                }
            }
            Err(Stopped::Exhausted(end)) => {
                self.stopped();
                turn_rules::exhausted(end)
            }
            Err(Stopped::Unanswered(unanswered)) => {
                turn_rules::lose(&mut self.lost, &before, &spent);
                state.change(|turn| turn.keep(&unanswered.exchange));
                let diagnosis = diagnose(&saved, ask.has_key(), &unanswered).await;
                self.fail(&ask, diagnosis)
            }
        }
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

    fn aside(&self, asked: &Asked, cost: Option<f64>, started: f64) -> StepAside {
        let model = &self.saved.connection.model;
        let extras = self.state.turn.with_untracked(|turn| match turn {
            Some(turn) => self.playground.episode().with_untracked(|episode| {
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
