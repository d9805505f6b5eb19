//! The example trajectories of Review: two trials of each of three word problems, one of them careful.
//!
//! Invariant: `public/examples/word-problems.jsonl` is the environment's recording of the trials defined
//! here. `VOLARY_WRITE=1 cargo test -p volary-agent --test example` rewrites it.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::rc::Rc;
use std::{env, fs};

use volary_agent::Runner;
use volary_core::clock::Standstill;
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::virtual_clock::VirtualClock;
use volary_core::{AnyMessage, ToolCall, ToolRequestMessage, object};
use volary_envs::datasets::word_problems;
use volary_episode::{Ending, Episode, Outcome, Recipe, TaskReference, call_id, native};

/// A step: the text, the tool, and its arguments.
type Act = (&'static str, &'static str, &'static str);

const EXPRESSION: &str = "calculator";
const ANSWER: &str = "submit_answer";

type Trial = (&'static str, &'static str, &'static str, &'static [Act]);

/// Trials: the problem, its display name, the agent, and its steps.
const TRIALS: [Trial; 6] = [
    (
        "medium-01",
        "Roses that wilt",
        "careful",
        &[
            ("First what the roses cost.", EXPRESSION, "15 * 8"),
            (
                "Four bunches wilt, so eleven are sold.",
                EXPRESSION,
                "(15 - 4) * 14",
            ),
            ("What is left after the cost.", EXPRESSION, "154 - 120"),
            ("She earns 34 dollars.", ANSWER, "34"),
        ],
    ),
    (
        "medium-01",
        "Roses that wilt",
        "hasty",
        &[
            (
                "Each bunch brings 14 - 8 dollars.",
                EXPRESSION,
                "15 * (14 - 8)",
            ),
            ("She earns 90 dollars.", ANSWER, "90"),
        ],
    ),
    (
        "medium-02",
        "Books in and out",
        "careful",
        &[
            (
                "Each month the library gains some books.",
                EXPRESSION,
                "36 - 11",
            ),
            (
                "That five times, and what there was.",
                EXPRESSION,
                "1240 + 5 * 25",
            ),
            ("It has 1365 books.", ANSWER, "1365"),
        ],
    ),
    (
        "medium-02",
        "Books in and out",
        "hasty",
        &[("All of it at once.", EXPRESSION, "1240 + 5 * 36 - 11)")],
    ),
    (
        "medium-04",
        "Two pipes",
        "careful",
        &[
            ("What both pipes give in a minute.", EXPRESSION, "35 + 25"),
            ("What is missing.", EXPRESSION, "9000 - 1800"),
            ("So many minutes.", EXPRESSION, "7200 / 60"),
            ("It takes 120 minutes.", ANSWER, "120"),
        ],
    ),
    (
        "medium-04",
        "Two pipes",
        "hasty",
        &[
            ("What both pipes give in a minute.", EXPRESSION, "35 + 25"),
            ("So many minutes.", EXPRESSION, "9000 / 60"),
            ("It takes 150 minutes.", ANSWER, "150"),
        ],
    ),
];

fn action(step: usize, (said, tool, argument): Act) -> AnyMessage {
    let arguments = match tool {
        EXPRESSION => object!({"expr": argument}),
        _ => object!({"answer": argument}),
    };
    AnyMessage::Request(ToolRequestMessage {
        body: Body {
            content: Some(said.into()),
            ..Body::default()
        },
        tool_calls: vec![ToolCall {
            id: call_id(step, 0),
            function: ToolCallFunction {
                name: tool.into(),
                arguments,
            },
        }],
    })
}

fn played((problem, title, who, acts): Trial) -> Episode {
    let problems = word_problems::problems().unwrap();
    let problem = problems.iter().find(|one| &*one.id == problem).unwrap();
    let recipe = Recipe {
        environment: "calculator".into(),
        configuration: object!({
            "problem_id": (problem.id.clone()),
            "problem": (problem.question.clone()),
            "answer": (problem.number)
        }),
        seed: 0,
        task: Some(TaskReference {
            dataset: "word_problems".into(),
            id: problem.id.clone(),
        }),
    };
    let playing = async {
        let registry = volary_envs::registry();
        let opened = Runner::open(&registry, &recipe, Rc::new(Standstill)).await;
        let (mut runner, opening) = opened.unwrap();
        let mut episode = opening.episode(recipe.clone());
        for (step, act) in acts.iter().enumerate() {
            let stepped = runner.step(action(step, *act)).await.unwrap();
            if let Outcome::Observed { done: true, .. } = stepped.record.outcome {
                episode.ending = Ending::Done;
            }
            episode.frames.push_patch(stepped.frame).unwrap();
            let mut record = stepped.record;
            record.seconds = None;
            episode.steps.push(record);
        }
        episode
    };
    let mut episode = VirtualClock::new().run(playing).unwrap();
    episode.id = format!("example-{}-{who}", problem.id).into();
    episode.name = format!("{title}, {who}").into();
    episode.policy = Some(who.into());
    episode
}

#[test]
fn the_example_is_what_the_environment_gives() {
    let played = TRIALS.map(played);
    assert_eq!(
        played.each_ref().map(Episode::total_reward),
        [1.0, 0.0, 1.0, -1.0, 1.0, 0.0]
    );
    assert!(played.iter().all(|one| one.ending == Ending::Done));
    let text: String = played
        .iter()
        .map(|episode| native::to_text(episode) + "\n")
        .collect();
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/examples/word-problems.jsonl");
    if env::var_os("VOLARY_WRITE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
