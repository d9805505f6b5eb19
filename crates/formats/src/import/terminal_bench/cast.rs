//! Recordings of asciinema (`.cast`, version 2): a header, then lines of `[seconds, "o" | "i", text]`. What was typed is a
//! call; what the terminal showed until the next one is its result.
//!
//! Invariants: the text has no control sequences, and a line has the text after its last carriage return.

use volary_core::json::{Json, Object, Text};
use volary_core::{Message, Role, ToolCall};

use crate::import::chat;
use crate::import::transcript::Transcript;

/// Adds the steps of a recording that started at this time. Returns false if it is no recording.
pub(super) fn read(text: &str, started: Option<f64>, transcript: &mut Transcript) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().and_then(|line| Json::parse(line).ok());
    let Some(header) = header.filter(|header| header.get("version").is_some()) else {
        return false;
    };
    let begun = header.get("timestamp").and_then(Json::as_f64).or(started);
    let mut typed = String::new();
    let mut at = None;
    let mut shown = String::new();
    for line in lines {
        let Ok(Json::List(event)) = Json::parse(line) else {
            continue;
        };
        let [time, kind, text] = event.as_slice() else {
            continue;
        };
        let (Some(kind), Some(text)) = (kind.as_text(), text.as_text()) else {
            continue;
        };
        match &**kind {
            "o" => shown.push_str(text),
            "i" => {
                // Keys of one line are one input, with the echo between them.
                if typed.is_empty() || typed.ends_with(['\r', '\n', '\u{4}', '\u{3}']) {
                    step(&mut typed, &mut shown, at, transcript);
                    at = time.as_f64().and_then(|time| Some(begun? + time));
                }
                typed.push_str(text);
            }
            _ => {}
        }
    }
    step(&mut typed, &mut shown, at, transcript);
    true
}

/// Adds what was typed, if anything was, and what the terminal showed after it.
fn step(typed: &mut String, shown: &mut String, at: Option<f64>, transcript: &mut Transcript) {
    let typed = std::mem::take(typed);
    let shown = plain(&std::mem::take(shown));
    if typed.is_empty() {
        if !shown.trim().is_empty() {
            transcript.observe(Message::new(Role::User, shown).into());
        }
        return;
    }
    let arguments = Object::from_pairs(vec![("keys".into(), keys(&typed).into())]);
    let call = ToolCall::new(Text::default(), "type", arguments);
    let mut said = chat::acted(Json::Null, vec![call]);
    said.details.started = at;
    transcript.push(said);
    transcript.push(chat::answer(Text::default(), "type".into(), shown.into()));
}

/// Keys for display: control characters as `^D`, the end of a line as a line break.
fn keys(typed: &str) -> String {
    let mut text = String::new();
    for one in typed.chars() {
        match one {
            '\r' | '\n' => text.push('\n'),
            '\t' => text.push('\t'),
            '\0'..='\u{1f}' => {
                text.push('^');
                text.push(char::from(one as u8 + b'@'));
            }
            '\u{7f}' => text.push_str("^?"),
            one => text.push(one),
        }
    }
    text
}

/// The text without control sequences.
fn plain(shown: &str) -> String {
    let mut text = String::new();
    let mut line = String::new();
    let mut rest = shown.chars().peekable();
    while let Some(one) = rest.next() {
        match one {
            '\u{1b}' => match rest.next() {
                // A sequence ends with a letter or one of @ to ~.
                Some('[') => while rest.next().is_some_and(|one| !('@'..='~').contains(&one)) {},
                // A title ends with a bell or with ESC \.
                Some(']') => {
                    while let Some(one) = rest.next() {
                        if one == '\u{7}' {
                            break;
                        }
                        if one == '\u{1b}' {
                            rest.next();
                            break;
                        }
                    }
                }
                Some('(' | ')') => drop(rest.next()),
                _ => {}
            },
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => {
                // Several of them may precede a line break.
                if rest.peek() != Some(&'\r') {
                    line.clear();
                }
            }
            '\u{8}' => drop(line.pop()),
            '\n' => {
                text.push_str(&line);
                text.push('\n');
                line.clear();
            }
            '\t' => line.push('\t'),
            '\0'..='\u{1f}' => {}
            one => line.push(one),
        }
    }
    text.push_str(&line);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_no_text() {
        assert_eq!(
            plain("\u{1b}[?2004hroot# \u{1b}[0;32mok\u{1b}[0m"),
            "root# ok"
        );
        assert_eq!(plain("\u{1b}]0;title\u{7}a\r\r\nb"), "a\nb");
        assert_eq!(plain("10%\r20%\n"), "20%\n");
        assert_eq!(plain("ab\u{8}c"), "ac");
    }

    #[test]
    fn keys_are_shown() {
        assert_eq!(keys("ls\r\u{4}"), "ls\n^D");
    }
}
