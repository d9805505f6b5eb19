//! The status text while an evaluation is loaded, or the records of an earlier version are migrated.

/// The progress of the migration from an earlier version, in records of its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The number of migrated records.
    pub done: usize,
    /// The number of all records; never 0.
    pub total: usize,
}

/// The status text while an evaluation is loaded.
pub fn loading_text(recovery: Option<Recovery>) -> String {
    match recovery {
        None => "Loading the evaluation…".to_owned(),
        Some(Recovery { done, total }) => {
            let percent = done * 100 / total.max(1);
            format!("Recovering finished episodes: {percent}%")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_says_how_far_the_recovery_is() {
        let at = |done| loading_text(Some(Recovery { done, total: 8 }));
        assert_eq!(loading_text(None), "Loading the evaluation…");
        assert_eq!(at(0), "Recovering finished episodes: 0%");
        assert_eq!(at(3), "Recovering finished episodes: 37%");
        assert_eq!(at(8), "Recovering finished episodes: 100%");
    }
}
