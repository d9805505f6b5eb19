//! What libraries and services for agents write: histories, results, batches, traces.

use volary_core::json::Json;
use volary_episode::{Ending, Relation, Rewards};
use volary_formats::import::{NoteLevel, import};

use crate::tools::{assert_linked, errors, format, notes, read, shapes, told};
use crate::{Shape, fixture};

/// The file is one that Pydantic AI wrote.
#[test]
fn pydantic_ai() {
    let outcome = read("pydantic-ai.json");
    assert_eq!(shapes(&outcome), [Shape(2, 2, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "pydantic-ai");
    assert_linked(episode);
    assert_eq!(
        told(episode),
        "I look.>look{\"at\":\"shed\"}+look{\"at\":\"attic\"} | look<{\"boxes\": 2} | look<The attic is locked. | assistant:Two."
    );
    let start: Vec<String> = episode
        .start
        .iter()
        .map(|message| message.body().content_or_empty().to_owned())
        .collect();
    assert_eq!(start.len(), 3);
    assert!(start.contains(&"Count well.".to_owned()) && start.contains(&"Be brief.".to_owned()));
    assert!(start[2].contains("data:image/png;base64,YWJj"), "{start:?}");
    let step = &episode.steps[0];
    assert_eq!(step.details.reasoning.as_deref(), Some("Two places."));
    let usage = step.details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.cached, usage.output),
        (Some(100), Some(40), Some(10))
    );
    assert_eq!(errors(episode), [(Some("c2"), "The attic is locked.")]);
    assert!(episode.started.is_some() && episode.model.is_some());
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
}

#[test]
fn pydantic_ai_one_history_per_line() {
    let whole = String::from_utf8(fixture("pydantic-ai.json").bytes).unwrap();
    let line = Json::parse(&whole).unwrap().to_compact_text();
    let lines = format!("{line}\n{{\"id\": \"x\", \"messages\": {line}, \"score\": 1}}\n");
    let file = volary_formats::import::InputFile {
        name: Some("runs.jsonl".into()),
        bytes: lines.into_bytes(),
    };
    let outcome = import(&[file]).unwrap();
    let ids = outcome.episodes.iter().map(|episode| &*episode.id);
    assert_eq!(ids.collect::<Vec<_>>(), ["runs-1", "x"]);
    assert_eq!(outcome.episodes[1].raw.get("score"), Some(&Json::from(1)));
}

