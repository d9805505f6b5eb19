//! MCP over streamable HTTP: both eras of the protocol, keys, pages, faults.

use std::io::Read;

use volary_core::json;
use volary_core::json::Json;
use volary_server::options::ServerOptions;

use crate::running::{Running, until};

const STATELESS: &str = "2026-07-28";
const WITH_SESSIONS: &str = "2025-06-18";

/// The status, the head and the message of a reply, which may be a stream of events.
struct Told {
    status: u16,
    head: String,
    message: Json,
}

/// Posts a message and reads the reply to the end.
fn post(server: &Running, headers: &[(&str, &str)], body: &str) -> Told {
    let mut connection = server.connect();
    let mut all = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Connection", "close"),
    ];
    all.extend(headers);
    connection.send("POST", "/mcp", &all, body.as_bytes());
    let mut reply = String::new();
    connection.stream.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let messages = body
        .lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let message = messages
        .filter_map(|line| Json::parse(line).ok())
        .find(|message| message.get("id").is_some() || message.get("detail").is_some());
    Told {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        message: message.unwrap_or_default(),
    }
}

fn request(id: i64, method: &str, params: Json) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_compact_text()
}

/// Calls a tool without a session.
fn call_stateless(server: &Running, id: i64, tool: &str, arguments: Json) -> Json {
    let params = json!({
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        }
    });
    let headers = [
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    let told = post(server, &headers, &request(id, "tools/call", params));
    assert_eq!(told.status, 200, "{}", told.head);
    assert_eq!(told.message.get("id"), Some(&json!(id)));
    let result = told.message.get("result").cloned();
    result.unwrap_or_else(|| panic!("{:?}", told.message))
}

fn initialize(server: &Running) -> String {
    let params = json!({
        "protocolVersion": WITH_SESSIONS,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}
    });
    let told = post(server, &[], &request(0, "initialize", params));
    assert_eq!(told.status, 200, "{}", told.head);
    let session = told
        .head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = session.unwrap().to_owned();
    let headers = [("Mcp-Session-Id", session.as_str())];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_compact_text();
    assert_eq!(post(server, &headers, &ready).status, 202);
    session
}

fn call(server: &Running, session: &str, tool: &str, arguments: Json) -> Json {
    let headers = [
        ("Mcp-Session-Id", session),
        ("MCP-Protocol-Version", WITH_SESSIONS),
    ];
    let params = json!({"name": tool, "arguments": arguments});
    let told = post(server, &headers, &request(7, "tools/call", params));
    assert_eq!(told.status, 200, "{}", told.head);
    let result = told.message.get("result").cloned();
    result.unwrap_or_else(|| panic!("{:?}", told.message))
}

fn structured<'a>(result: &'a Json, key: &str) -> &'a Json {
    let content = result
        .get("structuredContent")
        .and_then(|content| content.get(key));
    content.unwrap_or_else(|| panic!("no {key} in {result:?}"))
}

fn is_error(result: &Json) -> bool {
    result.get("isError") == Some(&json!(true))
}

#[test]
fn without_sessions_every_call_names_its_episode() {
    let server = Running::serving("counter", ServerOptions::default());
    let reset = call_stateless(&server, 1, "reset", json!({"seed": 1}));
    let episode = structured(&reset, "episode").as_text().unwrap().to_string();
    let other = call_stateless(&server, 2, "reset", json!({}));
    assert_ne!(structured(&other, "episode"), structured(&reset, "episode"));
    assert_eq!(server.places(), 2);
    for count in 1..=10 {
        let step = call_stateless(
            &server,
            count,
            "incr",
            json!({"episode": (episode.as_str())}),
        );
        assert_eq!(structured(&step, "done"), &json!(count == 10));
        let reward = if count == 10 { 1.0 } else { 0.0 };
        assert_eq!(structured(&step, "reward").as_f64(), Some(reward));
    }
    for wrong in [
        json!({}),
        json!({"episode": "nobody"}),
        json!({"episode": 1}),
    ] {
        assert!(is_error(&call_stateless(&server, 3, "incr", wrong)));
    }
}

#[test]
fn a_session_has_one_environment_which_is_closed_with_it() {
    let server = Running::serving("counter", ServerOptions::default());
    let session = initialize(&server);
    assert!(is_error(&call(&server, &session, "incr", json!({}))));
    call(&server, &session, "reset", json!({}));
    call(&server, &session, "reset", json!({}));
    assert_eq!(server.places(), 1);
    for count in 1..=10 {
        let step = call(&server, &session, "incr", json!({}));
        assert_eq!(structured(&step, "done"), &json!(count == 10));
    }
    let headers = [
        ("Mcp-Session-Id", session.as_str()),
        ("Connection", "close"),
    ];
    let mut connection = server.connect();
    connection.send("DELETE", "/mcp", &headers, b"");
    let mut reply = String::new();
    connection.stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 2"), "{reply}");
    until("the environment is closed", || server.places() == 0);
    let told = post(&server, &headers[..1], &request(1, "tools/list", json!({})));
    assert_eq!(told.status, 404);
}

#[test]
fn garbage_and_large_requests_are_refused() {
    let server = Running::serving("counter", ServerOptions::default());
    for body in ["", "{", "[]", "{\"jsonrpc\": \"2.0\"}", "null"] {
        let status = post(&server, &[], body).status;
        assert!((400..500).contains(&status), "{body}: {status}");
    }
    let large = request(1, "initialize", json!({"more": (" ".repeat(2 << 20))}));
    assert_eq!(post(&server, &[], &large).status, 413);
    let unknown = [("Mcp-Session-Id", "nobody")];
    assert_eq!(
        post(&server, &unknown, &request(1, "tools/list", json!({}))).status,
        404
    );
    assert_eq!(server.places(), 0);
    initialize(&server);
}

#[test]
fn clients_need_the_key_and_pages_an_allowed_origin() {
    let options = ServerOptions {
        api_key: Some("secret".to_owned()),
        cors_origins: vec!["https://you.github.io".to_owned()],
        ..ServerOptions::default()
    };
    let server = Running::serving("counter", options);
    let list = request(1, "tools/list", json!({}));
    let refused = post(&server, &[], &list);
    assert_eq!(refused.status, 401);
    assert!(
        refused.head.contains("www-authenticate: bearer"),
        "{}",
        refused.head
    );
    let key = ("Authorization", "Bearer secret");
    assert_eq!(
        post(&server, &[key, ("Origin", "https://evil.example")], &list).status,
        403
    );
    assert_eq!(
        post(&server, &[key, ("Host", "evil.example")], &list).status,
        421
    );
    // Without a session, which the protocol has before 2026-07-28.
    let allowed = post(&server, &[key, ("Origin", "https://you.github.io")], &list);
    assert!(
        ![401, 403, 421].contains(&allowed.status),
        "{}",
        allowed.head
    );
    let headers = "authorization,content-type,mcp-method,mcp-name,mcp-param-x,mcp-protocol-version";
    let preflight = server.connect().ask(
        "OPTIONS",
        "/mcp",
        &[
            ("Origin", "https://you.github.io"),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", headers),
        ],
        b"",
    );
    assert_eq!(preflight.status, 200);
    assert_eq!(
        preflight.header("access-control-allow-headers"),
        Some(headers)
    );
    let methods = preflight.header("access-control-allow-methods").unwrap();
    assert!(methods.contains("DELETE"), "{methods}");
    let exposed = allowed
        .head
        .lines()
        .find(|line| line.starts_with("access-control-expose-headers"));
    assert!(exposed.unwrap().contains("mcp-session-id"));
}
