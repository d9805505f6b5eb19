//! An episode: actions on the data of a domain, and their reward.
//!
//! The customer is outside: an action that answers the customer returns [`TurnResult::Customer`], and
//! [`Episode::answer`] continues with the customer's reply. Steps after the end work as before it.

use std::sync::Arc;

use volary_core::Json;
use volary_core::json::Text;

use super::domain::{Action, Domain, RESPOND, STOP, Task};
use super::python::{Computed, Exception, field, lower};
use super::reward::Reward;
use super::state::State;

/// An episode after its reset.
#[derive(Clone)]
pub struct Episode {
    domain: Arc<Domain>,
    task: Task,
    state: State,
    actions: Vec<Action>,
}

/// The result of an action.
#[derive(Clone, Debug)]
pub enum TurnResult {
    /// The customer receives this and must answer.
    Customer(Json),
    /// The step is complete.
    Step(Step),
}

#[derive(Clone, Debug)]
pub struct Step {
    pub observation: Text,
    /// Where it comes from: `user` or the name of the tool.
    pub source: Text,
    /// The reward; `None` before the end.
    pub reward: Option<Reward>,
}

impl Step {
    /// Whether the episode is over.
    pub fn is_done(&self) -> bool {
        self.reward.is_some()
    }

    /// The reward; 0 before the end.
    pub fn value(&self) -> f64 {
        self.reward.as_ref().map_or(0.0, |reward| reward.value)
    }
}

impl Episode {
    /// An episode of a task.
    pub fn new(domain: Arc<Domain>, task: Task) -> Self {
        Episode {
            state: State::new(Arc::clone(&domain.database)),
            actions: Vec::new(),
            domain,
            task,
        }
    }

    pub fn task(&self) -> &Task {
        &self.task
    }

    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The current data.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The actions so far.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Takes an action. It is recorded even if it fails.
    ///
    /// # Errors
    ///
    /// The environment itself fails: an answer without `content`, a tool without a text, or a reward that
    /// cannot be computed. A failed tool is reported in the observation instead.
    pub fn act(&mut self, action: Action) -> Computed<TurnResult> {
        let name = action.name.clone();
        self.actions.push(action.clone());
        if &*name == RESPOND {
            let kwargs = Json::Object(action.kwargs);
            return Ok(TurnResult::Customer(field(&kwargs, "content")?.clone()));
        }
        let (observation, done) = match self.domain.tool(&name) {
            None => (format!("Unknown action {name}"), false),
            Some(tool) => (
                run(&self.domain, &mut self.state, &action)?,
                tool.terminates,
            ),
        };
        self.step(observation.into(), name, done)
            .map(TurnResult::Step)
    }

    /// Continues with the customer's reply.
    ///
    /// # Errors
    ///
    /// The reward cannot be computed.
    pub fn answer(&mut self, observation: Text) -> Computed<Step> {
        let done = observation.contains(STOP);
        self.step(observation, "user".into(), done)
    }

    fn step(&mut self, observation: Text, source: Text, done: bool) -> Computed<Step> {
        Ok(Step {
            observation,
            source,
            reward: done.then(|| self.judge()).transpose()?,
        })
    }

    fn judge(&mut self) -> Computed<Reward> {
        let gold = self.gold()?;
        match self.outputs() {
            Ok(outputs) => Ok(Reward::new(&self.state, gold, outputs)),
            Err(error) => {
                // The original fails after it has replaced the data and extended the actions.
                self.state = gold;
                self.actions
                    .extend(self.gold_actions().cloned().collect::<Vec<_>>());
                Err(error)
            }
        }
    }

    fn gold_actions(&self) -> impl Iterator<Item = &Action> {
        let ends = |action: &&Action| {
            let tool = self.domain.tool(&action.name);
            tool.is_some_and(|tool| tool.terminates) || &*action.name == RESPOND
        };
        self.task.actions.iter().filter(move |action| !ends(action))
    }

    /// The data after the task's own actions.
    fn gold(&self) -> Computed<State> {
        let mut state = State::new(Arc::clone(&self.domain.database));
        for action in self.gold_actions() {
            run(&self.domain, &mut state, action)?;
        }
        Ok(state)
    }

    /// Whether the agent mentioned each output, ignoring case, and commas in the agent's text.
    fn outputs(&self) -> Computed<Vec<(Text, bool)>> {
        let said = |output: &Text| -> Computed<bool> {
            let output = output.to_lowercase();
            let mut answers = self
                .actions
                .iter()
                .filter(|action| &*action.name == RESPOND);
            answers.try_fold(false, |found, action| {
                if found {
                    return Ok(true);
                }
                let content = action.kwargs.get("content");
                let content = content.ok_or_else(|| Exception("'content'".to_owned()))?;
                Ok(lower(content)?.replace(',', "").contains(&output))
            })
        };
        let outputs = self.task.outputs.iter();
        outputs
            .map(|output| Ok((output.clone(), said(output)?)))
            .collect()
    }
}

/// Runs a tool; returns its text, or its error as a text.
fn run(domain: &Domain, state: &mut State, action: &Action) -> Computed<String> {
    let Some(tool) = domain.tool(&action.name) else {
        return Ok(String::new());
    };
    let arguments = tool.bind(domain.name, &action.kwargs);
    match arguments.and_then(|arguments| (tool.run)(state, &arguments)) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(Exception(format!("{} gave no text", tool.name))),
        Err(error) => Ok(format!("Error: {error}")),
    }
}
