//! What the writers of evaluations, training runs and traces do besides what the fixtures of each format show: messages
//! as events, both sides speaking at once, judgements in other terms and members.

use volary_core::json::Json;
use volary_episode::{Ending, Episode, Rewards};
use volary_formats::import::{InputFile, import};

use crate::tools::{assert_linked, format, shapes, told};
use crate::variants::{imported, only};
use crate::{Shape, fixture};

#[test]
fn open_telemetry_with_messages_as_events() {
    let outcome = import(&[fixture("open-telemetry-events.json")]).unwrap();
    assert_eq!(shapes(&outcome), [Shape(2, 1, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "I open it.>open{\"box\":\"red\"} | open<It is stuck. | assistant:It is stuck."
    );
    let details = &episode.steps[0].details;
    assert_eq!(details.reasoning.as_deref(), Some("It is closed."));
    assert_eq!(details.errors[0].call.as_deref(), Some("k1"));
    assert_eq!(episode.start.len(), 1);
    // An agent that asks no model which could be seen.
    let text = r#"{"name": "invoke_agent", "context": {"trace_id": "1", "span_id": "2"}, "attributes": {"gen_ai.operation.name": "invoke_agent"}, "events": [{"name": "gen_ai.user.message", "attributes": {"gen_ai.event.content": "{\"role\": \"user\", \"content\": \"Hi\"}"}}, {"name": "gen_ai.choice", "attributes": {"gen_ai.event.content": "{\"message\": {\"content\": \"Hello.\"}, \"index\": 0}"}}]}"#;
    let episode = only(text);
    assert_eq!(
        (told(&episode).as_str(), episode.start.len()),
        ("assistant:Hello.", 1)
    );
}

#[test]
fn open_telemetry_without_names_of_operations() {
    let episode = only(
        r#"{"name": "chat", "context": {"trace_id": "1", "span_id": "2"}, "attributes": {"gen_ai.input.messages": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Rain?\"}]}]", "gen_ai.output.messages": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Rain.\"}]}]", "gen_ai.usage.output_tokens": 5, "gen_ai.usage.reasoning.output_tokens": 2}}"#,
    );
    assert_eq!(told(&episode), "assistant:Rain.");
    let usage = episode.usage();
    assert_eq!((usage.output, usage.reasoning), (Some(5), Some(2)));
}

/// Messages of the first logs with events have no ids.
#[test]
fn inspect_without_ids_of_messages() {
    let answer = |text: &str| {
        format!(r#"{{"role": "assistant", "content": "{text}", "source": "generate"}}"#)
    };
    let asked = |text: &str, tokens: u32| {
        format!(
            r#"{{"event": "model", "model": "m", "output": {{"choices": [{{"message": {}}}], "usage": {{"input_tokens": {tokens}, "output_tokens": 1, "total_tokens": {}}}}}}}"#,
            answer(text),
            tokens + 1
        )
    };
    let text = format!(
        r#"{{"version": 2, "status": "success", "eval": {{"task": "t"}}, "samples": [{{"id": 1, "epoch": 1, "input": "Hi", "target": "", "messages": [{{"role": "user", "content": "Hi"}}, {}, {{"role": "user", "content": "And?"}}, {}], "output": {{}}, "scores": {{"a": {{"value": "C"}}}}, "events": [{}, {}, {}], "attachments": {{"f": "No more."}}}}]}}"#,
        answer("Hello."),
        answer("No more."),
        asked("Hello.", 5),
        asked("attachment://f", 7),
        asked("GRADE: C", 90),
    );
    let episode = only(&text);
    let tokens = episode.steps.iter().map(|step| step.details.usage);
    let tokens: Vec<_> = tokens
        .map(|usage| usage.and_then(|usage| usage.input))
        .collect();
    assert_eq!(tokens, [Some(5), Some(7)]);
    assert_eq!(episode.rewards, Rewards::Whole(1.0));
}

#[test]
fn evaluations_of_prime_are_rollouts() {
    let outcome = import(&[fixture("prime-cli.json")]).unwrap();
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(first.model.as_deref(), Some("maker/small"));
    assert_eq!(first.environment.as_deref(), Some("sums"));
    assert_eq!(first.rewards, Rewards::Whole(1.0));
    assert_eq!(second.rewards, Rewards::Whole(0.0));
    assert_eq!(second.task().unwrap().id.as_ref(), "1");
    // The samples of the platform have other names for prompt, completion and reward.
    let text = r#"{"total": 1, "samples": [{"example_id": 3, "input": "2+2?", "output": "5", "score": 0.25}]}"#;
    let episode = only(text);
    assert_eq!(episode.rewards, Rewards::Whole(0.25));
    assert_eq!((episode.start.len(), episode.steps.len()), (1, 1));
}

#[test]
fn verifiers_metrics_are_among_the_other_members() {
    let scores = |text: &str| {
        let episode = only(text);
        let scores = episode.scores.iter();
        let scores: Vec<_> = scores
            .map(|score| (score.name.to_string(), score.value.clone()))
            .collect();
        (scores, episode.raw.len())
    };
    let expected = vec![
        ("found".to_owned(), Json::Float(1.0)),
        ("turns".to_owned(), Json::from(2)),
    ];
    let start =
        r#"{"example_id": 0, "prompt": "a", "completion": "b", "reward": 0.5, "answer": 18"#;
    // The older files have them there alone,
    let old =
        format!(r#"{start}, "generation_ms": 3.0, "total_ms": 4.0, "found": 1.0, "turns": 2}}"#);
    assert_eq!(scores(&old), (expected.clone(), 1));
    // the newer ones there too.
    let new =
        format!(r#"{start}, "metrics": {{"found": 1.0, "turns": 2}}, "found": 1.0, "turns": 2}}"#);
    assert_eq!(scores(&new), (expected, 0));
}

#[test]
fn tau2_where_both_speak_at_once() {
    let tick = |agent: &str, user: &str, more: &str| {
        format!(
            r#"{{"timestamp": "2026-01-01T00:00:00", "agent_chunk": {{"role": "assistant", "content": {agent}}}, "user_chunk": {{"role": "user", "content": {user}}}{more}}}"#
        )
    };
    let ticks = [
        tick("\"How can \"", "\"\"", ""),
        tick("\"I help?\"", "\"Uh, \"", ""),
        tick("null", "\"my box.\"", ""),
        tick(
            "\"Let me see.\"",
            "null",
            r#", "agent_tool_calls": [{"id": "k1", "name": "find", "arguments": {}}], "agent_tool_results": [{"id": "k1", "role": "tool", "content": "here"}]"#,
        ),
        tick("\"It is \"", "null", ""),
        tick("null", "null", ""),
        tick("\"here.\"", "null", ""),
    ];
    let text = format!(
        r#"{{"info": {{}}, "tasks": [], "simulations": [{{"id": "s", "task_id": "1", "termination_reason": "user_stop", "reward_info": {{"reward": 1.0}}, "messages": null, "ticks": [{}]}}]}}"#,
        ticks.join(", ")
    );
    let episode = only(&text);
    assert_linked(&episode);
    assert_eq!(
        told(&episode),
        "assistant:How can I help? | user:Uh, my box. | Let me see.>find{} | find<here | assistant:It is here."
    );
    assert_eq!(episode.reward(), Some(1.0));
}

/// A rollout dump, with log-probabilities in tensors that share a storage, and a tuple as a key.
#[test]
fn slime_rollout_dump() {
    let outcome = import(&[fixture("slime-rollout.pt")]).unwrap();
    assert_eq!(
        shapes(&outcome),
        [Shape(2, 1, 0, Some(1.0)), Shape(1, 0, 0, None)],
        "{:?}",
        outcome.notes
    );
    let first = &outcome.episodes[0];
    assert_linked(first);
    assert_eq!(format(first), "slime");
    assert_eq!(
        told(first),
        ">renew{\"title\":\"atlas\",\"days\":7} | renew<renewed | assistant:It is yours for a week."
    );
    assert_eq!(first.ending, Ending::Done);
    assert_eq!(first.metadata.get("step"), Some(&Json::from(3)));
    let logprobs = |index: usize| -> Vec<Option<f64>> {
        let record = outcome.episodes[index].tokens.as_ref().unwrap();
        let stream = &record.strip.streams()["rollout_log_probs"];
        stream.iter().skip(record.prompt).collect()
    };
    assert_eq!(logprobs(0), [Some(-0.25), Some(-0.5), None]);
    assert_eq!(logprobs(1), [Some(-1.0), Some(-2.0), Some(-3.0)]);
    assert!(matches!(outcome.episodes[1].ending, Ending::Crashed { .. }));
}

/// Numbers as numpy and torch have them: scalars and arrays of other types and byte orders, tensors with a dimension of
/// size 1, lists of scalar tensors; members of enumerations by name; and a mask that is too long. The second file is one
/// of an old version of torch, which is no zip.
#[test]
fn slime_rollout_dumps_with_numpy() {
    for (name, count) in [("slime-numpy.pt", 5), ("slime-legacy.pt", 4)] {
        let outcome = import(&[fixture(name)]).unwrap();
        let episodes = &outcome.episodes;
        assert_eq!(episodes.len(), count, "{name}: {:?}", outcome.notes);
        let rewards: Vec<Option<f64>> = episodes.iter().map(Episode::reward).collect();
        let expected = [Some(0.25), Some(0.75), None, Some(1.0), Some(0.5)];
        assert_eq!(rewards, expected[..count], "{name}");
        let outcomes = episodes.iter().map(|episode| episode.outcome.as_deref());
        let completed = Some("completed");
        let expected = [completed, completed, Some("aborted"), completed, completed];
        assert_eq!(outcomes.collect::<Vec<_>>(), expected[..count], "{name}");
        for episode in &episodes[..3] {
            let record = episode.tokens.as_ref().unwrap();
            let stream = record.strip.streams()["rollout_log_probs"].iter();
            let expected = [None, None, Some(-0.5), Some(-1.25), Some(-3.0)];
            assert_eq!(stream.collect::<Vec<_>>(), expected, "{name}");
        }
        for episode in &episodes[2..4] {
            let record = episode.tokens.as_ref().unwrap();
            assert_eq!(record.strip.ids(), [1, 2, 3, 4, 5], "{name}");
            assert_eq!(record.strip.mask(), [false, false, true, false, true]);
        }
        if let Some(last) = episodes.get(4) {
            let record = last.tokens.as_ref().unwrap();
            assert_eq!((record.is_mask_known, record.misfits.len()), (false, 1));
        }
    }
}

#[test]
fn a_truncated_rollout_dump_keeps_its_complete_samples() {
    let whole = fixture("slime-rollout.pt");
    // Within the metadata of the second sample, and within the response of the first one.
    let cut = |length: usize| InputFile {
        name: whole.name.clone(),
        bytes: whole.bytes[..length].to_vec(),
    };
    let outcome = import(&[cut(1030)]).unwrap();
    assert_eq!(outcome.episodes[0].reward(), Some(1.0));
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| note.text.contains("damaged")),
        "{:?}",
        outcome.notes
    );
    assert!(import(&[cut(300)]).is_err());
}

#[test]
fn slime_with_several_rewards() {
    let sample = |reward: &str| {
        only(&format!(
            r#"{{"index": 0, "prompt": "a", "response": "b", "response_length": 1, "loss_mask": [1], "tokens": [1], "status": "completed", "reward": {reward}}}"#
        ))
    };
    let several = sample(r#"{"score": 0.5, "acc": true, "pred": "b"}"#);
    assert_eq!(several.reward(), Some(0.5));
    assert_eq!(several.scores.len(), 3);
    assert_eq!(sample(r#"{"acc": true, "pred": "b"}"#).reward(), Some(1.0));
    assert_eq!(sample(r#"{"a": 1, "b": 0}"#).reward(), None);
    assert_eq!(sample("0.25").reward(), Some(0.25));
}

#[test]
fn inspect_scores_in_words() {
    let reward = |value: &str| {
        only(&format!(
            r#"{{"version": 2, "status": "success", "eval": {{"task": "t"}}, "samples": [{{"id": 1, "epoch": 1, "input": "Hi", "target": "", "messages": [], "output": {{}}, "scores": {{"a": {{"value": {value}}}}}}}]}}"#
        ))
        .reward()
    };
    assert_eq!(reward("\"Yes\""), Some(1.0));
    assert_eq!(reward("\"false\""), Some(0.0));
    assert_eq!(reward("\"unsure\""), None);
}

#[test]
fn ldp_trajectories_as_objects() {
    let step = r#"{"timestep": 0, "agent_state": null, "next_agent_state": null, "observation": [{"role": "user", "content": "a"}], "next_observation": [], "action": {"value": {"role": "assistant", "content": "x"}}, "reward": 0.5, "done": true, "truncated": false}"#;
    let whole = |id: &str| {
        format!(r#"{{"traj_id": {id}, "steps": [{step}], "metadata": {{"env_id": "e"}}}}"#)
    };
    let outcome = imported(&format!("{}\n{}\n", whole("\"t\""), whole("null")));
    assert_eq!(
        shapes(&outcome),
        [Shape(1, 0, 0, Some(0.5)), Shape(1, 0, 0, Some(0.5))]
    );
    let first = &outcome.episodes[0];
    assert_eq!((&*first.id, format(first)), ("t", "ldp"));
    assert_eq!(first.ending, Ending::Done);
    assert!(first.metadata.contains_key("env_id"));
}

#[test]
fn atif_results_that_mark_a_failed_call() {
    let episode = only(
        r#"{"schema_version": "ATIF-v1.7", "steps": [{"step_id": 1, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "k", "function_name": "f", "arguments": {}}], "observation": {"results": [{"source_call_id": "k", "content": "No.", "extra": {"is_error": true}}]}}]}"#,
    );
    let error = &episode.steps[0].details.errors[0];
    assert_eq!((error.call.as_deref(), &*error.message), (Some("k"), "No."));
}

#[test]
fn atif_with_members_of_its_own_names() {
    let episode = only(
        r#"{"schema_version": "1.4", "session_id": "s", "agent": {"name": "a", "version": "1", "model": "m"}, "steps": [{"step_id": 1, "source": "agent", "message": "Hi", "tool_calls": [{"tool_call_id": "k", "function_name": "f", "arguments": {}}], "observation": {"results": [{"source_call_id": "k", "content": "No.", "is_error": true}]}}]}"#,
    );
    assert_eq!(
        (format(&episode), episode.model.as_deref()),
        ("atif", Some("m"))
    );
    assert_eq!(episode.steps[0].details.errors.len(), 1);
}

/// What `evaluate` of verifiers gives is lists, a column each.
#[test]
fn verifiers_by_column() {
    let outcome = import(&[fixture("verifiers-columns.json")]).unwrap();
    assert_eq!(
        shapes(&outcome),
        [Shape(1, 0, 0, Some(1.0)), Shape(1, 0, 0, Some(0.0))]
    );
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_eq!(format(first), "verifiers-results");
    assert_eq!(
        (told(first), told(second)),
        ("assistant:2".into(), "assistant:5".into())
    );
    for (episode, id, right) in [(first, "7", 1.0), (second, "8", 0.0)] {
        assert_eq!(episode.task().map(|task| &*task.id), Some(id));
        let scores: Vec<_> = episode
            .scores
            .iter()
            .map(|score| (&*score.name, score.value.as_f64()))
            .collect();
        assert_eq!(scores, [("right", Some(right)), ("short", Some(1.0))]);
        assert_eq!(
            (episode.environment.as_deref(), episode.model.as_deref()),
            (Some("sums"), Some("m"))
        );
        assert_eq!(episode.start.len(), 1);
        assert!(episode.raw.contains_key("state"));
    }
    assert!(first.raw.contains_key("odd") && !second.raw.contains_key("odd"));
    // Two files do not affect each other, and each keeps what a neighbouring file says.
    let columns = || {
        InputFile {
        name: Some("columns.json".into()),
        bytes: br#"{"metadata": {"env_id": "a", "model": "b"}, "prompt": ["x"], "completion": ["y"], "reward": [1]}"#.to_vec(),
    }
    };
    let both = import(&[columns(), columns()]).unwrap();
    assert_eq!(both.episodes.len(), 2);
    let about = InputFile {
        name: Some("metadata.json".into()),
        bytes: br#"{"env_id": "c", "model": "d"}"#.to_vec(),
    };
    let told = import(&[columns(), about]).unwrap();
    let [told] = told.episodes.as_slice() else {
        panic!("{:?}", told.notes);
    };
    assert_eq!(told.model.as_deref(), Some("d"));
    assert!(told.raw.contains_key("metadata"), "{:?}", told.raw);
    // A row is no column, however many messages it has.
    let row = only(r#"{"prompt": ["a"], "completion": ["b"], "reward": 1}"#);
    assert_eq!(row.reward(), Some(1.0));
    let nothing = InputFile {
        name: Some("results.json".into()),
        bytes: br#"{"prompt": [], "completion": [], "reward": []}"#.to_vec(),
    };
    assert!(import(&[nothing]).is_err());
}
