//! What tools for agents write: results of benchmarks, trajectories, events, conversations.

use volary_core::AnyMessage;
use volary_core::json::Json;
use volary_episode::passages::content;
use volary_episode::{Ending, Episode, Relation, Rewards};
use volary_formats::import::{ImportOutcome, InputFile, NoteLevel, import};

use crate::{Shape, fixture, shape};

pub fn read(name: &str) -> ImportOutcome {
    import(&[fixture(name)]).unwrap()
}

pub fn shapes(outcome: &ImportOutcome) -> Vec<Shape> {
    outcome.episodes.iter().map(shape).collect()
}

pub fn format(episode: &Episode) -> &str {
    episode.source.as_ref().map_or("", |source| &source.format)
}

/// The steps of an episode in short: calls and answers by name and id, texts.
pub fn told(episode: &Episode) -> String {
    let told = |message: &AnyMessage| match message {
        AnyMessage::Request(request) => {
            let calls = request.tool_calls.iter();
            let calls: Vec<String> = calls
                .map(|call| {
                    format!(
                        "{}{}",
                        call.function.name,
                        call.function.arguments.to_compact_text()
                    )
                })
                .collect();
            format!("{}>{}", content(&request.body), calls.join("+"))
        }
        AnyMessage::Response(response) => format!("{}<{}", response.name, content(&response.body)),
        AnyMessage::Plain(message) => {
            format!("{}:{}", message.role.as_str(), content(&message.body))
        }
    };
    let all: Vec<String> = episode
        .messages()
        .skip(episode.start.len())
        .map(told)
        .collect();
    all.join(" | ")
}

/// Every answer names a call before it.
pub fn assert_linked(episode: &Episode) {
    let mut known = Vec::new();
    for message in episode.messages() {
        match message {
            AnyMessage::Request(request) => {
                known.extend(request.tool_calls.iter().map(|call| call.id.clone()))
            }
            AnyMessage::Response(response) => {
                assert!(known.contains(&response.tool_call_id), "{response:?}")
            }
            AnyMessage::Plain(_) => {}
        }
    }
}

pub fn unreadable(outcome: &ImportOutcome) -> usize {
    notes(outcome, NoteLevel::Unreadable).len()
}

/// The texts of the notes of one level.
pub fn notes(outcome: &ImportOutcome, level: NoteLevel) -> Vec<&str> {
    let notes = outcome.notes.iter();
    notes
        .filter(|note| note.level == level)
        .map(|note| &*note.text)
        .collect()
}

/// The errors of all steps, with the calls that failed.
pub fn errors(episode: &Episode) -> Vec<(Option<&str>, &str)> {
    let errors = episode.steps.iter().flat_map(|step| &step.details.errors);
    errors
        .map(|error| (error.call.as_deref(), &*error.message))
        .collect()
}

#[test]
fn tau_bench() {
    let outcome = read("tau-bench.json");
    assert_eq!(
        shapes(&outcome),
        [
            Shape(2, 1, 0, Some(1.0)),
            Shape(1, 1, 0, Some(0.0)),
            Shape(0, 0, 0, Some(0.0))
        ]
    );
    let [done, cut, broken] = outcome.episodes.as_slice() else {
        panic!()
    };
    outcome.episodes.iter().for_each(assert_linked);
    assert_eq!(unreadable(&outcome), 1, "the last element is no result");
    assert_eq!(
        (done.start.len(), &*done.name, &done.ending),
        (2, "Task 3, trial 1", &Ending::Done)
    );
    assert_eq!(done.task.as_ref().map(|task| &*task.id), Some("3"));
    assert_eq!((&*done.scores[0].name, done.scores.len()), ("r_actions", 1));
    assert_eq!(
        done.raw.get("extra"),
        Some(&Json::List(vec![Json::from(1)]))
    );
    assert_eq!(told(cut), "Old style>find_order{} | find_order<none");
    assert!(matches!(cut.ending, Ending::Truncated { .. }));
    assert_eq!(
        broken.ending,
        Ending::Crashed {
            message: "RateLimit".into()
        }
    );
    let displays = read("tau-bench-display.jsonl");
    assert_eq!(
        shapes(&displays),
        [Shape(2, 0, 0, None), Shape(0, 0, 0, None)]
    );
    assert_eq!(
        told(&displays.episodes[0]),
        "> | tool:{\"id\": 1} | assistant:Done."
    );
}

