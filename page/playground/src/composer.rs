//! The action that the user composes: the chosen tool, the collected calls, and which call the form shows. Pure.
//!
//! Invariants: a call that is edited is in the list already, so it is sent once; what was typed for a new call is kept as
//! a draft whenever the form shows something else.

use volary_app::playground::action::TakenBack;
use volary_app::typed_arguments::as_understood;
use volary_core::json::{Json, Text};
use volary_core::tool::ToolCallFunction;
use volary_core::{Tool, ToolCall, object};
use volary_episode::{Episode, Recipe};
use volary_view::form::Form;

use super::tool_drafts::ToolDrafts;

/// An action that is not sent yet. The form of the chosen tool is passed to each method, because the page draws it
/// from a signal of its own.
#[derive(Clone, Debug, Default)]
pub struct ActionComposer {
    tool: Option<Text>,
    calls: Vec<ToolCall>,
    /// Index into `calls` of the call that the form shows; `None` for a new call.
    editing: Option<usize>,
    drafts: ToolDrafts,
    /// The action to edit, once the episode is back at the step before it.
    again: Option<TakenBack>,
    /// The recipe of the shown episode. Another one is another task, which begins with the first tool.
    recipe: Option<Recipe>,
}

impl ActionComposer {
    /// The name of the chosen tool.
    pub fn tool(&self) -> Option<&Text> {
        self.tool.as_ref()
    }

    /// The calls that were already added to the action.
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Whether the form shows a call of the list.
    pub fn is_editing(&self) -> bool {
        self.editing.is_some()
    }

    /// Chooses a tool and restores the arguments that were typed for it before.
    pub fn choose(&mut self, name: &str, tools: &[Tool], form: &mut Form) {
        let is_chosen = self.tool.as_deref() == Some(name);
        if is_chosen || schema_of(tools, name).is_none() {
            return;
        }
        self.put_away(form);
        self.tool = Some(name.into());
        self.show_new_call(tools, form);
    }

    /// Chooses no tool: the action consists of the collected calls only, or is empty.
    pub fn choose_none(&mut self, form: &mut Form) {
        self.put_away(form);
        self.tool = None;
        *form = Form::default();
    }

    /// Adds the call in the form to the action, or puts it back in its place. Returns `false` if no tool is chosen or a
    /// field is invalid; the field is then marked. What was typed into fields is read as people mean it in `environment`.
    pub fn add_call(&mut self, environment: Option<&str>, tools: &[Tool], form: &mut Form) -> bool {
        let Some(name) = self.tool.clone() else {
            return false;
        };
        let is_literal = form.is_raw();
        let Some(Json::Object(arguments)) = form.submit() else {
            return false;
        };
        let arguments = if is_literal {
            arguments
        } else {
            as_understood(environment, &name, arguments)
        };
        // Its id is assigned when the action is sent.
        let call = ToolCall {
            function: ToolCallFunction { name, arguments },
            ..ToolCall::default()
        };
        let place = self.editing.take();
        match place.and_then(|place| self.calls.get_mut(place)) {
            Some(edited) => *edited = call,
            None => self.calls.push(call),
        }
        self.show_new_call(tools, form);
        true
    }

    /// Loads a collected call into the form for editing.
    pub fn edit_call(&mut self, place: usize, tools: &[Tool], form: &mut Form) {
        let Some(call) = self.calls.get(place) else {
            return;
        };
        let ToolCallFunction { name, arguments } = call.function.clone();
        let Some(schema) = schema_of(tools, &name) else {
            return;
        };
        self.put_away(form);
        self.tool = Some(name);
        self.editing = Some(place);
        *form = Form::with_value(schema, &arguments.into());
    }

    /// Removes a collected call from the action. If the form shows it, the form becomes that of a new call.
    pub fn remove_call(&mut self, place: usize, tools: &[Tool], form: &mut Form) {
        if place >= self.calls.len() {
            return;
        }
        self.calls.remove(place);
        match self.editing {
            Some(edited) if edited == place => {
                self.editing = None;
                self.show_new_call(tools, form);
            }
            Some(edited) if edited > place => self.editing = Some(edited - 1),
            Some(_) | None => {}
        }
    }

    /// Whether the form was edited, or shows a call of the list.
    pub fn is_touched(&self, form: &Form) -> bool {
        self.is_editing() || form.mode() != Form::new(form.schema().clone()).mode()
    }

