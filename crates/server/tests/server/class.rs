//! A class: pupils hand in over HTTP, and only the teacher reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use std::{fs, thread};

use volary_classroom::wire::{ClassInfo, Receipt, Rows, Submission};
use volary_classroom::{AssignedTask, Assignment, BoardRow, HandIn, Name, TaskStart, TaskState};
use volary_core::json::from_json;
use volary_core::{Message, Role};
use volary_episode::{Ending, Episode, Outcome, StepRecord, native};
use volary_server::class::key::KeyError;
use volary_server::class::store::{Limits, NewHandIn, Store, StoreError};
use volary_server::class::{Class, ClassError, ClassOptions};
use volary_server::options::ServerOptions;

use crate::http::{Connection, Reply};
use crate::running::Running;

const KEY: &str = "the teacher's key";

/// A file that is deleted afterwards.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        let name = format!("volary-class-{name}-{}.db", std::process::id());
        let file = File(std::env::temp_dir().join(name));
        file.delete();
        file
    }

    fn delete(&self) {
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }

    fn open(&self) -> Running {
        self.open_within(Limits::default(), 1 << 20)
    }

    fn open_within(&self, limits: Limits, max_hand_in: usize) -> Running {
        self.serve(ClassOptions {
            max_hand_in,
            limits,
            ..self.options(Some(KEY))
        })
    }

    fn options(&self, key: Option<&str>) -> ClassOptions {
        ClassOptions {
            file: self.0.clone(),
            key: key.map(str::to_owned),
            renew_code: false,
            max_hand_in: 1 << 20,
            limits: Limits::default(),
        }
    }

    fn serve(&self, class: ClassOptions) -> Running {
        let options = ServerOptions {
            cors_origins: vec!["https://you.github.io".into()],
            api_key: Some("the key of the environments".into()),
            ..ServerOptions::default()
        };
        Running::with_class(class, options)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.delete();
    }
}

fn with_key(connection: &mut Connection, method: &str, path: &str, key: &str, body: &str) -> Reply {
    let headers = [("X-API-Key", key), ("Content-Type", "application/json")];
    connection.ask(method, path, &headers, body.as_bytes())
}

fn code(connection: &mut Connection) -> String {
    code_with(connection, KEY)
}

fn code_with(connection: &mut Connection, key: &str) -> String {
    let reply = with_key(connection, "GET", "/class", key, "");
    from_json::<ClassInfo>(&reply.json()).unwrap().code
}

fn rows(connection: &mut Connection) -> Vec<BoardRow> {
    let reply = with_key(connection, "GET", "/class/hand-ins?assignment=a1", KEY, "");
    assert_eq!(reply.status, 200, "{reply:?}");
    from_json::<Rows>(&reply.json()).unwrap().rows
}

/// The work of a pupil: an episode whose message has this many bytes.
fn submission(pupil: &str, secret: &str, bytes: usize) -> String {
    let assignment = Assignment {
        id: "a1".into(),
        title: "Sums".into(),
        tasks: vec![AssignedTask {
            title: "One".into(),
            start: TaskStart::Named {
                environment: "dummy".into(),
                task: None,
                seed: 0,
            },
        }],
        ..Assignment::default()
    };
    let outcome = Outcome::Observed {
        messages: Vec::new(),
        reward: 1.0,
        done: true,
        truncated: false,
    };
    let action = Message::new(Role::Assistant, "x".repeat(bytes));
    let episode = Episode {
        id: "e".into(),
        steps: vec![StepRecord::new(action.into(), outcome)],
        ending: Ending::Done,
        ..Episode::default()
    };
    let hand_in = HandIn::new(&assignment, pupil.into(), 1.0, [Some(episode)]).unwrap();
    let secret = format!("{secret:0>16}");
    Submission { secret, hand_in }.to_text()
}

