//! `volary mcp` over standard input and output, and over HTTP, with messages written by hand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const SECRET: &str = "hunter22secret";

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    /// With `count` trajectories, of which the odd ones failed.
    fn new(name: &str, count: usize) -> Folder {
        let path = std::env::temp_dir().join(format!("volary-mcp-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        (0..count).for_each(|number| folder.write(number));
        folder
    }

    fn write(&self, number: usize) {
        let reward = (number + 1) % 2;
        let line = json!({"reward": reward, "messages": [
            {"role": "user", "content": format!("Cancel order {number}. My password={SECRET}")},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "cancel_order", "arguments": "{\"order\": 7}"}},
            ]},
            {"role": "tool", "tool_call_id": "c", "content": "x".repeat(9_000)},
            {"role": "assistant", "content": "I have cancelled it."},
        ]});
        fs::write(
            self.0.join(format!("run{number}.jsonl")),
            format!("{line}\n"),
        )
        .unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A client over standard input and output.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn start(folder: &Path, more: &[&str]) -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_volary"))
            .arg("mcp")
            .arg(folder)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Client {
            input: child.stdin.take(),
            child,
            output,
            last: 0,
        };
        let answer = client.request("initialize", initialization());
        assert_eq!(answer["result"]["serverInfo"]["name"], "volary");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "the server ended"
            );
            // Nothing else is on standard output.
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"].clone()
    }

    /// The structured content of a tool that succeeds.
    fn value(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        assert!(!text_of(&result).is_empty());
        result["structuredContent"].clone()
    }

    /// The text of a tool that fails.
    fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        text_of(&result).to_owned()
    }

    fn ids(&mut self) -> Vec<String> {
        let list = self.value("list_trajectories", json!({}));
        let list = list["trajectories"].as_array().unwrap().clone();
        list.iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input.take();
        assert!(self.child.wait().unwrap().success());
    }
}

fn initialization() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn trajectories_are_listed_with_filters_order_and_pages() {
    let folder = Folder::new("list", 5);
    let mut client = Client::start(&folder.0, &[]);
    let all = client.value("list_trajectories", json!({}));
    assert_eq!((&all["total"], &all["matching"]), (&json!(5), &json!(5)));
    let page = client.value(
        "list_trajectories",
        json!({
            "filter": [{"column": "reward", "at_most": 0.5}],
            "sort": {"column": "name", "direction": "descending"},
            "limit": 1,
        }),
    );
    assert_eq!(page["matching"], 2);
    assert_eq!(page["more"], json!({"left_out": 1, "next_offset": 1}));
    let first = &page["trajectories"][0];
    assert!(
        first["file"].as_str().unwrap().ends_with("run3.jsonl"),
        "{first}"
    );
    assert_eq!(
        (&first["reward"], &first["failed"]),
        (&json!(0.0), &json!(true))
    );
    let error = client.failure(
        "list_trajectories",
        json!({"filter": [{"column": "colour", "known": true}]}),
    );
    assert!(
        error.contains("no column colour") && error.contains("reward"),
        "{error}"
    );
    let error = client.failure(
        "list_trajectories",
        json!({"filter": [{"column": "reward"}]}),
    );
    assert!(error.contains("at_least"), "{error}");
    let error = client.failure("list_trajectories", json!({"limits": 3}));
    assert!(error.contains("limits"), "{error}");
}

