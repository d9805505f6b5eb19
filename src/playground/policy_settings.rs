//! The policy: which one acts, with what settings. The settings are a form made from a schema, as
//! everything else that is filled in here.

use futures_util::future::AbortHandle;
use leptos::prelude::*;
use volary_app::playground::policy::{self, Pace, PolicyFault, PolicyKind};
use volary_app::playground::run::{Run, Runs};
use volary_core::json;
use volary_core::json::Text;
use volary_core::registry::EnvironmentEntry;

use super::player::{Aside, BuiltIn, Player};
use super::setup;
use super::state::Playground;
use crate::browser;
use crate::projection::form::Form;

/// The id of the form of the policy.
pub const POLICY_FORM: &str = "policy-form";

/// The signals of the policy.
#[derive(Clone, Copy)]
pub struct PolicySettings {
    /// Who acts.
    pub kind: RwSignal<PolicyKind>,
    /// Its settings.
    pub form: RwSignal<Form>,
    /// What the next policy takes over from this one.
    pace: StoredValue<Pace>,
    /// How the run goes.
    pub run: RwSignal<Run>,
    /// Whether the current operation takes long, so that the user may want to stop it.
    pub is_slow: RwSignal<bool>,
    /// Whether the user is asked who should act.
    pub is_choosing: RwSignal<bool>,
    /// The step of which it is shown what went over the wire.
    pub inspected: RwSignal<Option<usize>>,
    /// Numbers the runs.
    pub(super) runs: StoredValue<Runs>,
    /// Ends whatever the one who plays is doing.
    pub(super) abort: StoredValue<AbortHandle>,
    /// What is to be written down with the step that is being taken.
    pub(super) aside: StoredValue<Option<Box<Aside>>>,
}

/// Who plays, with what the run needs.
pub(super) struct Plan {
    pub player: Box<dyn Player>,
    /// Seconds between two steps.
    pub delay: f64,
}

impl PolicySettings {
    /// The person acts.
    pub fn new() -> Self {
        PolicySettings {
            kind: RwSignal::default(),
            form: RwSignal::new(Form::new(json!({"type": "object", "properties": {}}))),
            pace: StoredValue::new(Pace::default()),
            run: RwSignal::default(),
            is_slow: RwSignal::new(false),
            is_choosing: RwSignal::new(false),
            inspected: RwSignal::new(None),
            runs: StoredValue::default(),
            abort: StoredValue::new(AbortHandle::new_pair().0),
            aside: StoredValue::new(None),
        }
    }

    /// The pace in the form, as far as it is valid; otherwise the previous one.
    fn pace(self) -> Pace {
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

/// Chooses who acts. The settings that policies share are kept, also through those that have none.
pub fn choose_policy(playground: Playground, kind: PolicyKind) {
    let policy = playground.policy;
    policy.kind.set(kind);
    policy.form.set(Form::new(kind.schema(policy.pace())));
    if kind == PolicyKind::Scripted {
        script_from_episode(playground);
    }
}

/// Puts the actions of the shown episode into the script.
pub fn script_from_episode(playground: Playground) {
    let policy = playground.policy;
    let pace = policy.pace();
    let value = playground
        .episode
        .with_untracked(|episode| policy::script_of(episode, pace));
    let schema = PolicyKind::Scripted.schema(pace);
    policy.form.set(Form::with_value(schema, &value));
}

/// The chosen built-in policy. If a setting is invalid, its field is marked instead.
pub(super) fn policy(playground: Playground) -> Option<Plan> {
    let policy = playground.policy;
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

/// Writes down who acted.
pub(super) fn set_policy_name(playground: Playground, name: &str) {
    let same = playground
        .episode
        .with_untracked(|episode| episode.policy.as_deref() == Some(name));
    if !same {
        playground.episode.update_untracked(|episode| {
            std::sync::Arc::make_mut(episode).policy = Some(Text::from(name));
        });
    }
}

/// What the registry says about the environment of the shown episode.
fn played_entry(playground: Playground) -> Option<EnvironmentEntry> {
    let name = playground
        .episode
        .with_untracked(|episode| Some(episode.recipe.as_ref()?.environment.clone()));
    setup::entry(playground, &name?)
}
