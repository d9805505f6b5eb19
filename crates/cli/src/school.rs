//! `volary school`: trains a small agent by reinforcement, as the page does, and writes what happens.
//!
//! The folder has `rollouts/step_000000.jsonl` with the samples of each update (as trajectories of Volary, as a dump of slime,
//! or in Parquet), `metrics.jsonl` with a line of figures for each update, `checkpoints/step_000010.vols` after each tenth
//! update, `knobs.json`, `run.json`, and `warm_start.volp` if a class taught it.
//!
//! Invariant: a run that was stopped and continued writes the same files as one that was not.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use volary_app::school::{ClassFile, class_files};
use volary_core::{Json, object};
use volary_episode::{Episode, native};
use volary_export::slime;
use volary_school::episodes::episodes;
use volary_school::inspect::examine;
use volary_school::policy::Weights;
use volary_school::policy::file::{read_8_bit, write_8_bit};
use volary_school::{
    Classwork, Difficulty, Knobs, Preset, Run, Update, UpdateMetrics, learnable, shipped,
};

use crate::ExitStatus;
use crate::convert::format::Format;
use crate::output::{self, plain};

const EXAMPLES: &str = "\
Examples:
  volary school --updates 200 --out run/
  volary view run/
  volary school --updates 400 --out run/ --resume
  volary school --updates 60 --out leak/ --break leaky-grader
  volary school --updates 60 --out slime/ --format slime
  volary school --updates 60 --out class/ --class hand-ins/*.json";

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
    #[arg(long, conflicts_with_all = ["environment", "seed", "knobs", "preset", "format", "class"])]
    resume: bool,

    /// Write the rollouts of every N-th update only; 0 writes none
    #[arg(long, default_value_t = 1, value_name = "N")]
    rollouts_every: u32,

    /// The format of the rollouts: trajectories of Volary, slime's dumps as JSON, or rows in Parquet
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: RolloutFormat,

    /// Hand-ins or episodes of pupils, which the agent imitates before it is trained
    #[arg(long, value_name = "FILE", num_args = 1..)]
    class: Vec<PathBuf>,

    /// Leave out the work of a pupil
    #[arg(long, value_name = "PUPIL", requires = "class")]
    without: Option<String>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

/// How rollouts are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RolloutFormat {
    #[default]
    Volary,
    Slime,
    Parquet,
}

impl RolloutFormat {
    fn extension(self) -> &'static str {
        match self {
            RolloutFormat::Volary => "jsonl",
            RolloutFormat::Slime => "json",
            RolloutFormat::Parquet => "parquet",
        }
    }

    /// The rollouts of an update.
    fn write(self, update: u32, episodes: &[Episode]) -> Result<Vec<u8>> {
        match self {
            RolloutFormat::Volary => {
                let mut text = String::new();
                for episode in episodes {
                    native::write_text(&mut text, episode);
                    text.push('\n');
                }
                Ok(text.into_bytes())
            }
            RolloutFormat::Slime => {
                let samples = episodes.iter().map(slime::sample);
                let samples = samples.collect::<Result<Vec<Json>, _>>()?;
                let dump = object!({"rollout_id": (i64::from(update)), "samples": samples});
                Ok(slime::line(&dump.into()).into_bytes())
            }
            RolloutFormat::Parquet => {
                let episodes: Vec<&Episode> = episodes.iter().collect();
                Format::Parquet.write(&episodes)
            }
        }
    }
}

/// What is not a knob; in `run.json`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RunSettings {
    format: RolloutFormat,
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
    settings: RunSettings,
}

impl<'a> Folder<'a> {
    /// Every how many updates a checkpoint is written.
    const CHECKPOINT: u32 = 10;

    fn metrics(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    fn rollouts(&self, update: u32) -> PathBuf {
        let extension = self.settings.format.extension();
        self.path
            .join("rollouts")
            .join(format!("step_{update:06}.{extension}"))
    }

    fn warm_start(&self) -> PathBuf {
        self.path.join("warm_start.volp")
    }

    /// The folder of a run that was begun before.
    fn of_run(path: &'a Path) -> Result<Self> {
        let file = path.join("run.json");
        let settings = if file.exists() {
            let text = fs::read(&file).with_context(|| file.display().to_string())?;
            serde_json::from_slice(&text).with_context(|| file.display().to_string())?
        } else {
            RunSettings::default()
        };
        Ok(Folder { path, settings })
    }

    /// The warm start of the run: that of a class, or the one that comes with the program.
    fn read_warm_start(&self, environment: &str) -> Result<Weights> {
        let path = self.warm_start();
        if !path.exists() {
            return Ok(shipped(environment)?);
        }
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        read_8_bit(&bytes).with_context(|| path.display().to_string())
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
        let settings = serde_json::to_string_pretty(&self.settings)? + "\n";
        write(&self.path.join("run.json"), settings.as_bytes())?;
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
        let episodes = episodes(run.learnable(), run.knobs(), update);
        let number = update.metrics.update;
        let bytes = self.settings.format.write(number, &episodes)?;
        write(&self.rollouts(number), &bytes)
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
        let folder = if self.resume {
            Folder::of_run(&self.out)?
        } else {
            let settings = RunSettings {
                format: self.format,
            };
            Folder {
                path: &self.out,
                settings,
            }
        };
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
        knobs.check()?;
        let mut warm_start = shipped(&knobs.environment)?;
        if !self.class.is_empty() {
            warm_start = self.taught(&knobs.environment, warm_start)?;
        }
        let run = Run::new(knobs.clone(), warm_start)?;
        folder.begin(&knobs)?;
        if !self.class.is_empty() {
            let bytes = write_8_bit(run.warm_start().weights());
            write(&folder.warm_start(), &bytes)?;
        }
        Ok(run)
    }

    /// Teaches a warm start by the work of a class, and says what of it is left out.
    fn taught(&self, environment: &str, start: Weights) -> Result<Weights> {
        let Some(learnable) = learnable(environment) else {
            return Ok(start);
        };
        let mut files = Vec::new();
        for path in &self.class {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            files.push(ClassFile {
                name: name.into(),
                text: text.into(),
            });
        }
        let (works, unread) = class_files::read(&files);
        let mut classwork = Classwork::read(&*learnable, &works);
        classwork.left_out.extend(unread);
        for work in &classwork.left_out {
            let line = format!("left out: {}, {}: {}", work.pupil, work.title, work.reason);
            eprintln!("{}", plain(&line));
        }
        let pupils = classwork.pupils();
        let without = self.without.as_deref();
        if let Some(pupil) = without
            && !pupils.iter().any(|(name, _)| name == pupil)
        {
            let names: Vec<&str> = pupils.iter().map(|(name, _)| &**name).collect();
            bail!(
                "no work of \"{pupil}\" fits; there is some of {}",
                names.join(", ")
            );
        }
        if classwork.count(without) == 0 {
            bail!("none of the work fits, so nothing can be learned from it");
        }
        Ok(classwork.teach(&*learnable, start, without)?)
    }

    fn resumed(&self, folder: &Folder<'_>) -> Result<Run> {
        let checkpoint = folder.last_checkpoint()?;
        let knobs = Run::knobs_of(&checkpoint)?;
        let run = Run::resume(&checkpoint, folder.read_warm_start(&knobs.environment)?)?;
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