    /// Whether Step would also send the call in the form. It does if no other calls were collected, or if the form was
    /// edited since.
    pub fn form_counts(&self, form: &Form) -> bool {
        self.tool.is_some() && (self.calls.is_empty() || self.is_touched(form))
    }

    /// The names of the tools that Step would call, in order.
    pub fn names(&self, form: &Form) -> Vec<Text> {
        let calls = self.calls.iter();
        let mut names: Vec<Text> = calls.map(|call| call.function.name.clone()).collect();
        // An edited call keeps its place and its tool.
        if !self.is_editing() && self.form_counts(form) {
            names.extend(self.tool.clone());
        }
        names
    }

    /// Takes the collected calls, to send them.
    pub fn take_calls(&mut self) -> Vec<ToolCall> {
        self.editing = None;
        std::mem::take(&mut self.calls)
    }

    /// Stores an action that the user wants to edit, until the episode is back at the step before it.
    pub fn edit_again(&mut self, action: TakenBack) {
        self.again = Some(action);
    }

    /// Follows a change of the shown episode: what its tools lack cannot stay. Returns the message of an action that is
    /// now edited.
    pub fn adapt(&mut self, episode: &Episode, form: &mut Form) -> Option<String> {
        let tools = &episode.tools;
        self.keep_known_calls(tools, form);
        let is_other_task = self.recipe != episode.recipe;
        if is_other_task {
            self.recipe = episode.recipe.clone();
        }
        let begins = is_other_task && self.calls.is_empty() && !self.is_touched(form);
        let schema = self.tool.as_ref().and_then(|name| schema_of(tools, name));
        if begins || schema.is_none_or(|schema| schema != *form.schema()) {
            self.editing = None;
            self.tool = tools.first().map(|tool| tool.info.name.clone());
            self.show_new_call(tools, form);
        }
        let again = self
            .again
            .take()
            .filter(|action| action.precedes(episode))?;
        self.editing = None;
        self.calls = again.calls;
        self.keep_known_calls(tools, form);
        if self.calls.len() == 1 {
            self.edit_call(0, tools, form);
        }
        Some(again.message.unwrap_or_default().to_string())
    }

    /// Removes the calls of unknown tools.
    fn keep_known_calls(&mut self, tools: &[Tool], form: &mut Form) {
        let is_unknown = |call: &ToolCall| schema_of(tools, &call.function.name).is_none();
        while let Some(place) = self.calls.iter().position(is_unknown) {
            self.remove_call(place, tools, form);
        }
    }

    /// Keeps what was typed for a new call. A call that is being edited is in the list already.
    fn put_away(&mut self, form: &Form) {
        let is_new = self.editing.take().is_none();
        if let Some(shown) = self.tool.clone().filter(|_| is_new) {
            self.drafts.put(shown, form.clone());
        }
    }

    /// Shows the draft of the chosen tool, or a blank form.
    fn show_new_call(&mut self, tools: &[Tool], form: &mut Form) {
        let tool = self.tool.as_deref().unwrap_or_default();
        let schema = schema_of(tools, tool).unwrap_or_default();
        *form = self.drafts.take(tool, schema);
    }
}

/// The JSON Schema of a tool's arguments.
pub fn arguments_schema(tool: &Tool) -> Json {
    match &tool.info.parameters {
        Some(parameters) => Json::Object(parameters.dump(false)),
        None => Json::Object(object!({"type": "object", "properties": {}})),
    }
}

