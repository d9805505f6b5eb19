//! The formats that `volary convert` writes.

use anyhow::Result;
use clap::ValueEnum;
use volary_analysis::annotations::tags;
use volary_analysis::csv;
use volary_analysis::table::{Column, Row};
use volary_ask::{RenderOptions, Rendered};
use volary_episode::{Episode, native};
use volary_export::training_rows::{self, RowShape};
use volary_export::{atif, html, inspect, ldp};
use volary_export::{markdown, messages_jsonl};
use volary_formats::renderer_files;
use volary_parquet::RowWriter;

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
    /// One compact text with numbered messages, for people and models
    Text,
    /// A table with one row for each episode
    Csv,
}

impl Format {
    /// The ending of its files' names, without the dot.
    pub fn ending(self) -> &'static str {
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
            Format::Text => "txt",
            Format::Csv => "csv",
        }
    }

    /// Whether one file contains many episodes.
    pub fn holds_many(self) -> bool {
        matches!(
            self,
            Format::Inspect
                | Format::Ldp
                | Format::Messages
                | Format::Rows
                | Format::Parquet
                | Format::Text
                | Format::Csv
        )
    }

    /// Whether its file is that of the first episodes, followed by that of the others.
    pub fn has_parts(self) -> bool {
        matches!(
            self,
            Format::Ldp | Format::Messages | Format::Rows | Format::Text
        )
    }

    /// Whether Volary can read the format.
    pub fn is_readable(self) -> bool {
        !matches!(
            self,
            Format::Html | Format::Markdown | Format::Text | Format::Csv
        )
    }

    /// Whether the output has the tags of episodes.
    pub fn holds_tags(self) -> bool {
        matches!(self, Format::Volary | Format::Csv)
    }

    /// The bytes of a file with these episodes; exactly one for single-episode formats.
    pub fn write(self, episodes: &[&Episode]) -> Result<Vec<u8>> {
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
                let rows = episodes.iter().map(|episode| row(episode));
                table(&rows.collect::<Vec<_>>())
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
            Format::Text => episodes.iter().map(|episode| rendered(episode)).collect(),
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

/// The text of an episode. What is masked was decided by `--mask`.
fn rendered(episode: &Episode) -> String {
    let options = RenderOptions {
        mask: false,
        ..RenderOptions::default()
    };
    Rendered::of(episode, &options).text()
}

/// The row of the table.
pub fn row(episode: &Episode) -> Row {
    Row::of(episode, tags::of(episode))
}

/// The text of a CSV file.
pub fn table(rows: &[Row]) -> String {
    let mut columns = csv::columns(rows);
    if rows.iter().any(|row| !row.tags.is_empty()) {
        columns.push(Column::Tags);
    }
    csv::to_text(rows, &columns)
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