fn hand_in(connection: &mut Connection, code: &str, body: &str) -> Receipt {
    let reply = with_key(connection, "POST", "/class/hand-ins", code, body);
    assert!([200, 201].contains(&reply.status), "{reply:?}");
    from_json(&reply.json()).unwrap()
}

#[test]
fn pupils_hand_in_and_replace_their_own_and_the_teacher_reads() {
    let file = File::new("hand-in");
    let mut server = file.open();
    let mut pupil = server.connect();
    let code = code(&mut pupil);
    let first = hand_in(&mut pupil, &code, &submission("Ada", "1", 10));
    assert!(!first.replaced);
    let again = hand_in(&mut pupil, &code, &submission("Ada", "1", 20));
    assert!(again.replaced && again.id == first.id);
    // Another browser has another secret, so it replaces nothing.
    let other = hand_in(&mut pupil, &code, &submission("Ada", "2", 30));
    assert!(!other.replaced);

    let shown = rows(&mut pupil);
    let names: Vec<&Name> = shown.iter().map(|row| &row.pupil).collect();
    assert_eq!(names, [&Name::from("Ada"), &Name::from("Ada")]);
    assert_eq!((shown[0].times, shown[1].times), (2, 1));
    assert_eq!(shown[0].tasks[0].state, TaskState::Done);
    let path = format!("/class/hand-ins/{}", first.id);
    let one = with_key(&mut pupil, "GET", &path, KEY, "");
    assert!(!one.body.contains("secret"));
    let read = HandIn::read(&one.body).unwrap();
    assert_eq!(read.pupil, Name::from("Ada"));
    let missing = with_key(&mut pupil, "GET", "/class/hand-ins/none", KEY, "");
    assert_eq!(missing.status, 404);

    // After a restart everything is there, in one file.
    server.stop();
    assert!(!Path::new(&format!("{}-wal", file.0.display())).exists());
    let server = file.open();
    assert_eq!(rows(&mut server.connect()), shown);
    let reply = export(&server);
    assert_eq!(native::read(&reply).unwrap().episodes.len(), 2);
}

/// The lines of the export, which arrive in chunks.
fn export(server: &Running) -> String {
    let mut connection = server.connect();
    connection.send("GET", "/class/export", &[("X-API-Key", KEY)], b"");
    let head = connection.receive().unwrap();
    assert_eq!(head.status, 200);
    let mut text = String::new();
    loop {
        use std::io::{BufRead, Read};
        let mut length = String::new();
        connection.stream.read_line(&mut length).unwrap();
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        connection.stream.read_exact(&mut chunk).unwrap();
        if length == 0 {
            return text;
        }
        text.push_str(std::str::from_utf8(&chunk[..length]).unwrap());
    }
}

#[test]
fn the_code_only_hands_in_and_malformed_hand_ins_are_rejected() {
    let file = File::new("keys");
    let server = file.open_within(Limits::default(), 4096);
    let mut connection = server.connect();
    let code = code(&mut connection);
    for path in [
        "/class",
        "/class/hand-ins",
        "/class/hand-ins/x",
        "/class/export",
    ] {
        for key in ["", "wrong", &*code, "the key of the environments"] {
            let reply = with_key(&mut connection, "GET", path, key, "");
            assert_eq!(reply.status, 403, "{path} {key}");
            assert!(reply.detail().contains("class key"));
        }
    }
    let good = submission("Ada", "1", 10);
    let post = |connection: &mut Connection, key: &str, body: &str| {
        let reply = with_key(connection, "POST", "/class/hand-ins", key, body);
        (reply.status, reply.detail())
    };
    let (status, detail) = post(&mut connection, "wrong", &good);
    assert!(status == 403 && detail.contains("new link"), "{detail}");
    assert_eq!(post(&mut connection, &code, "{}").0, 422);
    assert_eq!(
        post(&mut connection, &code, &good.replace("Ada", "")).0,
        422
    );
    let short = good.replace("\"0000000000000001\"", "\"1\"");
    assert_eq!(post(&mut connection, &code, &short).0, 422);
    let large = submission("Ada", "1", 5000);
    let (status, detail) = post(&mut connection, &code, &large);
    assert!(status == 413 && detail.contains("4096"), "{detail}");
    let mut connection = server.connect();
    assert!(rows(&mut connection).is_empty());

    // Pages of other origins may hand in if the server was told so.
    for (origin, status) in [
        ("https://you.github.io", 201),
        ("https://evil.example", 403),
    ] {
        let headers = [("X-API-Key", &*code), ("Origin", origin)];
        let reply = connection.ask("POST", "/class/hand-ins", &headers, good.as_bytes());
        assert_eq!(reply.status, status, "{origin}");
    }
    assert_eq!(rows(&mut connection).len(), 1);
}

