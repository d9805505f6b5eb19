//! What a recording shows about itself, without its environment: whether calls and results pair up, whether times are in
//! order, whether the model answered, and whether there is a task.
//!
//! Invariants: a finding names something that a reader of the recording would miss or misread. What a recording may lack is
//! no finding: results of the last step, with which an episode ends, and times that are unknown. At most [`MOST`] findings
//! are listed.

use std::collections::HashMap;
use std::fmt;

use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_core::tool::call::INVALID;
use volary_episode::episode::{Episode, Outcome, StepRecord};
use volary_episode::passages::{REDACTED_REASONING, content};

use crate::task::task;

/// The maximum number of findings of an episode.
pub const MOST: usize = 100;

/// Something that is wrong in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The step, from 1; 0 is the start, and `None` the whole episode.
    pub step: Option<usize>,
    pub kind: FindingKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// There are no steps.
    NoSteps,
    /// No message of a user has a text, and neither a task nor a recipe is named.
    NoTask,
    /// The model neither said nor called anything.
    EmptyAnswer,
    /// A call has no result, although the episode goes on.
    CallWithoutResult { tool: Text },
    /// A result answers no call.
    ResultWithoutCall { tool: Text },
    /// A call has more than one result.
    SeveralResults { tool: Text },
    /// A step started before the last one whose time is known.
    TimeGoesBack,
    /// A step took a negative time.
    NegativeTime,
}

/// What was checked in an episode, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consistency {
    /// The number of calls that should have a result.
    pub calls: usize,
    /// The number of steps with a known start or duration.
    pub timed_steps: usize,
    /// In the order of the steps; those of the whole episode first.
    pub findings: Vec<Finding>,
}

impl Consistency {
    /// Checks an episode. Takes time linear in its length.
    pub fn of(episode: &Episode) -> Consistency {
        let mut check = Consistency::default();
        if episode.steps.is_empty() {
            check.add(None, FindingKind::NoSteps);
        }
        if episode.recipe.is_none() && episode.task().is_none() && task(episode).is_none() {
            check.add(None, FindingKind::NoTask);
        }
        check.pairs(episode);
        check.times(episode);
        for (index, step) in episode.steps.iter().enumerate() {
            if is_empty(step) {
                check.add(Some(index + 1), FindingKind::EmptyAnswer);
            }
        }
        check.findings.sort_by_key(|finding| finding.step);
        check
    }

    fn add(&mut self, step: Option<usize>, kind: FindingKind) {
        if self.findings.len() < MOST {
            self.findings.push(Finding { step, kind });
        }
    }

    /// Pairs calls and results. A result may come in a later step than its call.
    fn pairs(&mut self, episode: &Episode) {
        let mut calls: HashMap<Text, Vec<Call>> = HashMap::new();
        for message in &episode.start {
            self.pair(0, message, &mut calls);
        }
        for (index, step) in episode.steps.iter().enumerate() {
            // What a failed step was answered is in its failure.
            if matches!(step.outcome, Outcome::Observed { .. }) {
                self.pair(index + 1, &step.action, &mut calls);
            }
            for message in step.messages() {
                self.pair(index + 1, message, &mut calls);
            }
        }
        let last = episode.steps.len();
        let open = calls.into_values().flatten();
        let open = open.filter(|call| call.results == 0 && call.step < last);
        let mut open: Vec<Call> = open.collect();
        open.sort_by_key(|call| call.number);
        for Call { step, tool, .. } in open {
            self.add(Some(step), FindingKind::CallWithoutResult { tool });
        }
    }

