//! The rules of `exec_tool_calls`, one by one, on a virtual clock.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;

use super::{ExecError, ExecOptions, exec_tool_calls};
use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::message::{Message, ToolRequestMessage, ToolResponseMessage};
use crate::object;
use crate::tool::{
    BoundTool, IntoToolResult, ToolBuilder, ToolCall, ToolCallFunction, ToolError, ToolSet,
    ToolValue,
};
use crate::virtual_clock::VirtualClock;

/// Each tool that began: its tag, how many then ran, and when, in milliseconds.
#[derive(Default)]
struct Log {
    active: usize,
    began: Vec<(String, usize, u64)>,
}

fn text(arguments: &Object, key: &str) -> String {
    let value = arguments.get(key).and_then(Json::as_text);
    value.map(ToString::to_string).unwrap_or_default()
}

fn millis(clock: &dyn Clock) -> u64 {
    (clock.now() * 1000.0).round() as u64
}

/// An async tool that takes `ms` and then gives its `tag`, or fails.
fn wait(name: &str, safe: bool) -> BoundTool<Log> {
    ToolBuilder::new(name)
        .description("Wait.")
        .allow_missing_descriptions()
        .concurrency_safe(safe)
        .typed::<String>("tag", "")
        .typed::<i64>("ms", "")
        .typed::<bool>("fails", "")
        .default(false)
        .async_handler::<Log>(|context, arguments| {
            Box::pin(async move {
                let tag = text(arguments, "tag");
                let ms = arguments.get("ms").and_then(Json::as_i64).unwrap_or(0);
                {
                    let mut log = context.state.borrow_mut();
                    log.active += 1;
                    let active = log.active;
                    log.began.push((tag.clone(), active, millis(context.clock)));
                }
                let _leaving = Leaving(context.state);
                if ms > 0 {
                    context.clock.sleep(Duration::from_millis(ms as u64)).await;
                }
                match arguments.get("fails") {
                    Some(Json::Bool(true)) => Err(ToolError::runtime(format!("{tag} failed"))),
                    _ => tag.into_tool_result(),
                }
            })
        })
        .unwrap()
}

struct Leaving<'a>(&'a RefCell<Log>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().active -= 1;
    }
}

/// A synchronous tool that gives its `tag`, or fails with it.
fn at_once(name: &str, safe: bool, fails: bool) -> BoundTool<Log> {
    ToolBuilder::new(name)
        .description("Do.")
        .allow_missing_descriptions()
        .concurrency_safe(safe)
        .typed::<String>("tag", "")
        .handler::<Log, _>(move |context, arguments| {
            let tag = text(arguments, "tag");
            let mut log = context.state_mut()?;
            let active = log.active + 1;
            log.began.push((tag.clone(), active, millis(context.clock)));
            if fails {
                return Err(ToolError::value(tag));
            }
            Ok(tag)
        })
        .unwrap()
}

fn give(name: &str, value: ToolValue) -> BoundTool<Log> {
    ToolBuilder::new(name)
        .description("Give.")
        .handler(move |_, _| Ok(value.clone()))
        .unwrap()
}

fn tools() -> ToolSet<Log> {
    ToolSet::new([
        wait("read", true),
        wait("write", false),
        at_once("now", true, false),
        at_once("now_alone", false, false),
        at_once("fail", true, true),
        give("silent", ToolValue::Message(Message::default())),
        give("record", ToolValue::Record(object!({"a": 1, "b": null}))),
        // Not found: the first of equal names wins.
        give("now", ToolValue::Json(Json::Null)),
    ])
}

fn call(id: &str, name: &str, arguments: Object) -> ToolCall {
    ToolCall {
        id: id.into(),
        function: ToolCallFunction {
            name: name.into(),
            arguments,
        },
    }
}

/// A call whose id is its tag.
fn tagged(tag: &str, name: &str) -> ToolCall {
    call(tag, name, object!({"tag": tag}))
}

