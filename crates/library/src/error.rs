//! What can fail in the library, with the reason and what to do.

use volary_app::notice::Notice;
use volary_core::json::Text;
use volary_core::quantity::size_text;
use volary_formats::import::NoEpisodeMapped;
use volary_formats::read_at::ReadError;

/// Why the library cannot read, open, store or export something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// The library has no episode with this id, or has it no more.
    #[error("It is not in the library.")]
    UnknownEpisode,
    /// The record of the file that contains it is gone.
    #[error("The file that contains it is not in the library.")]
    UnknownFile,
    /// The browser had no room for a copy of the file that contains it.
    #[error("It is part of {file} ({}), which was not copied into this browser.", size_text(*.bytes))]
    NotCopied { file: Text, bytes: u64 },
    /// The file has changed since it was read.
    #[error("{file} no longer contains a trajectory at this position.")]
    ChangedFile { file: Text },
    /// The files that it was read from have changed since then.
    #[error("Its file no longer contains it.")]
    ChangedEpisode,
    /// What is stored of it has no episode.
    #[error("Its stored record is empty.")]
    EmptyRecord,
    /// What is stored of it cannot be read.
    #[error("Its stored record cannot be read: {why}")]
    DamagedRecord { why: String },
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] ReadError),
    /// A file that was read earlier cannot be read again.
    #[error("{file} could not be read: {error}")]
    FileGone {
        file: Text,
        error: Box<LibraryError>,
    },
    /// No reader finds an episode in the files. The text says what they are.
    #[error("{why}")]
    NoEpisode { why: Text },
    /// A mapping finds no episode in a record.
    #[error(transparent)]
    NotMapped(#[from] NoEpisodeMapped),
    /// A Parquet file cannot be read or written.
    #[error("{why}")]
    Parquet { why: Text },
    /// Sensitive texts of an episode cannot be masked.
    #[error("{why}")]
    NotMasked { why: Text },
    /// The list of files could not be fetched. The text says what the server answered.
    #[error("The list of files could not be fetched: {why}")]
    NoList { why: Text },
    /// The list of files ends early.
    #[error("The list of files is incomplete: {why}")]
    IncompleteList { why: Text },
    /// An episode cannot be replayed: it has no recipe, or one of another program.
    #[error(
        "This page does not have its environment, or the source does not say how to create it."
    )]
    UnknownEnvironment,
    /// The source has no recipe of its environment.
    #[error("The source does not say how to create its environment.")]
    NoRecipe,
    /// Its environment could not be created, or stopped.
    #[error("{why}")]
    NotReplayed { why: Text },
    /// The code that does this could not be loaded. The text says what to do.
    #[error("{why}")]
    Code { why: Text },
    /// The store refused, or has only a part. The text says what to do.
    #[error("{why}")]
    Store { why: Text },
}

impl LibraryError {
    /// The error of a Parquet file. Only the code of Parquet can write its text.
    pub fn of_parquet(error: impl std::error::Error) -> LibraryError {
        LibraryError::Parquet {
            why: error.to_string().into(),
        }
    }

    /// What to do; empty if nothing helps, or if the text says it.
    pub fn advice(&self) -> &'static str {
        match self {
            LibraryError::UnknownEpisode => {
                "It may have been deleted in another tab. Import its file again to open it."
            }
            LibraryError::UnknownFile | LibraryError::NotCopied { .. } => {
                "Import the file again to open its trajectories."
            }
            LibraryError::ChangedFile { .. } | LibraryError::ChangedEpisode => {
                "Import the file again to see what it has now."
            }
            LibraryError::EmptyRecord | LibraryError::DamagedRecord { .. } => {
                "Delete it from the library, and import its file again."
            }
            LibraryError::NoList { .. } | LibraryError::IncompleteList { .. } => {
                "Reload the page to fetch it again."
            }
            LibraryError::File(_)
            | LibraryError::FileGone { .. }
            | LibraryError::NoEpisode { .. }
            | LibraryError::NotMapped(_)
            | LibraryError::Parquet { .. }
            | LibraryError::NotMasked { .. }
            | LibraryError::UnknownEnvironment
            | LibraryError::NoRecipe
            | LibraryError::NotReplayed { .. }
            | LibraryError::Code { .. }
            | LibraryError::Store { .. } => "",
        }
    }

    /// What failed and why, with the advice.
    pub fn sentences(&self) -> Text {
        match self.advice() {
            "" => self.to_string().into(),
            advice => format!("{self} {advice}").into(),
        }
    }

    /// The notice for a request that failed.
    pub fn notice(&self, what: impl Into<String>) -> Notice {
        Notice::new(what, self.to_string(), self.advice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_why_and_what_to_do() {
        let error = LibraryError::NotCopied {
            file: "run.jsonl".into(),
            bytes: 3 << 30,
        };
        let expected = "It is part of run.jsonl (3.2 GB), which was not copied into this browser. \
                        Import the file again to open its trajectories.";
        assert_eq!(&*error.sentences(), expected);
        let notice = error.notice("It was left out.");
        assert_eq!(notice.what, "It was left out.");
        assert_eq!(format!("{} {}", notice.why, notice.advice), expected);
        // What a browser or a server reports says itself what to do.
        let reported =
            LibraryError::from(ReadError::refused("The disk is full. Delete some files."));
        assert_eq!(
            &*reported.sentences(),
            "The disk is full. Delete some files."
        );
    }
}
