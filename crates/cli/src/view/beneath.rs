//! Opens files below a folder, and nothing outside of it.
//!
//! Invariants: no symbolic link below the folder is followed, not even one that replaces a folder or a file
//! concurrently. Pipes, sockets and devices are never opened.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

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
    /// The time of the last modification, in nanoseconds since 1970.
    pub modified: i128,
}

impl Status {
    /// The status of an open file.
    pub fn of(file: &File) -> io::Result<Status> {
        let data = file.metadata()?;
        let kind = match () {
            () if data.is_file() => EntryKind::File,
            () if data.is_dir() => EntryKind::Folder,
            () => EntryKind::Other,
        };
        Ok(Status {
            kind,
            bytes: data.len(),
            modified: nanoseconds(data.modified()?),
        })
    }

    /// Whether bytes that the file had may be others now. Appending does not change the earlier bytes.
    pub fn is_other_than(&self, was: &Status) -> bool {
        self.bytes < was.bytes || self.bytes == was.bytes && self.modified != was.modified
    }
}

fn nanoseconds(time: SystemTime) -> i128 {
    let of = |duration: std::time::Duration| i128::try_from(duration.as_nanos()).unwrap_or(0);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => of(after),
        Err(before) => -of(before.duration()),
    }
}

fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "it is not a regular file")
}

pub use platform::Folder;

#[cfg(unix)]
mod platform {
    use std::ffi::OsStr;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, statat};

    use super::*;

    /// An open folder.
    pub struct Folder(OwnedFd);

    const FOLDER: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::CLOEXEC);

    impl Folder {
        /// Opens the root folder.
        pub fn root(path: &Path) -> io::Result<Folder> {
            Ok(Folder(openat(CWD, path, FOLDER, Mode::empty())?))
        }

        /// Opens a folder in this folder.
        pub fn folder(&self, name: &OsStr) -> io::Result<Folder> {
            let flags = FOLDER | OFlags::NOFOLLOW;
            Ok(Folder(openat(&self.0, name, flags, Mode::empty())?))
        }

        /// Opens a regular file in this folder.
        pub fn file(&self, name: &OsStr) -> io::Result<File> {
            // Opening a pipe would wake its writer, so check first.
            if self.status(name)?.kind != EntryKind::File {
                return Err(not_a_file());
            }
            // It may have become a pipe meanwhile, on which opening would block.
            let flags = OFlags::RDONLY
                | OFlags::NOFOLLOW
                | OFlags::NONBLOCK
                | OFlags::NOCTTY
                | OFlags::CLOEXEC;
            let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
            match Status::of(&file)?.kind {
                EntryKind::File => Ok(file),
                _ => Err(not_a_file()),
            }
        }

        /// Opens a folder in this folder, and creates it if it is missing.
        pub fn make_folder(&self, name: &OsStr) -> io::Result<Folder> {
            match mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
            self.folder(name)
        }

        /// Opens a regular file in this folder for reading and appending, and creates it if it is missing.
        pub fn append_to(&self, name: &OsStr) -> io::Result<File> {
            let flags = OFlags::RDWR
                | OFlags::APPEND
                | OFlags::CREATE
                | OFlags::NOFOLLOW
                | OFlags::NONBLOCK
                | OFlags::NOCTTY
                | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(0o666);
            let file = File::from(openat(&self.0, name, flags, mode)?);
            match Status::of(&file)?.kind {
                EntryKind::File => Ok(file),
                _ => Err(not_a_file()),
            }
        }

        /// The status of an entry, without following links.
        pub fn status(&self, name: &OsStr) -> io::Result<Status> {
            let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(Status {
                kind: kind(FileType::from_raw_mode(stat.st_mode)),
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified: i128::from(stat.st_mtime) * 1_000_000_000
                    + i128::from(stat.st_mtime_nsec as i64),
            })
        }

        /// The entries, sorted by name, with their kinds. The order of the file system is not stable.
        pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
            let mut entries = Vec::new();
            for entry in Dir::read_from(&self.0)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                let kind = match entry.file_type() {
                    // Some file systems do not report the kind.
                    FileType::Unknown => match self.status(name) {
                        Ok(status) => status.kind,
                        Err(_) => continue,
                    },
                    known => kind(known),
                };
                entries.push((OsString::from_vec(name.as_bytes().to_vec()), kind));
            }
            entries.sort();
            Ok(entries)
        }
    }

    fn kind(of: FileType) -> EntryKind {
        match of {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::ffi::OsStr;
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A folder. Links are checked right before each access.
    pub struct Folder(PathBuf);

    impl Folder {
        /// Opens the root folder.
        pub fn root(path: &Path) -> io::Result<Folder> {
            fs::read_dir(path)?;
            Ok(Folder(path.canonicalize()?))
        }

        /// Opens a folder in this folder.
        pub fn folder(&self, name: &OsStr) -> io::Result<Folder> {
            match self.status(name)?.kind {
                EntryKind::Folder => Ok(Folder(self.0.join(name))),
                _ => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        /// Opens a regular file in this folder.
        pub fn file(&self, name: &OsStr) -> io::Result<File> {
            match self.status(name)?.kind {
                EntryKind::File => File::open(self.0.join(name)),
                _ => Err(not_a_file()),
            }
        }

        /// Opens a folder in this folder, and creates it if it is missing.
        pub fn make_folder(&self, name: &OsStr) -> io::Result<Folder> {
            match fs::create_dir(self.0.join(name)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            self.folder(name)
        }

        /// Opens a regular file in this folder for reading and appending, and creates it if it is missing.
        pub fn append_to(&self, name: &OsStr) -> io::Result<File> {
            match self.status(name) {
                Ok(status) if status.kind != EntryKind::File => return Err(not_a_file()),
                _ => {}
            }
            let mut options = File::options();
            options.read(true).append(true).create(true);
            options.open(self.0.join(name))
        }

        /// The status of an entry, without following links.
        pub fn status(&self, name: &OsStr) -> io::Result<Status> {
            let data = fs::symlink_metadata(self.0.join(name))?;
            Ok(Status {
                kind: kind(data.file_type()),
                bytes: data.len(),
                modified: nanoseconds(data.modified()?),
            })
        }

        /// The entries, sorted by name, with their kinds.
        pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
            let mut entries = Vec::new();
            for entry in fs::read_dir(&self.0)? {
                let entry = entry?;
                entries.push((entry.file_name(), kind(entry.file_type()?)));
            }
            entries.sort();
            Ok(entries)
        }
    }

    fn kind(of: fs::FileType) -> EntryKind {
        match () {
            () if of.is_symlink() => EntryKind::Link,
            () if of.is_dir() => EntryKind::Folder,
            () if of.is_file() => EntryKind::File,
            () => EntryKind::Other,
        }
    }
}
