//! Rollouts of NeMo-Gym (`ng_collect_rollouts`): lines of `{responses_create_params: {input, tools, …}, response: {output,
//! usage, …}, reward, agent_ref, _ng_task_index, _ng_rollout_index, …}`. Messages are items of OpenAI's Responses API. The
//! other members are those of the task and what its verifier found out.
//!
//! An environment may write each transition, with all items before it, in place of the items; the last one has all. Items
//! that the model wrote for a training have their tokens, with the whole prompt.

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Role};
use volary_episode::episode::{Ending, Episode, Rewards, Score, TaskReference};

use super::chat;
use super::members::{Members, id, keep_rest, moment, text_at};
use super::reader::{Confidence, Sink};
use super::records::Records;
use super::slime;
use super::tau2;
use super::token_lists::{self, CallTokens};
use super::transcript::{ImportedMessage, Transcript};

pub(super) const NEMO_GYM: Records = Records {
    id: "nemo-gym",
    name: "NeMo-Gym rollouts (one per line)",
    title: "NeMo-Gym rollouts",
    record: "a rollout",
    confidence: Confidence::Certain,
    is: is_rollout,
    read: rollout,
};

fn is_rollout(value: &Json) -> bool {
    let asked = value.get("responses_create_params");
    let answered = value
        .get("response")
        .and_then(|response| response.get("output"));
    asked.is_some_and(|asked| asked.get("input").is_some())
        && answered.is_some_and(|output| output.as_list().is_some())
        && value.get("reward").is_some()
}

fn rollout(mut rest: Object, number: usize, sink: &mut Sink<'_>) {
    let mut asked = rest
        .take_object("responses_create_params")
        .unwrap_or_default();
    let mut response = rest.take_object("response").unwrap_or_default();
    let mut output = items(&mut response);
    let calls = calls(&mut output);
    let agent = rest.take("agent_ref").unwrap_or_default();
    let mut episode = Episode {
        id: format!("{}-{number}", sink.stem()).into(),
        policy: text_at(&agent, &["name"]),
        model: response
            .take_text("model")
            .or_else(|| asked.take_text("model"))
            .filter(|model| !model.is_empty()),
        tools: asked
            .take_list("tools")
            .unwrap_or_default()
            .iter()
            .filter_map(chat::tool)
            .collect(),
        rewards: rest
            .take_reward("reward")
            .map_or(Rewards::Unknown, Rewards::Whole),
        total_usage: response.take("usage").and_then(|usage| chat::usage(&usage)),
        started: response
            .take("created_at")
            .and_then(|created| moment(&created))
            .filter(|created| *created > 0.0),
        ..Episode::default()
    };
    episode.ending = ending(&mut response, &rest);
    if let Ending::Crashed { message } = &episode.ending {
        episode.errors.push(message.clone());
    }
    let mut transcript = Transcript::default();
    let (given, before) = prompt(&mut asked, is_conversation(&rest));
    given.into_iter().for_each(|said| transcript.observe(said));
    before.into_iter().for_each(|said| transcript.push(said));
    chat::read_all(output).for_each(|said| transcript.push(said));
    transcript.finish(&mut episode);
    if let Some(told) = rest.get("result").and_then(tau2::recorded) {
        simulated(told, &mut episode);
    }
    let instance = asked
        .get("metadata")
        .and_then(|metadata| text_at(metadata, &["instance_id"]));
    add_task(&mut rest, instance, number, &mut episode);
    scores(&mut rest, &mut episode);
    tokens(calls, &mut episode, sink);
    for (key, mut settings) in [("responses_create_params", asked), ("response", response)] {
        settings.retain(|_, value| !is_empty(value));
        if !settings.is_empty() {
            rest.insert(key, settings);
        }
    }
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
}

/// The items of a response: those of the last transition if it has transitions.
fn items(response: &mut Object) -> Vec<Json> {
    let output = response.take_list("output").unwrap_or_default();
    match output.last() {
        Some(Json::List(last)) => last.clone(),
        _ => output,
    }
}

