//! The library service: reads files, stores and opens episodes, and searches in them. [`LibraryService`] is the
//! state; the jobs are modules of functions over it.
//!
//! - `state`: the state, with `previews` and `search_state`. `listing`: all episodes, from the store and from changes by other tabs. `opening`: opens an episode from
//!   where it is stored. `first_episode`: the first episode of files that are not stored.
//!   `finding`: full-text search. `behaviour`: what agents do in many episodes. `exporting`: files of several episodes. `asking`:
//!   texts and checked quotes for questions to models.
//! - `listed_files`: the files of a list, which `volary view` writes while it reads folders. `continuation`: reads on in
//!   files that have grown, and `renewal` keeps the rows of those that are read again.
//! - `reading`: files to episodes; `running_import`: what its steps share. Large files are imported by `streaming_import`, each a `large_file`. Their first episode can be
//!   opened meanwhile (`partial_preview`). Other files are imported by `whole_file_import`. `report`: what is said about all of them.
//!   `known_files` recognises files that were imported before. `naming` chooses ids, and `cancelled` holds the cancelled
//!   readings. `unstored`: episodes that the browser refused to store. `annotations` joins annotations with traces in large files, and `step_dumps` training dumps with rollouts. `answer_files`: answers of models.
//!
//! This module does not depend on a browser: replies go through a function. Requests are handled concurrently: another
//! episode is opened between two slices of a large file.

mod annotations;
mod answer_files;
mod asking;
mod behaviour;
mod cancelled;
mod continuation;
mod exporting;
mod file_list;
mod file_pairs;
mod finding;
mod first_episode;
mod known_files;
mod large_file;
mod listed_files;
mod listing;
mod naming;
mod opening;
mod partial_preview;
mod previews;
mod reading;
mod renewal;
mod report;
mod reread;
mod running_import;
mod search_state;
mod state;
mod step_dumps;
mod streaming_import;
mod unstored;
mod whole_file_import;

use std::collections::BTreeSet;
use std::rc::Rc;

use volary_analysis::behaviour::rules;
use volary_analysis::sensitive;
use volary_analysis::table::Row;
use volary_ask::Rendered;
use volary_core::Clock;
use volary_core::json::{Json, Text};
use volary_formats::import::NoEpisodeMapped;
use volary_protocol::episode::chunks;
use volary_protocol::library::{
    Event, FileChanges, FileList, Origin, Request, SensitiveEpisode, TaggedEpisode,
};
use volary_protocol::{ChangedEpisodes, RequestId};

use self::state::{BATCH, Send, report_unstored};
pub use self::state::{LibraryService, Output};
use crate::error::LibraryError;
use crate::file_server::FileServer;
use crate::replay::Replayed;
use crate::repository::EpisodeStore;
use crate::source::Source;

