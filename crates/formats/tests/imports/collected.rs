//! Files of coding agents, browser agents, frameworks and evaluations, one of each format, with exact counts.

use volary_core::AnyMessage;
use volary_core::json::Json;
use volary_episode::{Ending, Episode};
use volary_formats::archive::Packer;
use volary_formats::import::{ImportOutcome, InputFile, NoteLevel, import};

use crate::tools::{assert_linked, errors, format, notes, read, shapes, told};
use crate::{Shape, fixture};

fn named(name: &str, content: impl Into<Vec<u8>>) -> InputFile {
    InputFile {
        name: Some(name.into()),
        bytes: content.into(),
    }
}

/// The only episode of a fixture, of this format and shape, with nothing lost.
fn only(name: &str, id: &str, expected: Shape) -> Episode {
    let mut outcome = read(name);
    assert_eq!(shapes(&outcome), [expected], "{name}");
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0], "{name}");
    let episode = outcome.episodes.remove(0);
    assert_eq!(format(&episode), id);
    assert_linked(&episode);
    episode
}

fn start(episode: &Episode) -> Vec<String> {
    let texts = episode.start.iter();
    texts
        .map(|message| {
            let text = message.body().content_or_empty();
            format!("{}:{text}", message.role().as_str())
        })
        .collect()
}

fn scores(episode: &Episode) -> Vec<(&str, String, Option<&str>)> {
    let scores = episode.scores.iter();
    scores
        .map(|score| {
            let value = score.value.to_compact_text();
            (&*score.name, value, score.explanation.as_deref())
        })
        .collect()
}

fn task(episode: &Episode) -> (&str, &str) {
    let task = episode.task().unwrap();
    (&task.dataset, &task.id)
}

/// The tokens of each step: input and output.
fn tokens(episode: &Episode) -> Vec<(Option<u64>, Option<u64>)> {
    let steps = episode.steps.iter();
    let usages = steps.map(|step| step.details.usage.unwrap_or_default());
    usages.map(|usage| (usage.input, usage.output)).collect()
}

fn models(episode: &Episode) -> Vec<Option<&str>> {
    let steps = episode.steps.iter();
    steps.map(|step| step.details.model.as_deref()).collect()
}

fn thought(episode: &Episode, step: usize) -> Option<&str> {
    episode.steps[step].details.reasoning.as_deref()
}

#[test]
fn browser_use_has_thoughts_pages_and_results() {
    let episode = only("browser-use.json", "browser-use", Shape(3, 3, 0, None));
    assert_eq!(
        told(&episode),
        "Fill the name.>input_text{\"index\":1,\"text\":\"Ada\"}+click_element{\"index\":2} | \
         input_text<Typed Ada. | click_element<Element 2 is gone. | \
         user:Page 2\nhttps://shop.example/2 | assistant: | user:The model did not answer. | \
         user:Page 2\nhttps://shop.example/2 | \
         Give up.>done{\"text\":\"The button is gone.\",\"success\":false} | \
         done<The button is gone."
    );
    let page = episode.start[0].body().content_or_empty();
    assert!(page.contains("data:image/png;base64,iVBORw0KGgo="));
    assert_eq!(thought(&episode, 0), Some("The form has a name."));
    let memory = episode.steps[2].extras.get("memory");
    assert_eq!(memory, Some(&"The button is gone.".into()));
    let step = &episode.steps[0];
    assert_eq!(
        (step.seconds, tokens(&episode)[0].0),
        (Some(2.5), Some(120))
    );
    let told: Vec<_> = errors(&episode).into_iter().map(|(_, text)| text).collect();
    assert_eq!(told, ["Element 2 is gone.", "The model did not answer."]);
    assert_eq!(episode.outcome.as_deref(), Some("failure"));
    let told = scores(&episode);
    assert_eq!((told[0].0, &*told[0].1), ("success", "false"));
    assert_eq!(told[1].2, Some("The form was not sent."));
    assert_eq!(episode.ending, Ending::Done);
}

#[test]
fn aider_headings_of_a_reply_are_not_the_user() {
    let outcome = read("aider.md");
    assert_eq!(
        shapes(&outcome),
        [Shape(2, 0, 0, None), Shape(1, 0, 0, None)]
    );
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
    assert_eq!(
        notes(&outcome, NoteLevel::Read),
        ["Aider: 2 sessions; 1 without messages."]
    );
    let first = &outcome.episodes[0];
    assert_eq!(format(first), "aider");
    assert_eq!(start(first)[1], "user:add a lock to the shed\nand test it");
    let reply = first.steps[0].action.body().content_or_empty();
    assert!(reply.starts_with("I will add a lock.\n\n#### Plan\n"));
    assert!(reply.contains("#### nor of the user"));
    assert_eq!(first.model.as_deref(), Some("model-a"));
    assert_eq!(
        tokens(first),
        [(Some(2500), Some(120)), (Some(3000), Some(9))]
    );
    assert!((first.usage().cost.unwrap() - 0.012).abs() < 1e-9);
    assert!(first.started.is_some());
    assert_eq!(told(&outcome.episodes[1]), "assistant:It is open.");
}

#[test]
fn specstory_has_calls_with_results() {
    let episode = only("specstory.md", "specstory", Shape(3, 2, 0, None));
    assert_eq!(
        told(&episode),
        "Let me look.>Bash{\"shown\":\"List the shed\\n\\n`ls shed`\",\"kind\":\"shell\"} | \
         Bash<box-1\n_**User**_\nbox-2 | \
         >TodoWrite{\"shown\":\"- [X] Look\",\"kind\":\"task\"} | assistant:Two. | user:Thanks."
    );
    assert_eq!(start(&episode), ["user:How many boxes are in the shed?"]);
    assert_eq!(thought(&episode, 0), Some("I must look."));
    assert_eq!(
        (&*episode.id, episode.policy.as_deref()),
        ("s-1", Some("Claude Code"))
    );
    assert_eq!(models(&episode), [Some("model-a"); 3]);
}

