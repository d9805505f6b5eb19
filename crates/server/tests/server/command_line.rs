//! The program itself: what it refuses, what it says, and how it stops.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use volary_core::json;

use crate::http::Connection;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_volary-server"));
    command.args(arguments).env_remove("VOLARY_API_KEY");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn refused(arguments: &[&str]) -> String {
    let mut program = program(arguments);
    let Output { status, stderr, .. } = program.env("RUST_BACKTRACE", "1").output().unwrap();
    assert!(!status.success(), "{arguments:?}");
    let error = String::from_utf8(stderr).unwrap();
    assert!(
        error.starts_with("error: ") && !error.contains("backtrace"),
        "{error}"
    );
    error
}

/// A program that listens, and a connection to it.
struct Listening {
    child: Child,
    connection: Connection,
}

fn listening(command: &mut Command) -> Listening {
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().rsplit_once("http://").unwrap().1.to_owned();
    Listening {
        child,
        connection: Connection::open(address.parse().unwrap()),
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_public_address_needs_a_key_or_force() {
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let error = refused(&["--host", host, "--port", "0"]);
        assert!(
            error.contains("--api-key") && error.contains("--open-to-all"),
            "{error}"
        );
        assert!(refused(&["--host", host, "--api-key", ""]).contains("--api-key"));
    }
    let mut open = listening(&mut program(&[
        "--host",
        "0.0.0.0",
        "--port",
        "0",
        "--open-to-all",
    ]));
    assert_eq!(open.connection.get("/info").status, 200);
    let mut local = listening(&mut program(&["--host", "localhost", "--port", "0"]));
    assert_eq!(local.connection.get("/info").status, 200);
    let mut keyed = program(&["--host", "0.0.0.0", "--port", "0"]);
    let mut keyed = listening(keyed.env("VOLARY_API_KEY", "k"));
    assert_eq!(keyed.connection.get("/info").status, 403);
    assert_eq!(
        keyed
            .connection
            .ask("GET", "/info", &[("X-API-Key", "k")], b"")
            .status,
        200
    );
}

#[test]
fn host_names_are_checked_unless_the_address_is_public() {
    let info = |arguments: &[&str], host| {
        let arguments = [&["--dataset", "dummy", "--port", "0"], arguments].concat();
        let mut server = listening(&mut program(&arguments));
        server
            .connection
            .ask("GET", "/info", &[("Host", host)], b"")
            .status
    };
    let public = ["--host", "0.0.0.0", "--open-to-all"];
    assert_eq!(info(&[], "evil.example"), 421);
    assert_eq!(
        info(&["--allow-host", "Envs.example.org"], "envs.example.org:80"),
        200
    );
    assert_eq!(
        info(&["--allow-host", "envs.example.org"], "evil.example"),
        421
    );
    assert_eq!(info(&public, "classroom"), 200);
    assert_eq!(
        info(
            &[&public[..], &["--allow-host", "classroom"]].concat(),
            "evil.example"
        ),
        421
    );
}

#[test]
fn what_does_not_fit_is_said_before_anybody_connects() {
    for (arguments, expected) in [
        (&["--dataset", "nothing"][..], "word_problems"),
        (
            &["--dataset", "counter", "--arguments", "{\"no\": 1}"],
            "no",
        ),
        (&["--arguments", "{"], "JSON"),
        (&["--arguments", "[]"], "object"),
        (&["--gsm8k", "/nowhere.jsonl"], "/nowhere.jsonl"),
        (&["--gsm8k", "Cargo.toml"], "cannot serve Cargo.toml"),
        (&["--cors-origin", "you.github.io"], "https://you.github.io"),
        (&["--allow-host", "http://a.example/"], "a host name"),
        (&["--serve-page", "/nowhere"], "index.html"),
        (&["--host", "somewhere"], "127.0.0.1"),
        (&["--step-timeout", "-1"], "seconds"),
        (&["--workers", "0"], "workers"),
        (&["--server-number", "256"], "server-number"),
    ] {
        let error = refused(&[arguments, &["--port", "0"]].concat());
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn a_port_in_use_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(refused(&["--port", &port]).contains("in use"));
}

#[test]
fn a_file_of_problems_is_a_dataset() {
    let file = std::env::temp_dir().join(format!("volary-gsm8k-{}.jsonl", std::process::id()));
    let lines = r##"{"question": "What is 1 + 1?", "answer": "1 + 1 = 2\n#### 2"}"##;
    std::fs::write(&file, format!("{lines}\n{lines}\n")).unwrap();
    let mut server = listening(&mut program(&[
        "--gsm8k",
        file.to_str().unwrap(),
        "--port",
        "0",
    ]));
    let info = server.connection.get("/info").json();
    assert_eq!(info, json!({"dataset_size": 2, "running_env_ids": []}));
    let id = server.connection.start(&json!({"task_idx": 1}));
    assert!(server.connection.reset(&id).body.contains("What is 1 + 1?"));
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn ids_tell_their_server() {
    let arguments = [
        "--dataset",
        "dummy",
        "--port",
        "0",
        "--server-number",
        "171",
        "--workers",
        "1",
    ];
    let mut server = listening(&mut program(&arguments));
    assert!(server.connection.start(&json!({})).ends_with("ab00"));
}

#[cfg(unix)]
#[test]
fn it_stops_when_told_and_closes_what_runs() {
    let mut command = program(&["--dataset", "dummy", "--port", "0", "--api-key", "s3cret"]);
    let mut server = listening(&mut command);
    let headers = [
        ("X-API-Key", "s3cret"),
        ("Content-Type", "application/json"),
    ];
    for _ in 0..3 {
        assert_eq!(
            server
                .connection
                .ask("POST", "/start", &headers, b"{}")
                .status,
            200
        );
    }
    let pid = server.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(server.child.wait().unwrap().success());
    let mut log = String::new();
    let stderr = server.child.stderr.take().unwrap();
    for line in BufReader::new(stderr).lines() {
        log.push_str(&line.unwrap());
    }
    assert!(log.contains("environments closed"), "{log}");
    assert!(!log.contains("s3cret"), "{log}");
}
