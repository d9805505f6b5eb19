//! Results of evaluations (`.adk/eval_history/*.evalset_result.json`): `{eval_set_result_id, eval_set_id, eval_case_results: [{eval_id,
//! final_eval_status, overall_eval_metric_results, eval_metric_result_per_invocation: [{actual_invocation,
//! expected_invocation, eval_metric_results}], session_details}]}`. Some versions write the JSON as one JSON string.
//!
//! The run of a case is an episode: its session if that is there, or else the actual invocations.

use serde::Deserialize;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::{Ending, Episode, Outcome, Rewards, Score, TaskReference};

use super::{Invocation, has_any, invocation, is_empty, session_episode};
use crate::import::members::{Members, id, keep_rest, moment};
use crate::import::reader::Sink;
use crate::import::transcript::Transcript;
use crate::import::typed;

const CASES: [&str; 2] = ["eval_case_results", "evalCaseResults"];

pub(super) fn is_result(value: &Json) -> bool {
    let is_case = |case: &Json| {
        has_any(case, &["eval_id", "evalId"])
            && has_any(case, &["final_eval_status", "finalEvalStatus"])
    };
    match value {
        Json::Text(text) => {
            text.trim_start().starts_with('{') && CASES.iter().any(|key| text.contains(key))
        }
        value => {
            let mut cases = CASES.iter().filter_map(|key| value.get(key)?.as_list());
            cases.any(|cases| cases.iter().take(8).any(is_case))
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EvalSetResult {
    #[serde(alias = "evalSetResultId")]
    eval_set_result_id: Option<Text>,
    #[serde(alias = "evalSetResultName")]
    eval_set_result_name: Option<Text>,
    #[serde(alias = "evalSetId")]
    eval_set_id: Option<Text>,
    #[serde(alias = "creationTimestamp")]
    creation_timestamp: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CaseResult {
    #[serde(alias = "evalSetFile")]
    eval_set_file: Option<Text>,
    #[serde(alias = "evalSetId")]
    eval_set_id: Option<Text>,
    #[serde(alias = "evalId")]
    eval_id: Option<Text>,
    #[serde(alias = "finalEvalStatus")]
    final_eval_status: Option<Json>,
    #[serde(alias = "errorMessage")]
    error_message: Option<Text>,
    #[serde(alias = "sessionId")]
    session_id: Option<Text>,
    #[serde(alias = "userId")]
    user_id: Option<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Turn {
    #[serde(alias = "actualInvocation")]
    actual_invocation: Option<Json>,
    #[serde(alias = "expectedInvocation")]
    expected_invocation: Option<Json>,
    #[serde(alias = "evalMetricResults")]
    eval_metric_results: Vec<Json>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metric {
    #[serde(alias = "metricName")]
    metric_name: Option<Text>,
    score: Option<Json>,
    #[serde(alias = "evalStatus")]
    eval_status: Option<Json>,
}

/// Reads the results of an eval set.
pub(super) fn read(value: Json, sink: &mut Sink<'_>) {
    let value = match value {
        Json::Text(text) => match Json::parse(&text) {
            Ok(value) => value,
            Err(error) => {
                let reason = "The file is a JSON string whose text is not JSON";
                return sink.lost(format!("{reason}: {error}."));
            }
        },
        value => value,
    };
    let Json::Object(mut value) = value else {
        return sink.lost("The result of an eval set is not an object.");
    };
    // They are large, so they are moved and not read with the others.
    let cases = take_list(&mut value, CASES);
    let (set, mut about) = typed::record::<EvalSetResult>(value.into(), "A result", sink);
    about.retain(|_, value| !is_empty(value));
    for case in cases {
        // Each case has the members of the set.
        if sink.is_full() {
            break;
        }
        match case {
            Json::Object(case) => {
                let (mut episode, mut rest) = case_result(case, &set, sink);
                rest.extend_missing(about.clone());
                keep_rest(&mut episode, rest, sink);
                sink.episode(episode);
            }
            _ => sink.lost("The result of a case is not an object."),
        }
    }
}

fn take_list(object: &mut Object, keys: [&str; 2]) -> Vec<Json> {
    keys.iter()
        .find_map(|key| object.take_list(key))
        .unwrap_or_default()
}

/// Reads the result of a case. Returns also what was not understood.
fn case_result(mut case: Object, set: &EvalSetResult, sink: &mut Sink<'_>) -> (Episode, Object) {
    let overall = take_list(
        &mut case,
        ["overall_eval_metric_results", "overallEvalMetricResults"],
    );
    // Pairs of a metric and its result, in the first versions.
    let pairs = take_list(&mut case, ["eval_metric_results", "evalMetricResults"]);
    let turns = take_list(
        &mut case,
        [
            "eval_metric_result_per_invocation",
            "evalMetricResultPerInvocation",
        ],
    );
    let session = ["session_details", "sessionDetails"];
    let session = session.iter().find_map(|key| case.take(key));
    let (case, mut rest) = typed::record::<CaseResult>(case.into(), "The result of a case", sink);
    rest.retain(|_, value| !is_empty(value));
    let turns: Vec<Turn> = turns
        .into_iter()
        .map(|turn| {
            let (turn, odd) = typed::record::<Turn>(turn, "A turn", sink);
            if !odd.is_empty() {
                rest.insert("eval_metric_result_per_invocation", odd);
            }
            turn
        })
        .collect();
    let mut episode = match session {
        Some(session) => session_episode(session, sink),
        None => Episode {
            policy: Some("Google ADK".into()),
            ..Episode::default()
        },
    };
    let mut odd_session = std::mem::take(&mut episode.raw);
    odd_session.retain(|_, value| !is_empty(value));
    if !odd_session.is_empty() {
        rest.insert("session_details", odd_session);
    }
    finish(&mut episode, case, set);
    let overall = if overall.is_empty() {
        let result = |pair: Json| match pair {
            Json::List(pair) => pair.into_iter().reduce(joined),
            other => Some(other),
        };
        pairs.into_iter().filter_map(result).collect()
    } else {
        overall
    };
    add_scores(&mut episode, overall, None, sink);
    let mut transcript = Transcript::default();
    let has_session = !episode.steps.is_empty();
    let (mut answers, mut expected) = (Vec::new(), Vec::new());
    let is_several = turns.len() > 1;
    for (index, turn) in turns.into_iter().enumerate() {
        if is_several {
            add_scores(
                &mut episode,
                turn.eval_metric_results,
                Some(index + 1),
                sink,
            );
        }
        if let Some(actual) = turn.actual_invocation.filter(|_| !has_session) {
            let (actual, odd) = typed::record::<Invocation>(actual, "An invocation", sink);
            invocation(actual, &mut transcript);
            let odd = odd.into_iter().filter(|(_, value)| !is_empty(value));
            odd.for_each(|(key, value)| drop(rest.insert(key, value)));
        }
        if let Some(invocation) = turn.expected_invocation {
            answers.extend(answer(&invocation));
            expected.push(invocation);
        }
    }
    if has_session {
        let last = episode.steps.last_mut().map(|step| &mut step.outcome);
        if let Some(Outcome::Observed { done, .. }) = last {
            *done = episode.ending == Ending::Done;
        }
    } else {
        transcript.finish(&mut episode);
    }
    if !answers.is_empty() {
        episode.metadata.insert("expected", answers.join("\n\n"));
    }
    if !expected.is_empty() {
        episode.raw.insert("expected_invocations", expected);
    }
    (episode, rest)
}

/// Two objects as one.
fn joined(one: Json, other: Json) -> Json {
    match (one, other) {
        (Json::Object(one), Json::Object(mut other)) => {
            other.extend_missing(one);
            other.into()
        }
        (_, other) => other,
    }
}

/// What is the case, and how it ended.
fn finish(episode: &mut Episode, case: CaseResult, set: &EvalSetResult) {
    let known = |text: Option<Text>| text.filter(|text| !text.is_empty());
    let case_id = known(case.eval_id).unwrap_or_default();
    let dataset = known(case.eval_set_id)
        .or_else(|| set.eval_set_id.clone())
        .or_else(|| known(case.eval_set_file));
    episode.id = known(case.session_id).unwrap_or_else(|| std::mem::take(&mut episode.id));
    episode.name = case_id.clone();
    episode.task = Some(TaskReference {
        dataset: dataset.unwrap_or_default(),
        id: case_id,
    });
    episode.ending = Ending::Done;
    let status = case.final_eval_status.as_ref().and_then(status);
    episode.rewards = match status {
        Some("passed") => Rewards::Whole(1.0),
        Some("failed") => Rewards::Whole(0.0),
        _ => Rewards::Unknown,
    };
    episode.outcome = status.map(Text::from);
    if let Some(message) = known(case.error_message) {
        episode.errors.push(message.clone());
        episode.ending = Ending::Crashed { message };
    }
    let ended = set.creation_timestamp.filter(|time| *time > 0.0);
    let ended = ended.and_then(|time| moment(&time.into()));
    episode.started = episode.started.or(ended);
    let told = [
        ("eval_set_result", set.eval_set_result_id.clone()),
        ("eval_set_result_name", set.eval_set_result_name.clone()),
        ("user", known(case.user_id)),
    ];
    for (key, value) in told {
        if let Some(value) = value {
            episode.metadata.insert(key, value);
        }
    }
    if episode.metadata.get("eval_set_result") == episode.metadata.get("eval_set_result_name") {
        episode.metadata.remove("eval_set_result_name");
    }
}

/// The name of a status, which is a number or a name.
fn status(value: &Json) -> Option<&'static str> {
    match &*id(value)?.to_ascii_lowercase() {
        "1" | "passed" => Some("passed"),
        "2" | "failed" => Some("failed"),
        "3" | "not_evaluated" => Some("not evaluated"),
        _ => None,
    }
}

/// Adds the results of metrics, of the case or of a turn.
fn add_scores(episode: &mut Episode, results: Vec<Json>, turn: Option<usize>, sink: &mut Sink<'_>) {
    for result in results {
        let (metric, mut extras) = typed::record::<Metric>(result, "A metric", sink);
        extras.retain(|_, value| !is_empty(value));
        if let Some(status) = metric.eval_status.as_ref().and_then(status) {
            extras.insert("status", status);
        }
        let name = metric.metric_name.unwrap_or_else(|| "score".into());
        episode.scores.push(Score {
            name: match turn {
                Some(turn) => format!("{name}, turn {turn}").into(),
                None => name,
            },
            value: metric.score.unwrap_or_default(),
            explanation: None,
            extras,
        });
    }
}

/// The text of the expected answer.
fn answer(invocation: &Json) -> Option<String> {
    let response = ["final_response", "finalResponse"];
    let response = response.iter().find_map(|key| invocation.get(key))?;
    let parts = response.get("parts")?.as_list()?.iter();
    let texts: Vec<&str> = parts
        .filter_map(|part| Some(&**part.get("text")?.as_text()?))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
