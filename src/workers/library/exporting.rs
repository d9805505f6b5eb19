//! Makes files of several episodes. One episode is in memory at a time, and the file so far.
//!
//! An episode that cannot be opened, or not be masked, is left out: a file of the others is better than none.

use std::collections::HashMap;
use std::sync::Arc;

use volary_core::json::Text;
use volary_protocol::library::{Event, ExportFormat, FoundRun, TaggedEpisode};
use volary_trajectory::annotations::sidecar;
use volary_trajectory::export::findings::{self, Findings};
use volary_trajectory::export::training_rows::{self, RowShape};
use volary_trajectory::table::Row;
use volary_trajectory::training::{RewardChoice, TrainingRun};
use volary_trajectory::{Episode, native, sensitive};

use super::{LibraryService, Output, Send, opening};
use crate::workers::parquet;

/// What a page of findings is about.
pub(super) struct Page {
    pub title: Text,
    pub episodes: Vec<TaggedEpisode>,
    pub runs: Vec<FoundRun>,
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
    let (name, write): (_, fn(&Episode) -> String) = match format {
        ExportFormat::Volary => ("trajectories.jsonl", |episode| {
            native::to_text(episode) + "\n"
        }),
        ExportFormat::Rows => ("trajectories.rows.jsonl", |episode| {
            training_rows::to_text([episode])
        }),
        ExportFormat::Parquet => {
            return match parquet_file(library, episodes, is_masked).await {
                Ok(bytes) => send(Output::File {
                    name: "trajectories.parquet",
                    parts: vec![bytes],
                }),
                Err(why) => send(Output::Event(Event::Notice {
                    what: "The Parquet file could not be written.".into(),
                    why: why.into(),
                    advice: "Export the trajectories as JSON Lines instead.".into(),
                })),
            };
        }
    };
    let mut parts = Vec::with_capacity(episodes.len());
    for chosen in episodes {
        if let Some(episode) = opened(library, chosen, is_masked).await {
            parts.push(write(&episode).into_bytes());
        }
    }
    send(Output::File { name, parts });
}

/// Opens an episode for a file.
async fn opened(
    library: &LibraryService,
    chosen: &TaggedEpisode,
    is_masked: bool,
) -> Option<Episode> {
    let episode = opening::tagged(library, chosen).await.ok()?;
    match is_masked {
        true => sensitive::masked(&episode).ok(),
        false => Some(episode),
    }
}

/// The columns of the table follow from all episodes, so each is opened twice.
async fn parquet_file(
    library: &LibraryService,
    episodes: &[TaggedEpisode],
    is_masked: bool,
) -> Result<Vec<u8>, String> {
    let mut shape = RowShape::default();
    for chosen in episodes {
        if let Some(episode) = opened(library, chosen, is_masked).await {
            shape.add(&episode);
        }
    }
    let mut writer = parquet::begin(&shape.columns()).await?;
    for chosen in episodes {
        if let Some(episode) = opened(library, chosen, is_masked).await {
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
        let reward = reward.as_ref().map(|name| match name.is_empty() {
            true => RewardChoice::Whole,
            false => RewardChoice::Part(name.clone()),
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
    };
    if is_masked {
        found = found.masked();
    }
    let mut parts = vec![found.head().into_bytes()];
    for (place, row) in found.rows.iter().enumerate() {
        let chosen = TaggedEpisode {
            id: row.id.clone(),
            tags: row.tags.clone(),
        };
        if let Some(episode) = opened(library, &chosen, is_masked).await {
            parts.push(found.episode(place, &episode).into_bytes());
        }
    }
    parts.push(findings::END.into());
    send(Output::File {
        name: "findings.html",
        parts,
    });
}

/// The rows of these episodes, in the order of the ids.
async fn rows_in_order(library: &LibraryService, ids: &[Text]) -> Vec<Arc<Row>> {
    let rows = library.rows_of(ids).await.into_iter();
    let mut rows: HashMap<Text, Row> = rows.map(|row| (row.id.clone(), row)).collect();
    let rows = ids.iter().filter_map(|id| rows.remove(id));
    rows.map(Arc::new).collect()
}