    fn pair(&mut self, step: usize, message: &AnyMessage, calls: &mut HashMap<Text, Vec<Call>>) {
        match message {
            AnyMessage::Request(request) => {
                for call in &request.tool_calls {
                    if &*call.function.name == INVALID {
                        continue;
                    }
                    let call_of_step = Call {
                        step,
                        number: self.calls,
                        tool: call.function.name.clone(),
                        results: 0,
                    };
                    calls.entry(call.id.clone()).or_default().push(call_of_step);
                    self.calls += 1;
                }
            }
            AnyMessage::Response(response) => {
                let tool = response.name.clone();
                // Some tools count their ids from 0 in each step: the first open call is meant, the latest otherwise.
                let known = calls.get_mut(&response.tool_call_id);
                let Some(known) = known.filter(|known| !known.is_empty()) else {
                    return self.add(Some(step), FindingKind::ResultWithoutCall { tool });
                };
                let open = known.iter().position(|call| call.results == 0);
                let index = open.unwrap_or(known.len() - 1);
                if let Some(call) = known.get_mut(index) {
                    call.results += 1;
                    if call.results == 2 {
                        let tool = call.tool.clone();
                        self.add(Some(step), FindingKind::SeveralResults { tool });
                    }
                }
            }
            AnyMessage::Plain(_) => {}
        }
    }

    fn times(&mut self, episode: &Episode) {
        let mut latest = episode.started;
        for (index, step) in episode.steps.iter().enumerate() {
            let started = step.details.started;
            self.timed_steps += usize::from(started.is_some() || step.seconds.is_some());
            if step.seconds.is_some_and(|seconds| seconds < 0.0) {
                self.add(Some(index + 1), FindingKind::NegativeTime);
            }
            if let Some(started) = started {
                // Sources round the time of an episode to seconds.
                const ROUNDING: f64 = 1.0;
                if latest.is_some_and(|latest| started < latest - ROUNDING) {
                    self.add(Some(index + 1), FindingKind::TimeGoesBack);
                }
                latest = Some(started);
            }
        }
    }
}

/// A call, and the number of its results.
struct Call {
    step: usize,
    /// Its position among all calls.
    number: usize,
    tool: Text,
    results: usize,
}

/// Whether the action of a step says and calls nothing, and no failure explains it.
fn is_empty(step: &StepRecord) -> bool {
    let has_calls = match &step.action {
        AnyMessage::Request(request) => !request.tool_calls.is_empty(),
        AnyMessage::Response(_) | AnyMessage::Plain(_) => false,
    };
    let has_text = !content(step.action.body()).trim().is_empty();
    // Content of images alone has no text.
    let has_blocks = step.action.body().content_is_json_str;
    let is_explained = matches!(step.outcome, Outcome::Failed { .. })
        || !step.details.errors.is_empty()
        || step
            .details
            .reasoning
            .as_ref()
            .is_some_and(|text| !text.trim().is_empty());
    let info = step.action.body().info.as_ref();
    let is_redacted = info.is_some_and(|info| info.contains_key(REDACTED_REASONING));
    !has_calls && !has_text && !has_blocks && !is_explained && !is_redacted
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            None => {}
            Some(0) => formatter.write_str("start: ")?,
            Some(step) => write!(formatter, "step {step}: ")?,
        }
        match &self.kind {
            FindingKind::NoSteps => formatter.write_str("there are no steps"),
            FindingKind::NoTask => {
                formatter.write_str("no task: no message of a user, and no name of a task")
            }
            FindingKind::EmptyAnswer => formatter.write_str("the answer of the model is empty"),
            FindingKind::CallWithoutResult { tool } => {
                write!(formatter, "the call of {} has no result", named(tool))
            }
            FindingKind::ResultWithoutCall { tool } => {
                write!(formatter, "the result of {} answers no call", named(tool))
            }
            FindingKind::SeveralResults { tool } => {
                write!(formatter, "the call of {} has several results", named(tool))
            }
            FindingKind::TimeGoesBack => {
                formatter.write_str("it started before the step that precedes it")
            }
            FindingKind::NegativeTime => formatter.write_str("its duration is negative"),
        }
    }
}