#[test]
fn a_session_of_cline_has_models_tokens_and_instructions() {
    let episode = only("cline-session.json", "cline", Shape(2, 1, 0, None));
    assert_eq!(
        start(&episode),
        ["system:Be brief.", "user:How many boxes?"]
    );
    assert_eq!(
        told(&episode),
        "I look.>read_files{\"path\":\"shed\"} | read_files<two | assistant:Two."
    );
    assert_eq!(
        models(&episode),
        [Some("maker/model-a"), Some("maker/model-b")]
    );
    assert_eq!(
        tokens(&episode),
        [(Some(100), Some(20)), (Some(130), Some(4))]
    );
    let usage = episode.usage();
    assert_eq!(usage.cached, Some(60));
    assert!((usage.cost.unwrap() - 0.3).abs() < 1e-9);
    assert_eq!(&*episode.id, "1770000000_abc");
}

#[test]
fn terminal_bench_runs_have_tasks_and_scores() {
    let outcome = read("terminal-bench.json");
    assert_eq!(
        shapes(&outcome),
        [Shape(0, 0, 0, Some(1.0)), Shape(0, 0, 0, Some(0.0))]
    );
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
    let [shed, attic] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(format(shed), "terminal-bench");
    assert_eq!(
        (task(shed), shed.seconds),
        (("terminal-bench", "shed"), Some(240.0))
    );
    assert_eq!(start(shed), ["user:Open the shed."]);
    assert_eq!(
        scores(shed),
        [
            ("is_resolved", "true".into(), None),
            ("test_shed", "\"passed\"".into(), None)
        ]
    );
    assert!(matches!(attic.ending, Ending::Truncated { .. }));
    let usage = attic.usage();
    assert_eq!((usage.input, usage.output), (Some(900), Some(50)));
    assert!(shed.usage().is_empty(), "0 tokens are unknown");
}

/// The result of a run, and a folder of one of its trials.
fn trial(more: &[(&str, &str)]) -> ImportOutcome {
    let run = fixture("terminal-bench.json");
    let value = Json::parse(std::str::from_utf8(&run.bytes).unwrap()).unwrap();
    let first = value.get("results").unwrap().as_list().unwrap()[0].to_compact_text();
    let mut files = vec![
        named("run/results.json", run.bytes),
        named("run/shed/results.json", first),
        named("run/shed/panes/post-agent.txt", "root#\n\n"),
    ];
    for (name, text) in more {
        files.push(named(&format!("run/shed/{name}"), *text));
    }
    import(&files).unwrap()
}

#[test]
fn a_recording_of_a_trial_is_read_as_text() {
    let cast = concat!(
        "{\"version\": 2, \"width\": 80, \"height\": 24, \"timestamp\": 1770000000}\n",
        "[0.1, \"o\", \"\\u001b[?2004hroot# \"]\n",
        "[1.0, \"i\", \"ls\"]\n",
        "[1.1, \"o\", \"ls\"]\n",
        "[1.5, \"i\", \"\\r\"]\n",
        "[1.6, \"o\", \"\\r\\n\\u001b[0;32mbox\\u001b[0m\\r\\nroot# \"]\n",
        "[9.0, \"i\", \"\\u0004\"]\n",
    );
    let outcome = trial(&[("sessions/agent.cast", cast)]);
    assert_eq!(
        shapes(&outcome),
        [Shape(2, 2, 0, Some(1.0)), Shape(0, 0, 0, Some(0.0))],
        "the trial is not there twice: {:?}",
        outcome.notes
    );
    let episode = &outcome.episodes[0];
    assert_eq!(
        told(episode),
        ">type{\"keys\":\"ls\\n\"} | type<ls\nbox\nroot#  | >type{\"keys\":\"^D\"} | type<"
    );
    assert_eq!(episode.steps[0].details.started, Some(1_770_000_001.0));
    let kept = episode.metadata.get("panes/post-agent.txt");
    assert_eq!(kept, Some(&"root#".into()));
}

#[test]
fn logs_of_terminus_are_turns() {
    let outcome = trial(&[
        (
            "agent-logs/episode-0/prompt.txt",
            "Open the shed. Answer in JSON.",
        ),
        ("agent-logs/episode-0/response.txt", "{\"commands\": []}"),
        ("agent-logs/episode-1/prompt.txt", "root#"),
        ("agent-logs/episode-1/response.txt", "done"),
        ("agent-logs/episode-1/debug.json", "{}"),
    ]);
    let episode = &outcome.episodes[0];
    assert_eq!(start(episode), ["user:Open the shed. Answer in JSON."]);
    assert_eq!(
        told(episode),
        "assistant:{\"commands\": []} | user:root# | assistant:done"
    );
}

#[test]
fn the_resolver_of_openhands_has_issues_and_verdicts() {
    let episode = only(
        "openhands-resolver.jsonl",
        "openhands",
        Shape(3, 2, 0, None),
    );
    assert_eq!(task(&episode), ("openhands", "boxes/shed#5"));
    assert_eq!(start(&episode), ["user:Open the shed."]);
    assert_eq!(
        told(&episode),
        "I open it.>run{\"command\":\"open shed\",\"keep_prompt\":true} | run<opened | \
         assistant:May I close it? | user:No. | It is open.>finish{\"outputs\":{}}"
    );
    assert_eq!(scores(&episode), [("success", "true".into(), None)]);
    assert_eq!(episode.usage().cost, Some(0.5));
    assert!(episode.metadata.contains_key("git_patch"));
    assert_eq!(episode.ending, Ending::Done);
}

#[test]
fn google_adk_sessions() {
    let episode = only("google-adk.json", "google-adk", Shape(2, 1, 0, None));
    assert_eq!(start(&episode), ["user:How many boxes?"]);
    assert_eq!(
        told(&episode),
        "I look.>look{\"at\":\"shed\"} | look<{\"boxes\": 2} | assistant:Two."
    );
    assert_eq!(tokens(&episode)[0], (Some(30), Some(6)));
    assert_eq!(models(&episode), [Some("model-a"); 2]);
    assert_eq!(
        episode.steps[1].extras.get("author"),
        Some(&"helper".into())
    );
    assert_eq!(episode.policy.as_deref(), Some("counter"));
}

#[test]
fn google_adk_eval_sets() {
    let name = "google-adk-evalset.json";
    let episode = only(name, "google-adk", Shape(3, 1, 0, None));
    assert_eq!(task(&episode), ("boxes", "count"));
    assert_eq!(
        told(&episode),
        "assistant:One moment. | >look{\"at\":\"shed\"} | look<{\"boxes\": 2} | assistant:Two."
    );
}

