//! Small files with very many parts: episodes, files of an archive, links, rows. What takes a microsecond for each part is
//! little; what compares each part with all others takes minutes.
//!
//! - [`many`]: the attacks that were written by hand. [`multiples`]: any format, repeated.

use volary_core::json::Json;
use volary_formats::import::InputFile;
use volary_parquet::RowWriter;

use super::attacks::{Attack, chat, gzip, packed, plain, zip};
use crate::packing::{add_to_tar, end_tar};
use crate::seeds::Format;

/// The unpacked bytes of a file with many parts: a little less than are read.
const UNPACKED: usize = 10 << 20;

/// Attacks with many parts. The files of each take at most [`LARGEST`](super::LARGEST) bytes together.
pub fn many() -> Vec<Attack> {
    vec![
        ("many tiny chats", || {
            let line = r#"{"messages":[{"role":"user","content":"a"}]}"#;
            packed("chats.jsonl", format!("{line}\n").repeat(200_000))
        }),
        ("many tiny chats in one list", || {
            let chat = chat("0");
            packed(
                "chats.json",
                format!("[{}{chat}]", format!("{chat},").repeat(100_000)),
            )
        }),
        ("many lines that are broken", || {
            packed("chats.jsonl", "{oops}\n[[[[[\n\"\n".repeat(500_000))
        }),
        ("many values in a broken text", || {
            packed("chats.txt", "{ a [\n".repeat(1_000_000))
        }),
        ("many empty files", || {
            packed_tar(15_000, |index| (format!("{index}.json"), String::new()))
        }),
        ("many trials", || {
            let long = format!(r#"{{"schema_version": "ATIF-v0"{}}}"#, " ".repeat(3_000));
            packed_tar(6_000, |index| match index % 6 {
                0 => (format!("a/{index}.json"), long.clone()),
                _ => (
                    "a/result.json".to_owned(),
                    r#"{"verifier_result":{}}"#.to_owned(),
                ),
            })
        }),
        ("many trials in folders", || {
            packed_tar(9_000, |index| {
                let result = r#"{"verifier_result":{},"task_name":"a"}"#;
                (format!("{index}/result.json"), result.to_owned())
            })
        }),
        ("many logs", || {
            packed_tar(9_000, |index| {
                (format!("{index}/header.json"), r#"{"eval":{}}"#.to_owned())
            })
        }),
        ("many frames with numbers far apart", || {
            packed_tar(9_000, |index| {
                (
                    format!("t_{}.json", index * 5_000),
                    r#"{"state":1,"deepcopy":true}"#.to_owned(),
                )
            })
        }),
        ("many frames of as many trajectories", || {
            packed_tar(9_000, |index| {
                (
                    format!("t{index}_1.json"),
                    r#"{"state":1,"deepcopy":true}"#.to_owned(),
                )
            })
        }),
        ("many manifests of one chain", || {
            packed_tar(8_000, |index| match index {
                4_000 => ("c4000.json".to_owned(), "{".to_owned()),
                ..4_000 => {
                    let next = index + 1;
                    (
                        format!("c{index}.json"),
                        format!(r#"{{"state":1,"next_frame":"c{next}.json"}}"#),
                    )
                }
                _ => {
                    let manifest = r#"{"name":"m","first":"c0.json","last":"z.json"}"#;
                    (format!("m{index}.json"), manifest.to_owned())
                }
            })
        }),
        ("many events in folders", || {
            let event =
                r#"{"id":1,"source":"agent","timestamp":"2026","action":"message","args":{}}"#;
            packed_tar(8_000, |index| {
                (format!("{}/{index}.json", index / 2), event.to_owned())
            })
        }),
        ("many members of an archive", || {
            let names: Vec<String> = (0..14_000).map(|index| format!("{index}.json")).collect();
            let members: Vec<(&str, Vec<u8>)> = names
                .iter()
                .map(|name| (name.as_str(), b"{}".to_vec()))
                .collect();
            packed_bytes("members.zip.gz", &zip(&members).bytes)
        }),
        ("many archives in an archive", || {
            let inner = zip(&[("a.jsonl", b"{}\n{}".to_vec())]).bytes;
            let names: Vec<String> = (0..500).map(|index| format!("{index}.zip")).collect();
            let members: Vec<(&str, Vec<u8>)> = names
                .iter()
                .map(|name| (name.as_str(), inner.clone()))
                .collect();
            vec![zip(&members)]
        }),
        ("many rows", || parquet(&vec![Json::from(1); 900_000])),
        ("one row with many values", || {
            parquet(&[Json::List(vec![Json::from(1); 900_000])])
        }),
        ("many rows with one long text", || {
            parquet(&vec![Json::from("x".repeat(10_000)); 100_000])
        }),
        ("many ids that all are the same", || {
            let line = |index: usize| {
                format!(
                    r#"{{"id":"a ({})","messages":[{{"role":"user","content":"a"}}]}}"#,
                    index % 50_000
                )
            };
            let lines: Vec<String> = (0..150_000).map(line).collect();
            plain_or_packed("chats.jsonl", &lines.join("\n"))
        }),
        ("many tool calls of one id", || {
            let call = r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}"#;
            let calls = vec![call; 30_000].join(",");
            let answers =
                vec![r#"{"role":"tool","tool_call_id":"c","content":"a"}"#; 60_000].join(",");
            packed(
                "chat.json",
                format!(
                    r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","tool_calls":[{calls}]}},{answers}]}}"#
                ),
            )
        }),
        ("many calls with an answer each", || {
            let message = |index: usize| {
                format!(
                    r#"{{"role":"assistant","tool_calls":[{{"id":"c{index}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
                )
            };
            let answer = |index: usize| {
                format!(r#"{{"role":"tool","tool_call_id":"c{index}","content":"a"}}"#)
            };
            let calls = (0..30_000).map(message);
            let answers = (0..30_000).rev().map(answer);
            let messages: Vec<String> = calls.chain(answers).collect();
            plain_or_packed(
                "chat.json",
                &format!(r#"{{"messages":[{}]}}"#, messages.join(",")),
            )
        }),
        ("many members of an object", || {
            let members: Vec<String> = (0..400_000)
                .map(|index| format!(r#""{index}":0"#))
                .collect();
            plain_or_packed("chat.json", &chat(&format!("{{{}}}", members.join(","))))
        }),
        ("many levels", || {
            packed(
                "chat.json",
                chat(&format!(
                    "{}{}",
                    "[".repeat(4_000_000),
                    "]".repeat(4_000_000)
                )),
            )
        }),
        ("many quotes", || {
            packed("chat.json", chat(&"\"a\\\"".repeat(1_000_000)))
        }),
    ]
}

/// Files of a format with as many copies of a seed as are read: as lines, and as folders of an archive.
pub fn multiples(format: &Format) -> Vec<Vec<InputFile>> {
    let mut cases = Vec::new();
    for seed in &format.seeds {
        if let [file] = seed.as_slice()
            && let Ok(text) = std::str::from_utf8(&file.bytes)
        {
            // One line for a JSON text; for JSON Lines, all of them.
            let lines = match Json::parse(text) {
                Ok(Json::List(list)) => list
                    .iter()
                    .map(|one| one.to_compact_text() + "\n")
                    .collect(),
                Ok(value) => value.to_compact_text() + "\n",
                Err(_) => text.trim_end().to_owned() + "\n",
            };
            let times = UNPACKED / lines.len().max(1);
            cases.push(plain_or_packed("many.jsonl", &lines.repeat(times)));
        }
        let length: usize = seed.iter().map(|file| file.bytes.len() + 1_024).sum();
        let mut tar = Vec::new();
        for index in 0..UNPACKED / length.max(1) {
            for file in seed {
                let name = file.name.as_deref().unwrap_or("x");
                add_to_tar(
                    &mut tar,
                    &format!("{index}/{name}"),
                    file.bytes.len() as u64,
                    &file.bytes,
                );
            }
        }
        end_tar(&mut tar);
        cases.push(packed_bytes("many.tar.gz", &tar));
    }
    cases.retain(|files| files.iter().all(|file| file.bytes.len() <= super::LARGEST));
    cases
}

/// A compressed tar file with this many files.
fn packed_tar(count: usize, file: impl Fn(usize) -> (String, String)) -> Vec<InputFile> {
    let mut tar = Vec::new();
    for index in 0..count {
        let (name, content) = file(index);
        add_to_tar(&mut tar, &name, content.len() as u64, content.as_bytes());
    }
    end_tar(&mut tar);
    packed_bytes("many.tar.gz", &tar)
}

fn packed_bytes(name: &str, bytes: &[u8]) -> Vec<InputFile> {
    vec![InputFile {
        name: Some(name.to_owned()),
        bytes: gzip(bytes),
    }]
}

/// A compressed text, cut off where it would be too large.
fn plain_or_packed(name: &str, text: &str) -> Vec<InputFile> {
    let mut length = text.len().min(UNPACKED);
    loop {
        let start = text.get(..length).unwrap_or(text);
        let files = packed(name, start.to_owned());
        if files.iter().all(|file| file.bytes.len() <= super::LARGEST) {
            return files;
        }
        length = length * 2 / 3;
        if length < super::LARGEST {
            return plain(
                name,
                start.get(..super::LARGEST).unwrap_or(start).to_owned(),
            );
        }
    }
}

/// A Parquet file with these rows in one column.
fn parquet(rows: &[Json]) -> Vec<InputFile> {
    let kind = match rows.first() {
        Some(Json::List(_)) => "list<int8>",
        Some(Json::Text(_)) => "string",
        _ => "int8",
    };
    let write = || {
        let mut writer = RowWriter::new([("messages", kind)])?;
        for row in rows {
            let mut object = volary_core::Object::new();
            object.insert("messages", row.clone());
            writer.push(&object)?;
        }
        writer.finish()
    };
    vec![InputFile {
        name: Some("rows.parquet".to_owned()),
        bytes: write().unwrap_or_default(),
    }]
}