#[test]
fn a_trajectory_is_read_in_pieces_without_its_secrets() {
    let folder = Folder::new("read", 1);
    let mut client = Client::start(&folder.0, &[]);
    let id = client.ids().remove(0);
    let whole = client.value("read_trajectory", json!({"id": id}));
    let text = whole["text"].as_str().unwrap();
    assert!(
        text.contains("I have cancelled it.") && text.contains("reward: 1"),
        "{text}"
    );
    assert!(!text.contains(SECRET));
    assert_eq!((&whole["messages"], &whole["to"]), (&json!(4), &json!(4)));
    assert!(whole["next"].is_null());
    assert_eq!(whole["cut_characters"], 5_000);
    // The long result, as a whole and in pieces.
    let (mut next, mut pieces) = (json!({"from": 2, "offset": 0}), String::new());
    while !next.is_null() {
        let piece = client.value(
            "read_trajectory",
            json!({
                "id": id, "uncut": true, "max_characters": 4_000, "to": 3,
                "from": next["from"], "offset": next["offset"],
            }),
        );
        assert!(piece["text"].as_str().unwrap().chars().count() < 4_500);
        pieces.push_str(piece["text"].as_str().unwrap());
        next = piece["next"].clone();
    }
    assert!(pieces.matches('x').count() >= 9_000);
    let step = client.value("read_trajectory", json!({"id": id, "step": 2}));
    assert_eq!(step["from"], 3);
    for (arguments, expected) in [
        (json!({"id": "absent"}), "list_trajectories"),
        (json!({"id": id, "from": 4}), "has 4 messages"),
        (json!({"id": id, "step": 9}), "has 2 steps"),
    ] {
        let error = client.failure("read_trajectory", arguments);
        assert!(error.contains(expected), "{error}");
    }
    let mut client = Client::start(&folder.0, &["--unmasked"]);
    let text = client.value("read_trajectory", json!({"id": id}))["text"].clone();
    assert!(text.as_str().unwrap().contains(SECRET));
}

#[test]
fn words_are_found_with_their_messages() {
    let folder = Folder::new("search", 3);
    let mut client = Client::start(&folder.0, &[]);
    let found = client.value(
        "search_trajectories",
        json!({"query": "\"have cancelled\"", "limit": 2}),
    );
    assert_eq!(found["trajectories"].as_array().unwrap().len(), 2);
    assert_eq!(found["next_offset"], 2);
    let hit = &found["trajectories"][0]["hits"][0];
    assert_eq!(
        (&hit["step"], &hit["message"], &hit["hit"]),
        (&json!(2), &json!(3), &json!("have cancelled"))
    );
    let rest = client.value(
        "search_trajectories",
        json!({"query": "\"have cancelled\"", "limit": 2, "offset": 2}),
    );
    assert_eq!(rest["trajectories"].as_array().unwrap().len(), 1);
    assert!(rest["next_offset"].is_null());
    let failed = client.value(
        "search_trajectories",
        json!({"query": "cancelled", "filter": [{"column": "reward", "is": ["0"]}]}),
    );
    assert_eq!(failed["trajectories"].as_array().unwrap().len(), 1);
    // A masked secret cannot be found out.
    let secret = client.value("search_trajectories", json!({"query": SECRET}));
    assert_eq!(secret["trajectories"], json!([]));
    let error = client.failure("search_trajectories", json!({"query": " "}));
    assert!(error.contains("no word"), "{error}");
}

