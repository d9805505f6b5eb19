//! Episodes in and out: files, links.

use std::sync::Arc;

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_core::json::Text;
use volary_protocol::environments::{Event, NamedFile, Request};
use volary_protocol::episode::{Assembled, EpisodeAssembler};
use volary_trajectory::{Episode, messages_jsonl, native, renderer_files};

use super::remote_environments::{self, is_remote};
use super::session_driver;
use super::setup;
use super::state::Playground;
use super::url_sync;
use crate::browser::files::{self, GivenFile, LARGEST_FILE};
use crate::browser::worker_client::WorkerClient;
use crate::browser::{self, crash_recovery, location};
use crate::projection::notice::Notice;
use crate::projection::size_text;
use crate::route::Place;
use volary_app::playground::address::{file_name, link_text};
use volary_app::playground::tasks;

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
    /// Counts the files that were given: only the last is shown.
    readers: StoredValue<u32>,
    /// The worker that reads it.
    reader: StoredValue<Option<WorkerClient>, LocalStorage>,
}

/// What Share offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shared {
    /// A link.
    Link(String),
    /// No link, and why; a file does as well.
    File(String),
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
            readers: StoredValue::new(0),
            reader: StoredValue::new_local(None),
        }
    }

    /// Reads the first episode of files in a worker of its own: whatever is in them, the running episode is not touched.
    async fn read_episode(self, number: u32, files: Vec<NamedFile>) -> Result<Assembled, Notice> {
        let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
        let names = names.join(", ");
        let worker = WorkerClient::start().map_err(|reason| {
            Notice::new(
                format!("{names} could not be read."),
                reason,
                "Reload the page. If that does not help, use another browser.",
            )
        })?;
        let replies = worker.call(&Request::Import { files });
        match self.readers.get_value() == number {
            true => self.replace_reader(Some(worker)),
            // Other files were given meanwhile: nobody waits for these.
            false => drop(worker),
        }
        let events = replies.map(|reply| {
            reply
                .map(|reply| reply.event)
                .map_err(|loss| loss.to_string())
        });
        assemble(events).await.map_err(|reason| {
            Notice::new(
                format!("{names} could not be imported."),
                reason,
                "Choose an episode exported by Volary, Aviary Renderer files (as a zip) or a GSM8K \
                 file. The current episode is unchanged.",
            )
        })
    }

    /// Ends the worker that reads a file, and keeps another one, if any.
    fn replace_reader(self, reader: Option<WorkerClient>) {
        let former = self
            .reader
            .try_update_value(|kept| std::mem::replace(kept, reader));
        drop(former);
    }
}

impl Default for Transfer {
    fn default() -> Self {
        Transfer::new()
    }
}

/// Saves the episode as a file.
pub fn export(playground: Playground, format: Format) {
    playground.transfer.exporting.set(false);
    let failed = playground
        .episode
        .with_untracked(|episode| save(episode, format).err());
    if let Some(reason) = failed {
        playground.alert(Notice::new(
            "The episode could not be exported in this format.",
            reason,
            "Export it as Volary JSON instead, which contains everything.",
        ));
    }
}

/// Makes a link of the episode, or says why there can't be one.
pub fn share(playground: Playground) {
    let shared = playground
        .episode
        .with_untracked(|episode| share_link(episode, url_sync::step_in_address(playground)));
    let shared = shared.map_or_else(Shared::File, Shared::Link);
    playground.transfer.sharing.set(Some(shared));
}

/// Keeps the episode if the page breaks down, and offers what was kept so before.
pub fn offer_rescue(playground: Playground) {
    let episode = playground.episode;
    crash_recovery::save_with(move || {
        let text = episode.try_with_untracked(|episode| native::to_text(episode));
        text.filter(|_| playground.last_step() > 0)
    });
    let Some(text) = crash_recovery::rescued() else {
        return;
    };
    match native::read(&text).map(|reading| reading.episodes.into_iter().next()) {
        Ok(Some(kept)) => {
            playground.former.set(Some(Arc::new(kept)));
            playground
                .say("The page crashed. Press \"Previous episode\" to restore the saved episode.");
        }
        Ok(None) | Err(_) => {
            playground.say("The page crashed, and the episode could not be saved.");
        }
    }
}

/// Lets the person pick a file.
pub fn pick_file(playground: Playground) {
    files::pick(KINDS, move |files| take_files(playground, files));
}

