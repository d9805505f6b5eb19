//! Makes files of several episodes. One episode is in memory at a time, and the file so far.
//!
//! An episode that cannot be opened or masked is left out, because a file with the others is better than none. The report
//! contains the number of missing episodes and the reason for the first.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use volary_analysis::annotations::sidecar;
use volary_analysis::sensitive;
use volary_analysis::table::Row;
use volary_analysis::training::{RewardChoice, TrainingRun};
use volary_core::json::Text;
use volary_core::quantity::plural;
use volary_episode::{Episode, native};
use volary_export::findings::{self, Findings};
use volary_export::training_rows::{self, RowShape};
use volary_protocol::library::{Event, ExportFormat, FoundClaim, FoundRun, TaggedEpisode};

use super::opening;
use super::state::{LibraryService, Output, Send};
use crate::error::LibraryError;

/// What a page of findings is about.
pub(super) struct Page {
    pub title: Text,
    pub episodes: Vec<TaggedEpisode>,
    pub runs: Vec<FoundRun>,
    pub claims: Vec<FoundClaim>,
    /// The notes, in the format of files of notes.
    pub notes: Text,
}

/// Makes a file of episodes.
pub(super) async fn export(
    library: &LibraryService,
    episodes: &[TaggedEpisode],
    format: ExportFormat,
    is_masked: bool,
    send: Send<'_>,
) {
    let mut opener = Opener::new(library, is_masked);
    let (name, write): (_, fn(&Episode) -> String) = match format {
        ExportFormat::Volary => ("trajectories.jsonl", |episode| {
            native::to_text(episode) + "\n"
        }),
        ExportFormat::Rows => ("trajectories.rows.jsonl", |episode| {
            training_rows::to_text([episode])
        }),
        ExportFormat::Parquet => {
            return match parquet_file(&mut opener, episodes).await {
                Ok(bytes) => opener.send_file("trajectories.parquet", vec![bytes], send),
                Err(error) => send(Output::Event(Event::Notice {
                    what: "The Parquet file could not be written.".into(),
                    why: error.to_string().into(),
                    advice: "Export the trajectories as JSON Lines instead.".into(),
                })),
            };
        }
    };
    let mut parts = Vec::with_capacity(episodes.len());
    for chosen in episodes {
        if let Some(episode) = opener.open(chosen).await {
            parts.push(write(&episode).into_bytes());
        }
    }
    opener.send_file(name, parts, send);
}

/// Opens episodes for a file.
struct Opener<'a> {
    library: &'a LibraryService,
    is_masked: bool,
    /// The ids of those that are left out.
    missing: BTreeSet<Text>,
    /// Why the first of them is.
    error: Option<LibraryError>,
}

impl Opener<'_> {
    fn new(library: &LibraryService, is_masked: bool) -> Opener<'_> {
        Opener {
            library,
            is_masked,
            missing: BTreeSet::new(),
            error: None,
        }
    }

    async fn open(&mut self, chosen: &TaggedEpisode) -> Option<Episode> {
        let opened = match opening::tagged(self.library, chosen).await {
            Ok(episode) if self.is_masked => {
                sensitive::masked(&episode).map_err(|error| LibraryError::NotMasked {
                    why: error.to_string().into(),
                })
            }
            opened => opened,
        };
        opened
            .inspect_err(|error| {
                self.missing.insert(chosen.id.clone());
                self.error.get_or_insert_with(|| error.clone());
            })
            .ok()
    }

    /// Sends the file, and what is not in it.
    fn send_file(self, name: &'static str, parts: Vec<Vec<u8>>, send: Send<'_>) {
        send(Output::File { name, parts });
        if let Some(error) = self.error {
            let missing = plural(self.missing.len(), "trajectory");
            let notice = error.notice(format!("{name} was saved without {missing}."));
            let advice = match &*notice.advice {
                "" => "Open the missing ones in the table to see what each needs.",
                advice => advice,
            };
            send(Output::Event(Event::Notice {
                what: notice.what.into(),
                why: notice.why.into(),
                advice: advice.into(),
            }));
        }
    }
}

/// The columns of the table follow from all episodes, so each is opened twice.
async fn parquet_file(
    opener: &mut Opener<'_>,
    episodes: &[TaggedEpisode],
) -> Result<Vec<u8>, LibraryError> {
    let mut shape = RowShape::default();
    for chosen in episodes {
        if let Some(episode) = opener.open(chosen).await {
            shape.add(&episode);
        }
    }
    let mut writer = opener.library.code.begin_parquet(&shape.columns()).await?;
    for chosen in episodes {
        if let Some(episode) = opener.open(chosen).await {
            writer.push(&training_rows::row(&episode))?;
        }
    }
    writer.finish()
}

