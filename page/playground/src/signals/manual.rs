//! Signals of the action that a person composes. [`crate::manual_action`] changes them.

use leptos::prelude::*;
use volary_view::form::Form;

use crate::composer::ActionComposer;

/// Signals of the action that is being composed.
#[derive(Clone, Copy)]
pub struct ManualAction {
    /// The chosen tool and the collected calls.
    pub composer: RwSignal<ActionComposer>,
    /// The arguments of the chosen tool.
    pub form: RwSignal<Form>,
    /// The text message that accompanies the calls.
    pub words: RwSignal<String>,
}

impl ManualAction {
    pub fn new() -> Self {
        ManualAction {
            composer: RwSignal::default(),
            form: RwSignal::default(),
            words: RwSignal::default(),
        }
    }
}

impl Default for ManualAction {
    fn default() -> Self {
        ManualAction::new()
    }
}