fn schema_of(tools: &[Tool], name: &str) -> Option<Json> {
    let tool = tools.iter().find(|tool| &*tool.info.name == name);
    tool.map(arguments_schema)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::json;

    use super::*;

    /// Tools that take a text `x`.
    fn tools(names: &[&str]) -> Vec<Tool> {
        let schema =
            json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]});
        let tool = |name: &&str| {
            let function =
                json!({"name": (*name), "description": "", "parameters": (schema.clone())});
            Tool::read(&json!({"type": "function", "function": function})).expect("a tool")
        };
        names.iter().map(tool).collect()
    }

    /// The composer of an episode with the tools `f` and `g`.
    struct Desk {
        composer: ActionComposer,
        form: Form,
        episode: Episode,
    }

    impl Desk {
        fn new() -> Desk {
            let mut desk = Desk {
                composer: ActionComposer::default(),
                form: Form::default(),
                episode: Episode {
                    id: "e".into(),
                    tools: tools(&["f", "g"]),
                    ..Episode::default()
                },
            };
            desk.adapt();
            desk
        }

        /// A composer with the calls `f("1")`, `g("2")` and `f("3")`.
        fn with_calls() -> Desk {
            let mut desk = Desk::new();
            for (tool, text) in [("f", "1"), ("g", "2"), ("f", "3")] {
                desk.choose(tool);
                desk.type_text(text);
                assert!(desk.add());
            }
            desk
        }

        fn adapt(&mut self) -> Option<String> {
            self.composer.adapt(&self.episode, &mut self.form)
        }

        fn choose(&mut self, tool: &str) {
            let tools = &self.episode.tools;
            self.composer.choose(tool, tools, &mut self.form);
        }

        fn edit(&mut self, place: usize) {
            let tools = &self.episode.tools;
            self.composer.edit_call(place, tools, &mut self.form);
        }

        fn remove(&mut self, place: usize) {
            let tools = &self.episode.tools;
            self.composer.remove_call(place, tools, &mut self.form);
        }

        fn add(&mut self) -> bool {
            let tools = &self.episode.tools;
            self.composer.add_call(None, tools, &mut self.form)
        }

        fn type_text(&mut self, text: &str) {
            let value = json!({"x": text});
            self.form = Form::with_value(self.form.schema().clone(), &value);
        }

        fn typed(&self) -> Option<String> {
            self.form
                .filled()
                .get("x")?
                .as_text()
                .map(ToString::to_string)
        }

        /// What Step sends, and what the page says that it sends.
        fn send(&mut self) -> Vec<String> {
            let named = self.composer.names(&self.form);
            if self.composer.form_counts(&self.form) {
                assert!(self.add(), "the form is complete");
            }
            let sent = self.composer.take_calls();
            let names: Vec<Text> = sent.iter().map(|call| call.function.name.clone()).collect();
            assert_eq!(named, names);
            sent.iter().map(|call| call.function.to_string()).collect()
        }
    }

    #[test]
    fn the_first_tool_is_chosen_with_a_blank_form() {
        let desk = Desk::new();
        assert_eq!(desk.composer.tool().map(|tool| &**tool), Some("f"));
        assert!(!desk.composer.is_touched(&desk.form));
        assert!(desk.composer.form_counts(&desk.form));
    }

    #[test]
    fn another_task_begins_with_the_first_tool_unless_something_was_typed() {
        let mut desk = Desk::new();
        let open = |desk: &mut Desk, seed| {
            desk.episode.recipe = Some(Recipe {
                seed,
                ..Recipe::default()
            });
            desk.adapt();
        };
        desk.choose("g");
        open(&mut desk, 1);
        assert_eq!(desk.composer.tool().map(|tool| &**tool), Some("f"));
        desk.choose("g");
        desk.adapt();
        assert_eq!(desk.composer.tool().map(|tool| &**tool), Some("g"));
        desk.type_text("1");
        open(&mut desk, 2);
        assert_eq!(desk.composer.tool().map(|tool| &**tool), Some("g"));
        assert_eq!(desk.typed().as_deref(), Some("1"));
    }

    #[test]
    fn an_incomplete_call_is_not_added() {
        let mut desk = Desk::new();
        desk.form.edit_raw();
        desk.form.set_raw("{}".into());
        assert!(!desk.add());
        assert!(!desk.form.errors().is_empty());
        assert!(desk.composer.calls().is_empty());
        desk.composer.choose_none(&mut desk.form);
        assert!(!desk.add());
    }

    #[test]
    fn signs_as_on_paper_are_read_in_fields_and_not_in_raw_json() {
        let schema = json!({"type": "object", "properties": {"expr": {"type": "string"}}, "required": ["expr"]});
        let function =
            json!({"name": "calculator", "description": "", "parameters": (schema.clone())});
        let tool = Tool::read(&json!({"type": "function", "function": function})).expect("a tool");
        let sent = |is_raw: bool| {
            let mut composer = ActionComposer {
                tool: Some("calculator".into()),
                ..ActionComposer::default()
            };
            let mut form = Form::with_value(schema.clone(), &json!({"expr": "34 × 6"}));
            if is_raw {
                form.edit_raw();
            }
            assert!(composer.add_call(Some("calculator"), std::slice::from_ref(&tool), &mut form));
            composer.take_calls()[0].function.to_string()
        };
        assert!(sent(false).contains("34 * 6"));
        assert!(sent(true).contains("34 × 6"));
    }

    #[test]
    fn what_was_typed_comes_back_whatever_was_shown_meanwhile() {
        let leave: [fn(&mut Desk); 4] = [
            |desk| desk.choose("g"),
            |desk| desk.composer.choose_none(&mut desk.form),
            |desk| desk.edit(1),
            |desk| {
                desk.edit(0);
                desk.remove(0);
            },
        ];
        for (case, leave) in leave.into_iter().enumerate() {
            let mut desk = Desk::with_calls();
            desk.choose("f");
            desk.type_text("half of it");
            leave(&mut desk);
            desk.choose("f");
            assert_eq!(desk.typed().as_deref(), Some("half of it"), "case {case}");
        }
    }

    #[test]
    fn without_a_tool_only_the_collected_calls_are_sent() {
        let mut desk = Desk::with_calls();
        desk.type_text("typed");
        desk.composer.choose_none(&mut desk.form);
        assert!(!desk.composer.is_touched(&desk.form));
        assert_eq!(desk.send().len(), 3);
        assert_eq!(desk.send().len(), 0);
    }

    #[test]
    fn an_edited_call_is_sent_once_and_in_its_place() {
        let mut desk = Desk::with_calls();
        let calls = desk.composer.calls().to_vec();
        desk.edit(1);
        assert_eq!(desk.typed().as_deref(), Some("2"));
        desk.type_text("new");
        let sent = desk.send();
        assert_eq!(sent.len(), 3);
        assert_eq!(sent[0], calls[0].function.to_string());
        assert!(
            sent[1].contains("new") && sent[1].starts_with('g'),
            "{sent:?}"
        );
        assert!(!desk.composer.is_editing());
    }

    #[test]
    fn a_removed_call_is_not_sent_although_the_form_showed_it() {
        let mut desk = Desk::with_calls();
        desk.edit(1);
        desk.remove(1);
        assert!(!desk.composer.is_touched(&desk.form));
        let sent = desk.send();
        assert_eq!(sent.len(), 2);
        assert!(sent.iter().all(|call| call.starts_with('f')), "{sent:?}");
    }

    #[test]
    fn editing_goes_on_when_another_call_is_removed() {
        for removed in [0, 1] {
            let mut desk = Desk::with_calls();
            desk.edit(2);
            desk.type_text("edited");
            desk.remove(removed);
            desk.remove(9);
            let sent = desk.send();
            assert_eq!(sent.len(), 2);
            assert!(sent[1].contains("edited"), "{sent:?}");
        }
    }

    #[test]
    fn calls_of_tools_that_another_episode_lacks_are_dropped() {
        let mut desk = Desk::with_calls();
        desk.edit(2);
        desk.episode.tools = tools(&["f"]);
        desk.adapt();
        // The edited call is still known, in another place.
        assert!(desk.composer.is_editing());
        desk.type_text("edited");
        assert_eq!(desk.composer.calls().len(), 2);
        assert_eq!(desk.send().len(), 2);

        let mut desk = Desk::with_calls();
        desk.edit(1);
        desk.episode.tools = tools(&["f"]);
        desk.adapt();
        assert!(!desk.composer.is_editing());
        assert_eq!(desk.composer.tool().map(|tool| &**tool), Some("f"));
        assert!(!desk.composer.is_touched(&desk.form));

        desk.episode.tools = Vec::new();
        desk.adapt();
        assert_eq!(desk.composer.tool(), None);
        assert!(desk.composer.calls().is_empty());
        assert_eq!(desk.send().len(), 0);
    }

    #[test]
    fn a_tool_of_the_same_name_with_another_schema_has_a_form_of_its_own() {
        let mut desk = Desk::new();
        desk.type_text("for the first");
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": []});
        let function = json!({"name": "f", "description": "", "parameters": schema});
        let tool = json!({"type": "function", "function": function});
        desk.episode.tools = vec![Tool::read(&tool).expect("a tool")];
        desk.adapt();
        assert_eq!(
            *desk.form.schema(),
            arguments_schema(&desk.episode.tools[0])
        );
        assert!(!desk.composer.is_touched(&desk.form));
    }

    fn taken_back(calls: &[&str], steps: usize) -> TakenBack {
        let calls = calls.iter();
        let calls = calls.map(|tool| ToolCall::new("id", *tool, object!({"x": "again"})));
        TakenBack {
            episode: "e".into(),
            steps,
            message: Some("because".into()),
            calls: calls.collect(),
        }
    }

    #[test]
    fn an_action_that_was_taken_back_is_edited_once_the_episode_is_before_it() {
        for (calls, is_editing) in [(&["g"][..], true), (&["f", "g"], false), (&["h"], false)] {
            let mut desk = Desk::new();
            desk.composer.edit_again(taken_back(calls, 0));
            assert_eq!(desk.adapt().as_deref(), Some("because"));
            assert_eq!(desk.composer.is_editing(), is_editing);
            let known = calls.iter().filter(|tool| **tool != "h").count();
            assert_eq!(desk.composer.calls().len(), known);
        }
        let mut desk = Desk::new();
        desk.composer.edit_again(taken_back(&["g"], 0));
        desk.adapt();
        assert_eq!(desk.send().len(), 1);
        assert_eq!(desk.adapt(), None);
    }

    #[test]
    fn an_action_that_was_taken_back_never_reaches_another_episode() {
        let mut desk = Desk::new();
        // Going back failed, and then the user started a new episode.
        desk.composer.edit_again(taken_back(&["g"], 0));
        desk.episode.id = "other".into();
        assert_eq!(desk.adapt(), None);
        desk.episode.id = "e".into();
        assert_eq!(desk.adapt(), None);
        // The episode is not where the action was taken.
        desk.composer.edit_again(taken_back(&["g"], 3));
        assert_eq!(desk.adapt(), None);
        assert!(desk.composer.calls().is_empty());
    }

    #[derive(Clone, Debug)]
    enum Happening {
        Choose(bool),
        ChooseNone,
        Type(u8),
        Add,
        Edit(usize),
        Remove(usize),
        LoseTool(bool),
    }

    fn happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            2 => any::<bool>().prop_map(Happening::Choose),
            1 => Just(Happening::ChooseNone),
            4 => any::<u8>().prop_map(Happening::Type),
            4 => Just(Happening::Add),
            2 => (0..4usize).prop_map(Happening::Edit),
            2 => (0..4usize).prop_map(Happening::Remove),
            1 => any::<bool>().prop_map(Happening::LoseTool),
        ]
    }

    proptest! {
        /// Each call that was added and not removed is sent exactly once, in any order of events.
        #[test]
        fn every_call_is_sent_once(happenings in prop::collection::vec(happening(), 0..30)) {
            let mut desk = Desk::new();
            for happening in happenings {
                let before = desk.composer.calls().len();
                match happening {
                    Happening::Choose(is_first) => desk.choose(if is_first { "f" } else { "g" }),
                    Happening::ChooseNone => desk.composer.choose_none(&mut desk.form),
                    Happening::Type(text) if desk.composer.tool().is_some() => {
                        desk.type_text(&text.to_string());
                    }
                    Happening::Type(_) => {}
                    Happening::Add => {
                        let grows = !desk.composer.is_editing();
                        let is_added = desk.add();
                        let more = usize::from(is_added && grows);
                        prop_assert_eq!(desk.composer.calls().len(), before + more);
                    }
                    Happening::Edit(place) => desk.edit(place),
                    Happening::Remove(place) => {
                        desk.remove(place);
                        let fewer = usize::from(place < before);
                        prop_assert_eq!(desk.composer.calls().len(), before - fewer);
                    }
                    Happening::LoseTool(is_lost) => {
                        desk.episode.tools = tools(if is_lost { &["f"] } else { &["f", "g"] });
                        desk.adapt();
                    }
                }
                let composer = &desk.composer;
                let known: Vec<&str> = desk.episode.tools.iter().map(|tool| &*tool.info.name).collect();
                let chosen = composer.tool().is_none_or(|tool| known.contains(&&**tool));
                prop_assert!(chosen);
                prop_assert!(!composer.is_editing() || !composer.calls().is_empty());
                let names = composer.names(&desk.form).len();
                let more = usize::from(!composer.is_editing() && composer.form_counts(&desk.form));
                prop_assert_eq!(names, composer.calls().len() + more);
            }
        }
    }
}
