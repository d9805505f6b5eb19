//! `volary convert`: converts trajectories of any format to another format, and reports what was lost.
//!
//! Batches of episodes are converted on several threads, written in their order, and dropped. Inspect and Parquet describe
//! all episodes at the start of a file, so all are held.
//!
//! - `format`: the formats. `growing_file`: the file of many episodes. `output_folder`: a file for each episode.
//!   `many_files`: asks before very many files are written.
//! - `tags_beside`: tags from `.volary/notes.jsonl`.

pub(crate) mod format;
mod growing_file;
mod many_files;
mod output_folder;
mod tags_beside;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use volary_analysis::sensitive;
use volary_analysis::sensitive::Finding;
use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_episode::episode::StepRecord;
use volary_episode::token_record::TokenRecord;
use volary_episode::{Episode, Rewards};
use volary_export::chat_rules;
use volary_export::messages_jsonl::accepted_line;
use volary_formats::import::{InputFile, import};
use volary_parquet::read_rows;

use crate::ExitStatus;
use crate::inputs::{self, Report};
use crate::output::{self, plain};
use crate::sharing::{self, Check};
use format::{Format, row, table};
use growing_file::GrowingFile;
use output_folder::{OutputFolder, write};
use tags_beside::TagsBeside;
pub use tags_beside::notes_beside;

const EXAMPLES: &str = "\
Examples:
  volary convert run.eval --to messages > run.jsonl
  volary convert runs/ --to html --out pages

Exit status:
  0  all files were read and written
  1  a part of a file could not be read, or an episode could not be written; the rest was written
  2  nothing was written, or the rest was not, because it would be more than 10,000 files
  3  as 0 or 1, but keys, tokens or passwords were found in what was written. E-mail addresses are only listed";

/// Reads trajectories of any format and writes them in another one.
///
/// Formats are recognised by content. What the output cannot hold is reported: each output that can be read again is
/// read again and compared.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Convert {
    /// Files, and folders with files
    #[arg(required = true, value_name = "IN")]
    paths: Vec<PathBuf>,

    /// A JSON file that maps the fields of records in an unknown format, such as {"prompt": "q.text", "reward": "score"}
    #[arg(long, value_name = "FILE")]
    fields: Option<PathBuf>,

    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    to: Format,

    /// Where to write: a file for formats of many episodes, a folder for the others. By default standard output
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,

    /// Mask API keys, tokens, passwords, private keys and e-mail addresses. Without it they are listed with their places
    #[arg(long)]
    mask: bool,

    /// Write more than 10,000 files without asking
    #[arg(long, short)]
    yes: bool,

    /// Print the report as one JSON object
    #[arg(long, requires = "out")]
    json: bool,
}

/// The report, as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    read: &'a Report,
    /// The paths of the written files.
    written: Vec<String>,
    /// The kinds of data that the output lacks, with the number of affected episodes.
    lost: Losses,
    /// What chat APIs may refuse in the output, with the number of affected episodes.
    refused: Losses,
    /// Sensitive data that should perhaps not be shared; masked with `--mask`.
    sensitive: &'a [sharing::Sensitive],
}

/// What a batch of episodes became.
struct Converted {
    episodes: usize,
    found: Vec<(String, Vec<Finding>)>,
    shortcomings: Shortcomings,
    content: Content,
}

/// The number of episodes, by what is wrong with their output.
type Losses = BTreeMap<&'static str, usize>;

/// What is wrong with the output.
#[derive(Default)]
struct Shortcomings {
    /// Kinds of data that it lacks.
    lost: Losses,
    /// What chat APIs may refuse of it.
    refused: Losses,
}

impl Shortcomings {
    fn add(&mut self, other: Shortcomings) {
        let add = |all: &mut Losses, more: Losses| {
            for (part, count) in more {
                *all.entry(part).or_default() += count;
            }
        };
        add(&mut self.lost, other.lost);
        add(&mut self.refused, other.refused);
    }
}

