//! Child processes: run, judged by how they end, and said by name when they fail.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a program whose output the user sees.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// What a program prints, without the end of the line; its errors are not shown.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    if !output.status.success() {
        bail!(
            "`{}` failed ({})\n{}",
            line(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What a program prints, without the end of the line; the user sees its errors.
pub fn output_aloud(command: &mut Command) -> Result<String> {
    output(command.stderr(Stdio::inherit()))
}

/// Where a program says what its tests came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, as most programs do.
    Output,
    /// Standard error, as cargo-nextest does.
    Error,
}

/// Runs a program whose output the user sees, and hands over every line of a stream as well.
/// Says whether the program was satisfied.
pub fn watch(command: &mut Command, stream: Stream, mut each: impl FnMut(&str)) -> Result<bool> {
    match stream {
        Stream::Output => command.stdout(Stdio::piped()),
        Stream::Error => command.stderr(Stdio::piped()),
    };
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    let read: Option<Box<dyn Read>> = match stream {
        Stream::Output => child
            .stdout
            .take()
            .map(|out| Box::new(out) as Box<dyn Read>),
        Stream::Error => child
            .stderr
            .take()
            .map(|out| Box::new(out) as Box<dyn Read>),
    };
    if let Some(read) = read {
        for text in BufReader::new(read).split(b'\n') {
            let text = text.context("cannot read what the program says")?;
            let text = String::from_utf8_lossy(&text);
            println!("{text}");
            each(&text);
        }
    }
    Ok(child.wait()?.success())
}

/// The command as one would type it.
pub fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut line = program
        .file_stem()
        .unwrap_or(command.get_program())
        .to_string_lossy()
        .into_owned();
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        let quoted = argument.contains(|letter: char| letter.is_whitespace() || letter == '"');
        // Writing to a string cannot fail.
        let _ = if quoted {
            write!(line, " '{argument}'")
        } else {
            write!(line, " {argument}")
        };
    }
    line
}
