//! Opens what an address names: one episode, a comparison, or a grid.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::Episode;
use volary_trajectory::annotations::Target;

use super::comparison::Comparison;
use super::grid_page::{Grid, MOST};
use super::sequence::Sequence;
use super::viewer::Viewer;
use crate::browser::timers;
use crate::library::client::LibraryClient;
use crate::playground::state::Playground;
use crate::projection::passage_link;
use crate::route::ReviewPlace;

/// The state of the open episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// No episode is requested.
    Nothing,
    /// The episode with this id is loading.
    Wanted(String),
    /// The episode with this id is shown.
    Shown(String),
    /// The episode could not be opened, for this reason.
    Failed(String),
}

/// Opens the episode in the address, at its step or passage.
pub fn follow(
    client: LibraryClient,
    viewer: Viewer,
    opening: RwSignal<Opening>,
    place: &ReviewPlace,
    sequence: Sequence,
) {
    let Some(id) = place.episode.clone() else {
        opening.set(Opening::Nothing);
        return;
    };
    if opening.with_untracked(|known| *known == Opening::Shown(id.clone())) {
        match passage(place) {
            Some(target) => show_linked(viewer, target),
            None => {
                if let Some(step) = place.step {
                    viewer.select(step);
                }
            }
        }
        viewer.show_tokens(&place.tokens);
        return;
    }
    opening.set(Opening::Wanted(id.clone()));
    let (step, linked, tokens) = (place.step, passage(place), place.tokens.clone());
    client.open(&id.clone(), move |opened| {
        // Another episode may have been requested meanwhile.
        if opening.with_untracked(|known| *known != Opening::Wanted(id.clone())) {
            return;
        }
        match opened {
            Ok(episode) => {
                let to_failure = sequence.takes_failure(&id);
                viewer.show(Arc::new(episode), step);
                viewer.tokens_shown.set(String::new());
                viewer.show_tokens(&tokens);
                let failure = to_failure.then(|| viewer.show_failure()).flatten();
                let linked = failure.or(linked);
                opening.set(Opening::Shown(id));
                if let Some(target) = linked {
                    // The transcript is rendered by then.
                    timers::next_frame(move || show_linked(viewer, target));
                }
            }
            Err(reason) => opening.set(Opening::Failed(reason)),
        }
    });
}

/// The renewal of the open episode. One runs at a time: an episode may grow faster than it can be opened.
#[derive(Clone, Copy)]
pub struct Renewal {
    /// The id that is opened again; `None` if none is.
    running: StoredValue<Option<String>>,
    /// Whether it has grown meanwhile.
    is_due: StoredValue<bool>,
}

impl Default for Renewal {
    fn default() -> Renewal {
        Renewal {
            running: StoredValue::new(None),
            is_due: StoredValue::new(false),
        }
    }
}

impl Renewal {
    /// Starts one, unless the same one runs; then it follows.
    fn begins(self, id: &str) -> bool {
        let is_running = self
            .running
            .with_value(|known| known.as_deref() == Some(id));
        self.is_due.set_value(is_running);
        if !is_running {
            self.running.set_value(Some(id.to_owned()));
        }
        !is_running
    }

    /// Ends one. Returns whether it must be repeated.
    fn ends(self, id: &str) -> bool {
        // Another one may have begun.
        if self
            .running
            .with_value(|known| known.as_deref() != Some(id))
        {
            return false;
        }
        self.running.set_value(None);
        self.is_due.get_value()
    }
}

/// Replaces a partially imported episode with the complete one, which may have another id.
pub fn renew(
    client: LibraryClient,
    viewer: Viewer,
    opening: RwSignal<Opening>,
    renewal: Renewal,
    begun: &str,
    whole: &str,
) -> bool {
    if opening.with_untracked(|known| *known != Opening::Shown(begun.to_owned())) {
        return false;
    }
    if begun != whole {
        opening.set(Opening::Shown(whole.to_owned()));
    }
    if renewal.begins(whole) {
        // A partially read file is not an update from the process that writes it.
        let is_partial = client.begun.with_untracked(|begun| begun.contains(whole));
        open_again(
            client,
            viewer,
            opening,
            renewal,
            whole.to_owned(),
            begun == whole && !is_partial,
        );
    }
    begun != whole
}

/// Opens the shown episode again. `is_live` if a process is writing it.
fn open_again(
    client: LibraryClient,
    viewer: Viewer,
    opening: RwSignal<Opening>,
    renewal: Renewal,
    id: String,
    is_live: bool,
) {
    client.open(&id.clone(), move |opened| {
        let is_due = renewal.ends(&id);
        // Another episode may be shown by now.
        if opening.with_untracked(|known| *known != Opening::Shown(id.clone())) {
            return;
        }
        match opened {
            Ok(episode) => {
                // If the reader is at the end of an episode that is being written, follow its new steps.
                let follows = is_live && viewer.is_at_end();
                viewer.renew(Arc::new(episode));
                if follows {
                    viewer.select(usize::MAX);
                }
            }
            Err(reason) => return opening.set(Opening::Failed(reason)),
        }
        if is_due && renewal.begins(&id) {
            open_again(client, viewer, opening, renewal, id, is_live);
        }
    });
}

