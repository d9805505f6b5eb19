//! Words for people who dropped files: what one seems to be, and how many there are of something.

use volary_core::json::Json;

/// A number with its noun: `1 step`, `2 steps`, `3 trajectories`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) if noun.ends_with("ry") => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// Says it from the start of the file; `whole` if that is all of it.
pub(super) fn describe(start: &[u8], whole: bool) -> String {
    const MAGIC: [(&[u8], &str); 14] = [
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF", "a PDF document"),
        (b"\x1f\x8b", "a gzip file; unpack it first"),
        (b"BZh", "a bzip2 file; unpack it first"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard file; unpack it first"),
        (b"7z\xbc\xaf", "a 7z file; unpack it first"),
        (b"\xfd7zXZ", "an xz file; unpack it first"),
        (b"Rar!", "a RAR file; unpack it first"),
        (b"PAR1", "a Parquet file; write it as JSON Lines first"),
        (b"SQLite format 3", "an SQLite database; export it first"),
        (
            b"\x80\x04\x95",
            "a Python pickle, which could run anything; write it as JSON first",
        ),
        (b"PK", "a zip file within another"),
    ];
    if start.is_empty() {
        return "an empty file".to_owned();
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
        return (*what).to_owned();
    }
    // A character may be cut at the end of the start.
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return "no text, but binary data".to_owned(),
    };
    describe_text(text.trim_start_matches('\u{feff}'), whole)
}

fn describe_text(text: &str, whole: bool) -> String {
    let trimmed = text.trim_start();
    match Json::parse(text) {
        Ok(value) => describe_json(&value),
        _ if trimmed.starts_with("<!") || trimmed.starts_with("<html") => "a web page".to_owned(),
        _ if !whole && trimmed.starts_with('{') => "JSON of another kind".to_owned(),
        _ if !whole && trimmed.starts_with('[') => "a JSON list of another kind".to_owned(),
        Err(error) if trimmed.starts_with(['{', '[']) => format!("broken JSON ({error})"),
        Err(_) => "text that is no JSON".to_owned(),
    }
}

fn describe_json(value: &Json) -> String {
    match value {
        Json::Object(object) => {
            let keys: Vec<&str> = object.keys().take(5).map(AsRef::as_ref).collect();
            format!("JSON with the members {}", keys.join(", "))
        }
        Json::List(list) => format!("a JSON list of {}", list.len()),
        _ => "a single JSON value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_people_know_them() {
        let cases: [(&[u8], &str); 7] = [
            (b"", "an empty file"),
            (b"\x89PNG\r\n", "a PNG image"),
            (b"\x00\xff\xfe", "no text, but binary data"),
            (b"{\"a\": 1, \"b\": 2}", "JSON with the members a, b"),
            (b"[1, 2]", "a JSON list of 2"),
            (b"<!DOCTYPE html>", "a web page"),
            (b"hello", "text that is no JSON"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(describe(bytes, true), expected);
        }
        assert!(describe(b"{\"a\"", true).starts_with("broken JSON (Expecting ':'"));
        assert_eq!(
            describe("{\"é".as_bytes().split_last().unwrap_or((&0, b"")).1, false),
            "JSON of another kind"
        );
    }
}
