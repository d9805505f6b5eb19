//! Episodes in and out: files, links.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_trace::{Episode, messages_jsonl, native, renderer_files, share};

use super::abroad::is_abroad;
use super::incoming::append;
use super::state::Playground;
use super::tasks;
use crate::projection::notice::Notice;
use crate::projection::size_text;
use crate::protocol::Event;
use crate::route::Place;
use crate::shell::files::{self, GivenFile, LARGEST_FILE};
use crate::shell::lazy::Unloaded;
use crate::shell::worker_link::{Report, WorkerLink};
use crate::shell::{self, location, rescue};

/// The kinds of files that Import offers to pick.
const KINDS: &str = ".json,.jsonl,.zip,application/json,application/zip";

/// The signals of what goes in and out, and of playing back.
#[derive(Clone, Copy)]
pub struct Transfer {
    /// Whether the formats to export are offered.
    pub exporting: RwSignal<bool>,
    /// What Share offers.
    pub sharing: RwSignal<Option<Shared>>,
    /// Whether files hang above the page.
    pub dragging: RwSignal<bool>,
    /// Whether a file is being read.
    pub reading: RwSignal<bool>,
    /// Whether the selection moves by itself.
    pub playing: RwSignal<bool>,
    /// Steps a second when it does.
    pub speed: RwSignal<f64>,
    reader: StoredValue<Option<Reader>, LocalStorage>,
    readers: StoredValue<u32>,
}

/// What Share offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shared {
    /// A link.
    Link(String),
    /// No link, and why; a file does as well.
    File(String),
}

/// A file that is being read, in a worker of its own: whatever is in it, the running episode is
/// not touched.
struct Reader {
    number: u32,
    /// Held for its life alone.
    link: Option<WorkerLink>,
    names: String,
    incoming: Option<Episode>,
}

/// The formats of export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// All that there is.
    Native,
    /// What aviary's own tools read.
    Renderer,
    /// What chat models read.
    Messages,
}

impl Transfer {
    /// Nothing under way.
    pub fn new() -> Self {
        Transfer {
            exporting: RwSignal::new(false),
            sharing: RwSignal::new(None),
            dragging: RwSignal::new(false),
            reading: RwSignal::new(false),
            playing: RwSignal::new(false),
            speed: RwSignal::new(2.0),
            reader: StoredValue::new_local(None),
            readers: StoredValue::new(0),
        }
    }
}

impl Default for Transfer {
    fn default() -> Self {
        Transfer::new()
    }
}

impl Playground {
    /// Saves the episode as a file.
    pub fn export(self, format: Format) {
        self.transfer.exporting.set(false);
        let failed = self
            .episode
            .with_untracked(|episode| save(episode, format).err());
        if let Some(reason) = failed {
            self.alert(Notice::new(
                "The episode could not be exported in this format.",
                reason,
                "Export it as Volary JSON instead, which holds everything.",
            ));
        }
    }

    /// Makes a link of the episode, or says why there can't be one.
    pub fn share(self) {
        let shared = self
            .episode
            .with_untracked(|episode| share_link(episode, self.step_in_address()));
        let shared = shared.map_or_else(Shared::File, Shared::Link);
        self.transfer.sharing.set(Some(shared));
    }

    /// Keeps the episode if the page breaks down, and offers what was kept so before.
    pub fn offer_rescue(self) {
        let episode = self.episode;
        rescue::save_with(move || {
            let text = episode.try_with_untracked(|episode| native::to_text(episode));
            text.filter(|_| self.last_step() > 0)
        });
        let Some(text) = rescue::rescued() else {
            return;
        };
        match native::read(&text).map(|reading| reading.episodes.into_iter().next()) {
            Ok(Some(kept)) => {
                self.former.set(Some(Arc::new(kept)));
                self.say(
                    "The page broke down before. \"Former episode\" brings back what was kept.",
                );
            }
            Ok(None) | Err(_) => {
                self.say("The page broke down before, and the episode could not be kept.");
            }
        }
    }

