//! Manual actions: choosing a tool, filling in its form, collecting calls, and sending the action.

use leptos::prelude::*;
use volary_core::json::{Json, Text};
use volary_core::tool::ToolCallFunction;
use volary_core::{AnyMessage, Tool, ToolCall, object};

use super::policy_settings;
use super::run_loop;
use super::session_driver;
use super::state::Playground;
use super::tool_drafts::ToolDrafts;
use crate::browser;
use crate::projection::form::Form;
use volary_app::playground::action::{TakenBack, action};
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::run::Run;
use volary_app::playground::session::Session;

pub const TOOL_FORM: &str = "tool-form";

/// Signals of the action that is being composed.
#[derive(Clone, Copy)]
pub struct ManualAction {
    /// The name of the chosen tool.
    pub tool: RwSignal<Option<Text>>,
    /// The arguments of the chosen tool.
    pub form: RwSignal<Form>,
    /// The calls that were already added to the action.
    pub calls: RwSignal<Vec<ToolCall>>,
    /// Index into `calls` of the call that is being edited in the form.
    pub editing: RwSignal<Option<usize>>,
    /// The text message that accompanies the calls.
    pub words: RwSignal<String>,
    schema: StoredValue<Json>,
    drafts: StoredValue<ToolDrafts>,
    /// The action to edit, once the episode is back at the step before it.
    again: StoredValue<Option<TakenBack>>,
}

impl ManualAction {
    pub fn new() -> Self {
        ManualAction {
            tool: RwSignal::new(None),
            form: RwSignal::default(),
            calls: RwSignal::default(),
            editing: RwSignal::new(None),
            words: RwSignal::default(),
            schema: StoredValue::default(),
            drafts: StoredValue::default(),
            again: StoredValue::default(),
        }
    }
}

impl Default for ManualAction {
    fn default() -> Self {
        ManualAction::new()
    }
}

/// The JSON Schema of a tool's arguments.
pub fn arguments_schema(tool: &Tool) -> Json {
    match &tool.info.parameters {
        Some(parameters) => Json::Object(parameters.dump(false)),
        None => Json::Object(object!({"type": "object", "properties": {}})),
    }
}

/// Chooses a tool and restores the arguments that were typed for it before.
pub fn choose_tool(playground: Playground, name: &str) {
    let manual = playground.manual;
    if manual
        .tool
        .with_untracked(|tool| tool.as_deref() == Some(name))
    {
        return;
    }
    let shown = manual.tool.get_untracked();
    // A call that is being edited is already part of the action; only a new call is stored as a draft.
    if let Some(shown) = shown.filter(|_| manual.editing.get_untracked().is_none()) {
        let form = manual.form.get_untracked();
        manual.drafts.update_value(|drafts| drafts.put(shown, form));
    }
    manual.editing.set(None);
    manual.tool.set(Some(name.into()));
    show_form(playground);
}

/// Chooses no tool: the next action consists of the collected calls only, or is empty.
pub fn choose_no_tool(playground: Playground) {
    playground.manual.tool.set(None);
    playground.manual.editing.set(None);
}

/// Adds the call in the form to the action. Returns `false` if a field is invalid; the field is then marked.
pub fn add_call(playground: Playground) -> bool {
    let manual = playground.manual;
    let Some(name) = manual.tool.get_untracked() else {
        return false;
    };
    let Some(Json::Object(arguments)) = manual.form.try_update(Form::submit).flatten() else {
        browser::show_fault(TOOL_FORM);
        return false;
    };
    // Its id is assigned when the action is sent.
    let call = ToolCall {
        function: ToolCallFunction { name, arguments },
        ..ToolCall::default()
    };
    let place = manual.editing.get_untracked();
    manual
        .calls
        .update(|calls| match place.and_then(|place| calls.get_mut(place)) {
            Some(edited) => *edited = call,
            None => calls.push(call),
        });
    manual.editing.set(None);
    show_form(playground);
    true
}

/// Loads a collected call into the form for editing.
pub fn edit_call(playground: Playground, place: usize) {
    let manual = playground.manual;
    let call = manual
        .calls
        .with_untracked(|calls| calls.get(place).cloned());
    let Some(call) = call else { return };
    let name = call.function.name;
    let Some(schema) = schema_of(playground, &name) else {
        return;
    };
    manual.tool.set(Some(name));
    manual.schema.set_value(schema.clone());
    manual
        .form
        .set(Form::with_value(schema, &call.function.arguments.into()));
    manual.editing.set(Some(place));
}

/// Removes a collected call from the action.
pub fn remove_call(playground: Playground, place: usize) {
    let manual = playground.manual;
    manual.calls.update(|calls| {
        if place < calls.len() {
            calls.remove(place);
        }
    });
    manual.editing.set(None);
}

/// Returns whether Step would also send the call in the form. It does if no other calls were collected, or if the form
/// was edited since.
pub fn form_counts(playground: Playground) -> bool {
    let manual = playground.manual;
    manual.tool.with(|tool| tool.is_some())
        && (manual.calls.with(Vec::is_empty) || form_is_touched(playground))
}

