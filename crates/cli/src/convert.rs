//! `volary convert`: converts trajectories of any format to another format, and reports what was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde::Serialize;
use volary_core::json::Text;
use volary_parquet::{RowWriter, read_rows};
use volary_trajectory::annotations::{Annotation, Annotations, sidecar, tags};
use volary_trajectory::export::training_rows::{self, RowShape};
use volary_trajectory::export::{atif, csv, html, inspect, ldp};
use volary_trajectory::import::{InputFile, import};
use volary_trajectory::table::{Column, Row};
use volary_trajectory::token_record::TokenRecord;
use volary_trajectory::{
    Episode, Rewards, markdown, messages_jsonl, native, renderer_files, sensitive,
};

use crate::ExitStatus;
use crate::inputs::{self, Report};
use crate::output::{self, plain};
use crate::sharing::{self, Check};
use crate::view::{NOTES_FILE, NOTES_FOLDER};

const EXAMPLES: &str = "\
Examples:
  volary convert run.eval --to messages > run.jsonl
  volary convert runs/ --to html --out pages
Exit status:
  0  all files were read and written
  1  a part of a file could not be read, or an episode could not be written; the rest was written
  2  nothing was written
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

    /// A JSON file that says which members of unknown records hold what, such as {"prompt": "q.text", "reward": "score"}
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

    /// Print the report as one JSON object
    #[arg(long, requires = "out")]
    json: bool,
}

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Volary's own format, which holds everything
    Volary,
    /// A log of Inspect, which may hold many episodes
    Inspect,
    /// ATIF, the Agent Trajectory Interchange Format
    Atif,
    /// Trajectories of ldp, one JSON object a line
    Ldp,
    /// OpenAI-style messages, one JSON object a line
    Messages,
    /// Messages with reward, task, metadata, tokens, mask and streams, one JSON object a line
    Rows,
    /// The same as a table in Parquet
    Parquet,
    /// The frames as files of aviary's Renderer, in a zip
    Renderer,
    /// A page without scripts, to read
    Html,
    /// Markdown, to read or paste
    Markdown,
    /// A table with one row for each episode
    Csv,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Format::Volary => "volary.json",
            Format::Inspect => "inspect.json",
            Format::Atif => "atif.json",
            Format::Ldp => "ldp.jsonl",
            Format::Messages | Format::Rows => "jsonl",
            Format::Parquet => "parquet",
            Format::Renderer => "zip",
            Format::Html => "html",
            Format::Markdown => "md",
            Format::Csv => "csv",
        }
    }

    /// Whether one file contains many episodes.
    fn holds_many(self) -> bool {
        matches!(
            self,
            Format::Inspect
                | Format::Ldp
                | Format::Messages
                | Format::Rows
                | Format::Parquet
                | Format::Csv
        )
    }

    /// Whether Volary can read the format.
    fn is_readable(self) -> bool {
        !matches!(self, Format::Html | Format::Markdown | Format::Csv)
    }

    /// Whether the output has the tags of episodes.
    fn holds_tags(self) -> bool {
        matches!(self, Format::Volary | Format::Csv)
    }

    /// The bytes of a file with these episodes; exactly one for single-episode formats.
    fn write(self, episodes: &[&Episode]) -> Result<Vec<u8>> {
        let text: String = match self {
            Format::Inspect => {
                inspect::to_text(episodes, episodes.first().map_or("", |it| &it.name))
            }
            Format::Ldp => episodes
                .iter()
                .map(|episode| ldp::to_text(episode))
                .collect(),
            Format::Messages => messages_jsonl::to_text(episodes.iter().copied()),
            Format::Rows => training_rows::to_text(episodes.iter().copied()),
            Format::Parquet => return parquet(episodes),
            Format::Csv => {
                let rows = episodes
                    .iter()
                    .map(|episode| Row::of(episode, tags::of(episode)));
                let rows: Vec<Row> = rows.collect();
                let mut columns = csv::columns(&rows);
                if rows.iter().any(|row| !row.tags.is_empty()) {
                    columns.push(Column::Tags);
                }
                csv::to_text(&rows, &columns)
            }
            Format::Renderer => {
                let zips = episodes
                    .iter()
                    .map(|episode| renderer_files::to_zip(episode));
                return Ok(zips.collect::<Result<Vec<_>, _>>()?.concat());
            }
            Format::Volary => episodes
                .iter()
                .map(|episode| native::to_text(episode))
                .collect(),
            Format::Atif => episodes
                .iter()
                .map(|episode| atif::to_text(episode, &[]))
                .collect(),
            Format::Html => episodes
                .iter()
                .map(|episode| html::to_text(episode))
                .collect(),
            Format::Markdown => episodes
                .iter()
                .map(|episode| markdown::to_markdown(episode, 0..=usize::MAX))
                .collect(),
        };
        Ok(text.into_bytes())
    }
}

