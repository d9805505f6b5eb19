//! Opens what an address names: one episode, a comparison, or a grid. [`volary_app::review::opening`] decides what is
//! requested and which answers are shown.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::annotations::Target;
use volary_app::review::opening::{Effect, Opener, ReviewOpening};
use volary_episode::Episode;
use volary_view::passage_link;
use volary_view::route::{IN_PLAYGROUND, ReviewPlace};

use super::comparison::EpisodeComparison;
use super::grid_page::{Grid, MOST};
use super::sequence::Sequence;
use super::viewer::Viewer;
use volary_browser::timers;
use volary_library_client::{LibraryClient, requests};
use volary_playground::state::Playground;

/// The parts of the page that show what is opened.
#[derive(Clone, Copy)]
pub struct Openings {
    pub client: LibraryClient,
    pub viewer: Viewer,
    pub comparison: EpisodeComparison,
    pub grid: Grid,
    pub playground: Playground,
    pub sequence: Sequence,
    /// What the page shows of the address.
    pub opening: RwSignal<ReviewOpening>,
    pub opener: StoredValue<Opener<Arc<Episode>, Goal>, LocalStorage>,
    /// Called with the new id of the episode of the address.
    pub rename: Callback<String>,
}

/// What the address wants of the episodes.
#[derive(Clone, Debug)]
pub enum Goal {
    /// An episode at a place.
    Episode {
        step: Option<usize>,
        passage: Option<Target>,
        /// The place among its tokens.
        tokens: String,
    },
    /// A comparison of two.
    Comparison,
    /// A comparison with the playground's episode.
    LiveComparison,
    Grid,
}

impl Openings {
    /// Opens what an address names.
    pub fn follow(self, place: &ReviewPlace) {
        match (&place.episode, place.beside.as_slice()) {
            (None, []) => self.update(|opener| {
                opener.leave();
                Vec::new()
            }),
            (Some(id), []) => {
                let goal = Goal::Episode {
                    step: place.step,
                    passage: passage(place),
                    tokens: place.tokens.clone(),
                };
                self.update(|opener| opener.open(id, goal));
            }
            (one, [beside]) if beside == IN_PLAYGROUND => {
                let one = one.clone().unwrap_or_default();
                self.comparison.pair.set(None);
                self.update(|opener| opener.open_all(vec![one], Goal::LiveComparison));
            }
            (one, [beside]) => self.compare(one.clone().unwrap_or_default(), beside),
            (one, others) => self.line_up(one.iter().chain(others)),
        }
    }

    /// Handles that more of an episode was read: its previous id, and its id from now on.
    pub fn renamed(self, id: &str, into: &str) {
        // A partially read file is not an update from the process that writes it.
        let is_partial = self
            .client
            .partial
            .with_untracked(|begun| begun.contains(into));
        let is_live = id == into && !is_partial;
        self.update(|opener| opener.renamed(id, into, is_live));
    }

    fn compare(self, one: String, beside: &str) {
        let known = !self.comparison.live.get_untracked()
            && self.comparison.pair.with_untracked(|pair| {
                let pair = pair.as_ref();
                pair.is_some_and(|(left, right)| *left.id == *one && *right.id == *beside)
            });
        if known {
            return self.show_known();
        }
        self.comparison.pair.set(None);
        let ids = vec![one, beside.to_owned()];
        self.update(|opener| opener.open_all(ids, Goal::Comparison));
    }

    fn line_up<'a>(self, ids: impl Iterator<Item = &'a String>) {
        let ids: Vec<String> = ids.take(MOST).cloned().collect();
        let known = self.grid.episodes.with_untracked(|episodes| {
            let shown = episodes.iter().map(|episode| &*episode.id);
            shown.eq(ids.iter().map(String::as_str))
        });
        if known {
            return self.show_known();
        }
        self.grid.episodes.set(Arc::default());
        self.update(|opener| opener.open_all(ids, Goal::Grid));
    }

    fn show_known(self) {
        self.update(|opener| {
            opener.set_aside();
            Vec::new()
        });
    }

    fn update(
        self,
        change: impl FnOnce(&mut Opener<Arc<Episode>, Goal>) -> Vec<Effect<Arc<Episode>, Goal>>,
    ) {
        let effects = self.opener.try_update_value(change).unwrap_or_default();
        for effect in effects {
            self.carry_out(effect);
        }
        let now = self.opener.with_value(|opener| opener.opening().clone());
        if self.opening.with_untracked(|known| *known != now) {
            self.opening.set(now);
        }
    }

    fn carry_out(self, effect: Effect<Arc<Episode>, Goal>) {
        match effect {
            Effect::Open { attempt, id } => requests::open(self.client, &id, move |opened| {
                let opened = opened.map(Arc::new).map_err(|error| error.to_string());
                self.update(|opener| opener.opened(attempt, opened));
            }),
            Effect::Show { id, episode, goal } => {
                if let Goal::Episode {
                    step,
                    passage,
                    tokens,
                } = goal
                {
                    self.show(&id, episode, step, passage, &tokens);
                }
            }
            Effect::GoTo(goal) => {
                if let Goal::Episode {
                    step,
                    passage,
                    tokens,
                } = goal
                {
                    match (passage, step) {
                        (Some(target), _) => show_linked(self.viewer, target),
                        (None, Some(step)) => self.viewer.select(step),
                        (None, None) => {}
                    }
                    self.viewer.show_tokens(&tokens);
                }
            }
            Effect::ShowAll { episodes, goal } => self.show_all(episodes, &goal),
            Effect::Renew { episode, is_live } => {
                // If the reader is at the end of an episode that is being written, follow its new steps.
                let follows = is_live && self.viewer.is_at_end();
                self.viewer.renew(episode);
                if follows {
                    self.viewer.select(usize::MAX);
                }
            }
            Effect::Rename(id) => self.rename.run(id),
        }
    }

    fn show(
        self,
        id: &str,
        episode: Arc<Episode>,
        step: Option<usize>,
        passage: Option<Target>,
        tokens: &str,
    ) {
        let viewer = self.viewer;
        let to_failure = self.sequence.takes_failure(id);
        viewer.show(episode, step);
        viewer.tokens_shown.set(String::new());
        viewer.show_tokens(tokens);
        let failure = to_failure.then(|| viewer.show_failure()).flatten();
        if let Some(target) = failure.or(passage) {
            // The transcript is rendered by then.
            timers::next_frame(move || show_linked(viewer, target));
        }
    }

    fn show_all(self, episodes: Vec<Arc<Episode>>, goal: &Goal) {
        match (goal, episodes.as_slice()) {
            (Goal::Comparison, [left, right]) => {
                self.comparison
                    .show(Arc::clone(left), Arc::clone(right), false);
            }
            (Goal::LiveComparison, [left]) => {
                let right = self.playground.episode().get_untracked();
                self.comparison.show(Arc::clone(left), right, true);
            }
            (Goal::Grid, _) => self.grid.episodes.set(Arc::new(episodes)),
            _ => {}
        }
    }
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
