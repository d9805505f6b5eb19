//! Jobs side by side, under one status line.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::progress::Status;

/// What a job does, saying meanwhile what it is at.
pub type Work<'a> = Box<dyn FnOnce(&Status) -> Result<()> + Send + 'a>;

/// Something that takes a while.
pub struct Job<'a> {
    /// What the user knows it by.
    pub name: String,
    /// Does it.
    pub work: Work<'a>,
}

/// Does all jobs at once and waits for the last, also when one fails: the others' work is kept.
pub fn run(jobs: Vec<Job<'_>>) -> Result<()> {
    let start = Instant::now();
    let mut open: Vec<(String, Status)> = Vec::new();
    let mut failures = Vec::new();
    thread::scope(|scope| {
        let (done, finished) = channel();
        for job in jobs {
            let (status, done) = (Status::default(), done.clone());
            open.push((job.name.clone(), status.clone()));
            scope.spawn(move || {
                let outcome = (job.work)(&status);
                // Nobody listens only when the user has already gone.
                let _ = done.send((job.name, outcome));
            });
        }
        drop(done);
        let mut line = StatusLine::new();
        loop {
            match finished.recv_timeout(Duration::from_millis(250)) {
                Ok((name, outcome)) => {
                    line.clear();
                    open.retain(|(other, _)| *other != name);
                    match outcome {
                        Ok(()) => eprintln!("  {name}: done ({:.0?})", start.elapsed()),
                        Err(error) => failures.push(format!("{name} {error:#}")),
                    }
                }
                Err(RecvTimeoutError::Timeout) => line.show(&open, start.elapsed()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    if !failures.is_empty() {
        bail!("{}", failures.join("\n\n"));
    }
    Ok(())
}

/// On a terminal a line that is redrawn; elsewhere a line now and then.
struct StatusLine {
    terminal: bool,
    shown: Duration,
}

impl StatusLine {
    const WIDTH: usize = 100;
    const NOW_AND_THEN: Duration = Duration::from_secs(30);

    fn new() -> StatusLine {
        StatusLine {
            terminal: std::io::stderr().is_terminal(),
            shown: Duration::ZERO,
        }
    }

    fn show(&mut self, open: &[(String, Status)], elapsed: Duration) {
        if !self.terminal && elapsed - self.shown < StatusLine::NOW_AND_THEN {
            return;
        }
        self.shown = elapsed;
        let all: Vec<String> = open
            .iter()
            .map(|(name, status)| format!("{name}: {}", status.now()))
            .collect();
        let text = format!("  [{} s] {}", elapsed.as_secs(), all.join(" · "));
        let text: String = text.chars().take(StatusLine::WIDTH).collect();
        if self.terminal {
            eprint!("\r\x1b[2K{text}");
            // A status line that does not show is no failure.
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{text}");
        }
    }

    fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[2K");
        }
    }
}
