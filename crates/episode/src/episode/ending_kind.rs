//! How an episode ended, without the cause.

use super::Ending;

/// The cases of [`Ending`], for rows and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndingKind {
    /// The episode can continue, or its source does not say how it ended.
    Open,
    Done,
    Truncated,
    /// It crashed, failed or was aborted.
    Crashed,
}

impl EndingKind {
    /// All cases.
    pub const ALL: [EndingKind; 4] = [
        EndingKind::Open,
        EndingKind::Done,
        EndingKind::Truncated,
        EndingKind::Crashed,
    ];

    /// The case of an ending.
    pub fn of(ending: &Ending) -> EndingKind {
        match ending {
            Ending::Open => EndingKind::Open,
            Ending::Done => EndingKind::Done,
            Ending::Truncated { .. } => EndingKind::Truncated,
            Ending::Crashed { .. } => EndingKind::Crashed,
        }
    }

    /// The name in tables and stored rows.
    pub fn as_str(self) -> &'static str {
        match self {
            EndingKind::Open => "open",
            EndingKind::Done => "done",
            EndingKind::Truncated => "truncated",
            EndingKind::Crashed => "crashed",
        }
    }

    /// Parses [`EndingKind::as_str`].
    pub fn read(name: &str) -> Option<EndingKind> {
        EndingKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}
