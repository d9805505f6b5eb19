//! `volary school`: trains a small agent by reinforcement, as the page does, and writes what happens.
//!
//! The folder has `rollouts/step_000000.jsonl` with the samples of each update as trajectories, `metrics.jsonl` with a line
//! of figures for each update, `checkpoints/step_000010.vols` after each tenth update, and `knobs.json`.
//!
//! Invariant: a run that was stopped and continued writes the same files as one that was not.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use volary_episode::native;
use volary_school::episodes::episodes;
use volary_school::inspect::examine;
use volary_school::{Difficulty, Knobs, Preset, Run, Update, UpdateMetrics, shipped};

use crate::ExitStatus;
use crate::output::{self, plain};

const EXAMPLES: &str = "\
Examples:
  volary school --updates 200 --out run/
  volary view run/
  volary school --updates 400 --out run/ --resume
  volary school --updates 60 --out leak/ --break leaky-grader";

/// The number of tasks of the exam at the end.
const EXAM: usize = 500;

/// Trains a small language agent to use the tools of an environment, and writes its rollouts as a training run.
///
/// It is a transformer of some 26,000 parameters. It begins with what it learned from a faulty student, and learns by GRPO or
/// one of its relatives. The same options give the same numbers on every machine, and in the page.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct School {
    /// The number of updates, with those before a checkpoint
    #[arg(long, default_value_t = 200, value_name = "N")]
    updates: u32,

    /// The folder to write to
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,

    /// The environment: calculator, counter or hands
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,

    /// The seed of tasks and samples
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// A JSON file with settings such as {"group": 4, "estimator": "dr_grpo"}; knobs.json of a run has all
    #[arg(long, value_name = "FILE")]
    knobs: Option<PathBuf>,

    /// Plant a failure: leaky-grader, mask-off, groups-of-two, no-baseline or cold-sampling
    #[arg(long = "break", value_name = "NAME", value_parser = preset)]
    preset: Option<Preset>,

    /// Continue from the last checkpoint in the folder, with its settings
    #[arg(long, conflicts_with_all = ["environment", "seed", "knobs", "preset"])]
    resume: bool,

    /// Write the rollouts of every N-th update only; 0 writes none
    #[arg(long, default_value_t = 1, value_name = "N")]
    rollouts_every: u32,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

fn preset(name: &str) -> Result<Preset, String> {
    Preset::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
        format!("there is no such failure; choose {}", names.join(", "))
    })
}

/// The files of a run.
struct Folder<'a> {
    path: &'a Path,
}

impl Folder<'_> {
    /// Every how many updates a checkpoint is written.
    const CHECKPOINT: u32 = 10;

    fn metrics(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    fn rollouts(&self, update: u32) -> PathBuf {
        self.path
            .join("rollouts")
            .join(format!("step_{update:06}.jsonl"))
    }

    /// Begins a run.
    fn begin(&self, knobs: &Knobs) -> Result<()> {
        let is_used = [self.metrics(), self.checkpoints()]
            .iter()
            .any(|path| path.exists());
        if is_used {
            let path = self.path.display();
            bail!("{path} already has a run; continue it with --resume, or choose another folder");
        }
        for folder in [
            self.path.to_owned(),
            self.checkpoints(),
            self.path.join("rollouts"),
        ] {
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        let knobs = serde_json::to_string_pretty(knobs)? + "\n";
        write(&self.path.join("knobs.json"), knobs.as_bytes())
    }

    /// The last checkpoint.
    fn last_checkpoint(&self) -> Result<Vec<u8>> {
        let path = self.checkpoints();
        let entries = fs::read_dir(&path)
            .with_context(|| format!("{}: there is no run to continue", self.path.display()))?;
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        // The names have equal lengths, so the last one is that of the latest.
        let last = files
            .filter(|path| path.extension().is_some_and(|end| end == "vols"))
            .max();
        let last = last.with_context(|| format!("{}: there is no checkpoint", path.display()))?;
        fs::read(&last).with_context(|| last.display().to_string())
    }

    /// The metrics of the first updates; those after the checkpoint are computed again.
    fn metrics_until(&self, updates: u32) -> Result<Vec<UpdateMetrics>> {
        let path = self.metrics();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        // The last line is torn if the command was killed while it wrote.
        let all = text
            .lines()
            .filter_map(|line| serde_json::from_str::<UpdateMetrics>(line).ok());
        Ok(all.filter(|metrics| metrics.update < updates).collect())
    }

    fn write_metrics(&self, all: &[UpdateMetrics]) -> Result<()> {
        let mut text = String::new();
        for metrics in all {
            text += &serde_json::to_string(metrics)?;
            text.push('\n');
        }
        write(&self.metrics(), text.as_bytes())
    }

    fn write_rollouts(&self, run: &Run, update: &Update) -> Result<()> {
        let mut text = String::new();
        for episode in episodes(run.learnable(), run.knobs(), update) {
            native::write_text(&mut text, &episode);
            text.push('\n');
        }
        write(&self.rollouts(update.metrics.update), text.as_bytes())
    }

    fn write_checkpoint(&self, run: &Run) -> Result<()> {
        let name = format!("step_{:06}.vols", run.updates());
        write(&self.checkpoints().join(name), &run.checkpoint())
    }
}

/// Writes a file as a whole: it is never seen half-written.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    let temporary = PathBuf::from(temporary);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    written.with_context(|| path.display().to_string())
}