/// The passage that an address names.
fn passage(place: &ReviewPlace) -> Option<Target> {
    let (at, words) = place.at.as_deref().zip(place.words.as_deref())?;
    passage_link::read(place.step.unwrap_or_default(), at, words)
}

fn show_linked(viewer: Viewer, target: Target) {
    viewer.go_to(&target);
    viewer.linked.set(Some(target));
}

/// Receives the episodes, or the reason why one could not be opened.
type Done = Box<dyn FnOnce(Result<Vec<Arc<Episode>>, String>)>;

/// Opens episodes one after the other.
fn open_all(
    client: LibraryClient,
    mut ids: std::vec::IntoIter<String>,
    mut opened: Vec<Arc<Episode>>,
    done: Done,
) {
    let Some(id) = ids.next() else {
        return done(Ok(opened));
    };
    client.open(&id, move |episode| match episode {
        Ok(episode) => {
            opened.push(Arc::new(episode));
            open_all(client, ids, opened, done);
        }
        Err(reason) => done(Err(reason)),
    });
}

/// Opens what an address names. `show` is called unless the request changed meanwhile.
fn open_wanted(
    client: LibraryClient,
    opening: RwSignal<Opening>,
    ids: Vec<String>,
    show: impl FnOnce(Vec<Arc<Episode>>) + 'static,
) {
    let wanted = Opening::Wanted(ids.join(" "));
    opening.set(wanted.clone());
    let done = move |opened| {
        if opening.with_untracked(|opening| *opening != wanted) {
            return;
        }
        match opened {
            Ok(episodes) => {
                show(episodes);
                opening.set(Opening::Nothing);
            }
            Err(reason) => opening.set(Opening::Failed(reason)),
        }
    };
    open_all(client, ids.into_iter(), Vec::new(), Box::new(done));
}

/// Opens a comparison of two episodes.
pub fn compare(
    client: LibraryClient,
    comparison: Comparison,
    opening: RwSignal<Opening>,
    place: &ReviewPlace,
    beside: &str,
) {
    let one = place.episode.clone().unwrap_or_default();
    let known = !comparison.live.get_untracked()
        && comparison.pair.with_untracked(|pair| {
            let pair = pair.as_ref();
            pair.is_some_and(|(left, right)| *left.id == *one && *right.id == *beside)
        });
    if known {
        return;
    }
    comparison.pair.set(None);
    open_wanted(
        client,
        opening,
        vec![one, beside.to_owned()],
        move |episodes| {
            if let [left, right] = episodes.as_slice() {
                comparison.show(Arc::clone(left), Arc::clone(right), false);
            }
        },
    );
}

/// Opens a comparison with the playground's episode.
pub fn compare_live(
    client: LibraryClient,
    comparison: Comparison,
    opening: RwSignal<Opening>,
    place: &ReviewPlace,
    playground: Playground,
) {
    let one = place.episode.clone().unwrap_or_default();
    comparison.pair.set(None);
    open_wanted(client, opening, vec![one], move |episodes| {
        if let [left] = episodes.as_slice() {
            let right = playground.episode.get_untracked();
            comparison.show(Arc::clone(left), right, true);
        }
    });
}

/// Opens a grid.
pub fn line_up(client: LibraryClient, grid: Grid, opening: RwSignal<Opening>, place: &ReviewPlace) {
    let ids = place.episode.iter().chain(&place.beside);
    let ids: Vec<String> = ids.take(MOST).cloned().collect();
    let known = grid.episodes.with_untracked(|episodes| {
        episodes
            .iter()
            .map(|episode| &*episode.id)
            .eq(ids.iter().map(String::as_str))
    });
    if known {
        return;
    }
    grid.episodes.set(Arc::default());
    open_wanted(client, opening, ids, move |episodes| {
        grid.episodes.set(Arc::new(episodes))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_that_grows_quickly_is_opened_one_at_a_time() {
        Owner::new().with(|| {
            let renewal = Renewal::default();
            assert!(renewal.begins("a"));
            assert!(!renewal.begins("a") && !renewal.begins("a"));
            assert!(renewal.ends("a"), "it has grown meanwhile");
            assert!(renewal.begins("a"));
            assert!(!renewal.ends("a"));
            // Another episode does not wait.
            assert!(renewal.begins("a") && renewal.begins("b"));
            assert!(!renewal.ends("a"), "it is no longer wanted");
            assert!(!renewal.begins("b"));
            assert!(renewal.ends("b"));
        });
    }
}
