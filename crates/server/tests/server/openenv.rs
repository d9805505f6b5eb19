//! OpenEnv's protocol: episodes, faults of clients, limits, and the paths next to the socket.

use std::time::Duration;

use volary_core::json;
use volary_core::json::Json;
use volary_server::options::ServerOptions;

use crate::running::{Running, until};
use crate::socket::{Received, Socket};

fn serving(name: &str) -> Running {
    let options = ServerOptions {
        name: name.to_owned(),
        ..ServerOptions::default()
    };
    Running::serving(name, options)
}

fn text<'a>(value: &'a Json, path: &[&str]) -> &'a str {
    let found = path.iter().try_fold(value, |value, key| value.get(key));
    found
        .and_then(Json::as_text)
        .unwrap_or_else(|| panic!("no {path:?} in {value:?}"))
}

#[test]
fn a_counter_is_played_to_the_reward() {
    let server = serving("counter");
    let mut socket = Socket::open(server.connect());
    let reset = socket.reset(json!({"seed": 3, "episode_id": "mine"}));
    assert!(text(&reset, &["observation", "prompt"]).starts_with("Count to 10"));
    assert_eq!(reset.get("done"), Some(&json!(false)));
    for count in 1..=10 {
        let step = socket.call("incr", json!({}));
        assert_eq!(
            text(&step, &["observation", "result"]),
            format!("counter={count}")
        );
        let last = count == 10;
        assert_eq!(step.get("done"), Some(&json!(last)));
        assert_eq!(
            step.get("reward"),
            Some(&json!(if last { 1.0 } else { 0.0 }))
        );
    }
    let state = socket.exchange(&json!({"type": "state"}), "state");
    assert_eq!(state.get("episode_id"), Some(&json!("mine")));
    assert_eq!(state.get("step_count"), Some(&json!(10)));
    assert_eq!(state.get("total_reward"), Some(&json!(1.0)));
    socket.send_text(r#"{"type": "close"}"#);
    assert_eq!(socket.receive(), Received::Closed(1000));
    until("the environment is closed", || server.places() == 0);
}

#[test]
fn word_problems_by_index_by_seed_and_in_turn() {
    let server = serving("word_problems");
    let mut socket = Socket::open(server.connect());
    let mut prompt = |data: Json| {
        let reset = socket.reset(data);
        text(&reset, &["observation", "prompt"]).to_owned()
    };
    let third = prompt(json!({"index": 2, "split": "train"}));
    assert_eq!(prompt(json!({"task_idx": 2})), third);
    assert_eq!(prompt(json!({"seed": 2})), third);
    let turns = [prompt(json!({})), prompt(json!({})), prompt(json!({}))];
    assert_eq!(turns[2], third);
    let last = prompt(json!({"index": (-1)}));
    assert_ne!(last, third);
    // One environment at a time: each reset closed the one before.
    assert_eq!(server.places(), 1);
    for (data, code) in [
        (json!({"index": 100_000}), "EXECUTION_ERROR"),
        (json!({"index": "1"}), "VALIDATION_ERROR"),
        (json!({"split": "test"}), "VALIDATION_ERROR"),
    ] {
        let message = json!({"type": "reset", "data": data});
        assert_eq!(socket.error(&message.to_compact_text()), code);
    }
    // A reset that failed leaves no episode.
    let step = r#"{"type": "step", "data": {"tool_name": "calculator"}}"#;
    assert_eq!(socket.error(step), "EXECUTION_ERROR");
    until("the environment is closed", || server.places() == 0);
}

#[test]
fn a_calculator_from_arguments_and_calls_in_every_form() {
    let server = serving("calculator");
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({"task_kwargs": {"problem": "What is 6 * 7?", "answer": 42}, "seed": 1}));
    let both = json!({"type": "step", "data": {"tool_calls": [
        {"tool_name": "calculator", "arguments": {"expr": "6 * 7"}},
        {"id": "b", "type": "function", "function": {"name": "calculator", "arguments": "{\"expr\": \"1 + 1\"}"}}
    ]}});
    let step = socket.exchange(&both, "observation");
    let messages = step.get("observation").unwrap().get("messages").unwrap();
    let ids: Vec<&str> = messages
        .as_list()
        .unwrap()
        .iter()
        .map(|message| text(message, &["tool_call_id"]))
        .collect();
    assert_eq!(ids, ["call-0-0", "b"]);
    let call = json!({"type": "mcp", "data": {
        "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": "submit_answer", "arguments": {"answer": "42"}}
    }});
    let called = socket.exchange(&call, "mcp");
    assert_eq!(called.get("id"), Some(&json!(9)));
    let result = called
        .get("result")
        .unwrap()
        .get("structuredContent")
        .unwrap();
    assert_eq!(result.get("reward"), Some(&json!(1.0)));
    assert_eq!(result.get("done"), Some(&json!(true)));
    // A tool that does not exist is the agent's mistake, which the environment answers.
    let step = socket.call("calculate", json!({}));
    assert_eq!(step.get("reward"), Some(&json!(-1.0)));
}