/// Handles Step: sends the manual action, or asks the model for an action.
pub fn step(playground: Playground) {
    if untrack(|| is_left_to_model(playground)) {
        run_loop::ask_once(playground);
    } else {
        step_by_hand(playground);
    }
}

/// Returns whether the model chooses the next action. It does unless a manual action was composed.
pub fn is_left_to_model(playground: Playground) -> bool {
    let manual = playground.manual;
    playground.policy.kind.get() == PolicyKind::Model
        && manual.calls.with(Vec::is_empty)
        && manual.words.with(|words| words.trim().is_empty())
        && !form_is_touched(playground)
}

/// Sends the manual action. A model request in progress is aborted.
pub fn step_by_hand(playground: Playground) {
    let manual = playground.manual;
    if playground.session.with_untracked(Session::is_stepping)
        && playground.policy.run.get_untracked() == Run::Idle
    {
        // Pressed twice: the first step is in progress, and may be too short for the page to show it.
        return;
    }
    if let Err(refusal) = untrack(|| session_driver::may_step(playground)) {
        session_driver::refuse(playground, refusal);
        return;
    }
    if untrack(|| form_counts(playground)) && !add_call(playground) {
        return;
    }
    if playground.policy.kind.get_untracked() == PolicyKind::Model {
        run_loop::halt(playground);
    }
    let steps = playground
        .episode
        .with_untracked(|episode| episode.steps.len());
    let calls = manual.calls.get_untracked();
    let action = manual
        .words
        .with_untracked(|message| action(steps, calls, message));
    manual.calls.set(Vec::new());
    manual.words.set(String::new());
    manual.editing.set(None);
    policy_settings::set_policy_name(playground, "manual");
    session_driver::take_action(playground, AnyMessage::from(action));
}

/// Updates the manual action after another episode is shown: a tool that it lacks cannot stay chosen.
pub(super) fn adapt_to_episode(playground: Playground) {
    let manual = playground.manual;
    let names: Vec<Text> = playground.episode.with_untracked(|episode| {
        let tools = episode.tools.iter();
        tools.map(|tool| tool.info.name.clone()).collect()
    });
    manual
        .calls
        .update(|calls| calls.retain(|call| names.contains(&call.function.name)));
    manual.editing.set(None);
    let chosen = manual.tool.get_untracked();
    let fresh = chosen
        .as_ref()
        .and_then(|name| schema_of(playground, name))
        .is_some_and(|schema| manual.schema.with_value(|shown| *shown == schema));
    if !fresh {
        manual.tool.set(names.first().cloned());
        show_form(playground);
    }
    if let Some(action) = manual.again.try_update_value(Option::take).flatten() {
        take_up(playground, action);
    }
}

/// The number of steps before the last one, or `None` if there is no step or it cannot be undone now.
pub(super) fn before_last_step(playground: Playground) -> Option<usize> {
    let steps = playground
        .episode
        .with_untracked(|episode| episode.steps.len());
    let before = steps.checked_sub(1)?;
    untrack(|| session_driver::may_go_back(playground)).then_some(before)
}

/// Goes back to before the last action and loads that action into the form for editing.
pub fn edit_last_action(playground: Playground) {
    let last = playground
        .episode
        .with_untracked(|episode| TakenBack::last_of(episode));
    let Some(action) = last else { return };
    let steps = action.steps;
    playground.manual.again.set_value(Some(action));
    session_driver::go_back(playground, steps);
}

/// Loads an action into the form and the list of calls. Calls of unknown tools are dropped.
fn take_up(playground: Playground, action: TakenBack) {
    let manual = playground.manual;
    let known = |call: &ToolCall| schema_of(playground, &call.function.name).is_some();
    let calls: Vec<ToolCall> = action.calls.into_iter().filter(known).collect();
    let single = calls.len() == 1;
    manual
        .words
        .set(action.message.unwrap_or_default().to_string());
    manual.calls.set(calls);
    if single {
        edit_call(playground, 0);
    }
}

/// Shows the draft of the chosen tool, or a blank form.
fn show_form(playground: Playground) {
    let manual = playground.manual;
    let tool = manual.tool.get_untracked().unwrap_or_default();
    let schema = schema_of(playground, &tool).unwrap_or_default();
    manual.schema.set_value(schema.clone());
    let form = manual
        .drafts
        .try_update_value(|drafts| drafts.take(&tool, schema));
    manual.form.set(form.unwrap_or_default());
}

/// Returns whether the form was edited, or a call is being edited in it.
pub fn form_is_touched(playground: Playground) -> bool {
    let manual = playground.manual;
    let blank = manual.schema.with_value(|schema| Form::new(schema.clone()));
    manual.editing.get().is_some() || manual.form.with(|form| form.mode() != blank.mode())
}

fn schema_of(playground: Playground, name: &str) -> Option<Json> {
    playground.episode.with_untracked(|episode| {
        let mut tools = episode.tools.iter();
        tools
            .find(|tool| &*tool.info.name == name)
            .map(arguments_schema)
    })
}
