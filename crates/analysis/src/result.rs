//! The result of an episode, gathered from where sources record it: reward, scores, expected values, the answer or patch of
//! the agent, and the last error.
//!
//! Invariants: nothing is guessed. Expected and given values are texts of the source, under the source's names; a text
//! counts as a patch only if it has the lines of a unified diff. What the agent submitted, or said last, is given only if no
//! scorer recorded its answer.

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, ToolCall};
use volary_episode::episode::{Ending, Episode, Outcome, Score, StepRecord};
use volary_episode::inline_reasoning;
use volary_episode::passages::{TextPart, TextPosition, content};

use crate::annotations::Target;
use crate::scores;
use crate::table::groups::SUCCESS;
use crate::timeline;

/// How an episode ended and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpisodeResult {
    /// How well the episode ended; `None` if it is unknown.
    pub verdict: Option<TaskOutcome>,
    /// Expected values: the source's name, and the text.
    pub expected: Vec<(String, Text)>,
    /// Answers of the agent as a scorer recorded them: the source's name, and the text.
    pub given: Vec<(String, Text)>,
    /// What the agent submitted with its last action, or said in it.
    pub last_words: Option<LastWords>,
    /// Patches in the data: the source's name, and the unified diff.
    pub patches: Vec<(String, Text)>,
    /// Scores from before the end, in order.
    pub intermediate: Vec<IntermediateScore>,
    /// The last error, if there is one.
    pub last_error: Option<LastError>,
    /// The step that best explains a failure: that of the last error, otherwise of the last negative reward, otherwise
    /// the last step.
    pub step: usize,
}

/// How well an episode solved its task, by what its environment or its scorer says. What a person judges is an
/// [`annotations::Verdict`](crate::annotations::Verdict).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    Succeeded,
    /// The reward is between that of a failure and that of a success.
    Partial,
    Failed,
}

impl TaskOutcome {
    /// By the reward, otherwise by the outcome, otherwise by scores that are named after success and are true or false.
    pub fn of(reward: Option<f64>, outcome: Option<&str>, scores: &[Score]) -> Option<TaskOutcome> {
        let by_failure = |failed| {
            if failed {
                TaskOutcome::Failed
            } else {
                TaskOutcome::Succeeded
            }
        };
        match reward.filter(|reward| !reward.is_nan()) {
            Some(reward) if reward >= SUCCESS => return Some(TaskOutcome::Succeeded),
            Some(reward) if reward > 0.0 => return Some(TaskOutcome::Partial),
            Some(_) => return Some(TaskOutcome::Failed),
            None => {}
        }
        if let Some(failed) = outcome.and_then(outcome_failed) {
            return Some(by_failure(failed));
        }
        let named = scores.iter().filter_map(|score| {
            let is_named = JUDGING.contains(&&*score.name.to_lowercase());
            score.value.as_bool().filter(|_| is_named)
        });
        named
            .reduce(|all, passed| all && passed)
            .map(|all| by_failure(!all))
    }

    /// The label of its badge.
    pub fn label(self) -> &'static str {
        match self {
            TaskOutcome::Succeeded => "Succeeded",
            TaskOutcome::Partial => "Partial",
            TaskOutcome::Failed => "Failed",
        }
    }
}

/// The names of scores that say whether an episode succeeded.
const JUDGING: [&str; 8] = [
    "success",
    "successful",
    "resolved",
    "is_resolved",
    "solved",
    "passed",
    "is_correct",
    "win",
];

/// What an agent submitted with its last action, or said in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWords {
    /// The step, from 1.
    pub step: usize,
    /// The tool by which it was submitted; `None` for a message.
    pub tool: Option<Text>,
    pub text: Text,
}

/// A score that an agent got while it worked.
#[derive(Clone, Debug, PartialEq)]
pub struct IntermediateScore {
    /// The step, from 1; 0 is before the first one.
    pub step: usize,
    pub value: Json,
    pub explanation: Option<Text>,
}