/// Reads files that were picked or dropped.
pub fn take_files(playground: Playground, files: Vec<GivenFile>) {
    if files.is_empty() {
        return;
    }
    browser::spawn(async move {
        playground.transfer.reading.set(true);
        playground
            .transfer
            .readers
            .update_value(|number| *number += 1);
        let number = playground.transfer.readers.get_value();
        let read = read_files(playground, number, files).await;
        // Other files may have been given meanwhile.
        if playground.transfer.readers.get_value() != number {
            return;
        }
        playground.transfer.reading.set(false);
        playground.transfer.replace_reader(None);
        match read {
            Ok(Given::Episode(assembled)) => {
                let Assembled { episode, notes } = *assembled;
                show_imported(playground, episode, &notes);
            }
            Ok(Given::Tasks { name, text }) => setup::add_tasks(playground, &name, text, None),
            Err(notice) => playground.alert(notice),
        }
    });
}

async fn read_files(
    playground: Playground,
    number: u32,
    files: Vec<GivenFile>,
) -> Result<Given, Notice> {
    let mut contents = Vec::new();
    for file in files {
        if file.size > LARGEST_FILE {
            return Err(Notice::new(
                format!("{} is too large.", file.name),
                format!("Its size is {}.", size_text(file.size as usize)),
                "Choose a file smaller than 512 MB.",
            ));
        }
        let bytes = file.read().await.map_err(|reason| {
            Notice::new(
                format!("{} could not be read.", file.name),
                reason,
                "Check that the file still exists and choose it again.",
            )
        })?;
        let name = file.name;
        contents.push(NamedFile { name, bytes });
    }
    if let [file] = contents.as_slice() {
        let text = std::str::from_utf8(&file.bytes)
            .ok()
            .filter(|text| tasks::holds_tasks(text));
        if let Some(text) = text {
            return Ok(Given::Tasks {
                name: file.name.clone(),
                text: text.into(),
            });
        }
    }
    let assembled = playground.transfer.read_episode(number, contents).await?;
    Ok(Given::Episode(Box::new(assembled)))
}

fn show_imported(playground: Playground, episode: Episode, notes: &[Text]) {
    let known = episode.recipe.as_ref().is_some_and(|recipe| {
        untrack(|| remote_environments::knows(playground, &recipe.environment))
    });
    let mut words: Vec<String> = notes.iter().map(|note| note.to_string()).collect();
    words.push(if known && is_remote(&episode) {
        "This is a recording from a server. The page asks before it repeats the actions there."
            .to_owned()
    } else if known {
        "This is a recording. Step, Run and \"Continue from here\" first replay it in its \
         environment."
            .to_owned()
    } else {
        "This is a recording. It can be viewed but not continued, because its environment is \
         unknown here."
            .to_owned()
    });
    let environment = episode
        .recipe
        .as_ref()
        .filter(|_| known)
        .map(|recipe| recipe.environment.to_string());
    session_driver::show(playground, episode);
    playground.say(words.join(" "));
    url_sync::set_place(
        playground,
        Place {
            environment,
            ..Place::default()
        },
    );
}

/// A link that runs an episode again and selects a step, the last one if `None`; or why there can't be one.
pub fn share_link(episode: &Episode, step: Option<usize>) -> Result<String, String> {
    let (recipe, text) = link_text(episode)?;
    let place = Place {
        environment: Some(recipe.environment.to_string()),
        episode: Some(text),
        step,
        ..Place::default()
    };
    Ok(location::address_with(&place.to_hash()))
}

/// What was in the files that a person gave.
enum Given {
    Episode(Box<Assembled>),
    Tasks { name: String, text: Text },
}

/// The episode that comes as events, or why there is none.
async fn assemble(
    events: impl futures_util::Stream<Item = Result<Event, String>>,
) -> Result<Assembled, String> {
    let mut events = std::pin::pin!(events);
    let mut assembler = EpisodeAssembler::default();
    while let Some(event) = events.next().await {
        match event? {
            Event::Episode(chunk) => {
                let assembled = assembler.push(chunk).map_err(|error| error.to_string())?;
                if let Some(assembled) = assembled {
                    return Ok(assembled);
                }
            }
            Event::Refused { reason, .. } | Event::Lost { reason, .. } => {
                return Err(reason.to_string());
            }
            Event::Started(_)
            | Event::Stopped { .. }
            | Event::Gone
            | Event::Question { .. }
            | Event::Recorded { .. } => {}
        }
    }
    Err("The worker ended before the episode was complete.".to_owned())
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