#[test]
fn tau2() {
    let outcome = read("tau2.json");
    assert_eq!(shapes(&outcome), [Shape(3, 2, 0, Some(0.5))]);
    let episode = &outcome.episodes[0];
    assert_eq!(
        told(episode),
        "assistant:Hi! How can I help? | user:check_status_bar({}) | <No signal | user:No signal here. | \
         >get_line{\"id\":\"L1\"}+get_bill{} | get_line<active | get_bill<Error: no bill | assistant:It is active. | user:###STOP###"
    );
    assert_eq!(
        (
            episode.environment().map(|name| &**name),
            episode.model.as_deref()
        ),
        (Some("telecom"), Some("model-a"))
    );
    assert_eq!(
        (episode.usage().input, episode.usage().cost, episode.seconds),
        (Some(220), Some(0.25), Some(60.0))
    );
    let scores: Vec<(&str, Option<&str>)> = episode
        .scores
        .iter()
        .map(|score| (&*score.name, score.explanation.as_deref()))
        .collect();
    assert_eq!(
        scores,
        [("DB", None), ("It was kind.", Some("It said please."))]
    );
    assert_eq!(
        episode.steps[1].details.errors[0].call.as_deref(),
        Some("a2")
    );
    assert_eq!(
        (episode.outcome.as_deref(), &episode.ending),
        (Some("user_stop"), &Ending::Done)
    );
}

/// The simulations in files of their own.
#[test]
fn tau2_folder() {
    let whole = fixture("tau2.json");
    let mut results = Json::parse(std::str::from_utf8(&whole.bytes).unwrap()).unwrap();
    let Json::Object(object) = &mut results else {
        panic!()
    };
    let Some(Json::List(simulations)) = object.insert("simulations", Json::List(Vec::new())) else {
        panic!()
    };
    let file = |name: &str, value: &Json| InputFile {
        name: Some(name.into()),
        bytes: value.to_compact_text().into_bytes(),
    };
    let files = [
        file("run/results.json", &results),
        file("run/simulations/s1.json", &simulations[0]),
    ];
    let outcome = import(&files).unwrap();
    assert_eq!(shapes(&outcome), [Shape(3, 2, 0, Some(0.5))]);
    assert_eq!(outcome.episodes[0].model.as_deref(), Some("model-a"));
    assert_eq!(
        shapes(&import(&files[1..]).unwrap()),
        [Shape(3, 2, 0, Some(0.5))]
    );
}

#[test]
fn verifiers_results() {
    let outcome = read("verifiers-results.jsonl");
    assert_eq!(
        shapes(&outcome),
        [
            Shape(2, 1, 0, Some(1.5)),
            Shape(1, 0, 0, Some(0.0)),
            Shape(0, 0, 0, None)
        ]
    );
    let [first, second, third] = outcome.episodes.as_slice() else {
        panic!()
    };
    assert_linked(first);
    assert_eq!(
        first.start.len(),
        4,
        "what the prompt holds is no step, even an answer"
    );
    assert_eq!(told(first), ">add{\"a\":3} | add<6 | assistant:6");
    assert_eq!(
        (
            first.usage().input,
            first.seconds,
            first.tools.len(),
            first.scores.len()
        ),
        (Some(30), Some(2.0), 1, 2)
    );
    assert!(matches!(second.ending, Ending::Truncated { .. }));
    assert_eq!(
        third.ending,
        Ending::Crashed {
            message: "ModelError: gone".into()
        }
    );

    let about = InputFile {
        name: Some("metadata.json".into()),
        bytes: br#"{"env_id": "sums", "model": "model-z", "date": "2026"}"#.to_vec(),
    };
    let outcome = import(&[fixture("verifiers-results.jsonl"), about]).unwrap();
    let first = &outcome.episodes[0];
    assert_eq!(
        (
            first.environment().map(|name| &**name),
            first.model.as_deref()
        ),
        (Some("sums"), Some("model-z"))
    );
}

#[test]
fn verifiers_traces() {
    let outcome = read("verifiers-traces.jsonl");
    let [left, right, circle] = outcome.episodes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert_eq!(shape(left), Shape(2, 1, 0, Some(1.0)));
    assert_eq!(
        told(left),
        ">go{\"to\":\"left\"} | go<A wall. | assistant:Stuck."
    );
    assert_eq!(
        told(right),
        ">go{\"to\":\"left\"} | go<A wall. | assistant:Right then."
    );
    assert_eq!(
        (left.start.len(), left.steps[0].details.reasoning.as_deref()),
        (2, Some("Left or right?"))
    );
    assert_eq!(
        (left.model.as_deref(), left.seconds, left.usage().input),
        (Some("model-b"), Some(4.0), Some(20))
    );
    let link = &right.links[0];
    assert_eq!(
        (link.relation, &link.episode, link.step),
        (Relation::Branch, &left.id, Some(1))
    );
    assert_eq!(
        left.task.as_ref().map(|task| (&*task.dataset, &*task.id)),
        Some(("MazeTask", "5"))
    );
    assert_eq!(
        (shape(circle), circle.rewards),
        (Shape(1, 0, 0, None), Rewards::Unknown)
    );
    assert_eq!(
        circle.ending,
        Ending::Crashed {
            message: "Timeout: too slow".into()
        }
    );
}
