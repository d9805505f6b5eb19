//! The results of calls: responses and their order, failures raised or converted to responses.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

#[test]
fn a_timeout_is_raised_like_any_failure() {
    let options = ExecOptions {
        handle_tool_exc: false,
        ..limited(10)
    };
    let run = run(vec![waiting("a", "read", 50)], options);
    assert_eq!(
        run.outcome,
        Err(ExecError::Tool {
            name: "read".into(),
            error: ToolError::timeout()
        })
    );
    assert_eq!(run.error(), "TimeoutError");
}

#[test]
fn the_first_failure_in_time_is_raised_and_others_run_on() {
    let run = run(
        vec![
            failing("a", "read", 30),
            failing("b", "read", 10),
            waiting("c", "write", 5),
        ],
        ExecOptions::default(),
    );
    assert_eq!(run.error(), "b failed");
    assert_eq!(run.began().len(), 3);
    assert_eq!(run.took_ms, 35);
}

#[test]
fn one_after_the_other_the_first_failure_ends_it() {
    for first in [failing("a", "read", 5), tagged("a", "fail")] {
        let run = run(vec![first, tagged("b", "now")], one_by_one());
        assert!(run.error().starts_with('a'));
        assert_eq!(run.began().len(), 1);
    }
}

#[test]
fn synchronous_tools_run_on_after_a_failure() {
    let calls = vec![
        tagged("a", "now"),
        tagged("b", "fail"),
        tagged("c", "fail"),
        tagged("d", "now"),
    ];
    let raised = run(calls.clone(), ExecOptions::default());
    assert_eq!(raised.error(), "b");
    assert_eq!(raised.began().len(), 4);
    let answered = run(calls, answering());
    let failure = |tag| format!("Encountered exception during tool call: ValueError('{tag}')");
    assert_eq!(
        answered.contents(),
        ["a", &failure("b"), &failure("c"), "d"]
    );
}

#[test]
fn unknown_tools_are_answered_or_an_error() {
    let calls = vec![tagged("a", "nothing"), tagged("b", "now")];
    let answered = run(calls.clone(), ExecOptions::default());
    assert_eq!(answered.contents(), ["Invalid tool call: nothing", "b"]);
    assert_eq!(answered.outcome.as_ref().unwrap()[0].body.info, None);
    // This is never a tool failure, so the option for failures has no effect.
    let options = ExecOptions {
        handle_invalid_tool_calls: false,
        ..answering()
    };
    let raised = run(calls, options);
    assert!(
        raised
            .error()
            .starts_with("'nothing' not a valid name in {'read', 'write'")
    );
    assert_eq!(raised.began().len(), 1);
}

#[test]
fn a_message_without_content_is_raised_even_if_failures_are_answered() {
    let run = run(vec![call("a", "silent", Object::new())], answering());
    assert!(matches!(run.outcome, Err(ExecError::Tool { name, .. }) if &*name == "silent"));
}

#[test]
fn wrong_arguments_fail_as_the_call_itself() {
    let calls = vec![
        call("a", "now", Object::new()),
        call("b", "now", object!({"tag": "x", "more": 1})),
        call("c", "now", object!({"tag": "x", "state": {}})),
    ];
    let prefix = "Encountered exception during tool call: TypeError(\"now() ";
    let run = run(calls, answering());
    let contents = run.contents();
    assert_eq!(
        contents[0],
        format!("{prefix}missing 1 required positional argument: 'tag'\")")
    );
    assert_eq!(
        contents[1],
        format!("{prefix}got an unexpected keyword argument 'more'\")")
    );
    assert_eq!(
        contents[2],
        format!("{prefix}got an unexpected keyword argument 'state'\")")
    );
}

#[test]
fn calls_with_one_id_are_adjacent_unknown_tools_first() {
    let calls = vec![
        call("x", "now", object!({"tag": "1"})),
        call("y", "now", object!({"tag": "2"})),
        call("x", "nothing", Object::new()),
        call("z", "read", object!({"tag": "4", "ms": 3})),
        call("y", "read", object!({"tag": "5", "ms": 1})),
        call("x", "now", object!({"tag": "6"})),
    ];
    let run = run(calls, ExecOptions::default());
    assert_eq!(
        run.contents(),
        ["Invalid tool call: nothing", "1", "6", "2", "5", "4"]
    );
}

#[test]
fn many_calls_keep_their_order_too() {
    let ids: Vec<String> = (0..100).map(|index| (index % 40).to_string()).collect();
    let calls: Vec<ToolCall> = ids
        .iter()
        .enumerate()
        .map(|(index, id)| call(id, "now", object!({"tag": (format!("{index}"))})))
        .collect();
    let run = run(calls, ExecOptions::default());
    let mut expected: Vec<usize> = (0..100).collect();
    expected.sort_by_key(|index| index % 40);
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(run.contents(), expected);
}

#[test]
fn times_are_in_info_and_include_waiting() {
    let calls = vec![waiting("a", "write", 250), waiting("b", "write", 500)];
    let run = run(calls, ExecOptions::default());
    let responses = run.outcome.unwrap();
    let info = responses[1].body.info.clone().unwrap();
    assert_eq!(info, object!({"start_ts": 0.0, "end_ts": 0.75}));
    assert_eq!(&*responses[1].name, "write");
    assert_eq!(&*responses[1].tool_call_id, "b");
}

#[test]
fn tool_results_become_content() {
    let run = run(vec![call("a", "record", Object::new())], answering());
    assert_eq!(run.contents(), ["{\"a\":1}"]);
    assert!(run.outcome.unwrap()[0].body.content_is_json_str);
}

proptest! {
    /// Every combination of options answers each call, in order.
    #[test]
    fn every_call_is_answered_in_order(
        calls in prop::collection::vec((0_usize..6, 0_i64..30), 0..12),
        concurrency in any::<bool>(),
        limit in prop::option::of(0_u64..30),
    ) {
        let names = ["read", "write", "now", "now_alone", "fail", "nothing"];
        let requests: Vec<ToolCall> = calls
            .iter()
            .enumerate()
            .map(|(index, (name, ms))| {
                let tag = index.to_string();
                match names[*name] {
                    name @ ("read" | "write") => waiting(&tag, name, *ms),
                    name => tagged(&tag, name),
                }
            })
            .collect();
        let options = ExecOptions {
            concurrency,
            exec_timeout: limit.map(Duration::from_millis),
            ..answering()
        };
        let ids: Vec<_> = requests.iter().map(|call| call.id.clone()).collect();
        let run = run(requests, options);
        let answered: Vec<_> = run
            .outcome
            .unwrap()
            .into_iter()
            .map(|response| response.tool_call_id)
            .collect();
        prop_assert_eq!(answered, ids);
        prop_assert_eq!(run.log.active, 0);
    }
}
