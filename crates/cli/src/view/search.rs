//! `GET /api/search`: the search of `volary search`, streamed while the files are read.
//!
//! A search ends when its client disconnects, at the next file or hit, and when its client does not read. Its last line
//! counts what was searched; without it the search was cut off.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Sender};
use volary_analysis::search::Query;
use volary_formats::import::fields::Mappings;
use volary_formats::import::{InputFile, NoteLevel};

use super::failure::Failure;
use super::json_lines::lines;
use super::listing::{Listing, ListingLine};
use super::roots::Roots;
use super::served::View;
use crate::inputs::{self, TOGETHER};
use crate::search::{self, Hit};

/// The maximum number of concurrent searches: each holds the files of a folder in memory.
pub const SEARCHES: usize = 2;
/// A larger file is reported instead of searched, in bytes.
const LARGEST: u64 = 1 << 30;
/// How long a search waits for a client that does not read, before it makes way for others.
const STALL: Duration = Duration::from_secs(10);
/// The number of hits of an episode, unless the request has another.
const MOST: usize = 3;

/// A line of the response.
#[derive(Serialize)]
#[serde(untagged)]
enum Found<'a> {
    Hit {
        /// The displayed path.
        file: &'a str,
        /// The address, as in the list of files.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<&'a str>,
        #[serde(flatten)]
        hit: Hit<'a>,
    },
    Problem {
        problem: String,
    },
    End {
        files: usize,
        episodes: usize,
    },
}

/// The parameters of a search.
#[derive(Debug)]
struct Wanted {
    query: Query,
    most: usize,
}

/// `GET /api/search?q=…`
pub async fn search(
    State(view): State<View>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let wanted = Wanted::read(&query.unwrap_or_default())?;
    let permit = view.searches.clone().try_acquire_owned();
    let permit = permit.map_err(|_| Failure::Busy)?;
    let (send, receive) = mpsc::channel::<Bytes>(64);
    tokio::task::spawn_blocking(move || {
        // An error means that the client has disconnected or does not read.
        let _ = Search::new(&view.roots, &wanted, &send, STALL).run();
        drop(permit);
    });
    Ok(lines(receive))
}

impl Wanted {
    fn read(parameters: &str) -> Result<Wanted, Failure> {
        let (mut query, mut most) = (None, MOST);
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = value.replace('+', " ");
            let value = percent_decode_str(&value).decode_utf8_lossy();
            match name {
                "q" => query = Some(Query::parse(&value)),
                "most" => {
                    let number = value.parse().ok().filter(|most| *most > 0);
                    most = number.ok_or(Failure::Wrong("`most` must be a positive number."))?;
                }
                _ => {}
            }
        }
        let query = query.filter(|query| !query.is_empty());
        let query = query.ok_or(Failure::Wrong("The query `q` has no word."))?;
        Ok(Wanted { query, most })
    }
}

/// A file to search.
struct SearchedFile {
    /// The displayed path.
    name: String,
    /// The path in addresses of `/api/file`, with escapes.
    path: String,
    bytes: u64,
}

struct Search<'a> {
    roots: &'a Arc<Roots>,
    wanted: &'a Wanted,
    send: &'a Sender<Bytes>,
    stall: Duration,
    files: usize,
    episodes: usize,
}