/// The content of a batch, as far as it can be written.
enum Content {
    /// A part of the output.
    Part(Vec<u8>),
    /// The rows of the table.
    Rows(Vec<Row>),
    /// The names of episodes, with their files or the reasons why there is none.
    Files(Vec<(Text, Result<Vec<u8>>)>),
    /// Episodes that can only be written when all are read.
    Episodes(Vec<Episode>),
}

/// What is written so far, or kept until all is read.
#[derive(Default)]
struct Progress {
    episodes: usize,
    shortcomings: Shortcomings,
    file: Option<GrowingFile>,
    rows: Vec<Row>,
    held: Vec<Episode>,
    folder: Option<OutputFolder>,
    /// Whether the user agreed to very many files.
    is_agreed: bool,
    /// The paths of the written files.
    written: Vec<String>,
    /// The names of episodes that could not be written, with the reasons.
    failed: Vec<(Text, String)>,
}

impl Convert {
    /// Reads and converts all trajectories.
    pub fn run(&self) -> Result<ExitStatus> {
        let mappings = inputs::mappings(self.fields.as_deref())?;
        let tags = if self.to.holds_tags() {
            TagsBeside::of(&self.paths, &mappings)?
        } else {
            TagsBeside::default()
        };
        let holds_all = self.holds_all();
        let convert = |batch: Vec<(String, Episode)>| self.converted(batch, &tags, holds_all);
        let mut check = Check::new(self.mask);
        let mut progress = Progress {
            is_agreed: self.yes,
            ..Progress::default()
        };
        let mut write = |converted: Result<Converted>| {
            let converted = converted?;
            for (file, found) in &converted.found {
                check.add(file, found);
            }
            self.write(converted, &mut progress)
        };
        let mut report = inputs::read_batches(&self.paths, &mappings, None, &convert, &mut write)?;
        self.write_rest(&mut progress)?;
        for (name, reason) in &progress.failed {
            report.add_loss(name, reason.clone());
        }
        let written = progress.written;
        if self.out.is_some() && written.is_empty() {
            report.print();
            bail!("no episode could be written in this format");
        }
        if self.json {
            output::json(&Summary {
                read: &report,
                written,
                lost: progress.shortcomings.lost,
                refused: progress.shortcomings.refused,
                sensitive: check.found(),
            })?;
        } else {
            report.print();
            check.print();
            self.print_losses(&progress.shortcomings);
            if self.out.is_some() {
                let (episodes, files) = (progress.episodes, written.len());
                eprintln!("Episodes read: {episodes}. Files written: {files}.");
            }
        }
        Ok(match (check.has_secrets(), report.has_losses()) {
            (true, _) => ExitStatus::Sensitive,
            (false, true) => ExitStatus::Bad,
            (false, false) => ExitStatus::Good,
        })
    }

    /// Whether files can only be written when all episodes are read.
    fn holds_all(&self) -> bool {
        match (&self.out, self.to.holds_many()) {
            (_, true) => !self.to.has_parts() && self.to != Format::Csv,
            (None, false) => true,
            // A written file must not replace one that is still to be read.
            (Some(out), false) => !is_apart(out, &self.paths),
        }
    }

    /// Converts a batch.
    fn converted(
        &self,
        batch: Vec<(String, Episode)>,
        tags: &TagsBeside,
        holds_all: bool,
    ) -> Result<Converted> {
        let mut found = Vec::new();
        let mut episodes = Vec::with_capacity(batch.len());
        for (file, mut episode) in batch {
            tags.add(&mut episode);
            let sensitive = sensitive::check(&episode);
            if !sensitive.is_empty() {
                if self.mask {
                    episode = sensitive::masked(&episode)?;
                }
                found.push((file, sensitive));
            }
            episodes.push(episode);
        }
        let mut shortcomings = Shortcomings::default();
        let count = episodes.len();
        let content = if holds_all {
            Content::Episodes(episodes)
        } else if self.to == Format::Csv {
            Content::Rows(episodes.iter().map(row).collect())
        } else if self.to.has_parts() {
            let all: Vec<&Episode> = episodes.iter().collect();
            Content::Part(self.compared(&all, &mut shortcomings)?)
        } else {
            let file = |episode| (self.compared(&[episode], &mut shortcomings), &episode.name);
            let files = episodes.iter().map(file);
            Content::Files(files.map(|(bytes, name)| (name.clone(), bytes)).collect())
        };
        Ok(Converted {
            episodes: count,
            found,
            shortcomings,
            content,
        })
    }

