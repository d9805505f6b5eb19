//! Sessions of a host: what each message does, in and out of order, and random messages.

use proptest::prelude::*;
use volary_core::tool::FunctionInfo;
use volary_core::{Message, json};

use super::*;

fn tool() -> Arc<Tool> {
    Arc::new(Tool {
        info: FunctionInfo {
            name: "incr".into(),
            description: "Add one.".into(),
            parameters: None,
        },
        concurrency_safe: true,
    })
}

/// Does what an environment would.
fn outcome(work: &Work) -> Done {
    match work {
        Work::Begin(_) => Done::Begun(Reset {
            messages: vec![Message::user("Count.").into()],
            tools: vec![tool()],
        }),
        Work::Tools => Done::Tools(vec![tool()]),
        Work::Step(_) => Done::Stepped(Step {
            messages: vec![Message::user("counter=1").into()],
            reward: 0.5,
            done: false,
            truncated: true,
        }),
        Work::Frame => Done::Frame(Frame::new(1, Json::Null)),
    }
}

/// Sends a message and performs what follows; returns the replies.
fn exchange(session: &mut HostSession, text: &str) -> Vec<Json> {
    let mut sent = Vec::new();
    let mut effects: VecDeque<Effect> = session.receive(text).into();
    while let Some(effect) = effects.pop_front() {
        match effect {
            Effect::Send(text) => sent.push(Json::parse(&text).unwrap()),
            Effect::Perform(work) => effects.extend(session.performed(Ok(outcome(&work)))),
            Effect::End => {}
        }
    }
    sent
}

fn one(session: &mut HostSession, text: &str) -> Json {
    let mut replies = exchange(session, text);
    assert_eq!(replies.len(), 1, "{text}: {replies:?}");
    replies.remove(0)
}

fn data<'a>(reply: &'a Json, key: &str) -> &'a Json {
    let member = reply.get("data").and_then(|data| data.get(key));
    member.unwrap_or_else(|| panic!("no {key}: {reply:?}"))
}

const STEP: &str = r#"{"type": "step", "data": {"tool_name": "incr"}}"#;

