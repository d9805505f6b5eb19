//! Opens files below a folder, and nothing outside of it.
//!
//! Invariants: no symbolic link below the folder is followed, not even one that replaces a folder or a file
//! concurrently: each entry is opened relative to its open folder. Pipes, sockets and devices are never opened.

#[cfg(any(not(unix), test))]
mod handles;
mod root_folder;
#[cfg(unix)]
mod unix;

use std::fs::File;
use std::io;

#[cfg(not(unix))]
pub use handles::Folder;
#[cfg(not(unix))]
use handles::status_of;
pub use root_folder::RootFolder;
#[cfg(unix)]
pub use unix::Folder;
#[cfg(unix)]
use unix::status_of;

/// The kind of a folder's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// Metadata of an entry, read without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub kind: EntryKind,
    /// In bytes.
    pub bytes: u64,
    /// The time of the last modification, in nanoseconds since 1970. Programs can set it.
    pub modified: i128,
    /// The time of the last change, also of the time above, in nanoseconds since 1970; 0 if the system has none.
    pub changed: i128,
    /// The file's number on its disk.
    pub number: u64,
}

impl Status {
    /// The status of an open file.
    pub fn of(file: &File) -> io::Result<Status> {
        status_of(file)
    }

    /// Whether bytes that the file had may be others now. Appending does not change the earlier bytes.
    pub fn is_other_than(&self, was: &Status) -> bool {
        self.bytes < was.bytes || self.bytes == was.bytes && self.modified != was.modified
    }
}

fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "it is not a regular file")
}

#[cfg(test)]
mod tests;