/// The bytes of a Parquet file.
fn parquet(episodes: &[&Episode]) -> Result<Vec<u8>> {
    let mut shape = RowShape::default();
    episodes.iter().for_each(|episode| shape.add(episode));
    let columns = shape.columns();
    let columns = columns.iter().map(|column| (&*column.name, column.kind));
    let mut writer = RowWriter::new(columns)?;
    for episode in episodes {
        writer.push(&training_rows::row(episode))?;
    }
    Ok(writer.finish()?)
}

/// The report, as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    read: &'a Report,
    /// The paths of the written files.
    written: Vec<String>,
    /// The kinds of data that the output lacks, with the number of affected episodes.
    lost: BTreeMap<&'static str, usize>,
    /// Sensitive data that should perhaps not be shared; masked with `--mask`.
    sensitive: &'a [sharing::Sensitive],
}

impl Convert {
    /// Reads and converts all trajectories.
    pub fn run(&self) -> Result<ExitStatus> {
        let mut read = Vec::new();
        let mappings = inputs::mappings(self.fields.as_deref())?;
        let mut report = inputs::read_mapped(&self.paths, &mappings, |file, episode| {
            read.push((file.to_owned(), episode));
            Ok(())
        })?;
        if self.to.holds_tags() {
            let notes = notes_beside(&self.paths)?;
            add_tags(&notes, read.iter_mut().map(|(_, episode)| episode));
        }
        let mut check = Check::new(self.mask);
        let mut episodes = Vec::with_capacity(read.len());
        for (file, episode) in read {
            let found = sensitive::check(&episode);
            check.add(&file, &found);
            episodes.push(match self.mask && !found.is_empty() {
                true => sensitive::masked(&episode)?,
                false => episode,
            });
        }
        let mut lost = BTreeMap::new();
        let written = match self.to.holds_many() {
            true => self.write_together(&episodes, &mut lost)?,
            false => self.write_each(&episodes, &mut lost, &mut report)?,
        };
        if self.json {
            output::json(&Summary {
                read: &report,
                written,
                lost,
                sensitive: check.found(),
            })?;
        } else {
            report.print();
            check.print();
            self.print_losses(&lost);
            if self.out.is_some() {
                let (episodes, files) = (episodes.len(), written.len());
                eprintln!("Read {episodes} episodes, wrote {files} files.");
            }
        }
        Ok(match (check.has_secrets(), report.has_losses()) {
            (true, _) => ExitStatus::Sensitive,
            (false, true) => ExitStatus::Bad,
            (false, false) => ExitStatus::Good,
        })
    }

    fn write_together(
        &self,
        episodes: &[Episode],
        lost: &mut BTreeMap<&'static str, usize>,
    ) -> Result<Vec<String>> {
        let all: Vec<&Episode> = episodes.iter().collect();
        let bytes = self.to.write(&all)?;
        self.compare(&all, &bytes, lost);
        let Some(out) = &self.out else {
            if self.to == Format::Parquet && output::is_terminal() {
                bail!("a Parquet file is not for a terminal; choose a file with --out");
            }
            output::write(&bytes)?;
            return Ok(Vec::new());
        };
        Ok(vec![write(out, &bytes)?])
    }

    fn write_each(
        &self,
        episodes: &[Episode],
        lost: &mut BTreeMap<&'static str, usize>,
        report: &mut Report,
    ) -> Result<Vec<String>> {
        let Some(out) = &self.out else {
            let [episode] = episodes else {
                bail!(
                    "there are {} episodes, and a file of this format holds one; choose a folder with --out",
                    episodes.len()
                );
            };
            if self.to == Format::Renderer && output::is_terminal() {
                bail!("a zip is not for a terminal; choose a folder with --out");
            }
            let bytes = self.to.write(&[episode])?;
            self.compare(&[episode], &bytes, lost);
            output::write(&bytes)?;
            return Ok(Vec::new());
        };
        fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
        let mut taken = BTreeSet::new();
        let mut written = Vec::new();
        for episode in episodes {
            let bytes = match self.to.write(&[episode]) {
                Ok(bytes) => bytes,
                Err(error) => {
                    report.add_loss(&episode.name, error.to_string());
                    continue;
                }
            };
            self.compare(&[episode], &bytes, lost);
            let stem = free_name(&episode.name, &mut taken);
            let file = out.join(format!("{stem}.{}", self.to.ending()));
            written.push(write(&file, &bytes)?);
        }
        if written.is_empty() {
            report.print();
            bail!("no episode could be written in this format");
        }
        Ok(written)
    }

