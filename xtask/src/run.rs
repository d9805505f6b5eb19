//! Child processes: runs them, checks their exit status, and names them in errors.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The number of lines shown of a failed program's output.
const LAST_LINES: usize = 25;

/// Runs a slow operation, and prints its duration.
pub fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let done = work()?;
    eprintln!("  {:>6.1} s  {what}", start.elapsed().as_secs_f64());
    Ok(done)
}

/// Runs a program with visible output.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs a program whose output is shown only if it fails.
pub fn quietly(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// The output of a program, without the final line break; standard error is shown if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    let stdout = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() {
        let both = format!("{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
        let lines: Vec<&str> = both.trim().lines().collect();
        let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
        bail!("`{}` failed ({})\n{last}", line(command), output.status);
    }
    Ok(stdout)
}

/// The output of a program, without the final line break; standard error is visible.
pub fn output_aloud(command: &mut Command) -> Result<String> {
    output(command.stderr(Stdio::inherit()))
}

/// Runs a program with visible output, and passes every line of it to `each`. Returns whether the program
/// succeeded.
pub fn watch(command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool> {
    // nextest writes its summary to standard error, all others write to standard output.
    let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    command.stderr(writer.try_clone()?).stdout(writer);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    // The command holds the writing end, which must be closed for the reader to end.
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let reader: Box<dyn Read> = Box::new(reader);
    for text in BufReader::new(reader).split(b'\n') {
        let text = text.context("cannot read what the program prints")?;
        let text = String::from_utf8_lossy(&text);
        println!("{text}");
        each(&text);
    }
    Ok(child.wait()?.success())
}

/// The command line, as typed in a shell.
pub fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    let words = words.map(|word| match word.to_string_lossy() {
        word if word.contains([' ', '"']) => format!("'{word}'"),
        word => word.into_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_last_lines_of_both_streams() {
        let mut command = Command::new("sh");
        let failed = quietly(command.args(["-c", "echo why; echo because >&2; exit 3"]));
        let error = failed.unwrap_err().to_string();
        for part in ["`sh -c ", "why", "because", "3"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn lines_of_both_streams_are_handed_over() {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        let script = "echo one; echo two >&2; exit 1";
        let fine = watch(command.args(["-c", script]), |line| {
            lines.push(line.to_owned())
        });
        assert!(!fine.unwrap());
        assert_eq!(lines, ["one", "two"]);
    }
}
