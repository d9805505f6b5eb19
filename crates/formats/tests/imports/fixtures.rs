//! Files of our own making, one of each format: what is in them is found.

use volary_core::AnyMessage;
use volary_core::json::Json;
use volary_episode::{Ending, Episode, Relation, Rewards};
use volary_formats::import::{ImportOutcome, InputFile, NoteLevel, import};

use crate::tools::notes;
use crate::{Shape, fixture, shape};

fn imported(names: &[&str]) -> ImportOutcome {
    let files: Vec<_> = names.iter().map(|name| fixture(name)).collect();
    import(&files).unwrap()
}

fn shapes(outcome: &ImportOutcome) -> Vec<Shape> {
    outcome.episodes.iter().map(shape).collect()
}

fn links(episode: &Episode) -> Vec<(Relation, &str, Option<usize>)> {
    let links = episode.links.iter();
    links
        .map(|link| (link.relation, &*link.episode, link.step))
        .collect()
}

/// Every answer names a call of an action before it.
fn assert_linked(episode: &Episode) {
    let mut known = Vec::new();
    for message in episode.messages() {
        match message {
            AnyMessage::Request(request) => {
                known.extend(request.tool_calls.iter().map(|call| call.id.clone()));
            }
            AnyMessage::Response(response) => {
                assert!(known.contains(&response.tool_call_id), "{response:?}");
                assert!(!response.name.is_empty());
            }
            AnyMessage::Plain(_) => {}
        }
    }
}

#[test]
fn atif_with_a_subagent_and_a_continuation() {
    let outcome = imported(&["atif.json", "atif-continued.json"]);
    assert_eq!(
        shapes(&outcome),
        [
            Shape(2, 2, 0, Some(1.5)),
            Shape(1, 0, 0, None),
            Shape(1, 0, 0, None)
        ]
    );
    let [main, helper, continued] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_linked(main);
    assert_eq!(
        links(main),
        [
            (Relation::Subagent, "t2", Some(0)),
            (Relation::Continuation, "s1", None)
        ]
    );
    assert_eq!(links(helper), [(Relation::Parent, "t1", None)]);
    assert_eq!(links(continued), [(Relation::Predecessor, "t1", None)]);
    assert_eq!(main.start.len(), 2);
    assert_eq!(main.tools[0].info.name.as_ref(), "look");
    assert_eq!(main.ending, Ending::Done);
    assert_eq!(main.model.as_deref(), Some("model-a"));
    assert_eq!(main.usage().input, Some(230));
    assert_eq!(main.seconds, Some(5.0));
    assert_eq!(main.metadata.get("run"), Some(&Json::from(7)));
    let step = &main.steps[0];
    assert_eq!(
        step.details.reasoning.as_deref(),
        Some("A box must be opened.")
    );
    assert_eq!(step.details.usage.unwrap().cached, Some(40));
    assert_eq!(step.seconds, Some(2.5));
    assert_eq!(
        Json::from(step.extras.clone()).to_python_text(),
        r#"{"metrics": {"logprobs": [-0.1]}, "extra": {"note": "kept"}}"#
    );
    assert_eq!(
        continued.source.as_ref().unwrap().version.as_deref(),
        Some("1.2")
    );
    assert_eq!(continued.raw.get("unheard_of"), Some(&Json::Bool(true)));
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
}

#[test]
fn the_result_of_a_trial_judges_its_trajectory() {
    let mut trajectory = fixture("atif.json");
    trajectory.name = Some("trial-1/agent/trajectory.json".into());
    let mut result = fixture("atif.json");
    result.name = Some("trial-1/result.json".into());
    result.bytes = br#"{"task_name": "boxes", "trial_name": "boxes__1", "verifier_result": {"rewards": {"reward": 0.75, "style": 1}}, "exception_info": null}"#.to_vec();
    let outcome = import(&[result, trajectory]).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(episode.rewards, Rewards::Whole(0.75));
    assert_eq!(episode.scores.len(), 2);
    assert_eq!(episode.task().unwrap().id.as_ref(), "boxes");
    assert_eq!(episode.name.as_ref(), "boxes__1");
}

#[test]
fn inspect_logs_in_every_packing_are_the_same() {
    let json = imported(&["inspect.json"]);
    assert_eq!(
        shapes(&json),
        [
            Shape(2, 1, 3, Some(1.0)),
            Shape(0, 0, 0, None),
            Shape(0, 0, 0, None)
        ]
    );
    let told = |outcome: &ImportOutcome| -> Vec<Episode> {
        let episodes = outcome.episodes.iter().cloned();
        episodes
            .map(|mut episode| {
                episode.source = None;
                // The header of a log has no samples; that of the object has.
                episode.raw.remove("log");
                episode
            })
            .collect()
    };
    for name in ["inspect-zstd.eval", "inspect-stored.eval"] {
        let packed = imported(&[name]);
        assert_eq!(told(&packed), told(&json), "{name}");
        assert_eq!(notes(&packed, NoteLevel::Unreadable), [""; 0]);
    }
    let chunked = imported(&["inspect-chunked.eval"]);
    assert_eq!(told(&chunked), told(&json)[..1]);
}