#[test]
fn tools_are_listed_before_any_episode_and_take_no_place() {
    let server = serving("word_problems");
    let mut socket = Socket::open(server.connect());
    let list = json!({"type": "step", "data": {"type": "list_tools"}});
    for _ in 0..2 {
        let listed = socket.exchange(&list, "observation");
        let tools = listed.get("observation").unwrap().get("tools").unwrap();
        let tool = &tools.as_list().unwrap()[0];
        assert_eq!(text(tool, &["name"]), "calculator");
        assert!(
            tool.get("input_schema")
                .unwrap()
                .get("properties")
                .is_some()
        );
    }
    assert_eq!(server.places(), 0);
    let list =
        json!({"type": "mcp", "data": {"jsonrpc": "2.0", "id": "l", "method": "tools/list"}});
    let listed = socket.exchange(&list, "mcp");
    let tools = listed.get("result").unwrap().get("tools").unwrap();
    assert!(tools.as_list().unwrap()[0].get("inputSchema").is_some());
    let schema = server.connect().get("/schema").json();
    assert_eq!(text(&schema, &["action", "title"]), "CallToolAction");
}

#[test]
fn every_environment_of_the_registry_can_be_played() {
    for entry in volary_envs::registry().environments {
        let server = serving(entry.name);
        let mut socket = Socket::open(server.connect());
        socket.reset(json!({}));
        socket.exchange(
            &json!({"type": "step", "data": {"content": "hello"}}),
            "observation",
        );
        socket.exchange(&json!({"type": "state"}), "state");
    }
}

#[test]
fn garbage_has_an_answer_and_harms_nothing() {
    let server = serving("counter");
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({}));
    for (garbage, code) in [
        ("", "INVALID_JSON"),
        ("{\"type\": \"step\", \"data\": {\"tool_na", "INVALID_JSON"),
        ("[]", "VALIDATION_ERROR"),
        ("{\"type\": \"harness\"}", "UNKNOWN_TYPE"),
        ("{\"type\": \"step\"}", "VALIDATION_ERROR"),
        (
            r#"{"type": "step", "data": {"tool_name": 7}}"#,
            "VALIDATION_ERROR",
        ),
        (
            r#"{"type": "step", "data": {"tool_name": "incr", "argument": {}}}"#,
            "VALIDATION_ERROR",
        ),
        (
            r#"{"type": "reset", "data": {"seed": -1}}"#,
            "VALIDATION_ERROR",
        ),
    ] {
        assert_eq!(socket.error(garbage), code, "{garbage}");
    }
    assert_eq!(socket.error(&"[".repeat(500_000)), "INVALID_JSON");
    socket.send_bytes(b"\xff\x00");
    assert_eq!(text(&socket.expect("error"), &["code"]), "INVALID_JSON");
    let wrong =
        json!({"type": "mcp", "data": {"jsonrpc": "2.0", "id": {"a": 1}, "method": "nothing"}});
    let answer = socket.exchange(&wrong, "mcp");
    assert_eq!(answer.get("id"), Some(&Json::Null));
    assert_eq!(
        answer.get("error").unwrap().get("code"),
        Some(&json!(-32601))
    );
    // A message in two frames is one message, and no step was taken before.
    socket.send_in_parts(r#"{"type": "step", "data": {"tool_name": "incr"}}"#);
    assert_eq!(socket.receive(), Received::Pong);
    let step = socket.expect("observation");
    assert_eq!(text(&step, &["observation", "result"]), "counter=1");
}

#[test]
fn frames_that_break_the_protocol_end_one_connection() {
    let server = serving("counter");
    let mut good = Socket::open(server.connect());
    good.reset(json!({}));
    // Ten megabytes, a text that is no UTF-8, and a frame of an unknown kind.
    let large = vec![b' '; 10 << 20];
    for attack in 0..3 {
        let mut socket = Socket::open(server.connect());
        socket.reset(json!({}));
        match attack {
            0 => {
                socket.send_head(0x81, large.len());
                let _ = socket.0.write(&large);
            }
            1 => {
                socket.send_head(0x81, 2);
                let _ = socket.0.write(b"\xc3\x28");
            }
            _ => socket.send_head(0x83, 0),
        }
        // The reason may be lost with what the server did not read.
        let mut received = socket.receive();
        if matches!(received, Received::Json(_)) {
            received = socket.receive();
        }
        assert!(
            matches!(received, Received::Closed(_) | Received::Lost),
            "{attack}: {received:?}"
        );
    }
    until("their environments are closed", || server.places() == 1);
    assert_eq!(
        text(&good.call("incr", json!({})), &["observation", "result"]),
        "counter=1"
    );
}