/// A call that takes time, whose id is its tag.
fn waiting(tag: &str, name: &str, ms: i64) -> ToolCall {
    call(tag, name, object!({"tag": tag, "ms": ms}))
}

fn failing(tag: &str, name: &str, ms: i64) -> ToolCall {
    call(tag, name, object!({"tag": tag, "ms": ms, "fails": true}))
}

struct Run {
    outcome: Result<Vec<ToolResponseMessage>, ExecError>,
    log: Log,
    took_ms: u64,
}

fn run(calls: Vec<ToolCall>, options: ExecOptions) -> Run {
    let clock = VirtualClock::new();
    let state = RefCell::new(Log::default());
    let message = ToolRequestMessage {
        tool_calls: calls,
        ..ToolRequestMessage::default()
    };
    let tools = tools();
    let outcome = clock
        .run(exec_tool_calls(&tools, &state, &message, &options, &clock))
        .unwrap();
    Run {
        outcome,
        log: state.into_inner(),
        took_ms: clock.elapsed().as_millis() as u64,
    }
}

impl Run {
    fn contents(&self) -> Vec<&str> {
        let responses = self.outcome.as_ref().unwrap().iter();
        responses
            .map(|response| response.body.content.as_deref().unwrap())
            .collect()
    }

    fn error(&self) -> String {
        self.outcome.as_ref().unwrap_err().to_string()
    }

    fn began(&self) -> Vec<(&str, usize, u64)> {
        self.log
            .began
            .iter()
            .map(|(tag, active, at)| (tag.as_str(), *active, *at))
            .collect()
    }
}

fn answering() -> ExecOptions {
    ExecOptions {
        handle_tool_exc: true,
        ..ExecOptions::default()
    }
}

fn one_by_one() -> ExecOptions {
    ExecOptions {
        concurrency: false,
        ..ExecOptions::default()
    }
}

fn limited(ms: u64) -> ExecOptions {
    ExecOptions {
        exec_timeout: Some(Duration::from_millis(ms)),
        ..answering()
    }
}

#[test]
fn readers_pass_a_waiting_writer() {
    let run = run(
        vec![
            waiting("a", "read", 30),
            waiting("b", "write", 20),
            waiting("c", "read", 10),
        ],
        ExecOptions::default(),
    );
    assert_eq!(run.began(), [("a", 1, 0), ("c", 2, 0), ("b", 1, 30)]);
    assert_eq!(run.contents(), ["a", "b", "c"]);
    assert_eq!(run.took_ms, 50);
}

#[test]
fn a_writer_that_ends_lets_in_all_readers_then_the_next_writer() {
    let run = run(
        vec![
            waiting("a", "write", 10),
            waiting("b", "write", 10),
            waiting("c", "read", 20),
            waiting("d", "write", 10),
            waiting("e", "read", 10),
        ],
        ExecOptions::default(),
    );
    assert_eq!(
        run.began(),
        [
            ("a", 1, 0),
            ("c", 1, 10),
            ("e", 2, 10),
            ("b", 1, 30),
            ("d", 1, 40)
        ]
    );
}

#[test]
fn one_after_the_other() {
    let calls = || vec![waiting("a", "read", 30), waiting("b", "read", 10)];
    let apart = run(calls(), one_by_one());
    assert_eq!(apart.began(), [("a", 1, 0), ("b", 1, 30)]);
    let together = run(calls(), ExecOptions::default());
    assert_eq!(together.began(), [("a", 1, 0), ("b", 2, 0)]);
}

#[test]
fn synchronous_tools_run_in_call_order_among_others() {
    let run = run(
        vec![
            waiting("a", "read", 10),
            tagged("b", "now"),
            tagged("c", "now_alone"),
            tagged("d", "now"),
        ],
        ExecOptions::default(),
    );
    assert_eq!(
        run.began(),
        [("a", 1, 0), ("b", 2, 0), ("d", 2, 0), ("c", 1, 10)]
    );
    assert_eq!(run.contents(), ["a", "b", "c", "d"]);
}