impl<'a> Search<'a> {
    fn new(
        roots: &'a Arc<Roots>,
        wanted: &'a Wanted,
        send: &'a Sender<Bytes>,
        stall: Duration,
    ) -> Search<'a> {
        Search {
            roots,
            wanted,
            send,
            stall,
            files: 0,
            episodes: 0,
        }
    }

    fn run(&mut self) -> Result<()> {
        let mut folder = String::new();
        let mut listed: Vec<SearchedFile> = Vec::new();
        for line in Listing::of(self.roots).flatten() {
            match line {
                ListingLine::File {
                    name, path, bytes, ..
                } => {
                    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                    // The files of a folder follow each other in the list.
                    if parent != folder {
                        folder = parent.to_owned();
                        self.folder(std::mem::take(&mut listed))?;
                    }
                    listed.push(SearchedFile { name, path, bytes });
                }
                ListingLine::Problem { problem } => self.put(&Found::Problem { problem })?,
            }
        }
        self.folder(listed)?;
        self.put(&Found::End {
            files: self.files,
            episodes: self.episodes,
        })
    }

    /// Searches the files of a folder, together unless they are large.
    fn folder(&mut self, listed: Vec<SearchedFile>) -> Result<()> {
        let bytes: u64 = listed.iter().map(|file| file.bytes).sum();
        if bytes <= TOGETHER {
            return self.together(&listed);
        }
        listed.chunks(1).try_for_each(|file| self.together(file))
    }

    fn together(&mut self, listed: &[SearchedFile]) -> Result<()> {
        let mut files = Vec::new();
        for file in listed {
            if self.send.is_closed() {
                return Err(gone());
            }
            match self.read(file) {
                Ok(bytes) => files.push(InputFile {
                    name: Some(file.name.clone()),
                    bytes,
                }),
                Err(error) => self.problem(&file.name, &error.to_string())?,
            }
        }
        self.files += files.len();
        let paths: BTreeMap<&str, &str> = listed
            .iter()
            .map(|file| (&*file.name, &*file.path))
            .collect();
        let mut episodes = 0;
        let notes = inputs::import_files(files, &Mappings::default(), &mut |file, episode| {
            episodes += 1;
            search::hits(&episode, &self.wanted.query, self.wanted.most, |hit| {
                let path = paths.get(file).copied();
                self.put(&Found::Hit { file, path, hit })
            })
        })?;
        self.episodes += episodes;
        for note in notes {
            if note.level == NoteLevel::Unreadable {
                self.problem(&note.file, &note.text)?;
            }
        }
        Ok(())
    }

    fn read(&self, file: &SearchedFile) -> Result<Vec<u8>> {
        let address = file.path.strip_prefix("file/").unwrap_or_default();
        let opened = self.roots.open(address)?;
        let mut bytes = Vec::new();
        opened.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(anyhow!("it is larger than 1 GB"));
        }
        Ok(bytes)
    }

    fn problem(&self, name: &str, why: &str) -> Result<()> {
        self.put(&Found::Problem {
            problem: format!("{name} cannot be read: {why}"),
        })
    }

    fn put(&self, line: &Found<'_>) -> Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        // Waits while the client is slow.
        let sent = self.send.send_timeout(line.into(), self.stall);
        Handle::current().block_on(sent).map_err(|_| gone())
    }
}

fn gone() -> anyhow::Error {
    anyhow!("the client has disconnected or does not read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::TestFolder;

    #[tokio::test]
    async fn a_search_ends_if_its_client_does_not_read() {
        let all = TestFolder::with("search-stall", &[]);
        for number in 0..9 {
            let path = all.path(&format!("{number}.json"));
            let text = "{\"messages\": [{\"role\": \"user\", \"content\": \"marble\"}]}";
            std::fs::write(path, text).unwrap();
        }
        let roots = Arc::new(Roots::find(&[all.path("")]).unwrap());
        let (send, mut receive) = mpsc::channel(2);
        let searching = tokio::task::spawn_blocking(move || {
            let wanted = Wanted::read("q=marble").unwrap();
            Search::new(&roots, &wanted, &send, Duration::from_millis(50)).run()
        });
        assert!(searching.await.unwrap().is_err());
        // Without the last line.
        let mut lines = Vec::new();
        while let Some(line) = receive.recv().await {
            lines.extend_from_slice(&line);
        }
        let text = String::from_utf8(lines).unwrap();
        assert!(
            text.contains("marble") && !text.contains("episodes"),
            "{text}"
        );
    }

    #[test]
    fn parameters_are_decoded() {
        let wanted = Wanted::read("x=1&q=%22permission+denied%22&most=5").unwrap();
        let expected = Query::parse("\"permission denied\"");
        assert_eq!(format!("{:?}", wanted.query), format!("{expected:?}"));
        assert_eq!(wanted.most, 5);
        for wrong in ["", "q=", "q=+", "most=2", "q=a&most=0", "q=a&most=x"] {
            assert!(
                matches!(Wanted::read(wrong), Err(Failure::Wrong(_))),
                "{wrong}"
            );
        }
    }
}
