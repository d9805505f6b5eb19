//! Import, export and sharing of episodes, as files and links.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::address::EpisodeStart;
use volary_app::playground::sharing::{self, ShareLink, What};
use volary_core::json::Text;
use volary_episode::{Episode, native};
use volary_protocol::episode::Assembled;
use volary_protocol::library::NamedFile;
use volary_view::route::PlaygroundPlace;

use super::first_episode;
use super::imported_files::{ImportedKind, check_size, imported_text, tasks_of};
use super::linked_code;
use super::remote_environments::{self, is_remote};
use super::session_driver;
use super::setup;
use super::state::Playground;
use super::url_sync;
use volary_browser::files::{self, GivenFile, LARGEST_FILE};
use volary_browser::worker_client::WorkerClient;
use volary_browser::{self as browser, crash_recovery, location};
use volary_secrets as secrets;

/// The file types that the import dialog accepts.
const KINDS: &str = ".json,.jsonl,.zip,application/json,application/zip";

/// Signals of import, export, sharing and playback.
#[derive(Clone, Copy)]
pub struct Transfer {
    /// Whether the dialog of the export formats is open.
    pub exporting: RwSignal<bool>,
    /// The content of the share dialog; `None` while it is closed.
    pub sharing: RwSignal<Option<Arc<Offer>>>,
    /// Whether files are being dragged over the page.
    pub dragging: RwSignal<bool>,
    /// Whether a file is being read.
    pub reading: RwSignal<bool>,
    /// Whether playback is on.
    pub playing: RwSignal<bool>,
    /// Playback speed in steps per second.
    pub speed: RwSignal<f64>,
    /// Generation counter of imports: only the result of the last one is shown.
    readers: StoredValue<u32>,
    /// The worker that reads the current import.
    reader: StoredValue<Option<WorkerClient>, LocalStorage>,
}

/// An episode and its task, to which the share dialog offers links.
#[derive(Clone, Debug)]
pub struct Offer {
    /// A snapshot taken when Share was pressed; later steps are not in its links.
    pub episode: Arc<Episode>,
    /// The place of its task, if an address can name it.
    pub start: Option<EpisodeStart>,
    /// The selected step, in the form that an address uses.
    pub step: Option<usize>,
    /// The titles of the fields that only a reviewer should see.
    pub reviewers_fields: Vec<String>,
}

impl Offer {
    /// The link to a part of the episode, or why there is none.
    pub fn link(&self, what: What, is_masked: bool) -> Result<String, String> {
        let part = sharing::part(&self.episode, what);
        share_link(&part, self.start.as_ref(), self.step, is_masked)
    }

    /// Returns whether the task's link refers to the task by name, and so contains none of its data.
    pub fn is_named(&self, what: What) -> bool {
        what == What::Task && self.start.is_some()
    }
}

impl Transfer {
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

    /// Reads the first episode of the files in a separate worker, so that no file can affect the running episode.
    async fn read_episode(self, number: u32, files: Vec<NamedFile>) -> Result<Assembled, Notice> {
        let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
        let names = names.join(", ");
        let worker = first_episode::worker().map_err(|reason| {
            Notice::new(
                format!("{names} could not be read."),
                reason,
                "Reload the page. If that does not help, use another browser.",
            )
        })?;
        let read = first_episode::read(&worker, files);
        if self.readers.get_value() == number {
            self.replace_reader(Some(worker))
        } else {
            // Newer files replaced these, so their worker is no longer needed.
            drop(worker)
        }
        read.await.map_err(|reason| {
            Notice::new(
                format!("{names} could not be imported."),
                reason,
                "Choose an episode exported by Volary, Aviary Renderer files (as a zip) or a GSM8K \
                 file. The current episode is unchanged.",
            )
        })
    }

