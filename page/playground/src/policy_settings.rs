//! The chosen policy and its settings, in a form generated from a schema.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::policy::{self, PolicyFault, PolicyKind};
use volary_app::playground::run::Run;
use volary_core::registry::EnvironmentEntry;
use volary_view::form::Form;

use super::entries;
use super::player::{BuiltIn, Player};
use super::state::Playground;
use volary_browser as browser;

pub const POLICY_FORM: &str = "policy-form";

/// A player and the pacing of its run.
pub(super) struct Plan {
    pub player: Box<dyn Player>,
    /// Pause between two steps, in seconds.
    pub delay: f64,
}

/// Chooses a policy. Shared settings are preserved, even across policies that do not have them.
pub fn choose_policy(playground: Playground, kind: PolicyKind) {
    let policy = playground.policy();
    if kind != PolicyKind::Manual {
        // It is about to act.
        playground.load_code_ahead();
    }
    playground.update(Event::ChoosePolicy(kind));
    if playground.demonstrates().get_untracked() && policy.run.get_untracked() != Run::Idle {
        // The pace of a demonstration that is still running must not become that of the next run.
        policy.form.set(Form::default());
    }
    policy.form.set(Form::new(kind.schema(policy.pace())));
    if kind == PolicyKind::Scripted {
        script_from_episode(playground);
    }
}

/// Fills the script with the actions of the shown episode.
pub fn script_from_episode(playground: Playground) {
    let policy = playground.policy();
    let pace = policy.pace();
    let value = playground
        .episode()
        .with_untracked(|episode| policy::script_of(episode, pace));
    let schema = PolicyKind::Scripted.schema(pace);
    policy.form.set(Form::with_value(schema, &value));
}

/// Returns the chosen built-in policy. If a setting is invalid, marks its field and returns `None`.
pub(super) fn policy(playground: Playground) -> Option<Plan> {
    let policy = playground.policy();
    let Some(settings) = policy.form.try_update(Form::submit).flatten() else {
        browser::show_fault(POLICY_FORM);
        return None;
    };
    let kind = policy.kind.get_untracked();
    match kind.policy(&settings, || policy::oracle(played_entry(playground))) {
        Ok(paced) => paced.map(|paced| Plan {
            delay: paced.delay,
            player: Box::new(BuiltIn {
                policy: paced.policy,
                limits: paced.limits,
            }),
        }),
        Err(PolicyFault::Script(reason)) => {
            policy
                .form
                .update(|form| form.refuse(policy::SCRIPT, &reason));
            browser::show_fault(POLICY_FORM);
            None
        }
        Err(PolicyFault::Unfit(reason)) => {
            playground.say(reason);
            None
        }
    }
}

/// The registry entry of the shown episode's environment.
fn played_entry(playground: Playground) -> Option<EnvironmentEntry> {
    let name = playground
        .episode()
        .with_untracked(|episode| Some(episode.recipe.as_ref()?.environment.clone()));
    entries::entry(playground, &name?)
}
