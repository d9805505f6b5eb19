//! Pairs of files in two folders, such as the dumps of a step of training, or predictions and their reviews. Files that are
//! read together are joined, so the first of a pair that was read in an earlier group is read again along with the other one.

use std::collections::{BTreeMap, BTreeSet};

use volary_core::json::Text;
use volary_formats::import::together::{first_of, is_copy, is_first};

use crate::file_server::ListedFile;

/// The first files of pairs whose second files were not read yet.
#[derive(Default)]
pub(super) struct FilePairs(BTreeMap<Text, ListedFile>);

impl FilePairs {
    /// Takes the first files of earlier groups whose second files are in this one, and remembers those of this one.
    pub(super) fn earlier(&mut self, group: &[ListedFile]) -> Vec<ListedFile> {
        let wanted = group.iter();
        let wanted = wanted.filter_map(|listed| first_of(&listed.file.name));
        let wanted: BTreeSet<String> = wanted.collect();
        let found = wanted
            .iter()
            .filter_map(|name| self.0.remove(name.as_str()));
        let found = found.collect();
        // Those whose second file is in the same group are joined already.
        let own = group.iter().map(|listed| (&listed.file.name, listed));
        // Copies of traces may be large, and are read in place, each by itself.
        let own =
            own.filter(|(name, _)| is_first(name) && !is_copy(name) && !wanted.contains(&***name));
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
    fn rollouts_are_found_once_their_training_data_follows() {
        let mut pairs = FilePairs::default();
        let rollouts = ["rollout_data/1.pt", "rollout_data/2.pt"].map(listed);
        assert!(pairs.earlier(&rollouts).is_empty());
        let both = ["rollout_data/4.pt", "train_data/4.pt"].map(listed);
        assert!(pairs.earlier(&both).is_empty(), "they are read together");
        let first = pairs.earlier(&[listed("train_data/1.pt")]);
        assert_eq!(names(&first), ["rollout_data/1.pt"]);
        assert!(pairs.earlier(&[listed("train_data/1.pt")]).is_empty());
        let second = pairs.earlier(&[listed("train_data/2.pt")]);
        assert_eq!(names(&second), ["rollout_data/2.pt"]);
        assert!(pairs.earlier(&[listed("predictions/m/a.jsonl")]).is_empty());
        let reviews = pairs.earlier(&[listed("reviews/m/a.jsonl")]);
        assert_eq!(names(&reviews), ["predictions/m/a.jsonl"]);
    }
}