#[test]
fn half_a_message_and_silence_end_the_connection() {
    let options = ServerOptions {
        read_timeout: Duration::from_millis(200),
        ..ServerOptions::default()
    };
    let server = Running::serving("counter", options);
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({}));
    socket.send_head(0x81, 1000);
    socket.0.write(b"{\"type\": ").unwrap();
    assert!(matches!(
        socket.receive(),
        Received::Closed(_) | Received::Lost
    ));
    until("the environment is closed", || server.places() == 0);
    server.wait_for_connections(0);
}

#[test]
fn an_unused_session_ends_and_says_why() {
    let options = ServerOptions {
        idle_timeout: Some(Duration::from_millis(300)),
        ..ServerOptions::default()
    };
    let server = Running::serving("counter", options);
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({}));
    // The environment may have been closed first.
    let error = socket.expect("error");
    assert_eq!(text(&error, &["code"]), "SESSION_ERROR");
    assert!(text(&error, &["message"]).contains("not used"), "{error:?}");
    assert_eq!(socket.receive(), Received::Closed(1000));
    until("the environment is closed", || server.places() == 0);
}

#[test]
fn closing_after_a_step_was_sent_closes_the_environment_once() {
    let server = Running::scripted(ServerOptions::default());
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({"task_kwargs": {"name": "left"}}));
    socket.send_order("hold");
    server.wait_for_operations(1);
    drop(socket);
    server.wait_for_connections(0);
    assert_eq!(server.places(), 1);
    server.script.release(1);
    until("the environment is closed", || server.places() == 0);
    assert_eq!(server.script.closed(), ["left"]);
}

#[test]
fn pings_are_answered_while_a_step_runs_and_messages_wait() {
    let server = Running::scripted(ServerOptions::default());
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({}));
    socket.send_order("hold");
    server.wait_for_operations(1);
    socket.send_order("second");
    socket.send_text("garbage");
    socket.ping();
    assert_eq!(socket.receive(), Received::Pong);
    server.script.release(1);
    for expected in ["hold", "hold, second"] {
        let step = socket.expect("observation");
        let messages = step.get("observation").unwrap().get("messages").unwrap();
        let content = text(&messages.as_list().unwrap()[0], &["content"]);
        assert_eq!(content, expected);
    }
    socket.expect("error");
}

#[test]
fn a_failure_or_a_panic_is_told_and_the_session_goes_on() {
    let server = Running::scripted(ServerOptions::default());
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({}));
    for order in ["fail as ordered", "panic", "again"] {
        socket.send_order(order);
        let error = socket.expect("error");
        assert_eq!(text(&error, &["code"]), "EXECUTION_ERROR", "{order}");
    }
    socket.reset(json!({}));
    socket.send_order("reward NaN");
    assert_eq!(
        socket.expect("observation").get("reward"),
        Some(&Json::Null)
    );
}