    /// Lets the person pick a file.
    pub fn pick_file(self) {
        files::pick(KINDS, move |files| self.take_files(files));
    }

    /// Reads files that were picked or dropped.
    pub fn take_files(self, files: Vec<GivenFile>) {
        if files.is_empty() {
            return;
        }
        shell::spawn(async move {
            self.transfer.reading.set(true);
            if let Err(notice) = self.read_files(files).await {
                self.transfer.reading.set(false);
                self.alert(notice);
            }
        });
    }

    async fn read_files(self, files: Vec<GivenFile>) -> Result<(), Notice> {
        let mut contents = Vec::new();
        for file in files {
            if file.size > LARGEST_FILE {
                return Err(Notice::new(
                    format!("{} is too large.", file.name),
                    format!("It holds {}.", size_text(file.size as usize)),
                    "Give a file below 512 MB.",
                ));
            }
            let bytes = file.read().await.map_err(|reason| {
                Notice::new(
                    format!("{} could not be read.", file.name),
                    reason,
                    "Check that the file is still there, and give it again.",
                )
            })?;
            contents.push((file.name, bytes));
        }
        if let [(name, bytes)] = contents.as_slice() {
            let text = std::str::from_utf8(bytes)
                .ok()
                .filter(|text| tasks::holds_tasks(text));
            if let Some(text) = text {
                self.transfer.reading.set(false);
                self.add_tasks(name, Text::from(text), None);
                return Ok(());
            }
        }
        self.start_reader(&contents)
    }

    fn start_reader(self, contents: &[(String, Vec<u8>)]) -> Result<(), Notice> {
        let transfer = self.transfer;
        let names: Vec<&str> = contents.iter().map(|(name, _)| &**name).collect();
        let names = names.join(", ");
        transfer.readers.update_value(|number| *number += 1);
        let number = transfer.readers.get_value();
        let link = WorkerLink::start(move |report| self.hear_reader(number, report)).map_err(
            |reason| {
                Notice::new(
                    format!("{names} could not be read."),
                    reason,
                    "Load the page again; if that does not help, use another browser.",
                )
            },
        )?;
        link.post_files(contents);
        let former = transfer.reader.try_update_value(|reader| {
            reader.replace(Reader {
                number,
                link: Some(link),
                names,
                incoming: None,
            })
        });
        drop(former);
        Ok(())
    }

    fn hear_reader(self, number: u32, report: Report) {
        let transfer = self.transfer;
        let current = transfer
            .reader
            .with_value(|reader| reader.as_ref().map(|reader| reader.number));
        if current != Some(number) {
            return;
        }
        let event = match report {
            Report::Said(text) => Event::read(&text).map_err(|error| error.to_string()),
            Report::Lost { message } => Err(message),
            Report::Unloaded => Err(Unloaded.to_string()),
            // Evaluations have workers of their own.
            Report::Handed { .. } | Report::Made { .. } => return,
        };
        let failed = match event {
            Ok(Event::Opened { head, .. }) => {
                transfer.reader.update_value(|reader| {
                    if let Some(reader) = reader {
                        reader.incoming = Some(head);
                    }
                });
                None
            }
            Ok(Event::Stepped { steps, patches, .. }) => transfer
                .reader
                .try_update_value(|reader| {
                    let incoming = reader.as_mut()?.incoming.as_mut()?;
                    append(incoming, steps, patches).err()
                })
                .flatten()
                .map(|error| error.to_string()),
            Ok(Event::Finished { notes, .. }) => {
                let incoming = self.end_reader().and_then(|reader| reader.incoming);
                if let Some(episode) = incoming {
                    self.show_imported(episode, &notes);
                }
                None
            }
            Ok(Event::Refused { reason, .. }) => Some(reason.to_string()),
            Ok(Event::Panicked { message }) => Some(message.to_string()),
            Ok(Event::Begun { .. } | Event::Gone { .. } | Event::Lost { .. }) => None,
            Err(message) => Some(message),
        };
        if let Some(reason) = failed {
            let names = self.end_reader().map(|reader| reader.names);
            self.alert(Notice::new(
                format!("{} could not be imported.", names.unwrap_or_default()),
                reason,
                "Give an episode that Volary exported, Aviary Renderer files (their zip), or a GSM8K file. What is shown is as it was.",
            ));
        }
    }

