//! The kinds and durations of steps, and the positions of marks.

use super::*;
use volary_core::message::Body;
use volary_core::{Message, Role, ToolCall, ToolRequestMessage, ToolResponseMessage, object};

fn episode(steps: &[(Option<f64>, f64)]) -> Episode {
    let step = |(seconds, reward): &(Option<f64>, f64)| StepRecord {
        seconds: *seconds,
        ..StepRecord::new(
            Message::new(Role::Assistant, "\n I act\nat length").into(),
            Outcome::Observed {
                messages: Vec::new(),
                reward: *reward,
                done: false,
                truncated: false,
            },
        )
    };
    Episode {
        steps: steps.iter().map(step).collect(),
        ..Episode::default()
    }
}

#[test]
fn a_negative_reward_is_a_loss() {
    let mut episode = episode(&[(None, -1.0), (None, 0.0), (None, 0.5)]);
    let kinds = |episode: &Episode| -> Vec<StepKind> {
        let steps = episode.steps.iter().enumerate();
        steps
            .map(|(index, step)| kind(episode, index, step))
            .collect()
    };
    assert_eq!(
        kinds(&episode),
        [StepKind::Loss, StepKind::Speech, StepKind::Reward]
    );
    episode.rewards = Rewards::Whole(-2.0);
    assert_eq!(
        kinds(&episode),
        [StepKind::Speech, StepKind::Speech, StepKind::Loss]
    );
}

#[test]
fn bars_fill_the_whole() {
    let cases: [&[(Option<f64>, f64)]; 5] = [
        &[],
        &[(None, 0.0), (None, 0.0)],
        &[(Some(0.0), 0.0), (Some(0.0), 0.0)],
        &[(Some(1.0), 0.0), (None, 0.0), (Some(3.0), 0.0)],
        &[
            (Some(f64::NAN), 0.0),
            (Some(-1.0), 0.0),
            (Some(f64::INFINITY), 0.0),
        ],
    ];
    for steps in cases {
        let bars = bars(&episode(steps));
        let whole: f64 = bars.iter().map(|bar| bar.share).sum();
        assert!(steps.is_empty() || (whole - 1.0).abs() < 1e-9, "{bars:?}");
    }
    let found = bars(&episode(cases[3]));
    assert_eq!((found[0].share, found[1].start), (1.0 / 7.0, 1.0 / 7.0));
    assert_eq!(found[1].seconds, None);
}

#[test]
fn a_step_lasts_until_the_next_begins() {
    let mut episode = episode(&[(None, 0.0), (Some(9.0), 0.0), (None, 0.0)]);
    for (step, started) in episode.steps.iter_mut().zip([10.0, 12.5, 11.0]) {
        step.details.started = Some(started);
    }
    assert_eq!(durations(&episode), [Some(2.5), Some(9.0), None]);
}

#[test]
fn errors_and_rewards_are_found() {
    let mut episode = episode(&[(None, 0.0), (None, 0.5), (None, 0.0), (None, 0.0)]);
    episode.steps[3].outcome = Outcome::Failed {
        message: "no".into(),
    };
    let marks = marks(&episode);
    assert_eq!(marks, [2, 4]);
    assert_eq!(
        (
            next_mark(&marks, 0),
            next_mark(&marks, 2),
            next_mark(&marks, 4)
        ),
        (Some(2), Some(4), None)
    );
    assert_eq!(
        (previous_mark(&marks, 4), previous_mark(&marks, 2)),
        (Some(2), None)
    );
    assert_eq!(rewards(&episode).sums, [0.0, 0.5, 0.5, 0.5]);
    episode.rewards = Rewards::Whole(1.0);
    assert_eq!(rewards(&episode).values, [None, None, None, Some(1.0)]);
    assert!(tokens(&episode).is_unknown());
}

#[test]
fn steps_have_titles() {
    let mut episode = episode(&[(None, 0.0), (None, 0.0)]);
    let calls = ["find", "book"].map(|name| ToolCall::new("1", name, object!({})));
    let action = ToolRequestMessage {
        tool_calls: calls.to_vec(),
        ..Default::default()
    };
    episode.steps[1].action = action.into();
    let outline = outline(&episode, 4);
    assert_eq!(outline[0].title, "I ac…");
    assert_eq!(
        (&*outline[1].title, outline[1].kind),
        ("find…", StepKind::Calls)
    );
}

