//! Asks before very many files are written: a small compressed file can contain hundreds of thousands of episodes, and a
//! folder of as many files is slow to list and to delete.

use std::io::{IsTerminal, Write, stdin};
use std::path::Path;

use anyhow::{Result, bail};

use crate::output::plain;

/// The number of files that are written without a question.
pub const MOST: usize = 10_000;

/// Asks whether `more` files are to be written into a folder in addition to those already `written`.
///
/// # Errors
/// If the answer is no, or there is nobody to ask.
pub fn ask(written: usize, more: usize, folder: &Path) -> Result<()> {
    let folder = plain(&folder.to_string_lossy());
    let whole = match written {
        0 => format!("this writes {more} files into {folder}"),
        _ => format!("this writes {more} files more into {folder}, after {written}"),
    };
    if !stdin().is_terminal() || !std::io::stderr().is_terminal() {
        bail!(
            "{whole}, and more may follow. Use --yes to write them, or a format that writes one file"
        );
    }
    eprint!("Note that {whole}, and more may follow. Write them? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    if !is_yes(&answer) {
        bail!("the files were not written, as you chose");
    }
    Ok(())
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(is_yes("y\n") && is_yes(" YES\r\n"));
        assert!(!is_yes("\n") && !is_yes("no\n") && !is_yes("yes, but\n"));
    }
}
