//! Branches of a rollout, each an episode with a sequence of tokens of its own.

use volary_analysis::table::BRANCH;
use volary_core::json::Text;
use volary_episode::episode::{Episode, Link, Relation};

/// The id of a branch, counted from 0. The first one has the id of its rollout.
pub(super) fn branch_id(rollout: &Text, branch: usize) -> Text {
    match branch {
        0 => rollout.clone(),
        branch => format!("{rollout}{BRANCH}{}", branch + 1).into(),
    }
}

/// Makes an episode, which has the id of its rollout, a branch of it, counted from 0.
pub(super) fn tell_branch(episode: &mut Episode, branch: usize) {
    if branch == 0 {
        return;
    }
    let id = branch_id(&episode.id, branch);
    let rollout = std::mem::replace(&mut episode.id, id);
    episode.name = format!("{}, branch {}", episode.name, branch + 1).into();
    episode.links.push(Link {
        relation: Relation::Branch,
        episode: rollout,
        step: Some(0),
    });
}
