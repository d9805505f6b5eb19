//! Why the library cannot open an episode.

use volary_app::notice::Notice;
use volary_core::json::Text;
use volary_core::quantity::size_text;

/// Why an episode cannot be opened. The text says why, and what to do if something can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryError {
    /// The library has no episode with this id, or has it no more.
    UnknownEpisode,
    /// The record of the file that contains it is gone.
    UnknownFile,
    /// The browser had no room for a copy of the file that contains it.
    NotCopied { file: Text, bytes: u64 },
    /// The file has changed since it was read.
    ChangedFile { file: Text },
    /// What is stored of it has no episode.
    EmptyRecord,
    /// What is stored of it cannot be read.
    DamagedRecord { why: String },
    /// The file, the store or the code for its format could not be used.
    Unavailable { why: String },
}

impl LibraryError {
    /// What to do; empty if nothing helps.
    pub fn advice(&self) -> &'static str {
        match self {
            LibraryError::UnknownEpisode => {
                "It may have been deleted in another tab. Import its file again to open it."
            }
            LibraryError::UnknownFile | LibraryError::NotCopied { .. } => {
                "Import the file again to open its trajectories."
            }
            LibraryError::ChangedFile { .. } => "Import the file again to see what it has now.",
            LibraryError::EmptyRecord | LibraryError::DamagedRecord { .. } => {
                "Delete it from the library, and import its file again."
            }
            LibraryError::Unavailable { .. } => "",
        }
    }

    /// Why it failed, without advice.
    pub fn why(&self) -> String {
        match self {
            LibraryError::UnknownEpisode => "It is not in the library.".to_owned(),
            LibraryError::UnknownFile => {
                "The file that contains it is not in the library.".to_owned()
            }
            LibraryError::NotCopied { file, bytes } => format!(
                "It is part of {file} ({}), which was not copied into this browser.",
                size_text(*bytes)
            ),
            LibraryError::ChangedFile { file } => {
                format!("{file} no longer contains a trajectory at this position.")
            }
            LibraryError::EmptyRecord => "Its stored record is empty.".to_owned(),
            LibraryError::DamagedRecord { why } => {
                format!("Its stored record cannot be read: {why}")
            }
            LibraryError::Unavailable { why } => why.clone(),
        }
    }

    /// The notice for a request that failed.
    pub fn notice(&self, what: impl Into<String>) -> Notice {
        Notice::new(what, self.why(), self.advice())
    }
}

impl std::fmt::Display for LibraryError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.why())?;
        match self.advice() {
            "" => Ok(()),
            advice => write!(formatter, " {advice}"),
        }
    }
}

impl std::error::Error for LibraryError {}

/// Files, stores and lazy code report a sentence for people.
impl From<String> for LibraryError {
    fn from(why: String) -> Self {
        LibraryError::Unavailable { why }
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
        assert_eq!(error.to_string(), expected);
        let notice = error.notice("It was left out.");
        assert_eq!(notice.what, "It was left out.");
        assert_eq!(format!("{} {}", notice.why, notice.advice), expected);
        // What a part reports says itself what to do.
        let reported = LibraryError::from("The disk is full. Delete some files.".to_owned());
        assert_eq!(reported.to_string(), "The disk is full. Delete some files.");
    }
}
