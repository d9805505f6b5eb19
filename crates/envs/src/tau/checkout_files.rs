//! Selects the required files of a checkout, and compares them with the original.
//!
//! Invariant: a path is relative to the root of the repository, wherever a dropped folder or a zip file begins.

use super::checkout::{CheckoutError, Fingerprint, Original, ReadFile, Split};

/// The path of the prompts of the original's simulated customers.
pub const CUSTOMER_SOURCE: &str = "tau_bench/envs/user.py";

const ENVIRONMENTS: &str = "tau_bench/envs/";

/// The contents of a checkout for one domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The domain.
    pub original: Original,
    pub data: Fingerprint,
    /// The splits, each with its number of tasks and its comparison with the original.
    pub splits: Vec<(Split, usize, Fingerprint)>,
}

/// The path from the root of the repository, if the file is required.
pub fn needed(path: &str) -> Option<&str> {
    let offset = path.rfind(ENVIRONMENTS)?;
    let starts_a_name = offset == 0 || path.as_bytes().get(offset - 1) == Some(&b'/');
    let path = path.get(offset..).filter(|_| starts_a_name)?;
    let is_needed = path == CUSTOMER_SOURCE || Original::ALL.into_iter().any(|one| one.has(path));
    is_needed.then_some(path)
}

impl Original {
    /// The splits of the domain.
    pub const fn splits(self) -> &'static [Split] {
        match self {
            Original::Retail => &Split::ALL,
            Original::Airline => &[Split::Test],
        }
    }

    /// Whether a file, by its path from the root, belongs to this domain.
    pub fn has(self, path: &str) -> bool {
        let is_tool = |path: &str| {
            let name = path.strip_prefix(&format!("{ENVIRONMENTS}{}/tools/", self.name()));
            let name = name.and_then(|name| name.strip_suffix(".py"));
            name.is_some_and(|name| self.tools().iter().any(|tool| tool.name == name))
        };
        let mut splits = self.splits().iter();
        is_tool(path) || splits.any(|split| self.paths(*split).iter().any(|one| one == path))
    }

    /// Reads all files of the domain to determine their contents.
    ///
    /// # Errors
    ///
    /// A file is missing or malformed. The split of the test tasks is required, the others are optional.
    pub fn examine(self, read: ReadFile<'_>) -> Result<Contents, CheckoutError> {
        let domain = self.read(Split::Test, read)?;
        let mut splits = Vec::new();
        for split in self.splits() {
            match self.tasks(*split, read) {
                Ok(tasks) => {
                    let found = self.task_fingerprint(*split, &tasks);
                    splits.push((*split, tasks.len(), found));
                }
                Err(CheckoutError::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Contents {
            original: self,
            data: self.data_fingerprint(&domain),
            splits,
        })
    }
}

impl Contents {
    /// The paths of files that differ from the original.
    pub fn differences(&self) -> Vec<String> {
        let folder = format!("{ENVIRONMENTS}{}", self.original.name());
        let data = (!self.data.is_original()).then(|| format!("{folder}/data"));
        let tasks = self.splits.iter().filter_map(|(split, _, found)| {
            let path = format!("{folder}/tasks_{}.py", split.name());
            (!found.is_original()).then_some(path)
        });
        data.into_iter().chain(tasks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_below_any_folder_and_others_left_alone() {
        let orders = "tau_bench/envs/retail/data/orders.json";
        for start in ["", "tau-bench-main/", "a/tau_bench/"] {
            assert_eq!(needed(&format!("{start}{orders}")), Some(orders));
        }
        for needed_path in [
            CUSTOMER_SOURCE,
            "tau_bench/envs/airline/wiki.md",
            "tau_bench/envs/retail/tasks_dev.py",
            "tau_bench/envs/retail/tools/think.py",
        ] {
            assert_eq!(needed(needed_path), Some(needed_path));
        }
        for other in [
            "my_tau_bench/envs/retail/wiki.md",
            "tau_bench/envs/retail/rules.py",
            "tau_bench/envs/airline/tasks_dev.py",
            "tau_bench/envs/retail/tools/__init__.py",
            "tau_bench/envs/retail/data/orders.json.bak",
            "historical_trajectories/gpt-4o-retail.json",
        ] {
            assert_eq!(needed(other), None, "{other}");
        }
    }
}
