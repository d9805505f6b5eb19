//! An opening from its beginning to its end: the worker makes an environment and takes the actions
//! again, and what came of it takes the place of what was shown.

use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_protocol::episode::EpisodeAssembler;
use volary_trajectory::{Episode, Recipe};

use super::super::consent::Author;
use super::super::incoming::{ending, first_difference, record_crash};
use super::{Change, Command, Opening, Phase, Session, Shown, Why};

impl Session {
    pub(super) fn begin(
        &mut self,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
        why: Why,
        then: Option<AnyMessage>,
    ) -> Command {
        self.last += 1;
        let environment = self.last;
        let shown = match &self.phase {
            Phase::Empty => Shown::Nothing,
            Phase::Record => Shown::Record,
            Phase::Live { environment } => Shown::Live(*environment),
            // The worker takes the step first, but nobody waits for what comes of it.
            Phase::Stepping { .. } => Shown::Record,
            Phase::Opening(opening) => opening.shown,
        };
        self.phase = Phase::Opening(Box::new(Opening {
            environment,
            why,
            actions: actions.clone(),
            incoming: EpisodeAssembler::default(),
            shown,
            then,
        }));
        Command::Open {
            environment,
            recipe,
            actions,
        }
    }

    /// Puts the opened episode in the place of the shown one.
    pub(super) fn finish(&mut self, mut fresh: Episode, episode: &mut Episode) -> Change {
        let Phase::Opening(opening) = std::mem::take(&mut self.phase) else {
            return Change::Nothing;
        };
        let Opening {
            environment,
            why,
            then,
            ..
        } = *opening;
        let differs = match why {
            Why::New { .. } => None,
            Why::Again => first_difference(episode, &fresh),
        };
        keep_name(&mut fresh, &why, episode);
        fresh.ending = ending(&fresh);
        *episode = fresh;
        self.set_author(Author::User);
        self.phase = Phase::Live { environment };
        Change::Replaced { why, differs, then }
    }

    /// Ends an opening whose worker is gone: a new episode is shown as far as it came; an episode
    /// that was only run again is shown as its record was.
    pub(super) fn give_up(&mut self, opening: Opening, episode: &mut Episode, message: &Text) {
        let Opening {
            why,
            actions,
            incoming,
            shown,
            ..
        } = opening;
        let new = matches!(why, Why::New { .. });
        let incoming = incoming.into_partial().filter(|_| new);
        let came_to_something = incoming.is_some();
        if let Some(mut fresh) = incoming {
            keep_name(&mut fresh, &why, episode);
            if let Some(action) = actions.into_iter().nth(fresh.steps.len()) {
                record_crash(&mut fresh, action, message);
            }
            *episode = fresh;
            self.set_author(Author::User);
        }
        self.phase = match shown {
            Shown::Nothing if !came_to_something => Phase::Empty,
            _ => Phase::Record,
        };
    }
}

/// A new episode gets its own name; one that is run again keeps what it had.
fn keep_name(fresh: &mut Episode, why: &Why, shown: &Episode) {
    match why {
        Why::New { id, name } => {
            fresh.id = id.clone();
            fresh.name = name.clone();
        }
        Why::Again => {
            fresh.id = shown.id.clone();
            fresh.name = shown.name.clone();
            fresh.policy = shown.policy.clone();
            fresh.metadata = shown.metadata.clone();
            fresh.recipe = shown.recipe.clone();
            fresh.model = shown.model.clone();
            fresh.links = shown.links.clone();
            keep_asides(fresh, shown);
        }
    }
}

/// The same actions taken again came about as they did the first time.
fn keep_asides(fresh: &mut Episode, shown: &Episode) {
    for (step, former) in fresh.steps.iter_mut().zip(&shown.steps) {
        step.details.clone_from(&former.details);
        step.extras.clone_from(&former.extras);
    }
}