#[test]
fn an_episode() {
    let mut session = HostSession::new("s");
    let refused = one(&mut session, STEP);
    assert_eq!(data(&refused, "code"), &json!("EXECUTION_ERROR"));
    let listed = one(
        &mut session,
        r#"{"type": "step", "data": {"type": "list_tools"}}"#,
    );
    let tools = data(&listed, "observation").get("tools").unwrap();
    assert_eq!(tools.as_list().unwrap().len(), 1);
    let empty = one(&mut session, r#"{"type": "state"}"#);
    assert_eq!(data(&empty, "episode_id"), &Json::Null);

    let reset = one(&mut session, r#"{"type": "reset", "data": {"seed": 1}}"#);
    let observation = data(&reset, "observation");
    assert_eq!(observation.get("prompt"), Some(&json!("Count.")));
    assert_eq!(data(&reset, "reward"), &Json::Null);
    let step = one(&mut session, STEP);
    assert_eq!(data(&step, "reward"), &json!(0.5));
    // A truncated episode is over, too.
    assert_eq!(data(&step, "done"), &json!(true));
    assert_eq!(data(&step, "metadata"), &json!({"truncated": true}));
    let observation = data(&step, "observation");
    assert_eq!(observation.get("tool_name"), Some(&json!("incr")));
    assert_eq!(observation.get("result"), Some(&json!("counter=1")));
    let state = one(&mut session, r#"{"type": "state"}"#);
    assert_eq!(data(&state, "episode_id"), &json!("s-1"));
    assert_eq!(data(&state, "step_count"), &json!(1));

    let call = r#"{"type": "mcp", "data": {"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "incr"}}}"#;
    let called = one(&mut session, call);
    assert_eq!(data(&called, "id"), &json!("x"));
    let structured = data(&called, "result").get("structuredContent").unwrap();
    assert_eq!(structured.get("reward"), Some(&json!(0.5)));

    assert_eq!(session.receive(r#"{"type": "close"}"#), [Effect::End]);
    assert_eq!(session.receive(STEP), []);
}

#[test]
fn a_reset_that_fails_leaves_no_episode() {
    let mut session = HostSession::new("s");
    exchange(&mut session, r#"{"type": "reset"}"#);
    session.receive(r#"{"type": "reset"}"#);
    let full = Refusal::new(ErrorCode::CapacityReached, "full");
    let effects = session.performed(Err(full));
    assert!(matches!(&effects[..], [Effect::Send(text)] if text.contains("CAPACITY_REACHED")));
    let refused = one(&mut session, STEP);
    assert_eq!(data(&refused, "code"), &json!("EXECUTION_ERROR"));
}

#[test]
fn messages_wait_while_work_is_performed() {
    let mut session = HostSession::new("s");
    let begun = session.receive(r#"{"type": "reset"}"#);
    assert!(matches!(&begun[..], [Effect::Perform(Work::Begin(_))]));
    assert_eq!(session.receive(STEP), []);
    assert_eq!(session.receive("garbage"), []);
    assert_eq!(session.receive(r#"{"type": "close"}"#), []);
    assert_eq!(session.waiting().1, 3);
    let effects = session.performed(Ok(outcome(&Work::Begin(ResetRequest::default()))));
    assert!(matches!(
        &effects[..],
        [Effect::Send(_), Effect::Perform(Work::Step(_))]
    ));
    let effects = session.performed(Ok(outcome(&Work::Step(Message::user("").into()))));
    assert!(matches!(
        &effects[..],
        [Effect::Send(_), Effect::Send(_), Effect::End]
    ));
    // An outcome of the wrong kind returns an error and changes nothing.
    let mut session = HostSession::new("s");
    session.receive(r#"{"type": "reset"}"#);
    let effects = session.performed(Ok(Done::Tools(Vec::new())));
    assert!(matches!(&effects[..], [Effect::Send(text)] if text.contains("SESSION_ERROR")));
}

/// What clients send: valid messages, broken ones, and anything.
fn message() -> impl Strategy<Value = String> {
    let valid = prop::sample::select(vec![
        r#"{"type": "reset"}"#,
        r#"{"type": "reset", "data": {"index": 1, "seed": 7, "episode_id": "e"}}"#,
        r#"{"type": "reset", "data": {"seed": -1}}"#,
        STEP,
        r#"{"type": "step", "data": {"content": "no call"}}"#,
        r#"{"type": "step", "data": {"type": "list_tools"}}"#,
        r#"{"type": "step", "data": {"tool_calls": [{"name": "incr"}, {"name": "decr"}]}}"#,
        r#"{"type": "state"}"#,
        r#"{"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}"#,
        r#"{"type": "mcp", "data": {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "a"}}}"#,
        r#"{"type": "mcp", "data": {"id": 3}}"#,
    ]);
    let valid = valid.prop_map(str::to_owned);
    prop_oneof![
        4 => valid.clone(),
        // A half message.
        1 => (valid, any::<prop::sample::Index>()).prop_map(|(text, end)| {
            text[..end.index(text.len())].to_owned()
        }),
        1 => ".{0,40}",
    ]
}

proptest! {
    #[test]
    fn every_message_has_one_reply_in_order_and_work_is_single(
        messages in prop::collection::vec((message(), any::<bool>()), 0..40),
        failures in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut session = HostSession::new("s");
        let mut failures = failures.into_iter().cycle();
        let mut open: Option<Work> = None;
        let mut replies = 0;
        let mut handle = |effects: Vec<Effect>, open: &mut Option<Work>| {
            for effect in effects {
                match effect {
                    Effect::Send(text) => {
                        Json::parse(&text).unwrap();
                        replies += 1;
                    }
                    Effect::Perform(work) => {
                        assert!(open.is_none(), "two works at once");
                        *open = Some(work);
                    }
                    Effect::End => panic!("nobody closed it"),
                }
            }
        };
        let count = messages.len();
        for (text, finishes) in messages {
            handle(session.receive(&text), &mut open);
            if finishes && let Some(work) = open.take() {
                let done = match failures.next() {
                    Some(true) => Err(Refusal::new(ErrorCode::Execution, "failed")),
                    _ => Ok(outcome(&work)),
                };
                handle(session.performed(done), &mut open);
            }
        }
        while let Some(work) = open.take() {
            handle(session.performed(Ok(outcome(&work))), &mut open);
        }
        prop_assert_eq!(replies, count);
        prop_assert_eq!(session.waiting(), (0, 0));
    }
}
