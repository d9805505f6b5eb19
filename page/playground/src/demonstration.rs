//! *Watch it solve this*: a scripted agent solves the task of the playground, slowly enough to follow. It needs no model
//! and no key.
//!
//! Invariant: afterwards the person acts again, or the policy that they chose meanwhile, with the pace of runs that they
//! had chosen.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::policy::{PolicyKind, PolicyPace, script_settings};
use volary_app::playground::run::Run;
use volary_envs::datasets::word_problems;
use volary_view::form::Form;

use super::policy_settings;
use super::state::Playground;

/// The pause between two steps, in seconds: long enough to read a step.
const PAUSE: f64 = 1.6;

/// Lets a scripted agent solve the task of the shown episode, which has no steps yet.
pub(super) fn demonstrate(playground: Playground) {
    let policy = playground.policy();
    let id = playground.episode().with_untracked(|episode| {
        let task = episode.recipe.as_ref()?.task.as_ref()?;
        (&*task.dataset == "word_problems").then(|| task.id.clone())
    });
    let pace = PolicyPace {
        delay: PAUSE,
        ..policy.pace()
    };
    let (kind, form) = match id.and_then(|id| word_problems::worked(&id)) {
        Some(actions) => {
            let settings = script_settings(actions.into(), pace);
            let schema = PolicyKind::Scripted.schema(pace);
            (PolicyKind::Scripted, Form::with_value(schema, &settings))
        }
        None => (
            PolicyKind::Oracle,
            Form::new(PolicyKind::Oracle.schema(pace)),
        ),
    };
    playground.update(Event::ChoosePolicy(kind));
    policy.form.set(form);
    playground.demonstrates().set(true);
    playground.update(Event::Attempt(EpisodeAttempt::Run));
}

/// Hands over to the person after a demonstration, and forgets it with the next episode.
pub(super) fn follow(playground: Playground) {
    let policy = playground.policy();
    let is_running = Memo::new(move |_| policy.run.get() != Run::Idle);
    // Before it acts, there is no step either.
    let has_acted = StoredValue::new(false);
    Effect::new(move |was_running: Option<bool>| {
        let is_running = is_running.get();
        if is_running && playground.demonstrates().get_untracked() {
            has_acted.set_value(true);
        }
        let has_stopped = was_running == Some(true) && !is_running;
        let is_its_policy = matches!(
            policy.kind.get_untracked(),
            PolicyKind::Scripted | PolicyKind::Oracle
        );
        if has_stopped && is_its_policy && playground.demonstrates().get_untracked() {
            // Its pace must not become that of the next run.
            policy.form.set(Form::default());
            policy_settings::choose_policy(playground, PolicyKind::Manual);
        }
        is_running
    });
    let is_untouched = Memo::new(move |_| {
        playground
            .episode()
            .with(|episode| episode.steps.is_empty())
    });
    Effect::new(move |_| {
        let is_over = is_untouched.get() && !is_running.get();
        if is_over && has_acted.get_value() {
            has_acted.set_value(false);
            playground.demonstrates().set(false);
        }
    });
}