/// Whether the input of the request is a conversation that the agent had before, as in tau2, whose last request is
/// recorded.
fn is_conversation(rest: &Object) -> bool {
    let result = rest.get("result");
    let messages = result.and_then(|result| result.get("messages"));
    messages.is_some_and(|messages| messages.as_list().is_some())
}

/// Adds what tau2's record of the same conversation says: the model, times and usage.
fn simulated(told: Episode, episode: &mut Episode) {
    episode.model = episode.model.take().or(told.model);
    episode.started = told.started.or(episode.started);
    episode.seconds = told.seconds.or(episode.seconds);
    if told.steps.len() != episode.steps.len() {
        return;
    }
    for (step, told) in episode.steps.iter_mut().zip(told.steps) {
        let details = &mut step.details;
        details.usage = details.usage.or(told.details.usage);
        details.started = details.started.or(told.details.started);
        step.seconds = step.seconds.or(told.seconds);
    }
}

/// What the model was given, and the earlier turns of the agent. Other messages of a model in the input are examples.
fn prompt(
    asked: &mut Object,
    is_conversation: bool,
) -> (Vec<ImportedMessage>, Vec<ImportedMessage>) {
    let instructions = asked
        .take_text("instructions")
        .map(|text| volary_core::json!({ "role": "system", "content": text }));
    // Tasks of repositories have only the statement of the problem.
    let problem = asked
        .get("metadata")
        .and_then(|metadata| text_at(metadata, &["problem_statement"]));
    let input = match asked.take("input") {
        Some(Json::List(input)) if input.is_empty() => match problem {
            Some(text) => vec![volary_core::json!({ "role": "user", "content": text })],
            None => Vec::new(),
        },
        Some(Json::List(input)) => input,
        input => input.into_iter().collect(),
    };
    let input = instructions.into_iter().chain(input).collect();
    let mut given: Vec<ImportedMessage> = chat::read_all(input).collect();
    let is_reply = |said: &ImportedMessage| said.message.role() == Role::Assistant;
    let first = given.iter().position(is_reply).filter(|_| is_conversation);
    let before = first.map_or_else(Vec::new, |first| given.split_off(first));
    (given, before)
}

fn ending(response: &mut Object, rest: &Object) -> Ending {
    let error = response.take("error");
    let cut = response.take("incomplete_details");
    let is_truncated = rest.get("truncated").and_then(Json::as_bool) == Some(true);
    match (error, cut) {
        (Some(error), _) => Ending::Crashed {
            message: text_at(&error, &["message"]).unwrap_or_else(|| error.to_display().into()),
        },
        (None, Some(cut)) => {
            let reason = text_at(&cut, &["reason"]);
            let reason = reason.as_deref().unwrap_or("a limit");
            Ending::Truncated {
                reason: format!("It was cut off by {reason}.").into(),
            }
        }
        (None, None) if is_truncated => Ending::Truncated {
            reason: "The environment cut it off.".into(),
        },
        _ => Ending::Done,
    }
}

