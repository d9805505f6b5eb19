//! The two dumps of a step of training: what was sampled, and what the trainer made of it. slime stores them in two folders,
//! under the same name. Files that are read together are joined, so a dump that was read before is read again along with
//! the other one.
//!
//! Invariant: at most [`MOST_PAIRED`] bytes are read again. Pairs are read as a whole, and their episodes are in memory.

use std::collections::{BTreeMap, BTreeSet};

use volary_core::json::Text;

use super::file_list::ListedFile;

/// How many bytes of dumps are read again.
const MOST_PAIRED: u64 = 64 << 20;

/// The folders in which slime stores rollout dumps, and the training dumps of the same names.
const ROLLOUTS: &str = "rollout_data/";
const TRAINED: &str = "train_data/";

/// The name of the rollout dump that belongs to a training dump, as slime names them.
fn rollouts_of(name: &str) -> Option<String> {
    in_other_folder(name, TRAINED, ROLLOUTS)
}

/// The name of the other dump of the same step, of either kind.
pub(super) fn other_dump_of(name: &str) -> Option<String> {
    rollouts_of(name).or_else(|| in_other_folder(name, ROLLOUTS, TRAINED))
}

fn in_other_folder(name: &str, from: &str, to: &str) -> Option<String> {
    let (around, own) = name.rsplit_once(from)?;
    let is_folder = around.is_empty() || around.ends_with('/');
    (is_folder && !own.contains('/')).then(|| format!("{around}{to}{own}"))
}

/// The rollout dumps whose training dumps were not read yet.
pub(super) struct DumpPairs {
    rollouts: BTreeMap<Text, ListedFile>,
    /// How many bytes may be read again.
    room: u64,
}

impl Default for DumpPairs {
    fn default() -> Self {
        DumpPairs::with_room(MOST_PAIRED)
    }
}

/// The rollout dumps that belong to the training dumps of a group.
pub(super) struct Earlier {
    pub(super) found: Vec<ListedFile>,
    /// How many are too large to be read again.
    pub(super) left_out: usize,
}

impl DumpPairs {
    pub(super) fn with_room(room: u64) -> DumpPairs {
        DumpPairs {
            rollouts: BTreeMap::new(),
            room,
        }
    }

    /// Takes the rollout dumps of earlier groups that belong to training dumps of this one, and remembers the rollout dumps
    /// of this one.
    pub(super) fn earlier(&mut self, group: &[ListedFile]) -> Earlier {
        let trained = group.iter();
        let trained = trained.filter_map(|listed| rollouts_of(&listed.file.name));
        let trained: BTreeSet<String> = trained.collect();
        let (mut found, mut left_out) = (Vec::new(), 0);
        for rollouts in &trained {
            let Some(listed) = self.rollouts.remove(rollouts.as_str()) else {
                continue;
            };
            match self.take_room(listed.bytes) {
                true => found.push(listed),
                false => left_out += 1,
            }
        }
        // Those whose training dump is in the same group are joined already.
        let own = group.iter().map(|listed| (&listed.file.name, listed));
        let own = own.filter(|(name, _)| name.contains(ROLLOUTS) && !trained.contains(&***name));
        self.rollouts
            .extend(own.map(|(name, listed)| (name.clone(), listed.clone())));
        Earlier { found, left_out }
    }

    /// Takes room for a dump that is read again, if there is enough.
    pub(super) fn take_room(&mut self, bytes: u64) -> bool {
        let rest = self.room.checked_sub(bytes);
        self.room = rest.unwrap_or(self.room);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use volary_protocol::library::RemoteFile;

    use super::*;

    fn listed(name: &str) -> ListedFile {
        let file = RemoteFile {
            name: name.into(),
            url: "".into(),
        };
        ListedFile { file, bytes: 10 }
    }

    fn names(earlier: &Earlier) -> Vec<&str> {
        earlier
            .found
            .iter()
            .map(|listed| &*listed.file.name)
            .collect()
    }

    #[test]
    fn dumps_of_a_step_have_the_same_name() {
        let other = |name| other_dump_of(name);
        let is = |name: &str| Some(name.to_owned());
        assert_eq!(other("run/train_data/3.pt"), is("run/rollout_data/3.pt"));
        assert_eq!(other("rollout_data/3.pt"), is("train_data/3.pt"));
        for none in ["3.pt", "run/my_train_data/3.pt", "train_data/deep/3.pt"] {
            assert_eq!(other(none), None, "{none}");
        }
    }

    #[test]
    fn rollouts_are_found_once_their_training_data_follows() {
        let mut pairs = DumpPairs::with_room(15);
        let rollouts = [
            "rollout_data/1.pt",
            "rollout_data/2.pt",
            "rollout_data/3.pt",
        ]
        .map(listed);
        assert!(names(&pairs.earlier(&rollouts)).is_empty());
        let both = ["rollout_data/4.pt", "train_data/4.pt"].map(listed);
        assert!(
            names(&pairs.earlier(&both)).is_empty(),
            "they are read together"
        );
        let first = pairs.earlier(&[listed("train_data/1.pt")]);
        assert_eq!(
            (names(&first), first.left_out),
            (vec!["rollout_data/1.pt"], 0)
        );
        let again = pairs.earlier(&[listed("train_data/1.pt")]);
        assert_eq!((names(&again), again.left_out), (vec![], 0));
        let second = pairs.earlier(&[listed("train_data/2.pt")]);
        assert_eq!(
            (names(&second), second.left_out),
            (vec![], 1),
            "there is no room"
        );
    }
}
