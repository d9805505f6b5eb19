//! `volary lesson`: checks the files of lessons.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::json;
use volary_app::playground::tasks;
use volary_lesson::verify::verify;
use volary_lesson::{Problem, parse};
use volary_server::time::RuntimeClock;

use crate::ExitStatus;
use crate::output::{self, plain};

const EXAMPLES: &str = "\
Example:
  volary lesson check my-lesson.md
Exit status:
  0  every lesson can be read and followed
  1  a lesson has problems
  2  a file could not be read";

/// Works with lessons: Markdown files with episodes, tasks and checks.
#[derive(Clone, Debug, Args)]
pub struct LessonCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Reads lessons, plays their episodes, and prints each problem with its line.
    ///
    /// The solution of a task must meet the checks of the task, so that every check can be met.
    #[command(after_help = EXAMPLES)]
    Check {
        /// Files of lessons
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,

        /// Print one JSON object for each file
        #[arg(long)]
        json: bool,
    },
}

impl LessonCommand {
    /// Runs the subcommand.
    pub fn run(&self) -> Result<ExitStatus> {
        let Action::Check { files, json } = &self.action;
        let mut verdict = ExitStatus::Good;
        for file in files {
            let problems = problems(file)?;
            if !problems.is_empty() {
                verdict = ExitStatus::Bad;
            }
            if *json {
                print_json(file, &problems)?
            } else {
                print(file, &problems)?
            }
        }
        Ok(verdict)
    }
}

fn print(file: &Path, problems: &[Problem]) -> Result<()> {
    let name = file.display();
    for Problem { line, message } in problems {
        output::line(&plain(&format!("{name}:{line}: {message}")))?;
    }
    if problems.is_empty() {
        output::line(&plain(&format!("{name}: good")))?;
    }
    Ok(())
}

fn print_json(file: &Path, problems: &[Problem]) -> Result<()> {
    let listed = problems
        .iter()
        .map(|Problem { line, message }| json!({ "line": line, "message": message }));
    let listed: Vec<_> = listed.collect();
    output::json(&json!({ "file": file.to_string_lossy(), "problems": listed }))
}

fn problems(file: &Path) -> Result<Vec<Problem>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lesson = match parse(&text) {
        Ok(lesson) => lesson,
        Err(problems) => return Ok(problems),
    };
    let registry = volary_envs::registry();
    let sources = tasks::built_in(&registry);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(async { verify(&lesson, &registry, &sources, RuntimeClock::new()).await }))
}