#[test]
fn kimi_events_are_turns() {
    let episode = only("kimi.jsonl", "kimi", Shape(2, 2, 0, None));
    assert_eq!(
        start(&episode),
        ["system:Be brief.", "user:How many boxes?"]
    );
    assert_eq!(
        told(&episode),
        "I look.>Look{\"at\":\"shed\"}+Look{\"at\":\"attic\"} | Look<two | Look<It is locked. | \
         assistant:Two."
    );
    assert_eq!(thought(&episode, 0), Some("Two places."));
    assert_eq!(errors(&episode), [(Some("c2"), "It is locked.")]);
    assert_eq!(
        tokens(&episode),
        [(Some(100), Some(12)), (Some(120), Some(2))]
    );
    assert_eq!(models(&episode), [Some("model-a"); 2]);
    assert_eq!(episode.tools.len(), 1);
}

#[test]
fn earlier_kimi_events_are_turns() {
    let episode = only("kimi-old.jsonl", "kimi", Shape(2, 1, 0, None));
    assert_eq!(
        told(&episode),
        ">Look{\"at\":\"shed\"} | Look<two | assistant:Two."
    );
    assert_eq!(thought(&episode, 0), Some("I must look."));
    assert_eq!(tokens(&episode)[0], (Some(13), Some(5)));
}

#[test]
fn toolbench_answers() {
    let episode = only("toolbench.json", "toolbench", Shape(2, 2, 0, None));
    assert_eq!(start(&episode).len(), 2);
    assert_eq!(
        told(&episode),
        ">look{\"at\":\"shed\"} | look<{\"error\": \"\", \"response\": \"two\"} | \
         Two.>Finish{\"return_type\":\"give_answer\",\"final_answer\":\"Two.\"}"
    );
    assert_eq!(task(&episode), ("toolbench", "How many boxes?"));
    assert_eq!(scores(&episode), [("win", "true".into(), None)]);
    assert_eq!(episode.outcome.as_deref(), Some("give_answer"));
    assert_eq!(episode.tools.len(), 1);
    assert!(episode.raw.contains_key("tree"));
}

#[test]
fn toolbench_trees_without_messages_are_read_to_their_last_leaf() {
    let text = String::from_utf8(fixture("toolbench.json").bytes).unwrap();
    let text = text.replace("\"train_messages\"", "\"others\"");
    let outcome = import(&[named("answer.json", text)]).unwrap();
    assert_eq!(
        told(&outcome.episodes[0]),
        "I look.>look{\"at\":\"shed\"} | look<{\"response\": \"two\"} | \
         >Finish{\"final_answer\":\"Two.\"} | Finish<{}"
    );
}

#[test]
fn evalscope_predictions_and_reviews() {
    let outcome = read("evalscope.jsonl");
    assert_eq!(
        shapes(&outcome),
        [Shape(1, 0, 0, None), Shape(1, 0, 0, Some(1.0))]
    );
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
    let [prediction, review] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(format(prediction), "evalscope");
    assert_eq!(task(prediction), ("evalscope", "3"));
    assert_eq!(told(prediction), "assistant:Two.");
    assert_eq!(prediction.model.as_deref(), Some("model-a-2026"));
    let usage = prediction.usage();
    assert_eq!(
        (usage.input, usage.cached, usage.output),
        (Some(16), Some(4), Some(3))
    );
    assert_eq!(prediction.seconds, Some(1.5));
    assert_eq!(
        scores(review),
        [
            ("strict", "0.0".into(), None),
            ("loose", "1.0".into(), Some("One is missing."))
        ]
    );
    assert_eq!(review.metadata.get("target"), Some(&"Two.".into()));
}

/// A prediction and a review of EvalScope with this index and this reply.
fn evalscope(index: u64, reply: &str) -> [String; 2] {
    let messages = format!(
        r#"[{{"id": "m1", "role": "user", "content": "How many boxes?"}}, {{"id": "m2", "role": "assistant", "content": "{reply}", "source": "generate"}}]"#
    );
    [
        format!(
            r#"{{"index": {index}, "model": "model-a", "model_output": {{"model": "model-a-2026", "choices": [{{"message": {{"role": "assistant", "content": "{reply}"}}, "stop_reason": "stop"}}], "usage": {{"input_tokens": 16, "output_tokens": 3}}, "time": 1.5}}, "messages": {messages}, "metadata": {{"correct_answer": "Two."}}}}"#
        ),
        format!(
            r#"{{"index": {index}, "target": "Two.", "messages": {messages}, "trajectory": [{{"a": 1}}], "sample_score": {{"score": {{"value": {{"strict": 0.0, "loose": 1.0}}, "extracted_prediction": "two", "main_score_name": "loose"}}, "sample_id": {index}, "group_id": 2}}}}"#
        ),
    ]
}

#[test]
fn reviews_of_evalscope_are_joined_with_their_predictions() {
    let [[a, a_review], [b, b_review]] = [evalscope(3, "Two."), evalscope(4, "Three.")];
    let files = [
        named("run/predictions/model-a/boxes.jsonl", format!("{a}\n{b}\n")),
        named(
            "run/reviews/model-a/boxes.jsonl",
            format!("{b_review}\n{a_review}\n"),
        ),
    ];
    let mut zip = Packer::default();
    for file in &files {
        zip.add(file.name.as_deref().unwrap(), &file.bytes).unwrap();
    }
    let outcomes = [
        import(&files).unwrap(),
        import(&[named("run.zip", zip.finish().unwrap())]).unwrap(),
    ];
    for outcome in outcomes {
        assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
        let told_of = notes(&outcome, NoteLevel::Read).join(" ");
        assert!(
            told_of.contains("Predictions joined with their reviews: 2 samples."),
            "{told_of}"
        );
        let [first, second] = outcome.episodes.as_slice() else {
            panic!("{:?}", outcome.notes)
        };
        assert_eq!(told(first), "assistant:Two.");
        assert_eq!(told(second), "assistant:Three.");
        for (episode, id) in [(first, "3"), (second, "4")] {
            assert_eq!(task(episode), ("boxes", id));
            assert_eq!(&*episode.id, format!("boxes-{id}"));
            assert_eq!(episode.reward(), Some(1.0));
            assert_eq!(
                scores(episode),
                [
                    ("strict", "0.0".into(), None),
                    ("loose", "1.0".into(), None)
                ]
            );
            assert_eq!(episode.usage().output, Some(3));
            assert_eq!(episode.model.as_deref(), Some("model-a-2026"));
            assert_eq!(episode.metadata.get("target"), Some(&"Two.".into()));
            assert!(episode.metadata.contains_key("metadata"));
            assert!(episode.raw.contains_key("trajectory"));
        }
    }
}

