//! The two dumps of a step of training: what was sampled, and what the trainer made of it. slime stores them in two folders,
//! under the same name. Files that are read together are joined (`step_dumps`), so a dump that was read before is read again
//! along with the other one.

use std::collections::{BTreeMap, BTreeSet};

use volary_core::json::Text;

use crate::file_server::ListedFile;

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
#[derive(Default)]
pub(super) struct DumpPairs(BTreeMap<Text, ListedFile>);

impl DumpPairs {
    /// Takes the rollout dumps of earlier groups that belong to training dumps of this one, and remembers the rollout dumps
    /// of this one.
    pub(super) fn earlier(&mut self, group: &[ListedFile]) -> Vec<ListedFile> {
        let trained = group.iter();
        let trained = trained.filter_map(|listed| rollouts_of(&listed.file.name));
        let trained: BTreeSet<String> = trained.collect();
        let found = trained
            .iter()
            .filter_map(|name| self.0.remove(name.as_str()));
        let found = found.collect();
        // Those whose training dump is in the same group are joined already.
        let own = group.iter().map(|listed| (&listed.file.name, listed));
        let own = own.filter(|(name, _)| name.contains(ROLLOUTS) && !trained.contains(&***name));
        self.0
            .extend(own.map(|(name, listed)| (name.clone(), listed.clone())));
        found
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

    fn names(earlier: &[ListedFile]) -> Vec<&str> {
        earlier.iter().map(|listed| &*listed.file.name).collect()
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
        let mut pairs = DumpPairs::default();
        let rollouts = ["rollout_data/1.pt", "rollout_data/2.pt"].map(listed);
        assert!(pairs.earlier(&rollouts).is_empty());
        let both = ["rollout_data/4.pt", "train_data/4.pt"].map(listed);
        assert!(pairs.earlier(&both).is_empty(), "they are read together");
        let first = pairs.earlier(&[listed("train_data/1.pt")]);
        assert_eq!(names(&first), ["rollout_data/1.pt"]);
        assert!(pairs.earlier(&[listed("train_data/1.pt")]).is_empty());
        let second = pairs.earlier(&[listed("train_data/2.pt")]);
        assert_eq!(names(&second), ["rollout_data/2.pt"]);
    }
}