    /// Writes a batch, or keeps it.
    fn write(&self, converted: Converted, progress: &mut Progress) -> Result<()> {
        progress.episodes += converted.episodes;
        progress.shortcomings.add(converted.shortcomings);
        match converted.content {
            Content::Episodes(episodes) => progress.held.extend(episodes),
            Content::Rows(rows) => progress.rows.extend(rows),
            Content::Files(files) => self.write_files(files, progress)?,
            Content::Part(_) if converted.episodes == 0 => {}
            Content::Part(part) => match &self.out {
                None => output::write(&part)?,
                Some(out) => {
                    let file = match progress.file.take() {
                        Some(file) => file,
                        None => GrowingFile::create(out)?,
                    };
                    progress.file.insert(file).write(&part)?;
                }
            },
        }
        Ok(())
    }

    /// Writes what only can be written when all is read.
    fn write_rest(&self, progress: &mut Progress) -> Result<()> {
        if let (Some(file), Some(out)) = (progress.file.take(), &self.out) {
            file.finish()?;
            progress.written.push(plain(&out.to_string_lossy()));
        }
        let held = std::mem::take(&mut progress.held);
        let bytes = match (&self.out, self.to.holds_many()) {
            (_, true) if self.to.has_parts() => return Ok(()),
            (_, true) if self.to == Format::Csv => table(&progress.rows).into_bytes(),
            (_, true) => {
                let all: Vec<&Episode> = held.iter().collect();
                self.compared(&all, &mut progress.shortcomings)?
            }
            (Some(out), false) => {
                self.agree_to(held.len(), out, progress)?;
                for episode in &held {
                    let bytes = self.compared(&[episode], &mut progress.shortcomings);
                    self.write_files(vec![(episode.name.clone(), bytes)], progress)?;
                }
                return Ok(());
            }
            (None, false) => {
                let [episode] = held.as_slice() else {
                    bail!(
                        "there are {} episodes, and a file of this format holds one; choose a folder with --out",
                        held.len()
                    );
                };
                self.compared(&[episode], &mut progress.shortcomings)?
            }
        };
        match &self.out {
            Some(out) => progress.written.push(write(out, &bytes)?),
            None => {
                let kind = match self.to {
                    Format::Parquet => Some("a Parquet file"),
                    Format::Renderer => Some("a zip"),
                    _ => None,
                };
                if let Some(kind) = kind
                    && output::is_terminal()
                {
                    bail!("{kind} is not for a terminal; choose a place with --out");
                }
                output::write(&bytes)?;
            }
        }
        Ok(())
    }

    fn write_files(
        &self,
        files: Vec<(Text, Result<Vec<u8>>)>,
        progress: &mut Progress,
    ) -> Result<()> {
        let Some(out) = &self.out else {
            return Ok(());
        };
        self.agree_to(files.len(), out, progress)?;
        let folder = match progress.folder.take() {
            Some(folder) => folder,
            None => OutputFolder::create(out)?,
        };
        let folder = progress.folder.insert(folder);
        for (name, bytes) in files {
            match bytes {
                Ok(bytes) => {
                    let file = folder.write(&name, self.to.ending(), &bytes)?;
                    progress.written.push(file);
                }
                Err(error) => progress.failed.push((name, error.to_string())),
            }
        }
        Ok(())
    }