#[test]
fn reviews_of_other_samples_stay_apart() {
    let [a, _] = evalscope(3, "Two.");
    let [_, other_reply] = evalscope(3, "Three.");
    let [_, same] = evalscope(3, "Two.");
    let [_, other_index] = evalscope(5, "Two.");
    let import_pair = |review: &str, folder: &str| {
        import(&[
            named("run/predictions/model-a/boxes.jsonl", format!("{a}\n")),
            named(&format!("{folder}/boxes.jsonl"), format!("{review}\n")),
        ])
        .unwrap()
    };
    let kept = |outcome: &ImportOutcome| {
        let kept = notes(outcome, NoteLevel::KeptRaw).join(" ");
        kept.contains("The reviews of 1 sample are separate episodes")
    };
    let outcome = import_pair(&other_reply, "run/reviews/model-a");
    assert_eq!((outcome.episodes.len(), kept(&outcome)), (2, true));
    for (review, folder) in [
        (&other_index, "run/reviews/model-a"),
        (&same, "run/reviews/model-b"),
        (&same, "other/reviews/model-a"),
    ] {
        let outcome = import_pair(review, folder);
        assert_eq!(
            (outcome.episodes.len(), kept(&outcome)),
            (2, false),
            "{folder}"
        );
        let ids = outcome.episodes.iter().map(|episode| &episode.id);
        let ids: std::collections::BTreeSet<_> = ids.collect();
        assert_eq!(ids.len(), 2);
    }
    // Loose files, without the folders.
    let loose = |review: &str| {
        import(&[
            named("p.jsonl", format!("{a}\n")),
            named("r.jsonl", format!("{review}\n")),
        ])
        .unwrap()
    };
    assert_eq!(loose(&same).episodes.len(), 1);
    assert_eq!(loose(&other_reply).episodes.len(), 2);
}

/// A result of an eval set of ADK with one case that has these members.
fn adk_result(members: &str) -> String {
    format!(
        r#"{{"eval_set_result_id": "desk_boxes_1770000000.5", "eval_set_result_name": "desk_boxes_1770000000.5", "eval_set_id": "boxes", "eval_case_results": [{{"eval_set_file": "boxes", "eval_set_id": "boxes", "eval_id": "count", "final_eval_status": 2, "eval_metric_results": [], "user_id": "u1", {members}}}], "creation_timestamp": 1770000000.5}}"#
    )
}