#[test]
fn a_full_disk_is_reported_and_nothing_is_lost() {
    let file = File::new("full");
    let limits = Limits {
        hand_ins: 1000,
        file: 200 << 10,
    };
    let mut server = file.open_within(limits, 1 << 20);
    let mut connection = server.connect();
    let code = code(&mut connection);
    hand_in(&mut connection, &code, &submission("Ada", "ada", 100));
    let mut stored = 1;
    let full = loop {
        let body = submission("Bob", &stored.to_string(), 40_000);
        let reply = with_key(&mut connection, "POST", "/class/hand-ins", &code, &body);
        if reply.status != 201 {
            break reply;
        }
        stored += 1;
        assert!(stored < 20, "the file never fills");
    };
    assert_eq!(full.status, 507);
    assert!(
        full.detail().contains("disk of the class server is full"),
        "{full:?}"
    );
    assert!(full.detail().contains("save your work as a file"));
    // Replacing by something larger fails too, and the former hand-in stays.
    let larger = submission("Ada", "ada", 150_000);
    let reply = with_key(&mut connection, "POST", "/class/hand-ins", &code, &larger);
    assert_eq!(reply.status, 507);
    let shown = rows(&mut connection);
    assert_eq!(shown.len(), stored);
    assert_eq!(shown[0].times, 1);
    // Small ones still fit, and after a restart with more space, large ones too.
    hand_in(&mut connection, &code, &submission("Ada", "ada", 50));
    server.stop();
    let server = file.open();
    let mut connection = server.connect();
    assert_eq!(rows(&mut connection).len(), stored);
    hand_in(&mut connection, &code, &larger);
    assert_eq!(rows(&mut connection)[0].times, 3);
}

#[test]
fn a_full_class_still_replaces() {
    let file = File::new("many");
    let limits = Limits {
        hand_ins: 2,
        ..Limits::default()
    };
    let server = file.open_within(limits, 1 << 20);
    let mut connection = server.connect();
    let code = code(&mut connection);
    for secret in ["1", "2", "1"] {
        hand_in(&mut connection, &code, &submission("Ada", secret, 10));
    }
    let third = submission("Eve", "3", 10);
    let reply = with_key(&mut connection, "POST", "/class/hand-ins", &code, &third);
    assert!(
        reply.status == 507 && reply.detail().contains("maximum of 2"),
        "{reply:?}"
    );
    assert_eq!(rows(&mut connection).len(), 2);
}

#[test]
fn only_files_of_a_class_are_opened() {
    let file = File::new("foreign");
    fs::write(
        &file.0,
        "Dear diary, this text is long enough not to be a database.".repeat(20),
    )
    .unwrap();
    let limits = Limits::default();
    assert!(matches!(
        Store::open(&file.0, limits),
        Err(StoreError::Foreign)
    ));
    file.delete();
    drop(Store::open(&file.0, limits).unwrap());
    assert!(Store::open(&file.0, limits).is_ok());
    let folder = file.0.with_extension("nowhere").join("a.db");
    assert!(matches!(
        Store::open(&folder, limits),
        Err(StoreError::File(_))
    ));
}