    /// Asks whether this many more files are to be written, if there are very many. Fails if they are not.
    fn agree_to(&self, more: usize, out: &Path, progress: &mut Progress) -> Result<()> {
        if !progress.is_agreed && progress.written.len() + more > many_files::MOST {
            many_files::ask(progress.written.len(), more, out)?;
            progress.is_agreed = true;
        }
        Ok(())
    }

    /// The bytes of a file with these episodes, whose shortcomings are counted.
    fn compared(&self, episodes: &[&Episode], found: &mut Shortcomings) -> Result<Vec<u8>> {
        let bytes = self.to.write(episodes)?;
        self.compare(episodes, &bytes, &mut found.lost);
        if self.to == Format::Messages {
            let refusals = |episode: &&Episode| chat_rules::refusals(&accepted_line(episode));
            for refusal in episodes.iter().flat_map(refusals) {
                *found.refused.entry(refusal.text()).or_default() += 1;
            }
        }
        Ok(bytes)
    }

    /// Reads the output again and counts the episodes with losses.
    fn compare(&self, episodes: &[&Episode], bytes: &[u8], lost: &mut Losses) {
        if !self.to.is_readable() {
            return;
        }
        let bytes = match self.to {
            Format::Parquet => read_rows(bytes.to_vec(), inputs::LARGEST_PARQUET)
                .map_or_else(|_| Vec::new(), |rows| rows.lines.into_bytes()),
            _ => bytes.to_vec(),
        };
        let file = InputFile {
            name: Some(format!("x.{}", self.to.ending())),
            bytes,
        };
        let again = import(&[file]).map_or_else(|_| Vec::new(), |outcome| outcome.episodes);
        for (place, episode) in episodes.iter().enumerate() {
            let again = again.get(place).map(held).unwrap_or_default();
            for part in held(episode).difference(&again) {
                *lost.entry(part).or_default() += 1;
            }
        }
    }

    fn print_losses(&self, found: &Shortcomings) {
        for (part, count) in &found.lost {
            eprintln!("The output does not hold {part} ({count} episodes).");
        }
        for (part, count) in &found.refused {
            eprintln!("Chat APIs may refuse {part} ({count} episodes).");
        }
        if !self.to.is_readable() {
            eprintln!(
                "The output is for reading; it does not hold everything and cannot be converted back."
            );
        }
    }
}

/// Whether a folder contains none of these paths, nor is in one of them.
fn is_apart(folder: &Path, paths: &[PathBuf]) -> bool {
    // A folder that is not there contains nothing, but may be made in one of them: its files are not read.
    let Ok(folder) = folder.canonicalize() else {
        return true;
    };
    paths.iter().all(|path| {
        let path = path.canonicalize();
        path.is_ok_and(|path| !path.starts_with(&folder) && !folder.starts_with(&path))
    })
}

/// The kinds of data in an episode, as named in the report.
fn held(episode: &Episode) -> BTreeSet<&'static str> {
    let usage = episode.usage();
    let has_reasoning = |step: &StepRecord| step.details.reasoning.is_some();
    let parts = [
        ("messages", episode.messages().next().is_some()),
        ("steps", !episode.steps.is_empty()),
        ("tools", !episode.tools.is_empty()),
        ("rewards", episode.rewards != Rewards::Unknown),
        ("frames", !episode.frames.is_empty()),
        ("the recipe to run it again", episode.recipe.is_some()),
        ("the task", episode.task().is_some()),
        ("the environment", episode.environment().is_some()),
        ("the model", episode.model.is_some()),
        ("scores", !episode.scores.is_empty()),
        ("reasoning", episode.steps.iter().any(has_reasoning)),
        ("token counts", usage.input.or(usage.output).is_some()),
        ("recorded tokens", TokenRecord::of(episode).is_some()),
        ("the start time", episode.started.is_some()),
        ("errors", !episode.errors.is_empty()),
    ];
    let present = parts.into_iter().filter(|(_, is_present)| *is_present);
    present.map(|(part, _)| part).collect()
}