    /// Reads the output again and counts the episodes with losses.
    fn compare(
        &self,
        episodes: &[&Episode],
        bytes: &[u8],
        lost: &mut BTreeMap<&'static str, usize>,
    ) {
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

    fn print_losses(&self, lost: &BTreeMap<&'static str, usize>) {
        for (part, count) in lost {
            eprintln!("The output does not hold {part} ({count} episodes).");
        }
        if !self.to.is_readable() {
            eprintln!(
                "The output is for reading; it does not hold everything and cannot be converted back."
            );
        }
    }
}

/// The notes that `volary view --notes` keeps next to the files.
fn notes_beside(paths: &[PathBuf]) -> Result<Annotations> {
    let folders = paths.iter().map(|path| match path.is_dir() {
        true => path.as_path(),
        false => path.parent().unwrap_or(Path::new("")),
    });
    let mut notes = Annotations::default();
    for folder in folders.collect::<BTreeSet<_>>() {
        let file = folder.join(NOTES_FOLDER).join(NOTES_FILE);
        match fs::read(&file) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                notes.merge(sidecar::read_lines(&text).annotations);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        }
    }
    Ok(notes)
}

/// Adds the tags among notes to their episodes. If several have the same id, the notes do not say which one is meant.
fn add_tags<'a>(notes: &Annotations, episodes: impl Iterator<Item = &'a mut Episode>) {
    let mut by_episode: BTreeMap<&str, Vec<&Annotation>> = BTreeMap::new();
    for note in notes.iter_all().filter(|note| tags::tag_of(note).is_some()) {
        by_episode.entry(&note.episode).or_default().push(note);
    }
    let mut found: BTreeMap<Text, Vec<&mut Episode>> = BTreeMap::new();
    for episode in episodes.filter(|episode| by_episode.contains_key(&*episode.id)) {
        found.entry(episode.id.clone()).or_default().push(episode);
    }
    for (id, mut episodes) in found {
        let ([episode], Some(notes)) = (episodes.as_mut_slice(), by_episode.get(&*id)) else {
            continue;
        };
        let mut all = tags::take(episode);
        notes.iter().for_each(|note| tags::apply(note, &mut all));
        tags::put(episode, all);
    }
}

/// The kinds of data in an episode, as named in the report.
fn held(episode: &Episode) -> BTreeSet<&'static str> {
    let usage = episode.usage();
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
        ("token counts", usage.input.or(usage.output).is_some()),
        ("recorded tokens", TokenRecord::of(episode).is_some()),
        ("the start time", episode.started.is_some()),
        ("errors", !episode.errors.is_empty()),
    ];
    let present = parts.into_iter().filter(|(_, is_present)| *is_present);
    present.map(|(part, _)| part).collect()
}

/// An unused file name for an episode, safe for any episode name.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    const LONGEST: usize = 80;
    let is_safe = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let safe: String = name
        .chars()
        .map(|letter| if is_safe(letter) { letter } else { '-' })
        .take(LONGEST)
        .collect();
    let stem = match safe.trim_matches(['-', '.']) {
        "" => "episode",
        stem => stem,
    };
    let mut free = stem.to_owned();
    let mut number = 1;
    // Some file systems are case-insensitive.
    while !taken.insert(free.to_lowercase()) {
        number += 1;
        free = format!("{stem}-{number}");
    }
    free
}

fn write(file: &Path, bytes: &[u8]) -> Result<String> {
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(plain(&file.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_differ() {
        let mut taken = BTreeSet::new();
        let names = [
            "a b",
            "A/b",
            "../../etc/passwd",
            "..",
            "",
            "a b",
            &"x".repeat(300),
        ];
        let free: Vec<String> = names
            .iter()
            .map(|name| free_name(name, &mut taken))
            .collect();
        assert_eq!(
            free[..6],
            [
                "a-b",
                "A-b-2",
                "etc-passwd",
                "episode",
                "episode-2",
                "a-b-3"
            ]
        );
        assert_eq!(free[6].len(), 80);
    }
}