/// Notes the task, and which of its rollouts this is.
fn add_task(rest: &mut Object, instance: Option<Text>, number: usize, episode: &mut Episode) {
    const IDS: [&str; 5] = ["task_id", "instance_id", "problem_id", "uuid", "id"];
    let group = rest
        .take("_ng_task_index")
        .or_else(|| rest.take("task_idx"));
    let sample = rest.take("_ng_rollout_index");
    // In the task of tau2, or among the metadata of the request.
    let told = rest.get("task").and_then(|task| id(task.get("id")?));
    let named = IDS.into_iter().find_map(|key| rest.take_id(key));
    let named = named.or(told).or(instance);
    let prompt: Vec<_> = episode
        .start
        .iter()
        .filter_map(|message| match message {
            AnyMessage::Plain(message) => Some(message.clone()),
            _ => None,
        })
        .collect();
    let shown = |value: &Option<Json>| value.as_ref().map(Json::to_display);
    let id = named
        .or_else(|| slime::task_of(&prompt))
        .or_else(|| shown(&group).map(Text::from));
    episode.name = match (shown(&group), shown(&sample)) {
        (Some(group), Some(sample)) => format!("Task {group}, sample {sample}").into(),
        (Some(group), None) => format!("Task {group}").into(),
        _ => format!("Sample {number}").into(),
    };
    let agent = episode.policy.clone();
    episode.task = id.map(|id| TaskReference {
        dataset: agent.unwrap_or_else(|| "nemo-gym".into()),
        id,
    });
    for (key, value) in [("group", group), ("sample", sample)] {
        if let Some(value) = value {
            episode.metadata.insert(key, value);
        }
    }
}

/// Takes what the verifier found out: fractions and flags. Others, such as texts, are about the task as well.
fn scores(rest: &mut Object, episode: &mut Episode) {
    // Settings of the environment, and times, are no verdicts.
    const OTHERS: [&str; 8] = [
        "mask_sample",
        "terminated",
        "truncated",
        "verbose_logs",
        "audio_debug",
        "audio_taps",
        "auto_review",
        "agent_run_time",
    ];
    let metadata = &mut episode.metadata;
    rest.retain(|key, value| {
        let is_score = matches!(value, Json::Float(_) | Json::Bool(_));
        if is_score && !OTHERS.contains(&key.as_ref()) {
            episode.scores.push(Score {
                name: key.as_ref().into(),
                value: value.clone(),
                ..Score::default()
            });
            return false;
        }
        true
    });
    for key in [
        "expected_answer",
        "verifier_metadata",
        "metadata",
        "mask_sample",
    ] {
        if let Some(value) = rest.take(key) {
            metadata.insert(key, value);
        }
    }
}

/// Takes the tokens of the items: those of a call are in its last item.
fn calls(output: &mut [Json]) -> Vec<CallTokens> {
    let items = output.iter_mut().filter_map(|item| match item {
        Json::Object(item) => Some(item),
        _ => None,
    });
    items.filter_map(call).collect()
}

fn call(item: &mut Object) -> Option<CallTokens> {
    const LISTS: [&str; 4] = [
        "prompt_token_ids",
        "generation_token_ids",
        "generation_log_probs",
        "routed_experts",
    ];
    let [prompt, completion, logprobs, _] = LISTS.map(|key| item.take(key));
    let completion = token_lists::ids(&completion?)?;
    let logprobs = logprobs.as_ref().and_then(token_lists::stream);
    (!completion.is_empty()).then_some(CallTokens {
        prompt: token_lists::ids(&prompt?)?,
        completion,
        mask: None,
        streams: logprobs
            .into_iter()
            .map(|values| ("logprobs".into(), values))
            .collect(),
    })
}

fn tokens(calls: Vec<CallTokens>, episode: &mut Episode, sink: &mut Sink<'_>) {
    if let Some((builder, apart)) = token_lists::joined(calls) {
        token_lists::report_apart(&apart, sink);
        token_lists::attach(builder.divided(episode), episode, sink);
    }
}