/// The last error of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastError {
    /// The step, from 1; `None` for an error of the whole episode.
    pub step: Option<usize>,
    /// The error message of the source.
    pub message: Text,
    /// The position of the message in the step.
    pub position: Option<TextPosition>,
}

impl LastError {
    /// The most informative line: the last one of a Python traceback, otherwise the first one. As a passage of the
    /// episode, so that it can be shown in place.
    pub fn line(&self) -> Option<Target> {
        let position = self.position?;
        let is_traceback = self.message.contains("Traceback (most recent call last)");
        let mut lines = self.message.lines().filter(|line| !line.trim().is_empty());
        let line = if is_traceback {
            lines.next_back()?
        } else {
            lines.next()?
        };
        let line = line.trim();
        // A line is a slice of the message, so its start is within it.
        let start = line.as_ptr() as usize - self.message.as_ptr() as usize;
        let start = self.message.get(..start)?.chars().count();
        let quote: String = line.chars().take(LONGEST_LINE).collect();
        Some(Target::Passage {
            position,
            start,
            end: start + quote.chars().count(),
            quote: quote.into(),
        })
    }
}

/// The maximum length of a quoted line, in characters; longer ones are truncated.
const LONGEST_LINE: usize = 300;

/// The names under which sources record expected values.
const EXPECTED: [&str; 12] = [
    "target",
    "gts",
    "expected",
    "expected_answer",
    "expected_output",
    "ground_truth",
    "gold",
    "gold_answer",
    "reference",
    "reference_answer",
    "correct_answer",
    "answer",
];
/// The names under which sources record the answer of the agent.
const GIVEN: [&str; 8] = [
    "submission",
    "final_answer",
    "model_answer",
    "agent_answer",
    "predicted_answer",
    "extracted_answer",
    "prediction",
    "final_result",
];
/// The endings of names under which sources record how they were called.
const SETTINGS: [&str; 2] = ["args", "arguments"];
/// The tools by which agents submit an answer.
const SUBMITTING: [&str; 11] = [
    "submit",
    "submit_answer",
    "submit_flag",
    "submit_solution",
    "final_answer",
    "answer",
    "finish",
    "done",
    "complete_task",
    "attempt_completion",
    "task_complete",
];
/// The maximum depth at which data is searched.
const DEEPEST: usize = 4;
/// The maximum number of texts of each kind.
const MOST: usize = 8;

impl EpisodeResult {
    /// Gathers the result of an episode.
    pub fn of(episode: &Episode) -> EpisodeResult {
        let mut result = EpisodeResult {
            verdict: verdict(episode),
            last_error: last_error(episode),
            ..EpisodeResult::default()
        };
        result.step = result.telling_step(episode);
        let recipe = episode.recipe.as_ref().map(|recipe| &recipe.configuration);
        for data in [&episode.metadata, &episode.raw].into_iter().chain(recipe) {
            result.gather(data, &mut Vec::new());
        }
        for score in &episode.scores {
            for name in ["answer", "submission"] {
                if let Some(text) = score.extras.get(name).and_then(text_of) {
                    push(&mut result.given, score.name.to_string(), text);
                }
            }
            if let Some(text) = score.extras.get("target").and_then(text_of) {
                push(&mut result.expected, score.name.to_string(), text);
            }
        }
        if result.given.is_empty() {
            result.last_words = last_words(episode);
        }
        result.intermediate = intermediate(episode);
        result
    }

    /// Whether there is nothing to show besides the reward.
    pub fn is_empty(&self, episode: &Episode) -> bool {
        scores::grades(episode).next().is_none()
            && self.expected.is_empty()
            && self.given.is_empty()
            && self.last_words.is_none()
            && self.patches.is_empty()
            && self.intermediate.is_empty()
            && self.last_error.is_none()
    }

    fn telling_step(&self, episode: &Episode) -> usize {
        let last = episode.steps.len();
        if let Some(step) = self.last_error.as_ref().and_then(|error| error.step) {
            return step;
        }
        let bars = timeline::bars(episode);
        let loss = bars
            .iter()
            .rfind(|bar| bar.kind == timeline::StepKind::Loss);
        loss.map_or(last, |bar| bar.step)
    }