#[test]
fn titles_of_calls_say_what_they_are_about() {
    let title = |calls: &[(&str, volary_core::json::Object)]| {
        let calls = calls.iter();
        let calls = calls.map(|(name, arguments)| ToolCall::new("1", *name, arguments.clone()));
        let request = ToolRequestMessage {
            tool_calls: calls.collect(),
            ..Default::default()
        };
        super::title(&request.into(), 80)
    };
    assert_eq!(title(&[("look", object!({}))]), "look");
    let bash = |command: &str| ("bash", object!({"command": command, "timeout": 5}));
    assert_eq!(title(&[bash("\n ls -l\ncat a")]), "bash: ls -l");
    assert_eq!(title(&[bash("ls"), bash("pwd")]), "bash ×2: ls; pwd");
    let read = ("read", object!({"file_path": "/a/b.py", "limit": 10}));
    assert_eq!(
        title(&[bash("ls"), read, bash("pwd")]),
        "bash: ls, read: /a/b.py, bash: pwd"
    );
    let shell = ("shell", object!({"command": ["bash", "-lc", "make test"]}));
    assert_eq!(title(&[shell]), "shell: make test");
    let edit = ("edit", object!({"command": "view", "path": "/a/b.py"}));
    assert_eq!(title(&[edit]), "edit: view /a/b.py");
    let long = (
        "read",
        object!({"path": "/home/wren/project/src/birds/wings.py"}),
    );
    assert_eq!(title(&[long]), "read: …/birds/wings.py");
    let several = (
        "read",
        object!({"files": [{"path": "a.py"}, {"path": "b.py"}]}),
    );
    assert_eq!(title(&[several]), "read: a.py");
    // Of other parameters, a single one and texts are clear without their names.
    assert_eq!(title(&[("submit", object!({"answer": 42}))]), "submit: 42");
    assert_eq!(title(&[("move", object!({"from": 1, "to": 2}))]), "move");
    let flight = object!({"origin": "OSL", "seats": 2, "goal": "BGO"});
    assert_eq!(title(&[("find_flight", flight)]), "find_flight: OSL, BGO");
    let noted = object!({"kind": "shell", "shown": "List the files\n\n`ls`"});
    assert_eq!(title(&[("Bash", noted)]), "Bash: List the files");
    // A line that only opens something is followed by the next ones.
    let code = object!({"code": "python3 -c \"\nimport birds\nbirds.count()\""});
    assert_eq!(title(&[("run", code)]), "run: python3 -c \" import birds");
}

#[test]
fn a_title_is_more_than_a_brace() {
    let title = |text: &str| super::title(&Message::new(Role::Assistant, text).into(), 40);
    assert_eq!(
        title("{\n  \"plan\": \"Look.\"\n}"),
        "{ \"plan\": \"Look.\""
    );
    assert_eq!(title("It isn't.\nReally."), "It isn't.");
    assert_eq!(title("{"), "{");
}

#[test]
fn the_title_of_a_message_is_not_its_reasoning() {
    let title = |text: &str| super::title(&Message::new(Role::Assistant, text).into(), 80);
    assert_eq!(title("<think>\nHm.\n</think>\nIt is 42."), "It is 42.");
    assert_eq!(title("<think>\nHm."), "Hm.");
    let user = Message::user("<think>Hm.</think>");
    assert_eq!(first_line(&user.into(), 80), "<think>Hm.</think>");
}

#[test]
fn results_that_report_errors_are_failed_calls() {
    let is_failed = |content: &str| {
        is_failed_call(&AnyMessage::Response(ToolResponseMessage {
            body: Body {
                content: Some(content.into()),
                ..Body::default()
            },
            name: "search".into(),
            tool_call_id: "1".into(),
        }))
    };
    for failed in [
        "Error: no such order",
        r#"{"error": "no such order"}"#,
        r#" {"status": 404, "error": {"code": 1}}"#,
        r#"{"error": true}"#,
    ] {
        assert!(is_failed(failed), "{failed}");
    }
    for fine in [
        "Errors are listed below",
        r#"{"error": null, "orders": []}"#,
        r#"{"error": "", "orders": []}"#,
        r#"{"orders": [{"error": "late"}]}"#,
        r#"{"error": "cut"#,
    ] {
        assert!(!is_failed(fine), "{fine}");
    }
}