fn named(tool: &str) -> &str {
    match tool.trim() {
        "" => "a tool",
        tool => tool,
    }
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, ToolCall, ToolRequestMessage, ToolResponseMessage, object};

    use super::*;

    fn calls(ids: &[&str]) -> AnyMessage {
        let calls = ids.iter().map(|id| ToolCall::new(*id, "look", object!({})));
        ToolRequestMessage {
            tool_calls: calls.collect(),
            ..Default::default()
        }
        .into()
    }

    fn result(id: &str) -> AnyMessage {
        ToolResponseMessage {
            body: volary_core::message::Body::text("seen"),
            name: "look".into(),
            tool_call_id: id.into(),
        }
        .into()
    }

    fn step(action: AnyMessage, messages: &[AnyMessage]) -> StepRecord {
        let observed = Outcome::Observed {
            messages: messages.to_vec(),
            reward: 0.0,
            done: false,
            truncated: false,
        };
        StepRecord::new(action, observed)
    }

    fn said(text: &str) -> AnyMessage {
        Message::new(Role::Assistant, text).into()
    }

    fn episode(steps: Vec<StepRecord>) -> Episode {
        Episode {
            start: vec![Message::user("Look around.").into()],
            steps,
            ..Episode::default()
        }
    }

    fn findings(episode: &Episode) -> Vec<String> {
        let findings = Consistency::of(episode).findings;
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_recording_has_no_findings() {
        let steps = vec![
            step(calls(&["a", "b"]), &[result("b"), result("a")]),
            // The ids of the next step are the same again.
            step(calls(&["a"]), &[result("a")]),
            step(said("Done."), &[]),
        ];
        let found = Consistency::of(&episode(steps));
        assert_eq!((found.calls, found.timed_steps), (3, 0));
        assert_eq!(found.findings, []);
        // An episode may end with calls.
        assert!(findings(&episode(vec![step(calls(&["submit"]), &[])])).is_empty());
        let late = vec![
            step(calls(&["a"]), &[]),
            step(said("Wait."), &[result("a")]),
        ];
        assert!(findings(&episode(late)).is_empty());
    }

    #[test]
    fn calls_and_results_without_the_other_are_found() {
        let steps = vec![
            step(calls(&["a", "b"]), &[result("a"), result("a")]),
            step(said("Well."), &[result("x"), result("")]),
        ];
        assert_eq!(
            findings(&episode(steps)),
            [
                "step 1: the call of look has several results",
                "step 1: the call of look has no result",
                "step 2: the result of look answers no call",
                "step 2: the result of look answers no call",
            ]
        );
    }

    #[test]
    fn empty_answers_are_found_unless_they_are_explained() {
        let mut thought = step(said(""), &[]);
        thought.details.reasoning = Some("Hm.".into());
        let failed = StepRecord {
            outcome: Outcome::Failed {
                message: "cut off".into(),
            },
            ..step(said(""), &[])
        };
        let steps = vec![
            thought,
            failed,
            step(said(" \n"), &[]),
            step(said("a"), &[]),
        ];
        assert_eq!(
            findings(&episode(steps)),
            ["step 3: the answer of the model is empty"]
        );
    }

    #[test]
    fn times_are_in_order() {
        let at = |started: f64, seconds: f64| {
            let mut step = step(said("a"), &[]);
            step.details.started = Some(started);
            step.seconds = Some(seconds);
            step
        };
        let steps = vec![at(10.0, 1.0), at(20.0, -1.0), at(15.0, 1.0), at(16.0, 1.0)];
        let found = Consistency::of(&episode(steps));
        assert_eq!(found.timed_steps, 4);
        let texts: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "step 2: its duration is negative",
                "step 3: it started before the step that precedes it"
            ]
        );
    }

    #[test]
    fn an_episode_has_steps_and_a_task() {
        let nothing = Episode::default();
        let expected = [
            "there are no steps",
            "no task: no message of a user, and no name of a task",
        ];
        assert_eq!(findings(&nothing), expected);
    }

    #[test]
    fn findings_are_bounded() {
        let steps = (0..1_000).map(|_| step(said(""), &[])).collect();
        assert_eq!(findings(&episode(steps)).len(), MOST);
    }
}