    /// Terminates the worker that reads a file, and replaces it with another one, if any.
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

/// Offers links to the episode and to its task.
pub fn share(playground: Playground) {
    let offer = offer(playground);
    playground.transfer().sharing.set(Some(Arc::new(offer)));
}

/// The shown episode and its task, as the share dialog offers them.
pub fn offer(playground: Playground) -> Offer {
    let episode = playground.episode().get_untracked();
    let recipe = episode.recipe.as_ref();
    let start = recipe.and_then(|recipe| url_sync::named_task(playground, recipe));
    let fields = recipe.map(|recipe| {
        let entry = untrack(|| setup::entry(playground, &recipe.environment));
        let schema = entry.map(|entry| (entry.configuration)());
        schema.map(|schema| sharing::reviewers_fields(recipe, &schema))
    });
    Offer {
        start,
        step: url_sync::step_in_address(playground),
        reviewers_fields: fields.flatten().unwrap_or_default(),
        episode,
    }
}

/// Preserves the episode if the page crashes, and offers the one that was preserved before.
pub fn offer_rescue(playground: Playground) {
    let episode = playground.episode();
    crash_recovery::redact_with(secrets::redacted);
    crash_recovery::save_with(move || {
        let text = episode.try_with_untracked(|episode| native::to_text(episode));
        text.filter(|_| playground.last_step() > 0)
    });
    let Some(text) = crash_recovery::rescued() else {
        return;
    };
    match native::read(&text).map(|reading| reading.episodes.into_iter().next()) {
        Ok(Some(kept)) => {
            session_driver::update(playground, Event::Rescued(Box::new(kept)));
            playground
                .say("The page crashed. Press \"Previous episode\" to restore the saved episode.");
        }
        Ok(None) | Err(_) => {
            playground.say("The page crashed, and the episode could not be saved.");
        }
    }
}

/// Opens the file dialog.
pub fn pick_file(playground: Playground) {
    files::pick(KINDS, move |files| take_files(playground, files));
}

/// Reads files that were picked or dropped.
pub fn take_files(playground: Playground, files: Vec<GivenFile>) {
    if files.is_empty() {
        return;
    }
    browser::spawn(async move {
        playground.transfer().reading.set(true);
        playground
            .transfer()
            .readers
            .update_value(|number| *number += 1);
        let number = playground.transfer().readers.get_value();
        let read = read_files(playground, number, files).await;
        // Newer files may have been given meanwhile.
        if playground.transfer().readers.get_value() != number {
            return;
        }
        playground.transfer().reading.set(false);
        playground.transfer().replace_reader(None);
        match read {
            Ok(UserFiles::Episode(assembled)) => {
                let Assembled { episode, notes } = *assembled;
                show_imported(playground, episode, &notes);
            }
            Ok(UserFiles::Tasks { name, text }) => setup::add_tasks(playground, &name, text, None),
            Err(notice) => playground.alert(notice),
        }
    });
}

async fn read_files(
    playground: Playground,
    number: u32,
    files: Vec<GivenFile>,
) -> Result<UserFiles, Notice> {
    let mut contents = Vec::new();
    for file in files {
        check_size(&file.name, file.size, LARGEST_FILE)?;
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
    if let Some((name, text)) = tasks_of(&contents) {
        return Ok(UserFiles::Tasks { name, text });
    }
    let assembled = playground.transfer().read_episode(number, contents).await?;
    Ok(UserFiles::Episode(Box::new(assembled)))
}

fn show_imported(playground: Playground, episode: Episode, notes: &[Text]) {
    let known = episode.recipe.as_ref().is_some_and(|recipe| {
        untrack(|| remote_environments::knows(playground, &recipe.environment))
    });
    let kind = match (known, is_remote(&episode)) {
        (true, true) => ImportedKind::OnServer,
        (true, false) => ImportedKind::Known,
        (false, _) => ImportedKind::Unknown,
    };
    let environment = episode
        .recipe
        .as_ref()
        .filter(|_| known)
        .map(|recipe| recipe.environment.to_string());
    linked_code::leave(playground);
    session_driver::show(playground, episode);
    playground.say(imported_text(notes, kind));
    url_sync::set_place(
        playground,
        PlaygroundPlace {
            environment,
            ..PlaygroundPlace::default()
        },
    );
}

/// Builds a link to a part of an episode that selects a step, the last one if `None`. `start` names its task, if an
/// address can.
///
/// # Errors
///
/// Returns the reason why there can be no link.
pub fn share_link(
    part: &Episode,
    start: Option<&EpisodeStart>,
    step: Option<usize>,
    is_masked: bool,
) -> Result<String, String> {
    let place = match sharing::link(part, start, is_masked)? {
        ShareLink::Named(start) => PlaygroundPlace {
            environment: Some(start.environment),
            task: start.task,
            seed: start.seed,
            ..PlaygroundPlace::default()
        },
        ShareLink::Packed { environment, text } => PlaygroundPlace {
            environment: Some(environment),
            episode: Some(text),
            step: step.filter(|_| !part.steps.is_empty()),
            ..PlaygroundPlace::default()
        },
    };
    Ok(location::address_with(&place.to_hash()))
}

/// The content of the files that the user provided.
enum UserFiles {
    Episode(Box<Assembled>),
    Tasks { name: String, text: Text },
}