#[test]
fn behaviour_statistics_and_answers_are_returned() {
    let folder = Folder::new("rest", 4);
    let mut client = Client::start(&folder.0, &[]);
    let all = client.value("diagnose_trajectories", json!({}));
    assert_eq!(all["trajectories"], 4);
    let id = client.ids().remove(1);
    let one = client.value("diagnose_trajectories", json!({"id": id}));
    assert!(one["findings"].is_array(), "{one}");
    let summary = client.value("summarize_trajectories", json!({"by": ["reward"]}));
    assert_eq!(
        (&summary["episodes"], &summary["successes"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(summary["groups"].as_array().unwrap().len(), 2);
    let none = client.value("read_answers", json!({}));
    assert_eq!(none["matching"], 0);
    let key = "a".repeat(64);
    let record = json!({
        "format": "volary-answer-1", "key": key, "episode": id, "name": "n", "model": "m",
        "question": {"text": "Did it claim a change?", "type": "yes_no"},
        "answer": {
            "label": "yes", "explanation": format!("password={SECRET}"), "support": "supported", "parts": 1,
            "evidence": [{"message": 3, "quote": "I have cancelled it.", "state": "exact"}],
        },
    });
    fs::create_dir_all(folder.0.join(".volary")).unwrap();
    fs::write(
        folder.0.join(".volary/answers.jsonl"),
        format!("{record}\n"),
    )
    .unwrap();
    let answers = client.value(
        "read_answers",
        json!({"question": "CLAIM", "supported": true}),
    );
    assert_eq!(answers["matching"], 1);
    let answer = &answers["answers"][0];
    assert_eq!(
        (&answer["id"], &answer["label"]),
        (&json!(id), &json!("yes"))
    );
    assert_eq!(answer["quotes"][0]["state"], "exact");
    assert!(!answers.to_string().contains(SECRET));
    let other = client.value("read_answers", json!({"label": "no"}));
    assert_eq!(other["matching"], 0);
}

#[test]
fn changed_files_are_noticed() {
    let folder = Folder::new("changes", 2);
    let mut client = Client::start(&folder.0, &[]);
    assert_eq!(client.ids().len(), 2);
    folder.write(2);
    assert_eq!(client.ids().len(), 3);
    fs::remove_file(folder.0.join("run0.jsonl")).unwrap();
    let ids = client.ids();
    assert_eq!(ids.len(), 2);
    let text = client.value("read_trajectory", json!({"id": ids[1]}))["text"].clone();
    assert!(text.as_str().unwrap().contains("order 2"));
    fs::write(folder.0.join("notes.txt"), "no trajectory").unwrap();
    assert_eq!(client.ids().len(), 2);
}

/// A trajectory in Volary's own format.
fn native(id: &str, says: &str) -> String {
    json!({
        "format": "volary-episode", "version": 1, "id": id, "name": "same name",
        "start": [{"role": "user", "content": says}], "steps": [], "ending": "open", "metadata": {},
    })
    .to_string()
}

#[test]
fn trajectories_with_equal_ids_are_numbered_and_the_right_one_is_read() {
    let folder = Folder::new("equal", 0);
    let write = |name: &str, says: &str| {
        fs::write(folder.0.join(name), native("7", says)).unwrap();
    };
    write("a.json", "the red marble");
    write("b.json", "the blue marble");
    let mut client = Client::start(&folder.0, &[]);
    assert_eq!(client.ids(), ["7", "7 (2)"]);
    let mut says = |arguments: serde_json::Value, words: &str| {
        let text = client.value("read_trajectory", arguments)["text"].clone();
        assert!(text.as_str().unwrap().contains(words), "{text}");
    };
    says(json!({"id": "7"}), "red");
    says(json!({"id": "7 (2)"}), "blue");
    let file = folder.0.join("b.json");
    says(json!({"id": "7", "file": file}), "blue");
    let found = client.value("search_trajectories", json!({"query": "blue"}));
    assert_eq!(found["trajectories"][0]["id"], "7 (2)");
    // A file that comes later changes no id, wherever it is.
    write("aa.json", "the green marble");
    let mut ids = client.ids();
    ids.sort_unstable();
    assert_eq!(ids, ["7", "7 (2)", "7 (3)"]);
    let found = client.value("search_trajectories", json!({"query": "green"}));
    assert_eq!(found["trajectories"][0]["id"], "7 (3)");
}

#[test]
fn the_app_shows_what_the_tool_returns() {
    let folder = Folder::new("app", 1);
    let mut client = Client::start(&folder.0, &[]);
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let show = tools
        .iter()
        .find(|tool| tool["name"] == "show_trajectory")
        .unwrap();
    let uri = &show["_meta"]["ui"]["resourceUri"];
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
    }
    let page = client.request("resources/read", json!({"uri": uri}));
    let page = &page["result"]["contents"][0];
    assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
    let text = page["text"].as_str().unwrap();
    // Texts become no markup, and nothing is loaded.
    for forbidden in ["innerHTML", "src=", "href=", "fetch(", "import"] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
    let absent = client.request("resources/read", json!({"uri": "ui://volary/other"}));
    assert!(
        absent["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ui://volary/trajectory")
    );
    let id = client.ids().remove(0);
    let shown = client.value("show_trajectory", json!({"id": id, "step": 1}));
    assert_eq!(shown["messages"].as_array().unwrap().len(), 4);
    assert_eq!(shown["messages"][1]["parts"][0]["kind"], "call");
    assert!(!shown.to_string().contains(SECRET));
    assert!(shown["next"].is_null());
}

#[test]
fn an_address_needs_a_page() {
    let folder = Folder::new("open", 1);
    let page = Folder::new("page", 0);
    fs::write(
        page.0.join("index.html"),
        "<!doctype html><html><head></head><body></body></html>",
    )
    .unwrap();
    let mut client = Client::start(&folder.0, &["--page", page.0.to_str().unwrap()]);
    let id = client.ids().remove(0);
    let opened = client.value("open_trajectory", json!({"id": id, "step": 1}));
    let url = opened["url"].as_str().unwrap();
    let (address, fragment) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once("/#token=")
        .unwrap();
    assert!(
        fragment.contains("&to=%2Freview%2F") && fragment.ends_with("step%3D1"),
        "{url}"
    );
    let reply = exchange(address, "GET / HTTP/1.1\r\n", "");
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    let error = client.failure("open_trajectory", json!({"id": id, "step": 3}));
    assert!(error.contains("has 2 steps"), "{error}");
    let mut client = Client::start(&folder.0, &["--page", folder.0.to_str().unwrap()]);
    let error = client.failure("open_trajectory", json!({"id": id}));
    assert!(error.contains("there is no page in"), "{error}");
}

/// Sends a request over a connection of its own. `head` ends without the empty line.
fn exchange(address: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let host = if head.contains("Host:") {
        String::new()
    } else {
        format!("Host: {address}\r\n")
    };
    write!(
        stream,
        "{head}{host}Connection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

/// A server over HTTP, which is stopped at the end.
struct HttpServer {
    child: Child,
    address: String,
}

impl HttpServer {
    fn start(folder: &Path, key: Option<&str>) -> HttpServer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_volary"));
        command.arg("mcp").arg(folder).args(["--port", "0"]);
        match key {
            Some(key) => command.env("VOLARY_API_KEY", key),
            None => command.env_remove("VOLARY_API_KEY"),
        };
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        while !line.starts_with("Listening on ") {
            line.clear();
            assert!(errors.read_line(&mut line).unwrap() > 0);
        }
        let address = line.trim().strip_prefix("Listening on http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        HttpServer { child, address }
    }

    fn post(&self, headers: &str, body: &Value) -> String {
        let head = format!("POST /mcp HTTP/1.1\r\n{headers}");
        exchange(&self.address, &head, &body.to_string())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body_of(reply: &str) -> Value {
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body.trim()).unwrap_or_else(|_| panic!("{reply}"))
}

#[test]
fn http_serves_clients_of_this_machine_and_no_page() {
    let folder = Folder::new("http", 1);
    let server = HttpServer::start(&folder.0, None);
    let hello =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialization()});
    let reply = server.post("", &hello);
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert_eq!(body_of(&reply)["result"]["serverInfo"]["name"], "volary");
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "list_trajectories", "arguments": {},
    }});
    let version = "MCP-Protocol-Version: 2025-11-25\r\n";
    let reply = body_of(&server.post(version, &call));
    assert_eq!(reply["result"]["structuredContent"]["total"], 1, "{reply}");
    let own = format!("Origin: http://{}\r\n", server.address);
    assert!(server.post(&own, &hello).starts_with("HTTP/1.1 200"));
    for foreign in [
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        "Host: evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
    ] {
        let reply = server.post(foreign, &hello);
        assert!(reply.starts_with("HTTP/1.1 403"), "{foreign}: {reply}");
    }
    let reply = exchange(&server.address, "GET /mcp HTTP/1.1\r\n", "");
    assert!(reply.starts_with("HTTP/1.1 405"), "{reply}");
}

#[test]
fn http_asks_for_its_key() {
    let folder = Folder::new("key", 1);
    let server = HttpServer::start(&folder.0, Some("secret"));
    let hello =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialization()});
    for wrong in ["", "Authorization: Bearer other\r\n"] {
        let reply = server.post(wrong, &hello);
        assert!(reply.starts_with("HTTP/1.1 401"), "{reply}");
    }
    let reply = server.post("Authorization: Bearer secret\r\n", &hello);
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    let open = Command::new(env!("CARGO_BIN_EXE_volary"))
        .arg("mcp")
        .arg(&folder.0)
        .args(["--port", "0", "--host", "0.0.0.0"])
        .env_remove("VOLARY_API_KEY")
        .output()
        .unwrap();
    assert_eq!(open.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&open.stderr).contains("there is no key"));
}