    fn gather(&mut self, object: &Object, path: &mut Vec<String>) {
        for (key, value) in object.iter() {
            path.push(key.to_string());
            match value {
                // The arguments of a run are no values that an answer is compared with.
                Json::Object(_) if SETTINGS.iter().any(|ending| key.ends_with(ending)) => {}
                Json::Object(inner) if path.len() < DEEPEST => self.gather(inner, path),
                Json::Text(text) if is_patch(text) => {
                    push(&mut self.patches, path.join("."), Text::clone(text));
                }
                value if EXPECTED.contains(&&**key) => {
                    if let Some(text) = text_of(value) {
                        push(&mut self.expected, path.join("."), text);
                    }
                }
                value if GIVEN.contains(&&**key) => {
                    if let Some(text) = text_of(value) {
                        push(&mut self.given, path.join("."), text);
                    }
                }
                _ => {}
            }
            path.pop();
        }
    }
}

/// How well an episode ended, unless it goes on.
fn verdict(episode: &Episode) -> Option<TaskOutcome> {
    match (episode.reward(), &episode.ending) {
        (_, Ending::Crashed { .. }) => Some(TaskOutcome::Failed),
        // A played episode that is open has no result yet. Recordings often lack the ending.
        (Some(_), Ending::Open) if episode.source.is_none() => None,
        (reward, _) => TaskOutcome::of(reward, episode.outcome.as_deref(), &episode.scores),
    }
}

/// Whether a source's term for the outcome means failure; `None` if it means neither.
pub fn outcome_failed(outcome: &str) -> Option<bool> {
    match outcome {
        "success" | "resolved" | "passed" | "correct" => Some(false),
        "crashed" | "error" | "failed" | "failure" | "unresolved" | "incorrect" => Some(true),
        _ => None,
    }
}

fn last_error(episode: &Episode) -> Option<LastError> {
    if let Some(message) = episode.errors.last() {
        return Some(LastError {
            step: None,
            message: Text::clone(message),
            position: None,
        });
    }
    let mut steps = episode.steps.iter().enumerate().rev();
    steps.find_map(|(index, step)| {
        let (message, at, part) = error_of(step)?;
        Some(LastError {
            step: Some(index + 1),
            message,
            position: part.map(|part| TextPosition {
                step: index + 1,
                message: at,
                part,
            }),
        })
    })
}

/// The error of a step, and the position of its text: message and part.
fn error_of(step: &StepRecord) -> Option<(Text, usize, Option<TextPart>)> {
    if !timeline::fails(step) {
        return None;
    }
    let failure = match &step.outcome {
        Outcome::Failed { message } => Some(message),
        Outcome::Observed { .. } => None,
    };
    let errors = step.details.errors.iter().map(|error| &error.message);
    let errors = failure.into_iter().chain(errors).enumerate();
    if let Some((index, message)) = errors.last() {
        return Some((Text::clone(message), 0, Some(TextPart::Error(index))));
    }
    let mut messages = step.messages().iter().enumerate().rev();
    let failed = messages.find_map(|(index, message)| match message {
        AnyMessage::Response(response) if timeline::is_failed_call(message) => {
            let content = response.body.content.as_deref()?;
            Some((content.into(), index + 1, Some(TextPart::Content)))
        }
        _ => None,
    });
    Some(failed.unwrap_or_else(|| ("A tool call could not be read.".into(), 0, None)))
}

/// What the last action submitted, or said: a call that did neither is no answer.
fn last_words(episode: &Episode) -> Option<LastWords> {
    let record = episode.steps.last()?;
    let submitted = match &record.action {
        AnyMessage::Request(request) => request.tool_calls.iter().rev().find_map(submission),
        _ => None,
    };
    let has_calls = match &record.action {
        AnyMessage::Request(request) => !request.tool_calls.is_empty(),
        _ => false,
    };
    let (tool, text) = match submitted {
        Some((tool, text)) => (Some(tool), text),
        None if has_calls => return None,
        None => {
            let text = content(record.action.body());
            (None, inline_reasoning::said(&text).trim().into())
        }
    };
    (!text.trim().is_empty()).then_some(LastWords {
        step: episode.steps.len(),
        tool,
        text,
    })
}

