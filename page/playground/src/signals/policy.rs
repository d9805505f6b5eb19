//! Signals of the chosen policy and its settings. [`crate::policy_settings`] changes them.

use leptos::prelude::*;
use volary_app::playground::policy::{PolicyKind, PolicyPace};
use volary_app::playground::run::Run;
use volary_core::json;
use volary_view::form::Form;

/// Signals of the policy.
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
    pub(crate) fn pace(self) -> PolicyPace {
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
