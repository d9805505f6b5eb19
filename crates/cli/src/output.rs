//! Writes to standard output.
//!
//! Invariant: a text from a file cannot control the terminal. JSON escapes control characters by itself; other output
//! passes through [`plain`].

use std::io::{IsTerminal, Write};

use anyhow::Result;
use serde::Serialize;

/// Writes bytes to standard output.
pub fn write(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Writes a line to standard output, without styles if it is not a terminal or `NO_COLOR` is set.
pub fn line(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(())
}

/// Writes a value as one line of JSON.
pub fn json(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    write(text.as_bytes())
}

/// Whether standard output is a terminal, which a person reads.
pub fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Puts a text on one line, without control and bidirectional characters.
pub fn plain(text: &str) -> String {
    let shown = text.chars().map(|letter| match letter {
        '\n' | '\t' | '\r' => ' ',
        letter if letter.is_control() || is_bidirectional(letter) => '\u{fffd}',
        letter => letter,
    });
    shown.collect()
}

fn is_bidirectional(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_text_cannot_control_the_terminal() {
        assert_eq!(
            plain("a\x1b[2Jb\u{9b}c\n\u{202e}d\x07"),
            "a\u{fffd}[2Jb\u{fffd}c \u{fffd}d\u{fffd}"
        );
        assert_eq!(plain("höß 日本 🙂"), "höß 日本 🙂");
    }
}