#[test]
fn environments_are_limited_and_freed() {
    let options = ServerOptions {
        max_envs: 1,
        ..ServerOptions::default()
    };
    let server = Running::serving("counter", options);
    let mut one = Socket::open(server.connect());
    let mut other = Socket::open(server.connect());
    one.reset(json!({}));
    assert_eq!(other.error(r#"{"type": "reset"}"#), "CAPACITY_REACHED");
    // Its own environment makes room for the next one.
    one.reset(json!({}));
    drop(one);
    until("the place is free", || server.places() == 0);
    other.reset(json!({}));
}

#[test]
fn sockets_need_the_key_an_allowed_origin_and_host() {
    let options = ServerOptions {
        api_key: Some("secret".to_owned()),
        cors_origins: vec!["https://you.github.io".to_owned()],
        ..ServerOptions::default()
    };
    let server = Running::serving("counter", options);
    let status = |headers: &[(&str, &str)]| {
        let asked = Socket::ask(server.connect(), "/ws", headers);
        asked.map_or_else(|reply| reply.status, |_| 101)
    };
    let key = ("X-API-Key", "secret");
    assert_eq!(status(&[]), 403);
    assert_eq!(status(&[("X-API-Key", "other")]), 403);
    assert_eq!(status(&[("Authorization", "Bearer other")]), 403);
    assert_eq!(status(&[("Authorization", "Basic secret")]), 403);
    assert_eq!(status(&[key]), 101);
    assert_eq!(status(&[("Authorization", "Bearer secret")]), 101);
    assert_eq!(status(&[key, ("Origin", "https://you.github.io")]), 101);
    assert_eq!(status(&[key, ("Origin", "https://evil.example")]), 403);
    assert_eq!(status(&[key, ("Host", "evil.example")]), 421);
    assert_eq!(server.connect().get("/health").status, 200);
    for path in [
        "/metadata",
        "/schema",
        "/list_environments",
        "/environment/splits",
    ] {
        assert_eq!(server.connect().get(path).status, 403, "{path}");
    }
    assert_eq!(server.connect().get("/ws").status, 403);
    let reply = server.connect().ask("GET", "/ws", &[key], b"");
    assert!((400..500).contains(&reply.status), "{reply:?}");
}

#[test]
fn sessions_of_others_cannot_be_attached_to() {
    let server = serving("counter");
    let asked = Socket::ask(server.connect(), "/ws?session_id=abc", &[]);
    let mut socket = asked.unwrap_or_else(|reply| panic!("{reply:?}"));
    assert_eq!(text(&socket.expect("error"), &["code"]), "SESSION_ERROR");
    assert!(matches!(socket.receive(), Received::Closed(_)));
}

#[test]
fn a_server_that_stops_says_so_and_closes_environments() {
    let mut server = Running::scripted(ServerOptions::default());
    let mut socket = Socket::open(server.connect());
    socket.reset(json!({"task_kwargs": {"name": "open"}}));
    server.stop();
    assert_eq!(text(&socket.expect("error"), &["code"]), "SESSION_ERROR");
    assert_eq!(socket.receive(), Received::Closed(1001));
    assert_eq!(server.script.closed(), ["open"]);
}

#[test]
fn tasks_are_listed_by_split_and_index() {
    let server = serving("word_problems");
    let mut connection = server.connect();
    assert_eq!(
        connection.get("/list_environments").json(),
        json!(["word_problems"])
    );
    let splits = connection.get("/Word_Problems/splits").json();
    assert_eq!(splits, json!([{"name": "train", "type": "train"}]));
    let split = json!({"split": "train"});
    let counted = connection.post("/word_problems/num_tasks", &split).json();
    let count = counted.get("num_tasks").and_then(Json::as_i64).unwrap();
    let all = connection.post("/word_problems/tasks", &split).json();
    let all = all.get("tasks").and_then(Json::as_list).unwrap().to_vec();
    assert_eq!(i64::try_from(all.len()), Ok(count));
    let one = connection.post(
        "/word_problems/task",
        &json!({"split": "train", "index": 3}),
    );
    assert_eq!(one.json().get("task"), Some(&all[3]));
    assert!(!one.body.contains("answer"), "{one:?}");
    let range = json!({"split": "train", "start": 1, "stop": 3});
    let range = connection.post("/word_problems/task_range", &range).json();
    assert_eq!(range.get("tasks").and_then(Json::as_list), Some(&all[1..3]));
    for (path, body, status) in [
        (
            "/word_problems/task",
            json!({"split": "train", "index": count}),
            400,
        ),
        (
            "/word_problems/task",
            json!({"split": "train", "index": (-1)}),
            400,
        ),
        ("/word_problems/task", json!({"split": "train"}), 422),
        ("/word_problems/tasks", json!({"split": "test"}), 404),
        ("/word_problems/tasks", json!([]), 422),
        ("/others/tasks", json!({"split": "train"}), 404),
    ] {
        assert_eq!(
            connection.post(path, &body).status,
            status,
            "{path} {body:?}"
        );
    }
    let endless = serving("counter");
    let mut connection = endless.connect();
    assert_eq!(connection.get("/counter/splits").status, 501);
    for path in ["tasks", "num_tasks", "task", "task_range"] {
        let reply = connection.post(
            &format!("/counter/{path}"),
            &json!({"split": "train", "index": 0}),
        );
        assert_eq!(reply.status, 501, "{path}");
        assert!(reply.detail().contains("not supported"), "{reply:?}");
    }
}

#[test]
fn the_server_describes_itself() {
    let options = ServerOptions {
        name: "counter".to_owned(),
        description: "Count to 10.".to_owned(),
        ..ServerOptions::default()
    };
    let server = Running::serving("counter", options);
    let mut connection = server.connect();
    assert_eq!(
        connection.get("/health").json(),
        json!({"status": "healthy"})
    );
    let metadata = connection.get("/metadata").json();
    assert_eq!(text(&metadata, &["name"]), "counter");
    assert_eq!(text(&metadata, &["description"]), "Count to 10.");
    for path in ["/health", "/metadata", "/schema", "/list_environments"] {
        assert_eq!(connection.post(path, &json!({})).status, 405, "{path}");
    }
}
