//! The chosen policy and its settings, in a form generated from a schema.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::policy::{self, PolicyFault, PolicyKind, PolicyPace};
use volary_app::playground::run::Run;
use volary_core::json;
use volary_core::registry::EnvironmentEntry;
use volary_view::form::Form;

use super::player::{BuiltIn, Player};
use super::session_driver;
use super::setup;
use super::state::Playground;
use volary_browser as browser;

pub const POLICY_FORM: &str = "policy-form";

#[derive(Clone, Copy)]
pub struct PolicySettings {
    /// The kind of policy that chooses the actions.
    pub kind: RwSignal<PolicyKind>,
    /// The settings of this kind of policy.
    pub form: RwSignal<Form>,
    /// Delay and limits, which are preserved when another policy is chosen.
    pace: StoredValue<PolicyPace>,
    /// Whether a run is active.
    pub run: RwSignal<Run>,
    /// Whether the current operation is slow, so that the user may want to stop it.
    pub is_slow: RwSignal<bool>,
    /// Whether the dialog for choosing a policy is open.
    pub is_choosing: RwSignal<bool>,
    /// The step whose requests and responses are shown.
    pub inspected: RwSignal<Option<usize>>,
}

/// A player and the pacing of its run.
pub(super) struct Plan {
    pub player: Box<dyn Player>,
    /// Pause between two steps, in seconds.
    pub delay: f64,
}

impl PolicySettings {
    /// The initial settings: the user acts.
    pub fn new() -> Self {
        PolicySettings {
            kind: RwSignal::default(),
            form: RwSignal::new(Form::new(json!({"type": "object", "properties": {}}))),
            pace: StoredValue::new(PolicyPace::default()),
            run: RwSignal::default(),
            is_slow: RwSignal::new(false),
            is_choosing: RwSignal::new(false),
            inspected: RwSignal::new(None),
        }
    }

    /// The pace in the form if it is valid; otherwise the previous one.
    fn pace(self) -> PolicyPace {
        let filled = self.form.with_untracked(Form::filled);
        let pace = self.pace.get_value().updated(&filled);
        self.pace.set_value(pace);
        pace
    }
}

impl Default for PolicySettings {
    fn default() -> Self {
        PolicySettings::new()
    }
}

/// Chooses a policy. Shared settings are preserved, even across policies that do not have them.
pub fn choose_policy(playground: Playground, kind: PolicyKind) {
    let policy = playground.policy();
    session_driver::update(playground, Event::ChoosePolicy(kind));
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
    setup::entry(playground, &name?)
}