impl School {
    /// Trains, and prints how well the agent does then.
    pub fn run(&self) -> Result<ExitStatus> {
        let folder = Folder { path: &self.out };
        let (mut run, mut metrics) = if self.resume {
            let run = self.resumed(&folder)?;
            let metrics = folder.metrics_until(run.updates())?;
            (run, metrics)
        } else {
            (self.started(&folder)?, Vec::new())
        };
        while run.updates() < self.updates {
            let update = run.update();
            let update = match update {
                Ok(update) => update,
                Err(error) => {
                    // What is good so far can be continued with other settings.
                    folder.write_checkpoint(&run)?;
                    folder.write_metrics(&metrics)?;
                    return Err(error.into());
                }
            };
            let number = update.metrics.update;
            if self.rollouts_every > 0 && number.is_multiple_of(self.rollouts_every) {
                folder.write_rollouts(&run, &update)?;
            }
            print_progress(&update.metrics);
            metrics.push(update.metrics);
            let is_last = run.updates() == self.updates;
            if is_last || run.updates().is_multiple_of(Folder::CHECKPOINT) {
                folder.write_metrics(&metrics)?;
                folder.write_checkpoint(&run)?;
            }
        }
        self.print_result(&run)?;
        Ok(ExitStatus::Good)
    }

    fn started(&self, folder: &Folder<'_>) -> Result<Run> {
        let mut knobs = match &self.knobs {
            None => Knobs::default(),
            Some(path) => {
                let text = fs::read(path).with_context(|| path.display().to_string())?;
                serde_json::from_slice(&text).with_context(|| path.display().to_string())?
            }
        };
        if let Some(environment) = &self.environment {
            knobs.environment.clone_from(environment);
        }
        if let Some(seed) = self.seed {
            knobs.seed = seed;
        }
        if let Some(preset) = self.preset {
            preset.plant(&mut knobs);
        }
        let run = Run::new(knobs.clone(), shipped(&knobs.environment)?)?;
        folder.begin(&knobs)?;
        Ok(run)
    }

    fn resumed(&self, folder: &Folder<'_>) -> Result<Run> {
        let checkpoint = folder.last_checkpoint()?;
        let knobs = Run::knobs_of(&checkpoint)?;
        let run = Run::resume(&checkpoint, shipped(&knobs.environment)?)?;
        if run.updates() > self.updates {
            let (done, wanted) = (run.updates(), self.updates);
            bail!(
                "the run already has {done} updates, more than {wanted}; ask for more with --updates"
            );
        }
        Ok(run)
    }

    fn print_result(&self, run: &Run) -> Result<()> {
        let exam = |difficulty| {
            let (learnable, network) = (run.learnable(), run.network());
            examine(learnable, network, difficulty, EXAM, 1.0, run.knobs().seed)
        };
        let (trained, beyond) = (exam(Difficulty::Trained)?, exam(Difficulty::Beyond)?);
        let weights = format!("{:016x}", run.network().weights().hash());
        if self.json {
            return output::json(&serde_json::json!({
                "updates": run.updates(),
                "success": trained.success,
                "success_beyond": beyond.success,
                "weights": weights,
            }));
        }
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        output::line(&plain(&format!(
            "After {} updates: {} of new tasks solved, {} of harder ones than it was trained on. Weights: {weights}.",
            run.updates(),
            percent(trained.success),
            percent(beyond.success)
        )))
    }
}

fn print_progress(metrics: &UpdateMetrics) {
    /// Every how many updates a line is printed.
    const LINES: u32 = 10;
    if std::io::stderr().is_terminal() && metrics.update.is_multiple_of(LINES) {
        eprintln!(
            "update {:4}  reward {:.3}  success {:5.1} %  without a tool {:5.1} %  entropy {:.3}",
            metrics.update,
            metrics.reward,
            metrics.success * 100.0,
            metrics.without_tool * 100.0,
            metrics.entropy
        );
    }
}