/// The file is one that AutoGen wrote.
#[test]
fn autogen() {
    let outcome = read("autogen.json");
    assert_eq!(shapes(&outcome), [Shape(5, 2, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "autogen");
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">look{\"at\":\"shed\"}+look{\"at\":\"attic\"} | look<two | look<locked | assistant:two\nlocked | \
         assistant:Over to you. | assistant:Two. TERMINATE | assistant:done"
    );
    assert_eq!(
        (episode.outcome.as_deref(), &episode.ending),
        (Some("Text 'TERMINATE' mentioned"), &Ending::Done)
    );
    let step = &episode.steps[0];
    assert_eq!(step.details.reasoning.as_deref(), Some("Look first."));
    assert_eq!(step.details.usage.unwrap().output, Some(10));
    assert_eq!(step.extras.get("source"), Some(&Json::from("counter")));
    assert_eq!(errors(episode), [(Some("c2"), "locked")]);
}

#[test]
fn autogen_teams() {
    let outcome = read("autogen-team.json");
    assert_eq!(
        shapes(&outcome),
        [Shape(1, 0, 0, None), Shape(2, 1, 0, None)]
    );
    let [team, agent] = outcome.episodes.as_slice() else {
        panic!()
    };
    assert_eq!(told(team), "assistant:Two.");
    assert_eq!(
        told(agent),
        ">look{\"at\":\"shed\"} | look<two | assistant:Two."
    );
    assert_eq!(&*agent.name, "counter");
    assert_eq!(
        (agent.links[0].relation, &agent.links[0].episode),
        (Relation::Parent, &team.id)
    );
    assert_eq!(team.links[0].relation, Relation::Subagent);
}

/// The first line is one that Docent wrote.
#[test]
fn docent() {
    let outcome = read("docent.jsonl");
    let [run, first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(format(run), "docent");
    assert_linked(run);
    assert_eq!(
        told(run),
        "I look.>look{\"at\":\"shed\"}+look{\"at\":\"attic\"} | look<two | look< | assistant:Two."
    );
    assert_eq!(errors(run), [(Some("c2"), "locked")]);
    assert_eq!(
        (&*run.name, run.model.as_deref(), run.scores.len()),
        ("run 1", Some("model-a"), 2)
    );
    assert_eq!(run.task().map(|task| &*task.id), Some("boxes"));
    assert_eq!(run.metadata.get("k"), Some(&Json::from(1)));
    assert_eq!(
        (&*first.id, &*first.name, &*second.id),
        ("old/1", "first", "old/2")
    );
    assert_eq!((second.start.len(), second.steps.len()), (1, 0));
}

#[test]
fn openai_batches() {
    let requests = fixture("openai-batch-input.jsonl");
    let results = fixture("openai-batch-output.jsonl");
    let outcome = import(&[requests.clone(), results.clone()]).unwrap();
    let [responses, chat, refused] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(format(chat), "openai-batch");
    assert_eq!(
        (&*chat.id, chat.start.len(), chat.tools.len()),
        ("q-1", 4, 1)
    );
    assert_eq!(told(chat), ">look{\"at\":\"shed\"}");
    assert_eq!(chat.model.as_deref(), Some("model-a-2026"));
    assert_eq!(chat.usage().output, Some(8));
    assert_eq!(
        (told(responses), responses.start.len()),
        ("assistant:None.".into(), 2)
    );
    assert_eq!(
        responses.steps[0].details.reasoning.as_deref(),
        Some("It is locked.")
    );
    let usage = responses.usage();
    assert_eq!(
        (usage.input, usage.cached, usage.reasoning),
        (Some(20), Some(5), Some(6))
    );
    assert!(matches!(responses.ending, Ending::Truncated { .. }));
    assert_eq!(
        refused.ending,
        Ending::Crashed {
            message: "Rate limit reached.".into()
        }
    );
    assert_eq!(
        notes(&outcome, NoteLevel::Unreadable),
        ["Without a result, and omitted: 1 request."]
    );
    // Alone, either has what it has.
    let asked = import(&[requests]).unwrap();
    assert_eq!(asked.episodes.len(), 4);
    assert!(asked.episodes.iter().all(|one| one.ending == Ending::Open));
    let answered = import(&[results]).unwrap();
    assert_eq!(told(&answered.episodes[1]), ">look{\"at\":\"shed\"}");
    assert_eq!(answered.episodes[1].rewards, Rewards::Unknown);
}

/// The file is one that the SDK's own classes wrote.
#[test]
fn openai_agents() {
    let outcome = read("openai-agents.jsonl");
    let [counter, speaker] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(format(counter), "openai-agents");
    assert_linked(counter);
    let failed = "An error occurred while running the tool. Please try again.";
    assert_eq!(
        told(counter),
        format!(
            ">look{{\"at\":\"shed\"}}+look{{\"at\":\"attic\"}} | look<two | look<{failed} | >transfer_to_speaker{{}}"
        )
    );
    assert_eq!((&*counter.name, counter.start.len()), ("counter", 2));
    assert_eq!(counter.model.as_deref(), Some("model-a"));
    assert_eq!(
        (counter.usage().input, counter.usage().output),
        (Some(200), Some(10))
    );
    assert_eq!(
        errors(counter),
        [(
            Some("c2"),
            "Error running tool (non-fatal): Tool execution failed. Error details are redacted."
        )]
    );
    assert_eq!(told(speaker), "assistant:Two.");
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
}

#[test]
fn langfuse() {
    let outcome = read("langfuse.json");
    assert_eq!(shapes(&outcome), [Shape(2, 2, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "langfuse");
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">look{\"at\":\"shed\"}+look{\"at\":\"attic\"} | look<two | look<It is locked. | assistant:Two."
    );
    assert_eq!((&*episode.id, &*episode.name), ("t1", "count"));
    assert_eq!(
        (episode.start.len(), episode.tools.len(), episode.seconds),
        (2, 1, Some(6.0))
    );
    let usage = episode.steps[0].details.usage.unwrap();
    assert_eq!(
        (usage.input, usage.cached, usage.output, usage.cost),
        (Some(100), Some(40), Some(10), Some(0.02))
    );
    assert_eq!(errors(episode), [(Some("c2"), "locked")]);
    assert_eq!(episode.task().map(|task| &*task.id), Some("s1"));
    let scores: Vec<(&str, &Json, Option<&str>)> = episode
        .scores
        .iter()
        .map(|score| (&*score.name, &score.value, score.explanation.as_deref()))
        .collect();
    assert_eq!(
        scores,
        [
            (
                "right",
                &Json::from(0.5),
                Some("It did not look in the attic.")
            ),
            ("tone", &Json::from("dry"), None)
        ]
    );
}

/// Observations one a line, in snake case, without their trace.
#[test]
fn langfuse_observations() {
    let lines = [
        r#"{"id": "o1", "trace_id": "t", "type": "GENERATION", "name": "ask", "start_time": "2026-02-01 10:00:01.000", "end_time": "2026-02-01 10:00:02.000", "parent_observation_id": "", "input": "[{\"role\": \"user\", \"content\": \"Hi\"}]", "output": "\"Hello.\"", "provided_model_name": "model-a", "usage_details": {"input": 3, "output": 1}}"#,
        r#"{"id": "o2", "trace_id": "u", "type": "GENERATION", "name": "ask", "start_time": "2026-02-01 10:00:03.000", "parent_observation_id": null, "input": "Bye", "output": "Good-bye."}"#,
    ];
    let file = volary_formats::import::InputFile {
        name: Some("observations.jsonl".into()),
        bytes: lines.join("\n").into_bytes(),
    };
    let outcome = import(&[file]).unwrap();
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(
        (first.usage().input, first.model.as_deref()),
        (Some(3), Some("model-a"))
    );
    assert_eq!(told(second), "assistant:Good-bye.");
}

#[test]
fn langsmith() {
    let outcome = read("langsmith.jsonl");
    assert_eq!(shapes(&outcome), [Shape(2, 1, 0, None)]);
    let episode = &outcome.episodes[0];
    assert_eq!(format(episode), "langsmith");
    assert_linked(episode);
    assert_eq!(
        told(episode),
        ">look{\"at\":\"shed\"} | look<two | assistant:Two."
    );
    assert_eq!((&*episode.id, &*episode.name), ("r0", "counter"));
    assert_eq!((episode.start.len(), episode.tools.len()), (2, 1));
    let usage = episode.usage();
    assert_eq!(
        (usage.input, usage.cached, usage.output),
        (Some(220), Some(40), Some(12))
    );
    assert!((usage.cost.unwrap() - 0.03).abs() < 1e-9);
    let models = episode
        .steps
        .iter()
        .map(|step| step.details.model.as_deref());
    assert_eq!(
        models.collect::<Vec<_>>(),
        [Some("model-a"), Some("model-b")]
    );
    assert_eq!(
        (&*episode.scores[0].name, &episode.scores[0].value),
        ("right", &Json::from(0.5))
    );
    assert_eq!(episode.task().map(|task| &*task.id), Some("th1"));
    assert!(!format!("{outcome:?}").contains("not-to-be-kept"));
}

/// Settings of a request may have keys; they are not imported.
#[test]
fn keys_among_settings_are_left_out() {
    let batch = r#"{"custom_id": "q", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0, "extra_headers": {"x": "not-to-be-kept"}, "extra_body": {"Api-Key": "not-to-be-kept", "top_k": 1}}}"#;
    let trace = r#"{"object": "trace.span", "id": "s", "trace_id": "t", "span_data": {"type": "generation", "input": [{"role": "user", "content": "Hi"}], "output": [{"role": "assistant", "content": "Hello."}], "model": "m", "model_config": {"temperature": 0, "extra_headers": {"Authorization": "not-to-be-kept"}}}}"#;
    let observation = r#"{"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "2026-02-01T10:00:01Z", "input": "Hi", "output": "Hello.", "modelParameters": {"temperature": 0, "api_key": "not-to-be-kept"}}"#;
    for text in [batch, trace, observation] {
        let file = volary_formats::import::InputFile {
            name: Some("x.json".into()),
            bytes: text.as_bytes().to_vec(),
        };
        let outcome = import(&[file]).unwrap();
        let all = format!("{outcome:?}");
        assert!(all.contains("temperature"), "{all}");
        assert!(!all.contains("not-to-be-kept"), "{all}");
    }
}
