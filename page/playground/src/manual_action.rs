//! Manual actions: choosing a tool, filling in its form, collecting calls, and sending the action.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::action::{TakenBack, action};
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::run::Run;
use volary_core::json::Text;
use volary_core::{AnyMessage, Tool};
use volary_view::form::Form;

use super::composer::ActionComposer;
use super::state::Playground;
use volary_browser as browser;

pub const TOOL_FORM: &str = "tool-form";

/// Changes the action, given the tools of the shown episode.
fn change<T: Default>(
    playground: Playground,
    act: impl FnOnce(&mut ActionComposer, &[Tool], &mut Form) -> T,
) -> T {
    let manual = playground.manual();
    let episode = playground.episode().get_untracked();
    let changed = manual.composer.try_update(|composer| {
        manual
            .form
            .try_update(|form| act(composer, &episode.tools, form))
    });
    changed.flatten().unwrap_or_default()
}

/// Chooses a tool, whose form is then shown. Without a tool, the action consists of the collected calls only.
pub(super) fn choose_tool(playground: Playground, name: Option<&Text>) {
    change(playground, |composer, tools, form| match name {
        Some(name) => composer.choose(name, tools, form),
        None => composer.choose_none(form),
    });
}

/// Loads a collected call into the form.
pub(super) fn edit_call(playground: Playground, index: usize) {
    change(playground, |composer, tools, form| {
        composer.edit_call(index, tools, form);
    });
}

/// Removes a collected call from the action.
pub(super) fn remove_call(playground: Playground, index: usize) {
    change(playground, |composer, tools, form| {
        composer.remove_call(index, tools, form);
    });
}

/// Adds the call in the form to the action. Returns `false` if a field is invalid; the field is then marked.
pub fn add_call(playground: Playground) -> bool {
    let environment = playground.episode().with_untracked(|episode| {
        let recipe = episode.recipe.as_ref();
        recipe.map(|recipe| recipe.environment.clone())
    });
    let is_added = change(playground, |composer, tools, form| {
        composer.add_call(environment.as_deref(), tools, form)
    });
    if !is_added {
        browser::show_fault(TOOL_FORM);
    }
    is_added
}

/// Returns whether Step would also send the call in the form.
fn form_counts(playground: Playground) -> bool {
    let manual = playground.manual();
    let (composer, form) = (manual.composer.read(), manual.form.read());
    composer.form_counts(&form)
}

/// The tools that Step would call, in order.
pub fn names(playground: Playground) -> Vec<Text> {
    let manual = playground.manual();
    let (composer, form) = (manual.composer.read(), manual.form.read());
    composer.names(&form)
}

/// Handles Step: sends the manual action, or asks the model for an action.
pub fn step(playground: Playground) {
    if untrack(|| is_left_to_model(playground)) {
        playground.update(Event::RunOnce);
    } else {
        step_by_hand(playground);
    }
}

/// Returns whether the model chooses the next action. It does unless a manual action was composed.
pub fn is_left_to_model(playground: Playground) -> bool {
    let manual = playground.manual();
    playground.policy().kind.get() == PolicyKind::Model
        && manual.composer.with(|composer| composer.calls().is_empty())
        && manual.words.with(|words| words.trim().is_empty())
        && !form_is_touched(playground)
}

/// Sends the manual action. A model request in progress is aborted.
pub fn step_by_hand(playground: Playground) {
    let manual = playground.manual();
    let is_pressed_twice = playground.with_untracked(|machine| {
        machine.session().is_stepping() && machine.current_run() == Run::Idle
    });
    if is_pressed_twice {
        // The composed action stays. It may be the one that is taken.
        return;
    }
    if let Err(refusal) = untrack(|| playground.may_step()) {
        playground.refuse(refusal);
        return;
    }
    if untrack(|| form_counts(playground)) && !add_call(playground) {
        return;
    }
    let steps = playground.with_untracked(|machine| machine.steps());
    let calls = change(playground, |composer, _, _| composer.take_calls());
    let action = manual
        .words
        .with_untracked(|message| action(steps, calls, message));
    manual.words.set(String::new());
    playground.update(Event::ActByHand(AnyMessage::from(action)));
}

/// Updates the manual action after another episode is shown.
pub(super) fn adapt_to_episode(playground: Playground) {
    let episode = playground.episode().get_untracked();
    let message = change(playground, |composer, _, form| {
        composer.adapt(&episode, form)
    });
    if let Some(message) = message {
        playground.manual().words.set(message);
    }
}

/// Goes back to before the last action and loads that action into the form for editing.
pub fn edit_last_action(playground: Playground) {
    let last = playground
        .episode()
        .with_untracked(|episode| TakenBack::last_of(episode));
    let Some(action) = last else { return };
    let steps = action.steps;
    change(playground, |composer, _, _| composer.edit_again(action));
    playground.update(Event::GoBack(steps));
}

/// Returns whether the form was edited, or a call is being edited in it.
pub fn form_is_touched(playground: Playground) -> bool {
    let manual = playground.manual();
    let (composer, form) = (manual.composer.read(), manual.form.read());
    composer.is_touched(&form)
}
