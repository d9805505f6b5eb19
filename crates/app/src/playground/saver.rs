//! Decides when a played episode is stored, and under which id.
//!
//! An episode with at least one step is stored when it ends and when the user leaves it: for another episode, for
//! another branch from an earlier step, for another page or tab. Further steps are stored under the same id; another
//! branch gets its own id, and a link to the branch before it.

use std::collections::HashMap;

use volary_core::json::Text;
use volary_episode::{Link, Relation};

/// The storage state of the shown episode.
#[derive(Clone, Debug, Default)]
pub struct Saver {
    /// Whether there are steps that are not stored.
    is_unsaved: bool,
    /// The stored branch and its id.
    stored: Option<(Branch, Text)>,
    /// The number of stored branches of each episode of this visit. A branch never takes the id of another one.
    branches: HashMap<Text, u32>,
    /// The link of the stored branch to the one before it, if it is a fork.
    origin: Option<Link>,
    /// The last step that the current branch shares with the stored one, if the user went back since.
    shared: Option<usize>,
}

/// The id of an episode, and the number of times that its steps were replaced.
pub type Branch = (Text, u32);

impl Saver {
    /// Notes a step.
    pub fn step_taken(&mut self) {
        self.is_unsaved = true;
    }

    /// Notes that the episode was replayed up to a step, from where it may continue in another way. `differs` is the first
    /// step at which the replay differs from the record.
    pub fn replayed(&mut self, steps: usize, differs: Option<usize>) {
        let step = differs.map_or(steps, |step| step.saturating_sub(1).min(steps));
        self.shared = Some(self.shared.map_or(step, |shared| shared.min(step)));
    }

    /// The link to the stored branch that this one was forked from, and the last step that both share.
    pub fn fork_of(&self, branch: &Branch) -> Option<Link> {
        match self.stored.as_ref()? {
            (known, _) if known == branch => self.origin.clone(),
            (known, id) if known.0 == branch.0 => Some(Link {
                relation: Relation::Branch,
                episode: id.clone(),
                step: self.shared,
            }),
            _ => None,
        }
    }

    /// The id of a branch that is stored completely.
    pub fn stored_id(&self, branch: &Branch) -> Option<Text> {
        let stored = self.stored.as_ref().filter(|_| !self.is_unsaved);
        stored
            .filter(|(known, _)| known == branch)
            .map(|(_, id)| id.clone())
    }

    /// The id under which to store the branch now; `None` if every step is stored.
    pub fn take(&mut self, branch: Branch) -> Option<Text> {
        if !std::mem::take(&mut self.is_unsaved) {
            return None;
        }
        let origin = self.fork_of(&branch);
        let id = match self.stored.take() {
            Some((known, id)) if known == branch => id,
            _ => {
                self.shared = None;
                let branches = self.branches.entry(branch.0.clone()).or_default();
                *branches += 1;
                match *branches {
                    1 => format!("played-{}", branch.0).into(),
                    branches => format!("played-{}-{branches}", branch.0).into(),
                }
            }
        };
        self.origin = origin;
        self.stored = Some((branch, id.clone()));
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(saver: &mut Saver, id: &str, edition: u32) -> Option<String> {
        saver.step_taken();
        let id = saver.take((id.into(), edition));
        id.map(|id| id.to_string())
    }

    #[test]
    fn further_steps_keep_the_id_and_another_branch_gets_its_own() {
        let mut saver = Saver::default();
        assert_eq!(saver.take(("a".into(), 0)), None);
        assert_eq!(take(&mut saver, "a", 0).as_deref(), Some("played-a"));
        assert_eq!(take(&mut saver, "a", 0).as_deref(), Some("played-a"));
        assert_eq!(saver.take(("a".into(), 0)), None);
        assert_eq!(take(&mut saver, "a", 1).as_deref(), Some("played-a-2"));
        assert_eq!(take(&mut saver, "b", 2).as_deref(), Some("played-b"));
    }

    #[test]
    fn a_branch_of_an_episode_that_is_shown_again_overwrites_no_other() {
        let mut saver = Saver::default();
        let ids = [("a", 0), ("a", 1), ("b", 2), ("a", 3), ("b", 4)];
        let ids = ids.map(|(id, edition)| take(&mut saver, id, edition).unwrap_or_default());
        let expected = [
            "played-a",
            "played-a-2",
            "played-b",
            "played-a-3",
            "played-b-2",
        ];
        assert_eq!(ids, expected);
    }

    #[test]
    fn branches_share_no_step_at_which_the_replay_differs() {
        for (steps, differs, shared) in [
            (5, None, 5),
            (5, Some(3), 2),
            (5, Some(1), 0),
            // The reset differs already.
            (5, Some(0), 0),
        ] {
            let mut saver = Saver::default();
            take(&mut saver, "a", 0);
            saver.replayed(steps, differs);
            let link = saver.fork_of(&("a".into(), 1)).expect("a link");
            assert_eq!(link.step, Some(shared), "{differs:?}");
        }
    }

    #[test]
    fn a_branch_links_to_the_one_before_it() {
        let mut saver = Saver::default();
        let branch = |edition| (Text::from("a"), edition);
        take(&mut saver, "a", 0);
        assert_eq!(saver.fork_of(&branch(0)), None);
        saver.replayed(3, None);
        saver.replayed(1, None);
        saver.replayed(2, None);
        let link = saver.fork_of(&branch(1)).expect("a link");
        assert_eq!((&*link.episode, link.step), ("played-a", Some(1)));
        // The link stays when the branch itself is stored.
        take(&mut saver, "a", 1);
        assert_eq!(saver.fork_of(&branch(1)), Some(link));
        saver.replayed(2, None);
        let link = saver.fork_of(&branch(2)).expect("a link");
        assert_eq!((&*link.episode, link.step), ("played-a-2", Some(2)));
        take(&mut saver, "b", 3);
        assert_eq!(saver.fork_of(&("b".into(), 3)), None);
    }

    #[test]
    fn an_address_names_only_what_is_stored_completely() {
        let mut saver = Saver::default();
        let branch = |edition| (Text::from("a"), edition);
        assert_eq!(saver.stored_id(&branch(0)), None);
        take(&mut saver, "a", 0);
        assert_eq!(saver.stored_id(&branch(0)).as_deref(), Some("played-a"));
        assert_eq!(saver.stored_id(&branch(1)), None);
        saver.step_taken();
        assert_eq!(saver.stored_id(&branch(0)), None);
    }
}
