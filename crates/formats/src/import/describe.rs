//! Messages about unreadable files: what a file appears to be, and counts of items.

use std::path::Path;

use volary_core::json::{Json, Object};

use super::json_repair::repair;

/// A number with its noun: `1 step`, `2 steps`, `3 trajectories`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) if noun.ends_with("ry") => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// What an unsupported file appears to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// A noun phrase.
    pub name: String,
    /// Whether episodes may be in it that cannot be reached, because it is packed or damaged.
    pub may_hold_episodes: bool,
}

impl Kind {
    fn closed(name: impl Into<String>) -> Kind {
        Kind {
            name: name.into(),
            may_hold_episodes: true,
        }
    }

    fn other(name: impl Into<String>) -> Kind {
        Kind {
            name: name.into(),
            may_hold_episodes: false,
        }
    }
}

/// Describes a file from its name and its first bytes; `whole` is true if they are all of it.
pub(super) fn describe(name: &str, start: &[u8], whole: bool) -> Kind {
    if let Some(table) = describe_table(name, start) {
        return table;
    }
    const MEDIA: [(&[u8], &str); 4] = [
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF", "a PDF document"),
    ];
    const PACKED: [(&[u8], &str); 9] = [
        (b"\x1f\x8b", "a gzip file; unpack it first"),
        (b"BZh", "a bzip2 file; unpack it first"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard file; unpack it first"),
        (b"7z\xbc\xaf", "a 7z file; unpack it first"),
        (b"\xfd7zXZ", "an xz file; unpack it first"),
        (b"Rar!", "a RAR file; unpack it first"),
        (
            b"PAR1",
            "a Parquet file; unpack it and import it separately",
        ),
        (b"SQLite format 3", "an SQLite database; export it first"),
        (b"PK", "a zip file inside another"),
    ];
    const PICKLE: &str = "a Python pickle, which could run any code; convert it to JSON first";
    if start.is_empty() {
        return Kind::other("an empty file");
    }
    if let [0x80, 2..=5, ..] = start {
        return Kind::closed(PICKLE);
    }
    let named = |kinds: &[(&[u8], &'static str)]| {
        let found = kinds.iter().find(|(magic, _)| start.starts_with(magic));
        found.map(|(_, name)| *name)
    };
    if let Some(name) = named(&MEDIA) {
        return Kind::other(name);
    }
    if let Some(name) = named(&PACKED) {
        return Kind::closed(name);
    }
    // The last character may be truncated.
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return Kind::other("binary data"),
    };
    describe_text(text.trim_start_matches('\u{feff}'), whole)
}

/// Describes a Parquet file, whose rows are read as JSON Lines, by its columns.
fn describe_table(name: &str, start: &[u8]) -> Option<Kind> {
    let extension = Path::new(name).extension()?;
    let row = start.split(|byte| *byte == b'\n').next()?;
    if !extension.eq_ignore_ascii_case("parquet") {
        return None;
    }
    let row = repair(std::str::from_utf8(row).ok()?).ok()?.value;
    row.as_object()?;
    Some(Kind::other(with_keys("a Parquet file", "columns", &row)))
}

fn describe_text(text: &str, whole: bool) -> Kind {
    let trimmed = text.trim_start();
    Kind::other(match Json::parse(text) {
        Ok(value) => describe_json(&value),
        _ if is_web_page(trimmed) => "a web page".to_owned(),
        _ if trimmed.starts_with('{') && lines(text, whole) > 1 => {
            let first = trimmed.lines().next().unwrap_or_default();
            let first = Json::parse(first).unwrap_or_default();
            let count = if whole {
                format!("{} ", lines(text, true))
            } else {
                String::new()
            };
            format!("JSON Lines: {count}{}", members("objects", &first))
        }
        _ if !whole && trimmed.starts_with('{') => begun(trimmed),
        _ if !whole && trimmed.starts_with('[') => "a JSON list of another kind".to_owned(),
        Err(error) if is_json(trimmed) => {
            return Kind::closed(format!("broken JSON ({error})"));
        }
        Err(_) => "text that is not JSON".to_owned(),
    })
}

/// Whether a text is HTML: comments begin Markdown as well.
fn is_web_page(text: &str) -> bool {
    let mut text = text;
    while let Some(comment) = text.strip_prefix("<!--") {
        let Some((_, after)) = comment.split_once("-->") else {
            return false;
        };
        text = after.trim_start();
    }
    let start: String = text
        .chars()
        .take(14)
        .collect::<String>()
        .to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"]
        .iter()
        .any(|tag| start.starts_with(tag))
}

/// Whether a text is JSON apart from its errors: a bracket also begins logs and links in Markdown.
fn is_json(text: &str) -> bool {
    let mut bytes = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    match (bytes.next(), bytes.next()) {
        (Some(b'{'), next) => matches!(next, None | Some(b'"' | b'}')),
        (Some(b'['), next) => {
            let may_be_list = match next {
                None | Some(b'{' | b'[' | b'"' | b']') => true,
                Some(b'-' | b'0'..=b'9') => is_list_of_numbers(text),
                _ => false,
            };
            may_be_list && !text.lines().nth(1).is_some_and(is_event_of_log)
        }
        _ => false,
    }
}

/// Whether a number is the first element of a list: the lines of a log begin with a time in brackets, and notes with a number.
fn is_list_of_numbers(text: &str) -> bool {
    let line = text.trim_start_matches('[').trim_start();
    let line = line.lines().next().unwrap_or_default();
    let end = line.find(|sign: char| sign == ',' || sign == ']' || sign.is_whitespace());
    let (number, after) = line.split_at(end.unwrap_or(line.len()));
    let after = after.trim_start();
    number.parse::<f64>().is_ok()
        && match after.strip_prefix(']') {
            Some(rest) => rest.trim().is_empty(),
            None => after.is_empty() || after.starts_with(','),
        }
}

/// Whether a line follows a first one with brackets of its own, as in a list of commands or a recording.
fn is_event_of_log(line: &str) -> bool {
    line.trim_end().ends_with(']') && line.starts_with('[')
}

fn describe_json(value: &Json) -> String {
    match value {
        Json::Object(_) if is_head_of_tau2(value) => HEAD_OF_TAU2.to_owned(),
        Json::Object(_) => members("JSON", value),
        Json::List(list) => format!("a JSON list of {}", list.len()),
        _ => "a single JSON value".to_owned(),
    }
}

/// The number of initial lines that are JSON objects, or 0 if one is not; the last line may be truncated.
fn lines(text: &str, whole: bool) -> usize {
    let filled: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let seen = if whole || text.ends_with('\n') {
        filled.len()
    } else {
        filled.len().saturating_sub(1)
    };
    let is_object = |line: &&str| matches!(Json::parse(line.trim()), Ok(Json::Object(_)));
    match filled[..seen].iter().all(is_object) {
        // One complete line, followed by another.
        true if seen == 1 && filled.len() > 1 => 2,
        true => seen,
        false => 0,
    }
}

fn members(noun: &str, value: &Json) -> String {
    with_keys(noun, "members", value)
}

/// A noun with the names of the first members, which are called `kind`.
fn with_keys(noun: &str, kind: &str, value: &Json) -> String {
    const MOST: usize = 5;
    let object = value.as_object();
    let keys: Vec<&str> = (object.into_iter().flat_map(Object::keys))
        .map(AsRef::as_ref)
        .collect();
    let more = if keys.len() > MOST { ", …" } else { "" };
    let shown = keys.iter().take(MOST).copied().collect::<Vec<_>>();
    if keys.is_empty() {
        format!("{noun} without {kind}")
    } else {
        format!("{noun} with the {kind} {}{more}", shown.join(", "))
    }
}

/// Describes a truncated object by its first members, and by the members that may be missing.
fn begun(text: &str) -> String {
    let Ok(repaired) = repair(text) else {
        return "JSON of another kind".to_owned();
    };
    let value = repaired.value;
    match value.as_object() {
        Some(_) if is_head_of_tau2(&value) => HEAD_OF_TAU2.to_owned(),
        Some(object) if !object.is_empty() => members("the start of JSON", &value),
        _ => "JSON of another kind".to_owned(),
    }
}

const HEAD_OF_TAU2: &str = "the head of a tau2 run without its simulations (import it together with the files of its folder \
     simulations)";

/// Whether a possibly truncated value is the metadata of a tau2 run before its simulations.
fn is_head_of_tau2(value: &Json) -> bool {
    let info = value.get("info");
    let told = ["num_trials", "agent_info", "user_info", "environment_info"];
    let is_run = |info: &Json| told.iter().filter(|key| info.get(key).is_some()).count() > 1;
    info.is_some_and(is_run) && value.get("simulations").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_people_know_them() {
        let cases: [(&[u8], &str); 8] = [
            (b"", "an empty file"),
            (b"\x89PNG\r\n", "a PNG image"),
            (b"\x00\xff\xfe", "binary data"),
            (
                b"\x80\x02}q\x00",
                "a Python pickle, which could run any code; convert it to JSON first",
            ),
            (b"{\"a\": 1, \"b\": 2}", "JSON with the members a, b"),
            (b"[1, 2]", "a JSON list of 2"),
            (b"<!DOCTYPE html>", "a web page"),
            (b"hello", "text that is not JSON"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(describe("", bytes, true).name, expected);
        }
        let broken = describe("", b"{\"a\"", true);
        assert!(broken.name.starts_with("broken JSON (Expecting ':'"));
        assert!(broken.may_hold_episodes);
        assert!(describe("", b"PK\x03\x04", true).may_hold_episodes);
        assert!(!describe("", b"hello", true).may_hold_episodes);
        let lines = "{\"a\": 1, \"b\": 2}\n{\"a\": 3}\n";
        assert_eq!(
            describe("", lines.as_bytes(), true).name,
            "JSON Lines: 2 objects with the members a, b"
        );
        assert_eq!(
            describe("data/train.Parquet", lines.as_bytes(), true).name,
            "a Parquet file with the columns a, b"
        );
        let begun = format!("{}{{\"a\": ", lines.repeat(3));
        assert_eq!(
            describe("", begun.as_bytes(), false).name,
            "JSON Lines: objects with the members a, b"
        );
        assert_eq!(
            describe("", b"{\"a\": 1, \"b\": [1, 2", false).name,
            "the start of JSON with the members a, b"
        );
        let head =
            br#"{"timestamp": "2026", "info": {"num_trials": 1, "agent_info": {}}, "tasks": [{"id"#;
        assert!(
            describe("", head, false)
                .name
                .starts_with("the head of a tau2 run without its simulations")
        );
        assert_eq!(
            describe(
                "",
                "{\"é".as_bytes().split_last().unwrap_or((&0, b"")).1,
                false
            )
            .name,
            "JSON of another kind"
        );
    }
}
