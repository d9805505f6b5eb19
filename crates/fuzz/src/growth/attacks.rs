//! Hand-written files, each for one kind of expansion.

use volary_formats::archive::Packer;
use volary_formats::import::InputFile;

use super::LONGEST;

/// A name and the function that makes the files of the attack.
pub type Attack = (&'static str, fn() -> Vec<InputFile>);

/// All attacks. The files of each take at most [`LARGEST`](super::LARGEST) bytes together.
pub fn attacks() -> Vec<Attack> {
    vec![
        ("splices", || {
            plain("episode.json", native(&splices(1_000, 40_000)))
        }),
        ("packed splices", || {
            packed("episode.json", native(&splices(60_000, 7 << 20)))
        }),
        ("packed list edits", || {
            packed("episode.json", native(&list_edits(20_000, 500_000)))
        }),
        ("packed members", || {
            packed("episode.json", native(&member_changes(3_000, 20_000)))
        }),
        ("attachments", || {
            plain("log.json", attachments(1_500, 30_000, false))
        }),
        ("packed attachments", || {
            packed("log.json", attachments(50_000, 7 << 20, false))
        }),
        ("attachments in one message", || {
            packed("log.json", attachments(50_000, 7 << 20, true))
        }),
        ("message references", || {
            packed("log.json", message_references())
        }),
        ("copies in the store", || {
            plain(
                "log.json",
                store(r#"{"op": "copy", "from": "", "path": "/a/-"}"#, 1_000, 100),
            )
        }),
        ("a store that changes", || {
            packed(
                "log.json",
                store(
                    r#"{"op": "add", "path": "/a/-", "value": 1}"#,
                    3_000,
                    1 << 20,
                ),
            )
        }),
        ("branches of a trace", || plain("traces.jsonl", traces(800))),
        ("packed branches of a trace", || {
            packed("traces.jsonl", traces(20_000))
        }),
        ("branches of a session", || {
            plain("session.jsonl", session(150))
        }),
        ("packed branches of a session", || {
            packed("session.jsonl", session(5_000))
        }),
        ("numbers", || {
            packed(
                "chat.json",
                chat(&format!("[{}0]", "0,".repeat(LONGEST / 2))),
            )
        }),
        ("lists", || {
            packed(
                "chat.json",
                chat(&format!("[{}[]]", "[],".repeat(LONGEST / 3))),
            )
        }),
        ("objects", || {
            packed(
                "chat.json",
                chat(&format!("[{}0]", r#"{"a":0},"#.repeat(LONGEST / 8))),
            )
        }),
        ("many chats", || {
            packed("chats.jsonl", format!("{}\n", chat("0")).repeat(100_000))
        }),
        ("a bomb", || packed("bomb.json", "0".repeat(64 << 20))),
        ("a bomb in a bomb", || {
            vec![zip(&[(
                "bomb.json.gz",
                tight(&tight(&vec![b'['; 64 << 20])),
            )])]
        }),
        ("many members", || vec![members(40, 2 << 20)]),
        ("simulations that share a task", || {
            packed("results.json", simulations(20_000))
        }),
        ("spans that repeat a conversation", || {
            packed("spans.json", spans(400))
        }),
    ]
}

/// All attacks of several files, each at most [`LARGEST`](super::LARGEST) bytes: a chat with many tiny values.
pub fn crowds() -> Vec<Attack> {
    vec![
        ("files of numbers", || crowd("0,")),
        ("files of lists", || crowd("[],")),
        ("files of nested lists", || crowd("[[[]]],")),
        ("files of objects", || crowd(r#"{"a":0},"#)),
        ("files of texts", || crowd(r#""a","#)),
    ]
}

fn crowd(one: &str) -> Vec<InputFile> {
    const FILES: usize = 6;
    const LENGTH: usize = 10 << 20;
    let text = chat(&format!("[{}0]", one.repeat(LENGTH / one.len())));
    let bytes = gzip(text.as_bytes());
    let names = (0..FILES).map(|number| format!("{number}.json.gz"));
    let file = |name| InputFile {
        name: Some(name),
        bytes: bytes.clone(),
    };
    names.map(file).collect()
}

pub(super) fn plain(name: &str, text: String) -> Vec<InputFile> {
    vec![InputFile {
        name: Some(name.to_owned()),
        bytes: text.into_bytes(),
    }]
}

pub(super) fn packed(name: &str, text: String) -> Vec<InputFile> {
    vec![InputFile {
        name: Some(format!("{name}.gz")),
        bytes: gzip(text.as_bytes()),
    }]
}

/// A gzip file with maximum compression, padded: a larger file may expand more.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut file = tight(bytes);
    file.resize(file.len().max(super::LARGEST), 0);
    file
}

fn tight(bytes: &[u8]) -> Vec<u8> {
    // The checksum is not verified.
    let packed = miniz_oxide::deflate::compress_to_vec(bytes, 9);
    [&b"\x1f\x8b\x08\0\0\0\0\0\0\xff"[..], &packed, &[0; 8]].concat()
}

pub(super) fn zip(members: &[(&str, Vec<u8>)]) -> InputFile {
    let mut packer = Packer::default();
    for (name, bytes) in members {
        // Names and sizes are valid.
        let _ = packer.add(name, bytes);
    }
    InputFile {
        name: Some("packed.zip".to_owned()),
        bytes: packer.finish().unwrap_or_default(),
    }
}

fn native(frames: &str) -> String {
    format!(r#"{{"format": "volary-episode", "version": 1, "id": "a", "frames": [{frames}]}}"#)
}

/// A long text, of which each frame changes one character.
fn splices(frames: usize, length: usize) -> String {
    let before = length / 2;
    let after = length - before - 1;
    let change = format!(r#",{{"state":{{"splice":[{before},1,{after},"y"]}}}}"#);
    let first = format!(r#"{{"state": {{"set": "{}"}}}}"#, "x".repeat(length));
    first + &change.repeat(frames)
}

/// A long list, to which each frame prepends an element.
fn list_edits(frames: usize, length: usize) -> String {
    let first = format!(r#"{{"state": {{"set": [{}0]}}}}"#, "0,".repeat(length - 1));
    let changes = (0..frames).map(|frame| {
        format!(
            r#",{{"state":{{"elements":[{{"add":[0]}},{}]}}}}"#,
            length + frame
        )
    });
    first + &changes.collect::<String>()
}

/// A large object, of which each frame changes members from its end to its beginning.
fn member_changes(frames: usize, members: usize) -> String {
    let all: Vec<String> = (0..members)
        .map(|member| format!(r#""k{member}":0"#))
        .collect();
    let first = format!(r#"{{"state": {{"set": {{{}}}}}}}"#, all.join(","));
    let changes = (0..40)
        .rev()
        .map(|member| format!(r#""k{}":{{"set":1}}"#, member * members / 40));
    let changes: Vec<String> = changes.collect();
    let change = format!(
        r#",{{"state":{{"members":{{"change":{{{}}}}}}}}}"#,
        changes.join(",")
    );
    first + &change.repeat(frames)
}

fn inspect(sample: &str) -> String {
    format!(
        r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "model": "m"}}, "samples": [{{"id": 1, "epoch": 1, "target": "", {sample}}}]}}"#
    )
}

/// A long attachment with many references: from one message each, or from parts of one message.
fn attachments(names: usize, length: usize, in_one: bool) -> String {
    let long = "x".repeat(length);
    let (open, one, close) = if in_one {
        (
            r#"{"role":"user","content":["#,
            r#"{"type":"text","text":"attachment://a"}"#,
            "]}",
        )
    } else {
        ("", r#"{"role":"assistant","content":"attachment://a"}"#, "")
    };
    let messages = vec![one; names].join(",");
    inspect(&format!(
        r#""attachments": {{"a": "{long}"}}, "messages": [{open}{messages}{close}]"#
    ))
}

fn message_references() -> String {
    let message = format!(
        r#"{{"role":"assistant","content":"{}"}}"#,
        "x".repeat(1 << 16)
    );
    let pool = vec![message.as_str(); 64].join(",");
    let ranges = vec!["[0,64]"; 100_000].join(",");
    inspect(&format!(
        r#""events_data": {{"messages": [{pool}]}}, "message_refs": [{ranges}]"#
    ))
}

/// A store with a list of this length, which changes in every step.
fn store(change: &str, steps: usize, length: usize) -> String {
    let list = format!("[{}0]", "0,".repeat(length));
    let messages =
        (0..steps).map(|step| format!(r#"{{"role":"assistant","id":"m{step}","content":""}}"#));
    let messages: Vec<String> = messages.collect();
    let events = (0..steps).map(|step| {
        format!(
            r#"{{"event":"model","output":{{"choices":[{{"message":{{"id":"m{step}"}}}}]}}}},{{"event":"store","changes":[{change}]}}"#
        )
    });
    let events: Vec<String> = events.collect();
    // As many steps as fit.
    let fitting = super::LARGEST / (change.len() + 200);
    let (messages, events) = if length > 1_000 {
        (messages, events)
    } else {
        (messages[..fitting].to_vec(), events[..fitting].to_vec())
    };
    inspect(&format!(
        r#""messages": [{}], "events": [{{"event":"sample_init","state":{{"store":{{"a":{list}}}}}}},{}]"#,
        messages.join(","),
        events.join(",")
    ))
}

/// A long trace that ends in equally many branches.
fn traces(length: usize) -> String {
    let node = |parent: usize| {
        format!(r#"{{"parent":{parent},"message":{{"role":"assistant","content":"m"}}}}"#)
    };
    let chain = (0..length).map(|index| match index {
        0 => node(length * 2),
        index => node(index - 1),
    });
    let nodes: Vec<String> = chain.chain((0..length).map(|_| node(length - 1))).collect();
    format!(
        r#"{{"id": "t", "task": "x", "rewards": {{}}, "nodes": [{}]}}"#,
        nodes.join(",")
    )
}

/// A session in which every message was retried once.
fn session(length: usize) -> String {
    let line = |id: String, parent: String| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","sessionId":"s","message":{{"role":"assistant","content":[{{"type":"text","text":"{id}"}}]}}}}"#
        )
    };
    let lines = (0..length).flat_map(|index| {
        let parent = || format!("m{}", index.saturating_sub(1));
        [
            line(format!("m{index}"), parent()),
            line(format!("b{index}"), parent()),
        ]
    });
    let mut lines: Vec<String> = lines.collect();
    lines.push(line("end".to_owned(), format!("m{}", length - 1)));
    lines.join("\n")
}

pub(super) fn chat(other: &str) -> String {
    format!(
        r#"{{"messages": [{{"role": "user", "content": "a"}}, {{"role": "assistant", "content": "b"}}], "x": {other}}}"#
    )
}

/// A zip file with many members of this unpacked size.
fn members(count: usize, length: usize) -> InputFile {
    let text = chat(&format!("[{}0]", "0,".repeat(length / 2)));
    let names: Vec<String> = (0..count).map(|index| format!("{index}.json")).collect();
    let members = names
        .iter()
        .map(|name| (name.as_str(), text.clone().into_bytes()));
    zip(&members.collect::<Vec<_>>())
}

/// Many short simulations of one long task.
fn simulations(count: usize) -> String {
    let actions = vec![r#"{"name":"a","arguments":{"x":1}}"#; 2_000].join(",");
    let simulation = r#"{"id":"s","task_id":"1","trial":0,"reward_info":{"reward":1},"messages":[{"role":"assistant","content":"a"}]}"#;
    let policy = "x".repeat(1 << 20);
    format!(
        r#"{{"timestamp": "2026", "info": {{"environment_info": {{"domain_name": "d", "policy": "{policy}"}}}}, "tasks": [{{"id": "1", "evaluation_criteria": {{"actions": [{actions}]}}}}], "simulations": [{}]}}"#,
        vec![simulation; count].join(",")
    )
}

/// Calls of a model, each with all earlier messages.
fn spans(calls: usize) -> String {
    let message = r#"{"role":"user","parts":[{"type":"text","content":"some text"}]}"#;
    let spans = (1..=calls).map(|call| {
        let messages = vec![message; call].join(",").replace('"', "\\\"");
        format!(
            r#"{{"traceId":"t","spanId":"s{call}","name":"chat","startTimeUnixNano":"{call}","endTimeUnixNano":"{call}","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"chat"}}}},{{"key":"gen_ai.input.messages","value":{{"stringValue":"[{messages}]"}}}}]}}"#
        )
    });
    let spans: Vec<String> = spans.collect();
    format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
        spans.join(",")
    )
}