#[test]
fn the_code_is_random_stays_and_can_be_renewed() {
    let (file, other) = (File::new("code"), File::new("other-code"));
    let mut server = file.open();
    let first = code(&mut server.connect());
    assert_eq!(first.len(), 32);
    // The same key, another class: the code tells nothing about the key.
    assert_ne!(code(&mut other.open().connect()), first);
    server.stop();
    // Another key keeps the links.
    let mut server = file.serve(file.options(Some("another teacher's key")));
    let mut connection = server.connect();
    assert_eq!(code_with(&mut connection, "another teacher's key"), first);
    assert_eq!(
        with_key(&mut connection, "GET", "/class", KEY, "").status,
        403
    );
    server.stop();
    let server = file.serve(ClassOptions {
        renew_code: true,
        ..file.options(Some(KEY))
    });
    let mut connection = server.connect();
    let renewed = code(&mut connection);
    assert_ne!(renewed, first);
    let body = submission("Ada", "1", 10);
    let reply = with_key(&mut connection, "POST", "/class/hand-ins", &first, &body);
    assert!(
        reply.status == 403 && reply.detail().contains("new link"),
        "{reply:?}"
    );
    hand_in(&mut connection, &renewed, &body);
}

#[test]
fn a_class_without_a_key_gets_a_random_one_that_lasts() {
    let file = File::new("random-key");
    let opened = Class::open(file.options(None)).unwrap();
    let key = opened.new_key.unwrap();
    drop(opened.class);
    let bytes = fs::read(&file.0).unwrap();
    let found = bytes
        .windows(key.len())
        .any(|window| window == key.as_bytes());
    assert!(!found, "the file contains the key");
    assert_eq!(Class::open(file.options(None)).unwrap().new_key, None);
    let server = file.serve(file.options(None));
    let mut connection = server.connect();
    for wrong in ["", "wrong", "a wrong key of enough characters"] {
        let reply = with_key(&mut connection, "GET", "/class", wrong, "");
        assert_eq!(reply.status, 403, "{wrong}");
    }
    let code = code_with(&mut connection, &key);
    hand_in(&mut connection, &code, &submission("Ada", "1", 10));
}

#[test]
fn short_keys_are_rejected_before_a_file_is_made() {
    let file = File::new("short-key");
    let opened = Class::open(file.options(Some("fifteen letters")));
    assert!(matches!(opened, Err(ClassError::Key(KeyError::TooShort))));
    assert!(!file.0.exists());
}

#[test]
fn the_first_version_of_the_file_is_migrated_and_keeps_its_hand_ins() {
    let file = File::new("migration");
    let mut server = file.open();
    let mut connection = server.connect();
    let old = code(&mut connection);
    hand_in(&mut connection, &old, &submission("Ada", "1", 10));
    let before = rows(&mut connection);
    server.stop();
    let former = rusqlite::Connection::open(&file.0).unwrap();
    former
        .execute_batch("DROP TABLE class; PRAGMA user_version = 1;")
        .unwrap();
    former.close().unwrap();
    let opened = Class::open(file.options(Some(KEY))).unwrap();
    assert!(opened.was_migrated);
    drop(opened);
    assert!(!Class::open(file.options(Some(KEY))).unwrap().was_migrated);
    let server = file.open();
    let mut connection = server.connect();
    assert_eq!(rows(&mut connection), before);
    let renewed = code(&mut connection);
    assert_ne!(renewed, old);
    let again = hand_in(&mut connection, &renewed, &submission("Ada", "1", 20));
    assert!(again.replaced);
}