impl LibraryService {
    /// Handles a request that needs nothing but this service.
    pub async fn handle(&self, id: RequestId, request: Request, send: Send<'_>) {
        let refuse = |error: LibraryError| {
            let reason = error.sentences();
            send(Output::Event(Event::Refused { reason }));
        };
        let give = |episode, notes| {
            for chunk in chunks(episode, notes) {
                send(Output::Event(Event::Episode(chunk)));
            }
        };
        match request {
            Request::List => listing::list(self, send).await,
            Request::Open { id } => match opening::episode(self, &id).await {
                Ok(episode) => give(episode, Vec::new()),
                Err(error) => refuse(error),
            },
            Request::Check { id } => match self.replayed(&id).await {
                Ok((summary, step)) => {
                    let summary = summary.into();
                    send(Output::Event(Event::Checked {
                        words: summary,
                        step,
                    }));
                }
                Err(error) => refuse(error),
            },
            Request::Search { words } => finding::search(self, id, &words, send).await,
            Request::Find { id, words } => {
                let places = finding::find_in_episode(self, &id, &words).await;
                send(Output::Event(Event::Places { places }));
            }
            Request::Forget { ids } => self.forget(&ids).await,
            Request::Tag { ids, tag, on } => self.tag(&ids, &tag, on, send).await,
            Request::FindSensitive { episodes } => self.find_sensitive(&episodes, send).await,
            Request::Export {
                episodes,
                format,
                is_masked,
            } => exporting::export(self, &episodes, format, is_masked, send).await,
            Request::ExportFindings {
                title,
                episodes,
                runs,
                claims,
                notes,
                is_masked,
            } => {
                let page = exporting::Page {
                    title,
                    episodes,
                    runs,
                    claims,
                    notes,
                };
                exporting::export_findings(self, page, is_masked, send).await;
            }
            Request::Signatures { ids } => behaviour::signatures(self, id, &ids, send).await,
            Request::Clusters { episodes } => behaviour::clusters(self, id, &episodes, send).await,
            Request::MatchRules { rules, ids } => {
                behaviour::match_rules(self, id, &rules, &ids, send).await;
            }
            Request::ProposeRules { id, step } => match opening::episode(self, &id).await {
                Ok(episode) => {
                    let rules = rules::proposals(&episode, step as usize);
                    send(Output::Event(Event::ProposedRules { rules }));
                }
                Err(error) => refuse(error),
            },
            Request::MeasureTexts { ids, terms } => {
                asking::measure(self, id, &ids, &terms, send).await;
            }
            Request::RenderText { id, options } => {
                match asking::rendered(self, &id, &options).await {
                    Ok(rendered) => send(Output::Event(Event::Rendered(Box::new(
                        Rendered::clone(&rendered),
                    )))),
                    Err(error) => refuse(error),
                }
            }
            Request::CheckReply(reply) => match asking::check(self, &reply).await {
                Ok(checked) => send(Output::Event(Event::ReplyChecked(Box::new(checked)))),
                Err(error) => refuse(error),
            },
            Request::Cancel { reading } => self.cancelled.add(reading),
            Request::Settle => finding::settle(self).await,
            Request::Map { mappings } => drop(self.mappings.replace(mappings)),
            Request::Preview { head, fields } => {
                let head = Json::parse(&head).unwrap_or_default();
                let previewed = async { Ok(self.code.readers().await?.preview(&head, &fields)?) };
                match previewed.await.map(|episodes| episodes.into_iter().next()) {
                    Ok(Some(episode)) => give(episode, Vec::new()),
                    Ok(None) => refuse(NoEpisodeMapped::default().into()),
                    Err(error) => refuse(error),
                }
            }
            Request::ReadFirst { files } => match first_episode::read(self, files).await {
                Ok((episode, notes)) => give(episode, notes),
                Err(error) => refuse(error),
            },
            // These come with files, or need a server or the store's changes: see the methods below.
            Request::Read { .. }
            | Request::ShowUnstored { .. }
            | Request::Fetch { .. }
            | Request::FetchList { .. }
            | Request::Refresh { .. }
            | Request::Watch => {}
        }
    }

    /// Reads files, adds their episodes and reports the end.
    pub async fn read(
        &self,
        id: RequestId,
        files: Vec<Rc<dyn Source>>,
        origin: Origin,
        send: Send<'_>,
    ) {
        reading::read(self, id, files, origin, send).await;
    }

    /// Reads the files of a list.
    pub async fn fetch_list(
        &self,
        id: RequestId,
        server: &dyn FileServer,
        origin: Origin,
        list: FileList,
        send: Send<'_>,
    ) {
        listed_files::fetch_list(self, id, server, origin, list, send).await;
    }

    /// Reads the files of a list that were written to, and marks the episodes of others. `heads` is the address of the
    /// beginnings of many files, if the server has one.
    pub async fn refresh(
        &self,
        id: RequestId,
        server: &dyn FileServer,
        origin: Origin,
        changes: FileChanges,
        heads: Option<Text>,
        send: Send<'_>,
    ) {
        let fetching = listed_files::Fetching::new(self, id, server, origin, heads, send);
        listed_files::refresh(fetching, changes).await;
    }

