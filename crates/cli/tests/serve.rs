//! `volary serve`: what it refuses, what it prints, and how it stops.

#![cfg(test)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

use ureq::Agent;
use ureq::http::Request;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_volary"));
    command
        .arg("serve")
        .args(arguments)
        .env_remove("VOLARY_API_KEY")
        .env_remove("VOLARY_CLASS_KEY");
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

/// A program that listens.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    /// The status and the body of a response.
    fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &'static str,
    ) -> (u16, String) {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .build()
            .into();
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = agent.run(request.body(body).unwrap()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), text)
    }

    fn status(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        self.ask("GET", path, headers, "").0
    }

    /// Starts an environment and returns its id.
    fn start(&self, body: &'static str) -> String {
        let headers = [("Content-Type", "application/json")];
        let (status, text) = self.ask("POST", "/start", &headers, body);
        assert_eq!(status, 200, "{text}");
        let reply: serde_json::Value = serde_json::from_str(&text).unwrap();
        reply["env_id"].as_str().unwrap().to_owned()
    }
}

fn listening(command: &mut Command) -> Listening {
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.trim().rsplit_once(' ').unwrap().1.to_owned();
    Listening { child, url }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn programs_get_the_address_as_json() {
    let mut child = program(&["--port", "0", "--json"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = format!("http://127.0.0.1:{}", said["port"]);
    assert_eq!(
        (&said["url"], &said["dataset"]),
        (&url.into(), &"calculator".into())
    );
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
    let open = listening(&mut program(&[
        "--host",
        "0.0.0.0",
        "--port",
        "0",
        "--open-to-all",
    ]));
    assert_eq!(open.status("/info", &[]), 200);
    let local = listening(&mut program(&["--host", "localhost", "--port", "0"]));
    assert_eq!(local.status("/info", &[]), 200);
    let mut keyed = program(&["--host", "0.0.0.0", "--port", "0"]);
    let keyed = listening(keyed.env("VOLARY_API_KEY", "k"));
    assert_eq!(keyed.status("/info", &[]), 403);
    assert_eq!(keyed.status("/info", &[("X-API-Key", "k")]), 200);
}

#[test]
fn host_names_are_checked_unless_the_address_is_public() {
    let info = |arguments: &[&str], host| {
        let arguments = [&["--dataset", "dummy", "--port", "0"], arguments].concat();
        let server = listening(&mut program(&arguments));
        server.status("/info", &[("Host", host)])
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
fn invalid_options_are_reported_before_the_server_listens() {
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
        (&["--new-class-code"], "--class"),
        (
            &["--class", "class.db", "--class-key", "fifteen letters"],
            "at least 16",
        ),
        (
            &["--class", "Cargo.toml", "--class-key", "the teacher's key"],
            "not a class of Volary",
        ),
    ] {
        let error = refused(&[arguments, &["--port", "0"]].concat());
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn a_port_in_use_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(refused(&["--port", &port]).contains("in use"));
}

#[test]
fn a_file_of_problems_is_a_dataset() {
    let file = std::env::temp_dir().join(format!("volary-gsm8k-{}.jsonl", std::process::id()));
    let lines = r##"{"question": "What is 1 + 1?", "answer": "1 + 1 = 2\n#### 2"}"##;
    std::fs::write(&file, format!("{lines}\n{lines}\n")).unwrap();
    let server = listening(&mut program(&[
        "--gsm8k",
        file.to_str().unwrap(),
        "--port",
        "0",
    ]));
    let (_, info) = server.ask("GET", "/info", &[], "");
    assert_eq!(info, r#"{"dataset_size":2,"running_env_ids":[]}"#);
    assert!(!server.start(r#"{"task_idx": 1}"#).is_empty());
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
    let server = listening(&mut program(&arguments));
    assert!(server.start("{}").ends_with("ab00"));
}

#[cfg(unix)]
#[test]
fn it_stops_on_request_and_closes_environments() {
    let mut command = program(&["--dataset", "dummy", "--port", "0", "--api-key", "s3cret"]);
    let mut server = listening(&mut command);
    let headers = [
        ("X-API-Key", "s3cret"),
        ("Content-Type", "application/json"),
    ];
    for _ in 0..3 {
        assert_eq!(server.ask("POST", "/start", &headers, "{}").0, 200);
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

#[test]
fn no_output_has_a_key() {
    const KEY: &str = "k3y-of-the-server";
    const CLASS_KEY: &str = "k3y-of-the-teacher";
    let file = std::env::temp_dir().join(format!("volary-keys-{}.db", std::process::id()));
    let class = file.to_str().unwrap();
    let common = [
        "--dataset",
        "dummy",
        "--port",
        "0",
        "--class",
        class,
        "--verbose",
    ];
    let given = ["--api-key", KEY, "--class-key", CLASS_KEY];
    for (arguments, in_environment) in [
        (vec![], true),
        (vec!["--log-json"], true),
        (given.to_vec(), false),
    ] {
        let mut command = program(&[&common[..], &arguments].concat());
        command
            .env("RUST_BACKTRACE", "full")
            .env("RUST_LOG", "trace");
        if in_environment {
            command
                .env("VOLARY_API_KEY", KEY)
                .env("VOLARY_CLASS_KEY", CLASS_KEY);
        }
        let mut server = listening(&mut command);
        let json = ("Content-Type", "application/json");
        let key = ("X-API-Key", KEY);
        let wrong = ("X-API-Key", "k3y-of-the-server, almost");
        let bodies = [
            "{}",
            "k3y-of-the-server",
            "{\"env_id\": \"k3y-of-the-server\"}",
            "[\"k3y-of-the-server\"",
            "{\"task_idx\": 5}",
        ];
        for headers in [
            [json, key],
            [json, wrong],
            [json, ("Authorization", "Bearer k3y-of-the-server")],
        ] {
            for path in [
                "/start",
                "/step",
                "/close",
                "/start?key=k3y-of-the-server",
                "/k3y-of-the-server",
            ] {
                for body in bodies {
                    let (_, answer) = server.ask("POST", path, &headers, body);
                    // A message may repeat what the client itself sent, but no other.
                    assert!(
                        body.contains(KEY) || !answer.contains(KEY),
                        "{path} {body}: {answer}"
                    );
                }
            }
            for path in [
                "/class",
                "/class/hand-ins",
                "/metrics",
                "/info",
                "/openapi.json",
            ] {
                let (_, answer) = server.ask("GET", path, &headers, "");
                assert!(!answer.contains("k3y-of"), "{path}: {answer}");
            }
        }
        let (status, _) = server.ask("GET", "/class/hand-ins", &[("X-API-Key", CLASS_KEY)], "");
        assert_eq!(status, 200);
        server.ask("GET", "/info", &[("Host", "k3y-of-the-server.example")], "");
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let mut log = String::new();
        let mut errors = server.child.stderr.take().unwrap();
        errors.read_to_string(&mut log).unwrap();
        assert!(log.contains("answered"), "{log}");
        assert!(!log.contains("k3y-of"), "{log}");
        assert_eq!(log.contains("list of processes"), !in_environment, "{log}");
    }
    for arguments in [
        &["--api-key", KEY, "--port", "x"][..],
        &["--api-key", KEY, "--api-key", KEY],
        &["--api-key", KEY, "--host", "somewhere"],
        &["--class", class, "--class-key", "k3y"],
        &["--class", "Cargo.toml", "--class-key", CLASS_KEY],
        &["--api-key", KEY, "--gsm8k", "/nowhere.jsonl"],
    ] {
        let error = refused(arguments);
        assert!(!error.contains("k3y"), "{arguments:?}: {error}");
    }
    let help = program(&["--help"])
        .env("VOLARY_API_KEY", KEY)
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains(KEY));
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{class}{end}"));
    }
}

#[cfg(unix)]
#[test]
fn a_key_that_is_no_text_is_refused_without_being_printed() {
    use std::os::unix::ffi::OsStrExt;
    let key = std::ffi::OsStr::from_bytes(b"k3y\xff");
    let mut command = program(&["--port", "0"]);
    let output = command.env("VOLARY_API_KEY", key).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("k3y"));
}

/// Asks a class server. `None` if it is gone.
fn ask_class(
    url: &str,
    method: &str,
    path: &str,
    key: &str,
    body: String,
) -> Option<(u16, String)> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let request = Request::builder()
        .method(method)
        .uri(format!("{url}{path}"))
        .header("X-API-Key", key)
        .header("Content-Type", "application/json");
    let mut response = agent.run(request.body(body).unwrap()).ok()?;
    let text = response.body_mut().read_to_string().ok()?;
    Some((response.status().as_u16(), text))
}

/// A class file that is deleted afterwards.
struct ClassFile(String);

impl ClassFile {
    fn new(name: &str) -> ClassFile {
        let name = format!("volary-{name}-{}.db", std::process::id());
        ClassFile(std::env::temp_dir().join(name).to_str().unwrap().to_owned())
    }
}

impl Drop for ClassFile {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0));
        }
    }
}

#[test]
fn a_new_class_prints_its_key_once_and_its_code_can_be_renewed() {
    let file = ClassFile::new("new-key");
    let start = |arguments: &[&str]| {
        let class = ["--port", "0", "--json", "--class", &file.0];
        let mut child = program(&[&class, arguments].concat()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap().to_owned();
        (Listening { child, url }, said["class_key"].clone())
    };
    let (server, key) = start(&[]);
    let key = key.as_str().unwrap();
    assert!(key.len() >= 16, "{key}");
    let code = |server: &Listening| {
        let (status, info) = ask_class(&server.url, "GET", "/class", key, String::new()).unwrap();
        assert_eq!(status, 200, "{info}");
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        info["code"].as_str().unwrap().to_owned()
    };
    let first = code(&server);
    drop(server);
    let (server, again) = start(&[]);
    assert_eq!(
        (again, code(&server)),
        (serde_json::Value::Null, first.clone())
    );
    drop(server);
    let (server, _) = start(&["--new-class-code"]);
    assert_ne!(code(&server), first);
}

#[test]
fn a_killed_class_keeps_every_confirmed_hand_in() {
    const KEY: &str = "the teacher's key";
    let file = ClassFile::new("killed");
    let name = &*file.0;
    let start = || {
        let class = ["--port", "0", "--class", name, "--class-key", KEY];
        listening(&mut program(&class))
    };
    let mut server = start();
    let (_, info) = ask_class(&server.url, "GET", "/class", KEY, String::new()).unwrap();
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    let code = info["code"].as_str().unwrap();
    let (confirmations, confirmed) = std::sync::mpsc::channel();
    let mut known = Vec::new();
    std::thread::scope(|scope| {
        for pupil in 0..6 {
            let (url, confirmations) = (server.url.clone(), confirmations.clone());
            scope.spawn(move || {
                for number in 0.. {
                    let pupil = format!("Pupil {pupil}.{number}");
                    let hand_in = serde_json::json!({
                        "secret": format!("{pupil:-<16}"),
                        "hand_in": {
                            "format": "volary-hand-in", "version": 1, "assignment": "a1", "title": "Sums",
                            "pupil": pupil, "handed_in": 1.0,
                            "tasks": [{"title": "One", "episode": null}], "episodes": [],
                        }
                    });
                    let hand_in = hand_in.to_string();
                    match ask_class(&url, "POST", "/class/hand-ins", code, hand_in) {
                        Some((201, _)) => confirmations.send(pupil).unwrap(),
                        Some(other) => panic!("{other:?}"),
                        None => break,
                    }
                }
            });
        }
        drop(confirmations);
        known.extend(confirmed.iter().take(12));
        // As by a power cut, while others are being stored.
        server.child.kill().unwrap();
        known.extend(confirmed.iter());
    });
    let server = start();
    let (status, rows) =
        ask_class(&server.url, "GET", "/class/hand-ins", KEY, String::new()).unwrap();
    assert_eq!(status, 200);
    for pupil in known {
        assert!(
            rows.contains(&format!("\"{pupil}\"")),
            "{pupil} was confirmed and is lost"
        );
    }
}
