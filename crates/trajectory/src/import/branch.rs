//! Branches of a rollout, each an episode with a sequence of tokens of its own.

use crate::episode::{Episode, Link, Relation};

/// Names an episode as a branch of its rollout, counted from 0. The first one keeps the id of the rollout.
pub(super) fn tell_branch(episode: &mut Episode, branch: usize) {
    if branch == 0 {
        return;
    }
    let number = branch + 1;
    let rollout = std::mem::take(&mut episode.id);
    episode.id = format!("{rollout}-branch-{number}").into();
    episode.name = format!("{}, branch {number}", episode.name).into();
    episode.links.push(Link {
        relation: Relation::Branch,
        episode: rollout,
        step: Some(0),
    });
}