/// Whether a setting has its default.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::List(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use volary_episode::episode::Outcome;

    use super::*;
    use crate::import::{ImportOutcome, InputFile, import};

    fn read(line: &str) -> ImportOutcome {
        let file = InputFile {
            name: Some("example_rollouts.jsonl".to_owned()),
            bytes: line.replace('\n', " ").into_bytes(),
        };
        import(&[file]).unwrap()
    }

    /// A rollout with these items, and these further members.
    fn rollout(output: &str, members: &str) -> Episode {
        let line = format!(
            r#"{{"responses_create_params": {{"input": [{{"role": "user", "content": "How many?"}}], "tools": [{{"type": "function", "name": "count", "parameters": {{}}}}]}},
                "response": {{"model": "m", "object": "response", "output": {output}, "usage": {{"input_tokens": 5, "output_tokens": 2}}}},
                "reward": 0.5, "agent_ref": {{"name": "count_agent"}}{members}}}"#
        );
        let mut outcome = read(&line);
        outcome.episodes.remove(0)
    }

    const ITEMS: &str = r#"[
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c", "name": "count", "arguments": "{}", "prompt_token_ids": [1], "generation_token_ids": [2, 3], "generation_log_probs": [-0.5, -0.25]},
        {"type": "function_call_output", "call_id": "c", "output": "two"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}], "prompt_token_ids": [1, 2, 3, 4], "generation_token_ids": [5], "generation_log_probs": [-1.0]}]"#;

    #[test]
    fn items_are_messages_with_tokens() {
        let members = r#", "_ng_task_index": 3, "_ng_rollout_index": 1, "is_right": true, "expected_answer": "2", "trajectory": [{"action": "a", "observation": "b"}], "info": {}"#;
        let episode = rollout(ITEMS, members);
        let source = episode.source.as_ref().unwrap();
        assert_eq!(&*source.format, "nemo-gym", "and not SWE-agent");
        assert_eq!((episode.start.len(), episode.steps.len()), (1, 2));
        assert_eq!(episode.steps[0].details.reasoning.as_deref(), Some("hm"));
        let Outcome::Observed { messages, .. } = &episode.steps[0].outcome else {
            panic!("the call has an answer");
        };
        assert_eq!(messages[0].body().content.as_deref(), Some("two"));
        let said = episode.steps[1].action.body();
        assert_eq!((said.content.as_deref(), &said.info), (Some("Two."), &None));
        let record = episode.tokens.as_ref().unwrap();
        assert_eq!(record.strip.ids(), [1, 2, 3, 4, 5]);
        assert_eq!(record.strip.mask(), [false, true, true, false, true]);
        assert_eq!(record.strip.streams()["logprobs"].get(4), Some(-1.0));
        assert!(record.is_divided);
        assert_eq!(episode.reward(), Some(0.5));
        assert_eq!(&*episode.name, "Task 3, sample 1");
        let task = episode.task.as_ref().unwrap();
        assert_eq!((&*task.dataset, &*task.id), ("count_agent", "How many?"));
        assert_eq!(&*episode.scores[0].name, "is_right");
        assert_eq!(episode.metadata.get("group"), Some(&3.into()));
        assert_eq!(episode.metadata.get("expected_answer"), Some(&"2".into()));
        assert_eq!(episode.usage().output, Some(2));
        assert_eq!(episode.tools.len(), 1);
    }

    #[test]
    fn the_last_transition_has_all_items() {
        let user = r#"{"role": "user", "content": "q"}"#;
        let answer = r#"{"type": "message", "role": "assistant", "content": "a"}"#;
        let output = format!("[[{user}], [{user}, {answer}]]");
        let episode = rollout(&output, "");
        assert_eq!((episode.start.len(), episode.steps.len()), (2, 1));
    }

    #[test]
    fn limits_and_errors_end_a_rollout() {
        let cut = rollout("[]", r#", "truncated": true"#);
        assert!(matches!(cut.ending, Ending::Truncated { .. }));
        let line = r#"{"responses_create_params": {"input": "q"}, "response": {"output": [], MORE}, "reward": 0.0}"#;
        let with = |more: &str| read(&line.replace("MORE", more)).episodes.remove(0);
        let limited = with(r#""incomplete_details": {"reason": "max_output_tokens"}"#);
        assert!(matches!(limited.ending, Ending::Truncated { .. }));
        let failed = with(r#""error": {"code": "server_error", "message": "no"}"#);
        assert_eq!(failed.errors, ["no".into()]);
        assert_eq!(failed.start.len(), 1);
    }
}