/// Makes a page of what was found in episodes.
pub(super) async fn export_findings(
    library: &LibraryService,
    page: Page,
    is_masked: bool,
    send: Send<'_>,
) {
    let mut runs = Vec::with_capacity(page.runs.len());
    for FoundRun { title, ids, reward } in &page.runs {
        let rows = rows_in_order(library, ids).await;
        let reward = reward.as_ref().map(|name| {
            if name.is_empty() {
                RewardChoice::Whole
            } else {
                RewardChoice::Part(name.clone())
            }
        });
        runs.push(findings::FoundRun {
            title: title.to_string(),
            run: TrainingRun::of(&rows, reward),
        });
    }
    let ids: Vec<Text> = page.episodes.iter().map(|one| one.id.clone()).collect();
    let tags: HashMap<&Text, &Vec<Text>> = page
        .episodes
        .iter()
        .map(|one| (&one.id, &one.tags))
        .collect();
    let mut rows = rows_in_order(library, &ids).await;
    for row in &mut rows {
        if let Some(tags) = tags.get(&row.id) {
            Arc::make_mut(row).tags = (*tags).clone();
        }
    }
    let mut found = Findings {
        title: page.title,
        rows,
        notes: sidecar::read(&page.notes)
            .map(|reading| reading.annotations)
            .unwrap_or_default(),
        runs,
        claims: page.claims.iter().map(claim).collect(),
    };
    if is_masked {
        found = found.masked();
    }
    let mut opener = Opener::new(library, is_masked);
    let mut parts = vec![found.head().into_bytes()];
    for (index, row) in found.rows.iter().enumerate() {
        let chosen = TaggedEpisode {
            id: row.id.clone(),
            tags: row.tags.clone(),
        };
        if let Some(episode) = opener.open(&chosen).await {
            parts.push(found.episode(index, &episode).into_bytes());
        }
    }
    parts.push(findings::END.into());
    opener.send_file("findings.html", parts, send);
}

fn claim(claim: &FoundClaim) -> findings::FoundClaim {
    let pieces = claim.pieces.iter();
    findings::FoundClaim {
        pieces: pieces
            .map(|piece| findings::FoundPiece {
                text: piece.text.clone(),
                episode: piece.episode.clone(),
            })
            .collect(),
    }
}

/// The rows of these episodes, in the order of the ids.
async fn rows_in_order(library: &LibraryService, ids: &[Text]) -> Vec<Arc<Row>> {
    let rows = library.rows_of(ids).await.into_iter();
    let mut rows: HashMap<Text, Row> = rows.map(|row| (row.id.clone(), row)).collect();
    let rows = ids.iter().filter_map(|id| rows.remove(id));
    rows.map(Arc::new).collect()
}

#[cfg(test)]
mod tests {
    use volary_protocol::library::Request;

    use super::super::tests::*;
    use super::*;

    /// Exports episodes: the text of the file, and the notice.
    fn export(
        service: &LibraryService,
        ids: &[&str],
        format: ExportFormat,
    ) -> (Vec<u8>, Option<String>) {
        let episodes = ids.iter().map(|id| (*id, &["good"][..]));
        let episodes = tagged(&episodes.collect::<Vec<_>>());
        let said = ask(
            service,
            Request::Export {
                episodes,
                format,
                is_masked: false,
            },
        );
        match &said[..] {
            [Output::File { parts, .. }] => (parts.concat(), None),
            [
                Output::File { parts, .. },
                Output::Event(Event::Notice { what, why, .. }),
            ] => (parts.concat(), Some(format!("{what} {why}"))),
            _ => panic!("{said:?}"),
        }
    }

    fn library() -> LibraryService {
        let service = service();
        let episodes = ["a", "b", "c"].map(|id| episode(id, id));
        read(&service, &[file("x.jsonl", &episodes)]);
        service
    }

    #[test]
    fn a_file_has_the_chosen_episodes_in_their_order_with_their_tags() {
        let (text, notice) = export(&library(), &["c", "a"], ExportFormat::Volary);
        assert_eq!(notice, None);
        let other = service();
        let exported = MemorySource {
            name: "trajectories.jsonl".into(),
            bytes: text,
        };
        let said = read(&other, &[exported]);
        assert_eq!(ids(&said), ["c", "a"]);
        let Some(Output::Event(Event::Added { rows })) = said
            .iter()
            .find(|said| matches!(said, Output::Event(Event::Added { .. })))
        else {
            panic!("{said:?}");
        };
        assert!(rows.iter().all(|row| row.tags == ["good".into()]));
    }

    #[test]
    fn what_is_not_in_the_file_is_said_with_the_reason() {
        let service = library();
        for format in [
            ExportFormat::Volary,
            ExportFormat::Rows,
            ExportFormat::Parquet,
        ] {
            let (whole, _) = export(&service, &["a", "b"], format);
            let (file, notice) = export(&service, &["a", "gone", "b", "lost"], format);
            assert_eq!(file, whole, "the others are in it");
            let notice = notice.unwrap();
            assert!(notice.contains("without 2 trajectories."), "{notice}");
            assert!(notice.contains("It is not in the library."), "{notice}");
        }
        let (file, notice) = export(&service, &["gone"], ExportFormat::Volary);
        assert_eq!(file, b"");
        assert!(notice.unwrap().contains("without 1 trajectory."));
    }
}