    fn end_reader(self) -> Option<Reader> {
        self.transfer.reading.set(false);
        let mut reader = self
            .transfer
            .reader
            .try_update_value(Option::take)
            .flatten()?;
        let link = reader.link.take();
        // It may be its own handler that runs here, so it goes a little later.
        shell::spawn(async move { drop(link) });
        Some(reader)
    }

    fn show_imported(self, episode: Episode, notes: &[Text]) {
        let known = episode
            .recipe
            .as_ref()
            .is_some_and(|recipe| untrack(|| self.knows(&recipe.environment)));
        let mut words: Vec<String> = notes.iter().map(|note| note.to_string()).collect();
        words.push(if known && is_abroad(&episode) {
            "This is a record from a server. Before its actions are taken again there, the page asks you.".to_owned()
        } else if known {
            "This is a record. Step, Run and \"Go on from here\" run its environment again first.".to_owned()
        } else {
            "This is a record: it can be looked at, not continued, for its environment is not known here.".to_owned()
        });
        let environment = episode
            .recipe
            .as_ref()
            .filter(|_| known)
            .map(|recipe| recipe.environment.to_string());
        self.show(episode);
        self.say(words.join(" "));
        self.set_place(Place {
            environment,
            ..Place::default()
        });
    }
}

/// A link that runs an episode again and selects a step, the last one if `None`; or why there can't be one.
pub fn share_link(episode: &Episode, step: Option<usize>) -> Result<String, String> {
    let recipe = episode.recipe.as_ref().ok_or(
        "How to make the environment of this episode is not known, so a link could not run it again.",
    )?;
    let text = share::encode(recipe, &bare_actions(episode)).map_err(|error| error.to_string())?;
    let place = Place {
        environment: Some(recipe.environment.to_string()),
        episode: Some(text),
        step,
    };
    Ok(location::address_with(&place.to_hash()))
}

/// Gives the episode to the browser as a file; what can't be made is said.
fn save(episode: &Arc<Episode>, format: Format) -> Result<(), String> {
    let name = file_name(&episode.name);
    match format {
        Format::Native => {
            let text = native::to_text(episode);
            files::download(&format!("{name}.json"), "application/json", text.as_bytes());
        }
        Format::Renderer => {
            let bytes = renderer_files::to_zip(episode).map_err(|error| error.to_string())?;
            files::download(&format!("{name}.zip"), "application/zip", &bytes);
        }
        Format::Messages => {
            let text = messages_jsonl::to_text([&**episode]);
            files::download(
                &format!("{name}.jsonl"),
                "application/jsonl",
                text.as_bytes(),
            );
        }
    }
    Ok(())
}

/// A name that every file system takes.
pub fn file_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .take(60)
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => character,
            _ => '-',
        })
        .collect();
    match plain.trim_matches(['-', '.']) {
        "" => "episode".to_owned(),
        plain => plain.to_owned(),
    }
}

/// The actions without what is known of how they came about: running them again needs none of it, and what a
/// model thought would make any link too long.
fn bare_actions(episode: &Episode) -> Vec<AnyMessage> {
    let bare = |action: &AnyMessage| {
        let mut action = action.clone();
        if let AnyMessage::Request(request) = &mut action {
            request.body.info = None;
        }
        action
    };
    episode.actions().map(bare).collect()
}
