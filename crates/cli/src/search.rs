//! `volary search`: full-text search in trajectories.

use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use volary_analysis::search::{Document, Query};
use volary_episode::Episode;
use volary_formats::import::fields::Mappings;

use crate::output::{self, plain};
use crate::{ExitStatus, inputs};

/// The number of characters of context on either side of a hit.
const AROUND: usize = 60;

const EXAMPLES: &str = "\
Examples:
  volary search 'permission denied' runs/
      episodes with both words
  volary search '\"permission denied\"' runs/ --most 1
      episodes with the phrase, one line each

Exit status:
  0  something was found
  1  nothing was found
  2  nothing could be searched";

/// Finds words and phrases in messages, tool calls, reasoning and errors, and ignores case.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Search {
    /// Words, all of which an episode must contain; put phrases in double quotes
    query: String,

    /// Files, and folders with files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The maximum number of hits printed for an episode
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    most: usize,

    /// Print one JSON object for each hit
    #[arg(long)]
    json: bool,
}

/// A hit with its file, as JSON.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    hit: Hit<'a>,
}

/// A hit, as JSON.
#[derive(Serialize)]
pub struct Hit<'a> {
    /// The name of the episode.
    name: &'a str,
    /// 0 is the start of the episode.
    step: usize,
    message: usize,
    before: &'a str,
    hit: &'a str,
    after: &'a str,
}

/// Passes the hits of a query in an episode to `each`, at least one and at most `most`.
pub fn hits(
    episode: &Episode,
    query: &Query,
    most: usize,
    mut each: impl FnMut(Hit<'_>) -> Result<()>,
) -> Result<()> {
    let document = Document::of(episode);
    if document.first(query).is_none() {
        return Ok(());
    }
    for hit in document.hits(query, most.max(1)) {
        let snippet = document.snippet(&hit, AROUND);
        each(Hit {
            name: &episode.name,
            step: hit.position.step,
            message: hit.position.message,
            before: &snippet.before,
            hit: &snippet.hit,
            after: &snippet.after,
        })?;
    }
    Ok(())
}

impl Search {
    /// Searches all episodes.
    pub fn run(&self) -> Result<ExitStatus> {
        let query = Query::parse(&self.query);
        if query.is_empty() {
            bail!("the query has no word");
        }
        let lines = |episodes: Vec<(String, Episode)>| {
            let mut lines = Vec::new();
            for (file, episode) in &episodes {
                hits(episode, &query, self.most, |hit| {
                    let line = Line { file, hit };
                    lines.push(if self.json {
                        serde_json::to_string(&line)?
                    } else {
                        line.to_text()
                    });
                    Ok(())
                })?;
            }
            Ok(lines)
        };
        let mut found = false;
        let mut print = |lines: Result<Vec<String>>| {
            let mut lines = lines?.into_iter();
            lines.try_for_each(|line| {
                found = true;
                if self.json {
                    output::write((line + "\n").as_bytes())
                } else {
                    output::line(&line)
                }
            })
        };
        let mappings = Mappings::default();
        inputs::read_batches(&self.paths, &mappings, Some(&query), &lines, &mut print)?.print();
        Ok(if found {
            ExitStatus::Good
        } else {
            ExitStatus::Bad
        })
    }
}

impl Line<'_> {
    fn to_text(&self) -> String {
        let place = AnsiColor::Magenta.on_default();
        let hit = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        format!(
            "{place}{}: {}, step {}{place:#}: {}{hit}{}{hit:#}{}",
            plain(self.file),
            plain(self.hit.name),
            self.hit.step,
            plain(self.hit.before),
            plain(self.hit.hit),
            plain(self.hit.after)
        )
    }
}