#[test]
fn what_is_stored_counts_against_the_limit() {
    const LIMIT: usize = 16 << 10;
    let file = File::new("grow");
    let server = file.open_within(Limits::default(), LIMIT);
    let mut connection = server.connect();
    let code = code(&mut connection);
    // All tasks have the same episode.
    let (head, rest) = submission_parts(1, 300);
    let task = r#"{"title": "One", "episode": 0}"#;
    let same = format!("{head}{}{rest}", [task; 30].join(", "));
    assert!(same.len() < LIMIT);
    let reply = with_key(&mut connection, "POST", "/class/hand-ins", &code, &same);
    assert!(
        reply.status == 422 && reply.detail().contains("two of its tasks have episode 0"),
        "{reply:?}"
    );
    // Two bytes of text are six once they are escaped.
    let written = submission("Ada", "1", 10).replace("xxxxxxxxxx", &"é".repeat(LIMIT / 3));
    assert!(written.len() < LIMIT);
    let reply = with_key(&mut connection, "POST", "/class/hand-ins", &code, &written);
    assert!(
        reply.status == 413 && reply.detail().contains("when it is stored"),
        "{reply:?}"
    );
    assert!(rows(&mut server.connect()).is_empty());
}

/// What is before and after the tasks in a submission.
fn submission_parts(secret: u32, bytes: usize) -> (String, String) {
    let text = submission("Ada", &secret.to_string(), bytes);
    let (head, rest) = text.split_once("\"tasks\": [").unwrap();
    let (_, rest) = rest.split_once(']').unwrap();
    (format!("{head}\"tasks\": ["), format!("]{rest}"))
}

#[test]
fn a_clock_that_is_set_back_changes_the_time_and_nothing_else() {
    let file = File::new("clock");
    let mut store = Store::open(&file.0, Limits::default()).unwrap();
    let mut put = |pupil: &str, received: f64| {
        let new = NewHandIn {
            assignment: "a1".into(),
            title: "Sums".into(),
            pupil: pupil.into(),
            secret: "s".into(),
            received,
            tasks: Vec::new(),
            body: format!("{pupil} at {received}"),
        };
        store.put(&[new]).remove(0).unwrap()
    };
    let first = put("Ada", 2e9);
    put("Bo", 0.0);
    let again = put("Ada", 1e9);
    assert!(again.replaced && again.id == first.id);
    assert_eq!(again.received, 1e9);
    assert_eq!(store.body(&first.id).unwrap().unwrap(), "Ada at 1000000000");
    let shown = store.rows(Some("a1")).unwrap();
    let shown: Vec<_> = shown
        .iter()
        .map(|row| (row.pupil.as_str(), row.received, row.times))
        .collect();
    assert_eq!(shown, [("Ada", 1e9, 2), ("Bo", 0.0, 1)]);
}

/// 30 pupils hand in at once, five times each. Prints the times and the memory (`--nocapture`).
#[test]
fn thirty_pupils_hand_in_at_once() {
    let file = File::new("thirty");
    let server = Arc::new(file.open());
    let code = code(&mut server.connect());
    let pupils: Vec<_> = (0..30)
        .map(|pupil| {
            let (server, code) = (Arc::clone(&server), code.clone());
            thread::spawn(move || {
                let mut connection = server.connect();
                let name = format!("Pupil {pupil}");
                let bodies = (0..5).map(|_| submission(&name, &pupil.to_string(), 20_000));
                let bodies: Vec<String> = bodies.collect();
                let seconds = bodies.iter().map(|body| {
                    let begin = Instant::now();
                    hand_in(&mut connection, &code, body);
                    begin.elapsed().as_secs_f64()
                });
                seconds.collect::<Vec<f64>>()
            })
        })
        .collect();
    let mut seconds: Vec<f64> = pupils
        .into_iter()
        .flat_map(|pupil| pupil.join().unwrap())
        .collect();
    seconds.sort_by(f64::total_cmp);
    let shown = rows(&mut server.connect());
    assert_eq!(shown.len(), 30);
    assert!(shown.iter().all(|row| row.times == 5));
    let at = |share: f64| seconds[(seconds.len() as f64 * share) as usize] * 1000.0;
    let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = memory.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "{} hand-ins: median {:.1} ms, p99 {:.1} ms; {}",
        seconds.len(),
        at(0.5),
        at(0.99),
        memory.unwrap_or_default()
    );
}