#[test]
fn only_running_counts_against_the_limit() {
    let run = run(
        vec![
            waiting("a", "write", 15),
            waiting("b", "write", 15),
            waiting("c", "write", 25),
            waiting("d", "write", 5),
        ],
        limited(20),
    );
    assert_eq!(
        run.contents(),
        [
            "a",
            "b",
            "Encountered exception during tool call: TimeoutError()",
            "d"
        ]
    );
    assert_eq!(run.began().last(), Some(&("d", 1, 50)));
    assert_eq!(run.took_ms, 55);
}

#[test]
fn a_tool_that_ends_exactly_at_the_limit_is_late() {
    let run = run(vec![waiting("a", "read", 20)], limited(20));
    assert!(run.contents()[0].ends_with("TimeoutError()"));
    assert_eq!(run.log.active, 0);
}

#[test]
fn a_tool_that_never_waits_is_never_late() {
    let calls = vec![waiting("a", "read", 0), tagged("b", "now")];
    assert_eq!(run(calls, limited(1)).contents(), ["a", "b"]);
}

#[test]
fn without_any_time_no_tool_begins() {
    let calls = vec![waiting("a", "read", 0), tagged("b", "now")];
    let run = run(calls, limited(0));
    assert!(run.contents()[1].ends_with("TimeoutError()"));
    assert!(run.began().is_empty());
}

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
    // Never a tool failure, so answering those is no help.
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
fn calls_that_share_an_id_stand_together_unknown_tools_first() {
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
    let ids: Vec<String> = (0..100).map(|place| (place % 40).to_string()).collect();
    let calls: Vec<ToolCall> = ids
        .iter()
        .enumerate()
        .map(|(place, id)| call(id, "now", object!({"tag": (format!("{place}"))})))
        .collect();
    let run = run(calls, ExecOptions::default());
    let mut expected: Vec<usize> = (0..100).collect();
    expected.sort_by_key(|place| place % 40);
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(run.contents(), expected);
}

#[test]
fn times_stand_in_info_and_waiting_counts() {
    let calls = vec![waiting("a", "write", 250), waiting("b", "write", 500)];
    let run = run(calls, ExecOptions::default());
    let responses = run.outcome.unwrap();
    let info = responses[1].body.info.clone().unwrap();
    assert_eq!(info, object!({"start_ts": 0.0, "end_ts": 0.75}));
    assert_eq!(&*responses[1].name, "write");
    assert_eq!(&*responses[1].tool_call_id, "b");
}

#[test]
fn what_tools_give_becomes_content() {
    let run = run(vec![call("a", "record", Object::new())], answering());
    assert_eq!(run.contents(), ["{\"a\":1}"]);
    assert!(run.outcome.unwrap()[0].body.content_is_json_str);
}

#[test]
fn dropping_it_all_in_between_leaves_nothing_behind() {
    let clock = VirtualClock::new();
    let state = Rc::new(RefCell::new(Log::default()));
    let message = ToolRequestMessage {
        tool_calls: vec![waiting("a", "write", 10), waiting("b", "write", 10)],
        ..ToolRequestMessage::default()
    };
    let tools = tools();
    let options = ExecOptions::default();
    {
        let mut running = Box::pin(exec_tool_calls(&tools, &state, &message, &options, &clock));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(running.as_mut().poll(&mut context).is_pending());
        assert_eq!(state.borrow().active, 1);
    }
    assert_eq!(state.borrow().active, 0);
    assert!(clock.run(std::future::pending::<()>()).is_err());
    assert_eq!(clock.elapsed(), Duration::ZERO);
}