/// The tool and the text of a call that submits an answer: its longest argument.
fn submission(call: &ToolCall) -> Option<(Text, Text)> {
    let name = &call.function.name;
    let is_known = SUBMITTING.contains(&name.to_lowercase().as_str());
    let texts = call.function.arguments.values().filter_map(text_of);
    let longest = texts.max_by_key(|text| text.len()).filter(|_| is_known)?;
    Some((Text::clone(name), longest))
}

/// The scores that Inspect's events record before the end.
fn intermediate(episode: &Episode) -> Vec<IntermediateScore> {
    const MOST_LISTED: usize = 200;
    let steps = episode.steps.iter().enumerate();
    let steps = steps.map(|(index, step)| (index + 1, &step.extras));
    let events = std::iter::once((0, &episode.raw)).chain(steps);
    let events = events.flat_map(|(step, data)| {
        let events = data.get("events").and_then(Json::as_list);
        events
            .unwrap_or_default()
            .iter()
            .map(move |event| (step, event))
    });
    let scores = events.filter_map(|(step, event)| {
        let is_score = &**event.get("event")?.as_text()? == "score";
        let is_intermediate = event.get("intermediate").and_then(Json::as_bool) == Some(true);
        let score = event.get("score").filter(|_| is_score && is_intermediate)?;
        let explanation = score.get("explanation").and_then(Json::as_text).cloned();
        Some(IntermediateScore {
            step,
            value: score.get("value")?.clone(),
            explanation: explanation.filter(|text| !text.trim().is_empty()),
        })
    });
    scores.take(MOST_LISTED).collect()
}

fn push(list: &mut Vec<(String, Text)>, name: String, text: Text) {
    let is_known = list.iter().any(|(_, known)| *known == text);
    if !is_known && !text.trim().is_empty() && list.len() < MOST {
        list.push((name, text));
    }
}

fn text_of(value: &Json) -> Option<Text> {
    match value {
        Json::Null | Json::Object(_) => None,
        Json::Text(text) => Some(Text::clone(text)),
        value => match value.as_list() {
            // A call with its positional arguments.
            Some([only]) => text_of(only).or_else(|| Some(value.to_compact_text().into())),
            _ => Some(value.to_compact_text().into()),
        },
    }
}

/// Whether a text is a unified diff.
pub fn is_patch(text: &str) -> bool {
    let has = |start: &str| text.lines().any(|line| line.starts_with(start));
    has("@@ ") && has("--- ") && has("+++ ")
}

/// The kind of a line in a unified diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchLine {
    /// A header line with file names or metadata.
    Head,
    /// The header of a hunk.
    Passage,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// A context line.
    Same,
}

