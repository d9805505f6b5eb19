//! Programs that work behind a status line: nobody sees what they print unless they fail.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::run::line;

/// How many lines of a failed program's last words are shown.
const LAST_WORDS: usize = 25;

/// What a job is at, in one line; clones share it.
#[derive(Clone, Default)]
pub struct Status(Arc<Mutex<String>>);

impl Status {
    /// Says what the job is at now.
    pub fn say(&self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            text.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// What was said last.
    pub fn now(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Runs a program to its end, or until `limit` is over.
pub fn quietly(command: &mut Command, limit: Option<Duration>, status: &Status) -> Result<()> {
    let words = line(command);
    let mut child = command
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{words}`"))?;
    let told = Told::default();
    let stdout = child.stdout.take().map(|out| follow(out, &told, status));
    let stderr = child.stderr.take().map(|out| follow(out, &told, status));
    let ended = wait(&mut child, limit)?;
    if ended.is_some() {
        // A reader that broke down has already kept what it read.
        let _ = stdout.map(thread::JoinHandle::join);
        let _ = stderr.map(thread::JoinHandle::join);
    }
    match ended {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("`{words}` failed ({status})\n{}", told.last()),
        None => bail!(
            "`{words}` was not done in time and was stopped\n{}",
            told.last()
        ),
    }
}

/// All that a program printed, on both of its streams.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn add(&self, text: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    fn last(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines[lines.len().saturating_sub(LAST_WORDS)..].join("\n")
    }
}

fn follow(
    stream: impl Read + Send + 'static,
    told: &Told,
    status: &Status,
) -> thread::JoinHandle<()> {
    let (told, status) = (told.clone(), status.clone());
    thread::spawn(move || {
        for text in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&text).trim_end().to_owned();
            status.say(&text);
            told.add(text);
        }
    })
}

fn wait(child: &mut Child, limit: Option<Duration>) -> Result<Option<ExitStatus>> {
    let Some(limit) = limit else {
        return Ok(Some(child.wait()?));
    };
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn message(command: &mut Command, limit: Option<Duration>) -> String {
        match quietly(command, limit, &Status::default()) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_program_that_takes_too_long_is_stopped_and_said_so() {
        let start = Instant::now();
        let said = message(
            Command::new("sleep").arg("30"),
            Some(Duration::from_millis(100)),
        );
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(said.contains("`sleep 30` was not done in time"), "{said}");
    }

    #[test]
    fn a_failure_brings_the_last_words() {
        let said = message(Command::new("sh").args(["-c", "echo why; exit 3"]), None);
        assert!(said.contains("why") && said.contains('3'), "{said}");
    }
}