#[test]
fn an_inspect_sample_has_all_data_of_its_events() {
    let outcome = imported(&["inspect.json"]);
    let [whole, broken, limited] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_linked(whole);
    let text = whole.start[1].body().content.as_deref().unwrap();
    assert!(text.starts_with("A long question."), "{text}");
    let step = &whole.steps[0];
    assert_eq!(step.details.reasoning.as_deref(), Some("Hm."));
    assert_eq!(step.details.errors[0].message.as_ref(), "Slow.");
    assert_eq!(step.details.errors[0].call.as_deref(), Some("c1"));
    assert_eq!(step.seconds, Some(2.5));
    let usage = step.details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.cached, usage.output),
        (Some(100), Some(40), Some(10))
    );
    assert_eq!(whole.usage().input, Some(220));
    let counts: Vec<String> = (0..3)
        .map(|frame| whole.frames.get(frame).unwrap().state.to_python_text())
        .collect();
    assert_eq!(
        counts,
        [r#"{"count": 0}"#, r#"{"count": 1}"#, r#"{"count": 2}"#]
    );
    assert_eq!(whole.scores.len(), 2);
    assert_eq!(whole.scores[0].explanation.as_deref(), Some("Right."));
    assert_eq!(whole.tools[0].info.name.as_ref(), "add");
    assert_eq!(whole.metadata.get("level"), Some(&Json::from(2)));
    assert!(matches!(&broken.ending, Ending::Crashed { message } if &**message == "It broke."));
    assert!(
        matches!(&limited.ending, Ending::Truncated { reason } if reason.contains("token limit of 500"))
    );
    assert_eq!(broken.name.as_ref(), "sums 2, epoch 2");
}

#[test]
fn an_ldp_trajectory_has_its_transitions() {
    let outcome = imported(&["ldp.jsonl"]);
    assert_eq!(shapes(&outcome), [Shape(2, 1, 3, Some(1.25))]);
    let episode = &outcome.episodes[0];
    assert_linked(episode);
    assert_eq!(episode.id.as_ref(), "traj-7");
    assert_eq!(episode.ending, Ending::Done);
    assert_eq!(
        episode.steps[0].extras.get("value"),
        Some(&Json::Float(0.5))
    );
}

#[test]
fn a_claude_code_session_has_its_subagent_and_its_branch() {
    let outcome = imported(&["claude-code.jsonl"]);
    assert_eq!(
        shapes(&outcome),
        [
            Shape(3, 2, 0, None),
            Shape(3, 2, 0, None),
            Shape(1, 0, 0, None)
        ]
    );
    let [main, branch, agent] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes);
    };
    assert_linked(main);
    assert_eq!(main.name.as_ref(), "Fix the test");
    let step = &main.steps[0];
    assert_eq!(step.details.reasoning.as_deref(), Some("Where is it?"));
    assert_eq!(step.details.errors.len(), 1);
    let usage = step.details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.cached, usage.output),
        (Some(115), Some(100), Some(12))
    );
    assert_eq!(step.messages().len(), 2);
    assert_eq!(step.seconds, Some(4.0));
    assert_eq!(links(agent), [(Relation::Parent, "5e55", None)]);
    assert_eq!(links(branch)[0].0, Relation::Branch);
    let said = |episode: &Episode| episode.steps[2].action.body().content.clone().unwrap();
    assert_eq!((&*said(main), &*said(branch)), ("Welcome.", "Oh."));
}

#[test]
fn subagents_within_an_inspect_sample_are_lanes() {
    use volary_analysis::lanes::{LaneKind, Lanes};

    let log = r#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [
        {"id": "1", "epoch": 1, "input": "go", "target": "", "output": {}, "scores": {},
         "messages": [{"role": "user", "content": "go"},
            {"id": "a1", "role": "assistant", "content": "one"},
            {"id": "a2", "role": "assistant", "content": "two"},
            {"id": "a3", "role": "assistant", "content": "three"}],
         "events": [
            {"event": "span_begin", "id": "main", "type": "agent", "name": "main"},
            {"event": "model", "output": {"choices": [{"message": {"id": "a1", "role": "assistant", "content": "one"}}]}},
            {"event": "span_begin", "id": "s", "type": "agent", "name": "searcher"},
            {"event": "model", "output": {"choices": [{"message": {"id": "a2", "role": "assistant", "content": "two"}}]}},
            {"event": "span_end", "id": "s"},
            {"event": "model", "output": {"choices": [{"message": {"id": "a3", "role": "assistant", "content": "three"}}]}},
            {"event": "span_end", "id": "main"}]}]}"#;
    let file = InputFile {
        name: Some("log.json".to_owned()),
        bytes: log.as_bytes().to_vec(),
    };
    let episode = import(&[file]).unwrap().episodes.remove(0);
    let lanes = Lanes::of(&episode);
    let [lane] = lanes.lanes.as_slice() else {
        panic!("{lanes:?}");
    };
    let segment = &lane[0];
    assert_eq!(segment.kind, LaneKind::Subagent);
    assert_eq!(
        (&*segment.name, segment.from, segment.to),
        ("searcher", 1, 2)
    );
}

#[test]
fn a_stop_reason_of_inspect_is_an_outcome_only_if_it_cut_a_reply_short() {
    let outcome = |reason: &str| {
        let log = format!(
            r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "model": "m"}}, "samples": [
                {{"id": "1", "epoch": 1, "input": "go", "target": "", "scores": {{}},
                 "messages": [{{"role": "user", "content": "go"}}, {{"role": "assistant", "content": "one"}}],
                 "output": {{"choices": [{{"stop_reason": "{reason}"}}]}}}}]}}"#
        );
        let file = InputFile {
            name: Some("log.json".to_owned()),
            bytes: log.into_bytes(),
        };
        let episode = import(&[file]).unwrap().episodes.remove(0);
        let kept = episode.raw.get("stop_reason").cloned();
        (episode.outcome, kept)
    };
    for reason in ["stop", "tool_calls", "unknown"] {
        assert_eq!(outcome(reason), (None, Some(reason.into())), "{reason}");
    }
    for reason in ["max_tokens", "model_length", "content_filter"] {
        assert_eq!(outcome(reason), (Some(reason.into()), None), "{reason}");
    }
}