/// Turns with an actual and an expected answer.
fn adk_turns(count: usize) -> String {
    let content = |text: &str| format!(r#"{{"role": "model", "parts": [{{"text": "{text}"}}]}}"#);
    let turn = |number: usize| {
        let asked = r#"{"role": "user", "parts": [{"text": "How many boxes?"}]}"#;
        let invocation = |answer: &str| {
            format!(
                r#"{{"invocation_id": "i{number}", "user_content": {asked}, "final_response": {}, "intermediate_data": {{"tool_uses": [{{"id": "c{number}", "name": "look", "args": {{"at": "shed"}}}}], "tool_responses": [{{"id": "c{number}", "name": "look", "response": {{"n": 2}}}}], "intermediate_responses": []}}, "creation_timestamp": 1770000000.0}}"#,
                content(answer)
            )
        };
        format!(
            r#"{{"actual_invocation": {}, "expected_invocation": {}, "eval_metric_results": [{{"metric_name": "response_match_score", "threshold": 0.8, "score": 0.5, "eval_status": 2}}]}}"#,
            invocation("Three."),
            invocation("Two.")
        )
    };
    let turns: Vec<String> = (0..count).map(turn).collect();
    format!(
        r#""overall_eval_metric_results": [{{"metric_name": "tool_trajectory_avg_score", "threshold": 1.0, "score": 1.0, "eval_status": 1}}, {{"metric_name": "response_match_score", "threshold": 0.8, "score": null, "eval_status": 3}}], "eval_metric_result_per_invocation": [{}], "session_id": "s-1""#,
        turns.join(", ")
    )
}

#[test]
fn results_of_adk_are_runs_with_scores() {
    let text = adk_result(&format!("{}, \"session_details\": null", adk_turns(2)));
    let as_string = Json::from(text.clone()).to_compact_text();
    for text in [text, as_string] {
        let outcome = import(&[named("desk_boxes.evalset_result.json", text)]).unwrap();
        assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
        let [episode] = outcome.episodes.as_slice() else {
            panic!("{:?}", outcome.notes)
        };
        assert_eq!(format(episode), "google-adk");
        assert_linked(episode);
        assert_eq!((&*episode.id, &*episode.name), ("s-1", "count"));
        assert_eq!(task(episode), ("boxes", "count"));
        assert_eq!(
            told(episode),
            ">look{\"at\":\"shed\"} | look<{\"n\": 2} | assistant:Three. | user:How many boxes? | \
             >look{\"at\":\"shed\"} | look<{\"n\": 2} | assistant:Three."
        );
        assert_eq!(episode.reward(), Some(0.0));
        assert_eq!(episode.outcome.as_deref(), Some("failed"));
        assert_eq!(episode.ending, Ending::Done);
        assert_eq!(
            scores(episode),
            [
                ("tool_trajectory_avg_score", "1.0".into(), None),
                ("response_match_score", "null".into(), None),
                ("response_match_score, turn 1", "0.5".into(), None),
                ("response_match_score, turn 2", "0.5".into(), None),
            ]
        );
        let extras = &episode.scores[0].extras;
        assert_eq!(extras.get("status"), Some(&"passed".into()));
        assert_eq!(extras.get("threshold"), Some(&1.0.into()));
        let expected = episode.metadata.get("expected");
        assert_eq!(expected, Some(&"Two.\n\nTwo.".into()));
        assert!(episode.raw.contains_key("expected_invocations"));
    }
}

#[test]
fn a_result_of_adk_with_its_session_has_its_events() {
    let session = r#"{"id": "s-1", "app_name": "desk", "user_id": "u1", "state": {}, "events": [{"invocation_id": "i", "author": "user", "timestamp": 1770000000.0, "content": {"role": "user", "parts": [{"text": "How many boxes?"}]}}, {"invocation_id": "i", "author": "desk", "timestamp": 1770000002.0, "model_version": "model-a", "usage_metadata": {"prompt_token_count": 9, "candidates_token_count": 2}, "content": {"role": "model", "parts": [{"text": "Three."}]}}]}"#;
    let members = format!("{}, \"session_details\": {session}", adk_turns(1));
    let text = adk_result(&members).replace("\"final_eval_status\": 2", "\"final_eval_status\": 1");
    let outcome = import(&[named("a.json", text)]).unwrap();
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
    let episode = &outcome.episodes[0];
    assert_eq!(told(episode), "assistant:Three.");
    assert_eq!(models(episode), [Some("model-a")]);
    assert_eq!(tokens(episode), [(Some(9), Some(2))]);
    assert_eq!(episode.policy.as_deref(), Some("desk"));
    assert_eq!(episode.reward(), Some(1.0));
    assert_eq!(scores(episode).len(), 2, "one turn is the whole");
}

#[test]
fn first_results_of_adk_pair_metrics_with_results() {
    let members = r#""eval_metric_results": [[{"metric_name": "response_match_score", "threshold": 0.8}, {"score": 0.9, "eval_status": 1}]], "session_id": "s-2", "finalEvalStatus": 3, "error_message": "no model""#;
    let text = adk_result(members)
        .replace("\"eval_metric_results\": [], ", "")
        .replace("\"final_eval_status\": 2, ", "");
    let outcome = import(&[named("a.json", text)]).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(
        scores(episode),
        [("response_match_score", "0.9".into(), None)]
    );
    assert_eq!(
        (episode.reward(), episode.outcome.as_deref()),
        (None, Some("not evaluated"))
    );
    assert_eq!(episode.errors, ["no model".into()]);
}

#[test]
fn sessions_are_named_by_their_first_prompt() {
    for file in [
        "aider.md",
        "gptme.jsonl",
        "browser-use.json",
        "kimi.jsonl",
        "cline.json",
    ] {
        let outcome = read(file);
        let episode = &outcome.episodes[0];
        let task = volary_analysis::task::task(episode).unwrap();
        let name = episode.name.trim_end_matches('…');
        assert!(
            !name.is_empty() && task.line.starts_with(name),
            "{file}: {name}"
        );
    }
}

#[test]
fn gptme_conversations() {
    let episode = only("gptme.jsonl", "gptme", Shape(2, 0, 0, None));
    assert_eq!(start(&episode).len(), 2);
    assert_eq!(
        told(&episode),
        "assistant:I look.\n\n```shell\nls shed\n``` | system:box-1\nbox-2 | assistant:Two. | \
         tool:saved"
    );
    assert_eq!(
        models(&episode),
        [Some("maker/model-a"), Some("maker/model-b")]
    );
    assert_eq!(
        tokens(&episode),
        [(Some(100), Some(9)), (Some(30), Some(1))]
    );
    assert_eq!(episode.usage().cost, Some(0.5));
}

#[test]
fn iflow_replies_are_joined() {
    let episode = only("iflow.jsonl", "iflow", Shape(2, 2, 0, None));
    assert_eq!(
        told(&episode),
        "I look.>look{\"at\":\"shed\"}+look{\"at\":\"attic\"} | look<two | look<locked | \
         assistant:Two."
    );
    assert_eq!(errors(&episode), [(Some("c2"), "locked")]);
    assert_eq!(models(&episode), [Some("model-a"); 2]);
}

#[test]
fn calls_that_autogen_recorded_are_conversations() {
    let outcome = read("autogen-recorded.json");
    assert_eq!(
        shapes(&outcome),
        [Shape(2, 0, 0, None), Shape(1, 0, 0, None)]
    );
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
    let [first, second] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(format(first), "autogen");
    assert_eq!(told(first), "assistant:Two. | user:Sure? | assistant:Yes.");
    assert_eq!(tokens(first), [(Some(10), Some(2)), (Some(20), Some(1))]);
    assert_eq!(told(second), "assistant:Three.");
    assert_eq!(thought(second, 0), Some("One more."));
}

#[test]
fn states_of_runs_of_openai_agents() {
    let name = "openai-agents-state.json";
    let episode = only(name, "openai-agents-state", Shape(2, 1, 0, None));
    assert_eq!(start(&episode), ["user:How many boxes?"]);
    assert_eq!(
        told(&episode),
        ">look{\"at\":\"shed\"} | look<two | assistant:Two."
    );
    assert_eq!(episode.policy.as_deref(), Some("Counter"));
    let usage = episode.usage();
    assert_eq!((usage.input, usage.output), (Some(75), Some(7)));
    assert_eq!(episode.ending, Ending::Done);
}

#[test]
fn mt_bench_with_its_questions() {
    let files = [
        fixture("mt-bench.jsonl"),
        fixture("mt-bench-questions.jsonl"),
    ];
    let outcome = import(&files).unwrap();
    assert_eq!(
        shapes(&outcome),
        [
            Shape(2, 0, 0, None),
            Shape(1, 0, 0, None),
            Shape(1, 0, 0, None)
        ]
    );
    assert_eq!(notes(&outcome, NoteLevel::Unreadable), [""; 0]);
    let first = &outcome.episodes[0];
    assert_eq!(start(first), ["user:How many boxes?"]);
    assert_eq!(told(first), "assistant:Two. | user:Sure? | assistant:Yes.");
    assert_eq!(first.metadata.get("category"), Some(&"math".into()));
    assert_eq!(
        (task(first), first.model.as_deref()),
        (("mt-bench", "81"), Some("model-a"))
    );
    let alone = import(&files[..1]).unwrap();
    assert_eq!(told(&alone.episodes[0]), "assistant:Two. | assistant:Yes.");
    assert!(notes(&alone, NoteLevel::Unreadable)[0].contains("questions are in another file"));
}

#[test]
fn spans_of_vercels_sdk_are_read_once() {
    let episode = only("vercel-spans.json", "open-telemetry", Shape(2, 1, 0, None));
    assert_eq!(start(&episode), ["user:How many boxes?"]);
    assert_eq!(
        told(&episode),
        ">look{\"at\":\"shed\"} | look<two | assistant:Two."
    );
    assert_eq!(tokens(&episode), [(Some(10), Some(4)), (Some(20), Some(1))]);
    assert_eq!(episode.tools.len(), 1);
    assert_eq!(
        (episode.started, episode.seconds),
        (Some(1_770_000_000.0), Some(5.5))
    );
}

/// Langfuse's page exports a trace with its scores, next to the observations in any order.
#[test]
fn langfuse_exports_of_other_recorders() {
    let observation = |id: &str, parent: &str, kind: &str, second: u32, more: &str| {
        format!(
            r#"{{"id": "{id}", "traceId": "t", "parentObservationId": {parent}, "type": "{kind}", "name": "{id}", "startTime": "2026-03-01T10:00:0{second}.000Z", "endTime": "2026-03-01T10:00:0{second}.500Z", {more}}}"#
        )
    };
    let read = |observations: &[String]| {
        let text = format!(
            r#"{{"trace": {{"id": "t", "name": "run", "timestamp": "2026-03-01T10:00:00.000Z", "scores": [{{"name": "tone", "value": 0.5, "traceId": "t", "observationId": null, "stringValue": null, "comment": "Dry."}}], "observations": []}}, "observations": [{}]}}"#,
            observations.join(", ")
        );
        let mut outcome = import(&[named("trace.json", text)]).unwrap();
        assert_eq!(outcome.episodes.len(), 1, "{:?}", outcome.notes);
        outcome.episodes.remove(0)
    };
    let call = r#"">look{\"at\":\"shed\"} | look<two | assistant:Two.""#;
    let call: String = Json::parse(call).unwrap().as_text().unwrap().to_string();
    let tone = [("tone", "0.5".to_owned(), Some("Dry."))];
    // Gemini's requests, with a call without an id, and the tool's span with one.
    let contents = r#"{"parts": [{"text": "How many?"}], "role": "user"}"#;
    let gemini = read(&[
        observation(
            "g2",
            "\"a\"",
            "GENERATION",
            4,
            &format!(
                r#""input": {{"config": {{"system_instruction": "Be brief."}}, "contents": [{contents}, {{"parts": [{{"function_call": {{"args": {{"at": "shed"}}, "name": "look"}}}}], "role": "model"}}, {{"parts": [{{"function_response": {{"name": "look", "response": "two"}}}}], "role": "user"}}]}}, "output": {{"content": {{"parts": [{{"text": "Two."}}], "role": "model"}}, "finish_reason": "STOP"}}, "usageDetails": {{"input": 9, "output": 1}}"#
            ),
        ),
        observation("a", "null", "AGENT", 1, r#""input": null, "output": null"#),
        observation(
            "look",
            "\"g1\"",
            "TOOL",
            3,
            r#""input": {"at": "shed"}, "output": "two", "metadata": {"attributes": {"gen_ai.tool.call.id": "adk-1"}}"#,
        ),
        observation(
            "g1",
            "\"a\"",
            "GENERATION",
            2,
            &format!(
                r#""model": "model-g", "input": {{"config": {{"system_instruction": "Be brief.", "tools": [{{"function_declarations": [{{"name": "look"}}]}}]}}, "contents": [{contents}]}}, "output": {{"content": {{"parts": [{{"function_call": {{"args": {{"at": "shed"}}, "name": "look"}}}}], "role": "model"}}}}, "usageDetails": {{"input": 5, "output": 2}}"#
            ),
        ),
    ]);
    assert_eq!(start(&gemini), ["system:Be brief.", "user:How many?"]);
    assert_eq!(told(&gemini), call);
    assert_eq!((gemini.tools.len(), scores(&gemini)), (1, tone.to_vec()));
    // OpenAI's Responses API.
    let responses = read(&[
        observation(
            "g1",
            "null",
            "GENERATION",
            1,
            r#""input": [{"role": "user", "content": "How many?"}], "output": {"object": "response", "instructions": "Be brief.", "output": [{"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"at\": \"shed\"}"}], "tools": [{"type": "function", "name": "look", "parameters": {}}]}"#,
        ),
        observation(
            "look",
            "null",
            "TOOL",
            2,
            r#""input": "{\"at\": \"shed\"}", "output": "two""#,
        ),
        observation(
            "g2",
            "null",
            "GENERATION",
            3,
            r#""input": [{"role": "user", "content": "How many?"}, {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"at\": \"shed\"}"}, {"type": "function_call_output", "call_id": "c1", "output": "two"}], "output": {"object": "response", "instructions": "Be brief.", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}]}]}"#,
        ),
    ]);
    assert_eq!(start(&responses), ["system:Be brief.", "user:How many?"]);
    assert_eq!(told(&responses), call);
    assert_eq!(responses.tools.len(), 1);
    // LangChain's callback: calls among the provider's members, tools among the messages.
    let langchain = read(&[
        observation(
            "g1",
            "null",
            "GENERATION",
            1,
            r#""input": [{"role": "user", "content": "How many?"}, {"role": "tool", "content": {"type": "function", "function": {"name": "look", "parameters": {}}}}], "output": {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": \"shed\"}"}}], "refusal": null}}"#,
        ),
        observation(
            "g2",
            "null",
            "GENERATION",
            3,
            r#""input": [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": \"shed\"}"}}]}}, {"role": "tool", "tool_call_id": "c1", "content": "two"}], "output": {"role": "assistant", "content": "Two.", "additional_kwargs": {"refusal": null}}"#,
        ),
    ]);
    assert_eq!((told(&langchain), langchain.tools.len()), (call.clone(), 1));
    // Vercel's SDK: the outer call repeats the inner one.
    let vercel = read(&[
        observation(
            "outer",
            "null",
            "GENERATION",
            1,
            r#""input": {"prompt": "How many?"}, "output": [{"toolCallId": "c1", "toolName": "look", "input": "{\"at\": \"shed\"}"}]"#,
        ),
        observation(
            "inner",
            "\"outer\"",
            "GENERATION",
            2,
            r#""input": [{"role": "user", "content": [{"type": "text", "text": "How many?"}]}], "output": [{"toolCallId": "c1", "toolName": "look", "input": "{\"at\": \"shed\"}"}], "metadata": "{\"tools\": [\"{\\\"type\\\": \\\"function\\\", \\\"name\\\": \\\"look\\\", \\\"inputSchema\\\": {}}\"]}""#,
        ),
        observation(
            "look",
            "\"outer\"",
            "TOOL",
            3,
            r#""input": {"at": "shed"}, "output": "two", "metadata": {"attributes": {"ai.toolCall.id": "c1"}}"#,
        ),
    ]);
    assert_eq!(
        told(&vercel),
        ">look{\"at\":\"shed\"} | look<two",
        "and not twice"
    );
    assert_eq!(vercel.tools.len(), 1);
    // Arguments of a decorated function.
    for (input, expected) in [
        (r#"{"prompt": "Hi"}"#, "user:Hi"),
        (r#"{"args": ["Hi"], "kwargs": {}}"#, "user:Hi"),
        (
            r#"{"args": [], "kwargs": {"messages": [{"role": "user", "content": "Hi"}]}}"#,
            "user:Hi",
        ),
    ] {
        let more = format!(r#""input": {input}, "output": "Yes.""#);
        let episode = read(&[observation("g", "null", "GENERATION", 1, &more)]);
        assert_eq!(start(&episode), [expected], "{input}");
    }
}

/// The OpenAI Agents SDK repeats parallel calls in a message each.
#[test]
fn parallel_calls_that_are_repeated_apart_are_one_turn() {
    let span = |id: u32, kind: &str, attributes: &str| {
        format!(
            r#"{{"trace_id": "t", "span_id": "{id}", "parent_span_id": null, "name": "s{id}", "start_time": {id}.0, "end_time": {id}.5, "attributes": {{"openinference.span.kind": "{kind}", {attributes}}}}}"#
        )
    };
    let call = |message: u32, index: u32, list: &str, id: &str| {
        format!(
            r#""llm.{list}_messages.{message}.message.role": "assistant", "llm.{list}_messages.{message}.message.tool_calls.{index}.tool_call.id": "{id}", "llm.{list}_messages.{message}.message.tool_calls.{index}.tool_call.function.name": "look", "llm.{list}_messages.{message}.message.tool_calls.{index}.tool_call.function.arguments": "{{}}""#
        )
    };
    let user = r#""llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "How many?""#;
    let result = |message: u32, id: &str| {
        format!(
            r#""llm.input_messages.{message}.message.role": "tool", "llm.input_messages.{message}.message.tool_call_id": "{id}", "llm.input_messages.{message}.message.content": "two""#
        )
    };
    let spans = [
        span(
            1,
            "LLM",
            &[user.to_owned(), call(0, 0, "output", "a"), call(0, 1, "output", "b")].join(", "),
        ),
        span(2, "TOOL", r#""tool.name": "look", "input.value": "{}", "output.value": "two""#),
        span(
            3,
            "LLM",
            &[
                user.to_owned(),
                call(1, 0, "input", "a"),
                call(2, 0, "input", "b"),
                result(3, "a"),
                result(4, "b"),
                r#""llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Four.""#.to_owned(),
            ]
            .join(", "),
        ),
    ];
    let outcome = import(&[named("spans.jsonl", spans.join("\n"))]).unwrap();
    assert_eq!(
        told(&outcome.episodes[0]),
        ">look{}+look{} | look<two | look<two | assistant:Four."
    );
}

/// Recorders of the Claude Agent SDK have spans of the agent and its tools, but none of model calls.
#[test]
fn an_agent_without_spans_of_a_model_has_its_own_answer() {
    let spans = [
        r#"{"trace_id": "t", "span_id": "1", "parent_span_id": null, "name": "agent", "start_time": 1.0, "end_time": 5.0, "attributes": {"openinference.span.kind": "AGENT", "input.value": "How many?", "output.value": "Two.", "llm.model_name": "model-a"}}"#,
        r#"{"trace_id": "t", "span_id": "2", "parent_span_id": "1", "name": "look", "start_time": 2.0, "end_time": 3.0, "attributes": {"openinference.span.kind": "TOOL", "tool.name": "look", "input.value": "{\"at\": \"shed\"}", "output.value": "two"}}"#,
    ];
    let outcome = import(&[named("spans.jsonl", spans.join("\n"))]).unwrap();
    let [episode] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(start(episode), ["user:How many?"]);
    assert_eq!(
        told(episode),
        ">look{\"at\":\"shed\"} | look<two | assistant:Two."
    );
    assert_eq!(episode.model.as_deref(), Some("model-a"));
}

#[test]
fn a_result_of_atif_without_an_id_belongs_to_the_only_call() {
    let step = |calls: &str| {
        format!(
            r#"{{"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {{"name": "a", "version": "1"}}, "steps": [{{"step_id": 1, "source": "agent", "message": "", "tool_calls": [{calls}], "observation": {{"results": [{{"content": "two"}}]}}}}]}}"#
        )
    };
    let call = |id: &str| {
        format!(r#"{{"tool_call_id": "{id}", "function_name": "look", "arguments": {{}}}}"#)
    };
    let told_of = |text: String| told(&import(&[named("t.json", text)]).unwrap().episodes[0]);
    assert_eq!(told_of(step(&call("c"))), ">look{} | look<two");
    let several = step(&format!("{}, {}", call("c"), call("d")));
    assert_eq!(told_of(several), ">look{}+look{} | tool:two");
}

#[test]
fn nemo_gym_has_the_problem_the_task_and_all_turns() {
    let read = |line: &str| import(&[named("rollouts.jsonl", line.replace('\n', " "))]).unwrap();
    let outcome = read(
        r#"{"responses_create_params": {"input": [], "metadata": {"instance_id": "boxes-1", "problem_statement": "Count."}},
            "response": {"model": "", "output": [{"type": "message", "role": "assistant", "content": "I look."}, {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}, {"type": "message", "role": "assistant", "content": "Two."}, {"type": "function_call", "call_id": "d", "name": "finish", "arguments": "{}"}]},
            "reward": 1.0, "resolved": true, "agent_run_time": 3.5, "agent_ref": {"name": "swe"}}"#,
    );
    let episode = &outcome.episodes[0];
    assert_eq!(start(episode), ["user:Count."]);
    assert_eq!(told(episode), "I look.>look{} | Two.>finish{}");
    assert_eq!(
        (task(episode), episode.model.is_none()),
        (("swe", "boxes-1"), true)
    );
    assert_eq!(scores(episode), [("resolved", "true".into(), None)]);
    let outcome = read(
        r#"{"responses_create_params": {"input": [{"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "Hi!"}, {"role": "user", "content": "How many?"}]},
            "response": {"model": "m", "output": [{"type": "message", "role": "assistant", "content": "Two."}]},
            "reward": 1.0, "task": {"id": "26"}, "result": {"messages": []}, "verbose_logs": false, "agent_ref": {"name": "tau2"}}"#,
    );
    let episode = &outcome.episodes[0];
    assert_eq!(start(episode), ["system:Be brief."]);
    assert_eq!(
        told(episode),
        "assistant:Hi! | user:How many? | assistant:Two."
    );
    assert_eq!((task(episode), episode.scores.len()), (("tau2", "26"), 0));
}

#[test]
fn nemo_gym_has_the_model_and_times_of_the_simulation() {
    let line = r#"{"responses_create_params": {"model": "", "input": [{"role": "assistant", "content": "Hi!"}, {"role": "user", "content": "How many?"}]},
            "response": {"model": "", "output": [{"type": "message", "role": "assistant", "content": "Two."}, {"type": "message", "role": "user", "content": "Thanks."}]},
            "reward": 1.0, "task": {"id": "26"}, "agent_ref": {"name": "tau2"},
            "result": {"task_id": "26", "start_time": "2026-03-01T10:00:00", "duration": 9.5, "messages": [
                {"role": "assistant", "content": "Hi!", "timestamp": "2026-03-01T10:00:01"},
                {"role": "user", "content": "How many?", "timestamp": "2026-03-01T10:00:04", "raw_data": {"model": "person-model"}},
                {"role": "assistant", "content": "Two.", "timestamp": "2026-03-01T10:00:08", "usage": {"prompt_tokens": 40, "completion_tokens": 2}, "raw_data": {"model": "agent-model"}},
                {"role": "user", "content": "Thanks.", "timestamp": "2026-03-01T10:00:09"}]}}"#;
    let outcome = import(&[named("rollouts.jsonl", line.replace('\n', " "))]).unwrap();
    let episode = &outcome.episodes[0];
    assert_eq!(episode.model.as_deref(), Some("agent-model"));
    assert_eq!(episode.seconds, Some(9.5));
    assert_eq!(episode.usage().input, Some(40));
    let times: Vec<Option<f64>> = episode
        .steps
        .iter()
        .map(|step| Some(step.details.started? - episode.started?))
        .collect();
    assert_eq!(times, [Some(1.0), Some(8.0)]);
}

#[test]
fn a_text_that_a_tool_overwrote_is_kept() {
    let text = r#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "plan": {}, "samples": [{"id": 1, "epoch": 1, "input": "q", "target": "a", "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "flag", "tool_calls": [{"id": "c", "function": "submit", "arguments": {"answer": "flag"}, "type": "function"}]}], "output": {}, "scores": {}, "events": [{"event": "model", "model": "m", "timestamp": "2026-03-01T10:00:00+00:00", "output": {"choices": [{"message": {"role": "assistant", "content": "flag", "tool_calls": [{"id": "c", "function": "submit", "arguments": {"answer": "flag"}, "type": "function"}]}}]}, "call": {"request": {}, "response": {"content": [{"type": "text", "text": "It must be this one."}, {"type": "tool_use", "id": "c", "name": "submit", "input": {"answer": "flag"}}]}}}]}]}"#;
    let outcome = import(&[named("log.json", text)]).unwrap();
    let kept = outcome.episodes[0].steps[0].extras.get("text_of_response");
    assert_eq!(kept, Some(&"It must be this one.".into()));
    let same = text.replace("It must be this one.", "flag");
    let outcome = import(&[named("log.json", same)]).unwrap();
    assert_eq!(
        outcome.episodes[0].steps[0].extras.get("text_of_response"),
        None
    );
}

#[test]
fn the_first_dumps_of_verl_have_no_step() {
    let line = r#"{"input": "user\nHow many?\nassistant\n", "output": "Two.", "score": 0.5}"#;
    let outcome = import(&[named("1.jsonl", format!("{line}\n{line}\n"))]).unwrap();
    assert_eq!(format(&outcome.episodes[0]), "verl");
    assert_eq!(outcome.episodes.len(), 2);
    let other = r#"{"input": "q", "output": "a", "score": 0.5, "judge": {"model": "m"}}"#;
    let refused = import(&[named("x.jsonl", format!("{other}\n{other}\n"))]);
    assert!(refused.is_err(), "other tools have these members as well");
}

/// What is not JSON is not called broken JSON, and Markdown with a comment is no web page.
#[test]
fn other_texts_are_named_as_they_are() {
    for (text, expected) in [
        (
            "['clear', 'Enter']\n['ls', 'Enter']\n",
            "text that is not JSON",
        ),
        (
            "[link](https://x.example) is a link",
            "text that is not JSON",
        ),
        ("{% if x %}template{% endif %}", "text that is not JSON"),
        ("<!-- a note -->\n# Title\n", "text that is not JSON"),
        ("<!-- a note -->\n<!doctype html><p>", "a web page"),
        ("{\"a\": 1, oops", "broken JSON"),
        ("[1, 2, oops", "broken JSON"),
        ("[\n  1.5,\n  oops", "broken JSON"),
        (
            "[2026-03-01 10:00:00] started\n[2026-03-01 10:00:01] ended\n",
            "text that is not JSON",
        ),
        ("[10:00] hello\n", "text that is not JSON"),
        ("[1] A note.\n", "text that is not JSON"),
    ] {
        let error = import(&[named("x.txt", text)]).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_damaged_member_costs_only_itself() {
    let text = String::from_utf8(fixture("browser-use.json").bytes).unwrap();
    let text = text.replace("\"next_goal\": \"Fill the name.\"", "\"next_goal\": [1]");
    let outcome = import(&[named("x.json", text)]).unwrap();
    assert_eq!(shapes(&outcome)[0].0, 3);
    let lost = notes(&outcome, NoteLevel::Unreadable);
    assert!(lost[0].contains("unexpected type"), "{lost:?}");
    let kept = &outcome.episodes[0].steps[0].extras;
    assert!(kept.contains_key("next_goal"), "{kept:?}");
    assert!(matches!(
        outcome.episodes[0].steps[0].action,
        AnyMessage::Request(_)
    ));
}