impl PatchLine {
    /// The lines of a unified diff with their kinds.
    pub fn of(patch: &str) -> impl Iterator<Item = (PatchLine, &str)> {
        let mut is_head = true;
        patch.lines().map(move |line| {
            // Within a hunk, `--- ` is a removed line that starts with dashes, unless a new file follows.
            is_head = match line {
                line if line.starts_with("diff ") || line.starts_with("Index: ") => true,
                line if line.starts_with("@@") => false,
                _ => is_head,
            };
            let kind = match line.as_bytes().first() {
                Some(b'@') if line.starts_with("@@") => PatchLine::Passage,
                _ if is_head => PatchLine::Head,
                Some(b'+') => PatchLine::Added,
                Some(b'-') => PatchLine::Removed,
                _ => PatchLine::Same,
            };
            (kind, line)
        })
    }
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, object};
    use volary_episode::episode::{Rewards, Score, StepDetails, StepError};

    use super::*;

    const PATCH: &str =
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+new\n";

    fn step(errors: &[&str]) -> StepRecord {
        let errors = errors.iter().map(|message| StepError {
            call: None,
            message: (*message).into(),
        });
        let observed = Outcome::Observed {
            messages: Vec::new(),
            reward: 0.0,
            done: false,
            truncated: false,
        };
        StepRecord {
            details: StepDetails {
                errors: errors.collect(),
                ..StepDetails::default()
            },
            ..StepRecord::new(Message::new(Role::Assistant, "I act.").into(), observed)
        }
    }

    #[test]
    fn a_failure_with_all_that_is_known_of_it() {
        let episode = Episode {
            steps: vec![step(&["first"]), step(&["second", "third"]), step(&[])],
            rewards: Rewards::Whole(0.0),
            ending: Ending::Done,
            scores: vec![Score {
                name: "match".into(),
                value: "I".into(),
                explanation: None,
                extras: object!({"answer": "41"}),
            }],
            metadata: object!({"target": "42", "info": {"submission": PATCH, "answer": "42"}}),
            ..Episode::default()
        };
        let result = EpisodeResult::of(&episode);
        assert_eq!(result.verdict, Some(TaskOutcome::Failed));
        assert_eq!(result.expected, [("target".to_owned(), "42".into())]);
        assert_eq!(result.given, [("match".to_owned(), "41".into())]);
        assert_eq!(
            result.patches,
            [("info.submission".to_owned(), PATCH.into())]
        );
        let error = result
            .last_error
            .as_ref()
            .map(|error| (error.step, &*error.message));
        assert_eq!((error, result.step), (Some((Some(2), "third")), 2));
        assert!(!result.is_empty(&episode));
        let line = result
            .last_error
            .as_ref()
            .and_then(LastError::line)
            .unwrap();
        assert_eq!(line.locate(&episode), Some(0..5));
    }

    #[test]
    fn the_line_of_a_traceback_is_its_last() {
        let error =
            "Traceback (most recent call last):\n  File \"é.py\", line 1\nValueError: no é\n";
        let episode = Episode {
            steps: vec![step(&["first", error])],
            ..Episode::default()
        };
        let last = EpisodeResult::of(&episode).last_error.unwrap();
        let line = last.line().unwrap();
        let Target::Passage {
            quote, position, ..
        } = &line
        else {
            panic!("{line:?}");
        };
        assert_eq!(
            (&**quote, position.part),
            ("ValueError: no é", TextPart::Error(1))
        );
        let found = line.locate(&episode).unwrap();
        assert_eq!(found.len(), quote.chars().count());
    }

    #[test]
    fn without_an_error_the_last_step_tells_most() {
        let episode = Episode {
            steps: vec![step(&[]), step(&[])],
            rewards: Rewards::Unknown,
            ..Episode::default()
        };
        let result = EpisodeResult::of(&episode);
        assert_eq!((result.verdict, result.step), (None, 2));
        assert!(result.last_words.is_some());
        assert!(EpisodeResult::default().is_empty(&Episode::default()));
        let whole = Episode {
            errors: vec!["no disk".into()],
            outcome: Some("error".into()),
            ..episode
        };
        let result = EpisodeResult::of(&whole);
        assert_eq!(
            (result.verdict, result.step),
            (Some(TaskOutcome::Failed), 2)
        );
        assert_eq!(result.last_error.unwrap().step, None);
    }

    #[test]
    fn a_verdict_follows_reward_outcome_and_scores() {
        let score = |name: &str, value: Json| Score {
            name: name.into(),
            value,
            explanation: None,
            extras: Object::default(),
        };
        let of = |reward, outcome, scores: &[Score]| TaskOutcome::of(reward, outcome, scores);
        assert_eq!(of(None, None, &[]), None);
        assert_eq!(
            of(Some(1.0), Some("failed"), &[]),
            Some(TaskOutcome::Succeeded)
        );
        assert_eq!(of(Some(0.85), None, &[]), Some(TaskOutcome::Partial));
        assert_eq!(of(Some(0.0), None, &[]), Some(TaskOutcome::Failed));
        assert_eq!(of(Some(-0.5), None, &[]), Some(TaskOutcome::Failed));
        assert_eq!(of(Some(f64::NAN), None, &[]), None);
        assert_eq!(
            of(None, Some("resolved"), &[]),
            Some(TaskOutcome::Succeeded)
        );
        let passed = [score("success", true.into()), score("toxicity", 0.5.into())];
        assert_eq!(
            of(None, Some("finish"), &passed),
            Some(TaskOutcome::Succeeded)
        );
        let lost = [score("Win", false.into()), score("success", true.into())];
        assert_eq!(of(None, Some("give_up"), &lost), Some(TaskOutcome::Failed));
        assert_eq!(of(None, None, &[score("verbose", true.into())]), None);
    }

    #[test]
    fn settings_of_a_run_are_no_expected_answers() {
        let episode = Episode {
            raw: object!({"forward_args": {"answer": 1}, "extra_info": {"answer": "4"}}),
            ..Episode::default()
        };
        let expected = EpisodeResult::of(&episode).expected;
        assert_eq!(expected, [("extra_info.answer".to_owned(), "4".into())]);
    }

    #[test]
    fn a_list_of_one_text_is_that_text() {
        assert_eq!(
            text_of(&Json::from(vec![Json::from("Four.")])).as_deref(),
            Some("Four.")
        );
        let two = Json::from(vec![Json::from("a"), Json::from("b")]);
        assert_eq!(text_of(&two).as_deref(), Some("[\"a\",\"b\"]"));
    }

    #[test]
    fn an_answer_that_is_no_patch_is_given() {
        let episode = Episode {
            metadata: object!({"info": {"submission": "flag{invented}"}}),
            ..Episode::default()
        };
        let result = EpisodeResult::of(&episode);
        assert_eq!(
            result.given,
            [("info.submission".to_owned(), "flag{invented}".into())]
        );
        assert!(result.patches.is_empty() && !result.is_empty(&episode));
    }

    #[test]
    fn the_last_action_answers_if_nothing_else_does() {
        let of = |action: AnyMessage| {
            let episode = Episode {
                steps: vec![
                    step(&[]),
                    StepRecord {
                        action,
                        ..step(&[])
                    },
                ],
                ..Episode::default()
            };
            let words = EpisodeResult::of(&episode).last_words?;
            Some((
                words.step,
                words.tool.map(|tool| tool.to_string()),
                words.text.to_string(),
            ))
        };
        let call = |name: &str| -> AnyMessage {
            let arguments = object!({"confidence": 1, "answer": "Paris, on the Seine"});
            volary_core::ToolRequestMessage {
                tool_calls: vec![ToolCall::new("1", name, arguments)],
                ..Default::default()
            }
            .into()
        };
        let submitted = (
            2,
            Some("submit".to_owned()),
            "Paris, on the Seine".to_owned(),
        );
        assert_eq!(of(call("submit")), Some(submitted));
        assert_eq!(of(call("look_up")), None);
        let message = |text: &str| Message::new(Role::Assistant, text).into();
        let said = (2, None, "It is Paris.".to_owned());
        assert_eq!(
            of(message("<think>France?</think>\n\nIt is Paris.\n")),
            Some(said)
        );
        assert_eq!(of(message(" \n")), None);
    }

    #[test]
    fn scores_from_before_the_end_are_listed() {
        let event = |value: f64, intermediate: bool| object!({"event": "score", "score": {"value": value, "explanation": ""}, "intermediate": intermediate});
        let mut scored = step(&[]);
        let events = [event(0.25, true), event(1.0, false)].map(Json::from);
        scored.extras.insert("events", Json::List(events.into()));
        let episode = Episode {
            steps: vec![step(&[]), scored],
            ..Episode::default()
        };
        let found = EpisodeResult::of(&episode).intermediate;
        let expected = IntermediateScore {
            step: 2,
            value: 0.25.into(),
            explanation: None,
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn lines_of_a_patch() {
        use PatchLine::{Added, Head, Passage, Removed, Same};
        let kinds: Vec<PatchLine> = PatchLine::of(PATCH).map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [Head, Head, Head, Passage, Same, Removed, Added]);
        assert!(is_patch(PATCH));
        assert!(!is_patch("--- a list\n+++ of signs"));
    }
}