    /// Shows episodes that the browser refused to store, each with the file that holds its native text.
    pub async fn show_unstored(&self, rows: Vec<Row>, texts: Vec<Rc<dyn Source>>, send: Send<'_>) {
        unstored::show(self, rows, texts, send).await;
    }

    /// Handles a change of the store by any tab.
    pub async fn handle_changes(&self, changed: ChangedEpisodes, send: Send<'_>) {
        listing::handle_changes(self, changed, send).await;
    }

    /// The time, as the service measures it.
    pub fn clock(&self) -> &Rc<dyn Clock> {
        &self.clock
    }

    /// Replays an episode.
    pub(crate) async fn replayed(&self, id: &Text) -> Replayed {
        let episode = opening::episode(self, id).await?;
        if episode.recipe.is_none() {
            return Err(LibraryError::UnknownEnvironment);
        }
        self.code.replay(episode, Rc::clone(&self.clock)).await
    }

    async fn forget(&self, ids: &[Text]) {
        opening::wait_until_stored(self, ids).await;
        let ids = ids.iter().filter(|id| !self.is_of_site(id));
        let ids: Vec<Text> = ids.cloned().collect();
        let mut files = BTreeSet::new();
        for id in &ids {
            if let Some(location) = self
                .lose(id)
                .and_then(|known_episode| known_episode.location)
            {
                files.insert(location.file.clone());
            }
        }
        let is_kept = |id: &Text| !ids.contains(id);
        self.unstored.borrow_mut().retain(is_kept);
        self.in_memory.forget(&ids).await;
        self.store.forget(&ids).await;
        for file in files {
            if !self.is_wanted(&file) {
                self.windows.borrow_mut().remove(&file);
                self.in_memory.forget_file(&file).await;
                self.store.forget_file(&file).await;
            } else if let Some(mut known) = self.store.file(&file).await {
                // The next import reads the file again, which brings deleted episodes back.
                known.whole = false;
                known.source = None;
                // If this fails, the stored record stays as it was.
                let _ = self.store.keep_file(known).await;
            }
        }
    }

    async fn tag(&self, ids: &[Text], tag: &Text, on: bool, send: Send<'_>) {
        opening::wait_until_stored(self, ids).await;
        for ids in ids.chunks(BATCH) {
            let (mut rows, mut in_memory) = (Vec::new(), Vec::new());
            for mut row in self.rows_of(ids).await {
                row.tags.retain(|known| known != tag);
                if on {
                    row.tags.push(tag.clone());
                }
                if self.in_memory.has(&row.id) {
                    in_memory.push(row)
                } else {
                    rows.push(row)
                }
            }
            let kept = self.store.label(rows.clone()).await;
            // A store in memory cannot fail.
            let _ = self.in_memory.label(in_memory.clone()).await;
            rows.extend(in_memory);
            send(Output::Event(Event::Added { rows }));
            report_unstored(kept, send);
        }
    }

    async fn find_sensitive(&self, episodes: &[TaggedEpisode], send: Send<'_>) {
        let mut found = Vec::new();
        for chosen in episodes {
            // The export leaves out what cannot be opened.
            if let Ok(episode) = opening::tagged(self, chosen).await {
                let findings = sensitive::check(&episode).into_iter();
                found.extend(findings.map(|finding| SensitiveEpisode {
                    name: match episode.name.trim() {
                        "" => episode.id.clone(),
                        name => name.into(),
                    },
                    finding,
                }));
            }
        }
        send(Output::Event(Event::Sensitive { found }));
    }
}

#[cfg(test)]
use volary_episode::native;

#[cfg(test)]
mod keeping_tests;
#[cfg(test)]
mod partial_preview_tests;
#[cfg(test)]
mod provisional_id_tests;
#[cfg(test)]
mod tab_tests;
#[cfg(test)]
pub(crate) mod tests;
