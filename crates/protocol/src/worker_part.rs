//! The parts of a worker's code.

/// What a worker is started for: it loads the code of this part, and answers on its channels only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerPart {
    /// Plays environments: every channel but those of the other parts.
    Environments,
    /// Reads, stores and searches trajectories: [`Channel::Library`](crate::Channel::Library).
    Library,
    /// Trains a small policy: [`Channel::School`](crate::Channel::School).
    School,
}

impl WorkerPart {
    const ALL: [WorkerPart; 3] = [
        WorkerPart::Environments,
        WorkerPart::Library,
        WorkerPart::School,
    ];

    /// The name by which the page tells a new worker its part.
    pub const fn name(self) -> &'static str {
        match self {
            WorkerPart::Environments => "environments",
            // `src/start.js` names it too, for the worker that it starts early.
            WorkerPart::Library => "library",
            WorkerPart::School => "school",
        }
    }

    /// The part with a name; `None` for other names.
    pub fn of_name(name: &str) -> Option<WorkerPart> {
        WorkerPart::ALL.into_iter().find(|part| part.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::WorkerPart;

    #[test]
    fn a_part_is_found_by_its_name() {
        for part in WorkerPart::ALL {
            assert_eq!(WorkerPart::of_name(part.name()), Some(part));
        }
        assert_eq!(WorkerPart::of_name(""), None);
        assert_eq!(WorkerPart::of_name("Library"), None);
    }
}