#[test]
#[expect(clippy::await_holding_refcell_ref, reason = "that is what is tested")]
fn a_state_that_is_held_over_an_await_fails_other_tools_softly() {
    let greedy: BoundTool<Log> = ToolBuilder::new("greedy")
        .description("Hold on.")
        .async_handler::<Log>(|context, _| {
            Box::pin(async move {
                let _held = context.state.borrow_mut();
                context.clock.sleep(Duration::from_millis(1)).await;
                ().into_tool_result()
            })
        })
        .unwrap();
    let clock = VirtualClock::new();
    let tools = ToolSet::new([greedy, at_once("now", true, false)]);
    let message = ToolRequestMessage {
        tool_calls: vec![call("a", "greedy", Object::new()), tagged("b", "now")],
        ..ToolRequestMessage::default()
    };
    let state = RefCell::new(Log::default());
    let options = ExecOptions::default();
    let outcome = clock
        .run(exec_tool_calls(&tools, &state, &message, &options, &clock))
        .unwrap();
    assert!(
        outcome
            .unwrap_err()
            .to_string()
            .contains("held by another tool")
    );
}

proptest! {
    /// All calls ask at once, so the whole schedule follows from the rule.
    #[test]
    fn schedules_follow_the_rule(calls in prop::collection::vec((any::<bool>(), 1_u64..40), 1..12)) {
        let requests: Vec<ToolCall> = calls
            .iter()
            .enumerate()
            .map(|(place, (safe, ms))| {
                let name = if *safe { "read" } else { "write" };
                waiting(&place.to_string(), name, *ms as i64)
            })
            .collect();
        let run = run(requests, ExecOptions::default());

        let mut now = 0;
        let mut expected = Vec::new();
        let mut writers: Vec<usize> = (0..calls.len()).filter(|place| !calls[*place].0).collect();
        if writers.first() == Some(&0) {
            expected.push((0, 0));
            now = calls[0].1;
            writers.remove(0);
        }
        let mut readers_end = now;
        for (place, (safe, ms)) in calls.iter().enumerate() {
            if *safe {
                expected.push((place, now));
                readers_end = readers_end.max(now + ms);
            }
        }
        now = readers_end;
        for place in writers {
            expected.push((place, now));
            now += calls[place].1;
        }
        let began: Vec<(usize, u64)> = run
            .began()
            .iter()
            .map(|(tag, _, at)| (tag.parse().unwrap(), *at))
            .collect();
        prop_assert_eq!(began, expected);
        prop_assert_eq!(run.took_ms, now);
    }

    /// Whatever happens, each call is answered, in order.
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
            .map(|(place, (name, ms))| {
                let tag = place.to_string();
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

#[test]
fn tools_may_run_tools() {
    let clock = VirtualClock::new();
    let inner = Rc::new(Cell::new(0));
    let seen = Rc::clone(&inner);
    let nested: BoundTool<()> = ToolBuilder::new("outer")
        .description("Run another one.")
        .async_handler(move |context, _| {
            let seen = Rc::clone(&seen);
            Box::pin(async move {
                let tools = tools();
                let state = RefCell::new(Log::default());
                let message = ToolRequestMessage {
                    tool_calls: vec![waiting("a", "write", 5)],
                    ..ToolRequestMessage::default()
                };
                let options = ExecOptions::default();
                exec_tool_calls(&tools, &state, &message, &options, context.clock)
                    .await
                    .map_err(|error| ToolError::runtime(error.to_string()))?;
                seen.set(state.borrow().began.len());
                ().into_tool_result()
            })
        })
        .unwrap();
    let message = ToolRequestMessage {
        tool_calls: vec![call("a", "outer", Object::new())],
        ..ToolRequestMessage::default()
    };
    let tools = ToolSet::new([nested]);
    let options = ExecOptions::default();
    let state = RefCell::new(());
    let outcome = clock
        .run(exec_tool_calls(&tools, &state, &message, &options, &clock))
        .unwrap();
    assert!(outcome.is_ok());
    assert_eq!(inner.get(), 1);
}
