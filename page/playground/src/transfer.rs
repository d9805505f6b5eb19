//! Import, export and sharing of episodes, as files and links.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::sharing::{self};
use volary_core::json::Text;
use volary_episode::{Episode, native};
use volary_protocol::episode::Assembled;
use volary_protocol::library::NamedFile;
use volary_view::route::PlaygroundPlace;

use super::entries;
use super::first_episode;
use super::imported_files::{ImportedKind, check_size, imported_text, tasks_of};
use super::linked_code;
use super::remote_environments::{self, is_remote};
use super::setup;
use super::share_links::Offer;
use super::shown_place;
use super::signals::Transfer;
use super::state::Playground;
use super::url_sync;
use volary_browser::files::{GivenFile, LARGEST_FILE};
use volary_browser::{self as browser, crash_recovery};

/// Reads the first episode of the files in a separate worker, so that no file can affect the running episode.
async fn read_episode(
    transfer: Transfer,
    number: u32,
    files: Vec<NamedFile>,
) -> Result<Assembled, Notice> {
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
    if transfer.readers.get_value() == number {
        transfer.replace_reader(Some(worker))
    } else {
        // Newer files replaced these, so their worker is no longer needed.
        drop(worker)
    }
    read.await.map_err(|error| {
        Notice::new(
            format!("{names} could not be imported."),
            error.to_string(),
            "Choose an episode exported by Volary, Aviary Renderer files (as a zip) or a GSM8K \
             file. The current episode is unchanged.",
        )
    })
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
        let entry = untrack(|| entries::entry(playground, &recipe.environment));
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

/// Offers the episode that was preserved when the page crashed.
pub fn offer_rescue(playground: Playground) {
    let Some(text) = crash_recovery::rescued() else {
        return;
    };
    match native::read(&text).map(|reading| reading.episodes.into_iter().next()) {
        Ok(Some(kept)) => {
            playground.update(Event::Rescued(Box::new(kept)));
            playground
                .say("The page crashed. Press \"Previous episode\" to restore the saved episode.");
        }
        Ok(None) | Err(_) => {
            playground.say("The page crashed, and the episode could not be saved.");
        }
    }
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
    let assembled = read_episode(playground.transfer(), number, contents).await?;
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
    playground.show(episode);
    playground.say(imported_text(notes, kind));
    shown_place::set_place(
        playground,
        PlaygroundPlace {
            environment,
            ..PlaygroundPlace::default()
        },
    );
}

/// The content of the files that the user provided.
enum UserFiles {
    Episode(Box<Assembled>),
    Tasks { name: String, text: Text },
}
