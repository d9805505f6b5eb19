//! When calls run: the reader/writer rule, time limits, nesting.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

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

proptest! {
    /// All calls are requested at once, so the rule determines the whole schedule.
    #[test]
    fn schedules_follow_the_rule(calls in prop::collection::vec((any::<bool>(), 1_u64..40), 1..12)) {
        let requests: Vec<ToolCall> = calls
            .iter()
            .enumerate()
            .map(|(index, (safe, ms))| {
                let name = if *safe { "read" } else { "write" };
                waiting(&index.to_string(), name, *ms as i64)
            })
            .collect();
        let run = run(requests, ExecOptions::default());

        let mut now = 0;
        let mut expected = Vec::new();
        let mut writers: Vec<usize> = (0..calls.len()).filter(|index| !calls[*index].0).collect();
        if writers.first() == Some(&0) {
            expected.push((0, 0));
            now = calls[0].1;
            writers.remove(0);
        }
        let mut readers_end = now;
        for (index, (safe, ms)) in calls.iter().enumerate() {
            if *safe {
                expected.push((index, now));
                readers_end = readers_end.max(now + ms);
            }
        }
        now = readers_end;
        for index in writers {
            expected.push((index, now));
            now += calls[index].1;
        }
        let began: Vec<(usize, u64)> = run
            .began()
            .iter()
            .map(|(tag, _, at)| (tag.parse().unwrap(), *at))
            .collect();
        prop_assert_eq!(began, expected);
        prop_assert_eq!(run.took_ms, now);
    }
}
