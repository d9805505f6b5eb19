//! Opens files below a folder, and nothing else.
//!
//! Invariants: no symbolic link below the folder is followed, also not one that takes the place of a folder or a file
//! meanwhile. Pipes, sockets and devices are never opened.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    File,
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// What is known of an entry without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub bytes: u64,
    /// When its contents changed last, in nanoseconds since 1970.
    pub modified: i128,
}

impl Status {
    /// Of an open file.
    pub fn of(file: &File) -> io::Result<Status> {
        let data = file.metadata()?;
        let kind = match () {
            () if data.is_file() => Kind::File,
            () if data.is_dir() => Kind::Folder,
            () => Kind::Other,
        };
        Ok(Status {
            kind,
            bytes: data.len(),
            modified: nanoseconds(data.modified()?),
        })
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

    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

    use super::*;

    /// An open folder.
    pub struct Folder(OwnedFd);

    const FOLDER: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::CLOEXEC);

    impl Folder {
        /// Opens the folder below which everything else is.
        pub fn root(path: &Path) -> io::Result<Folder> {
            Ok(Folder(openat(CWD, path, FOLDER, Mode::empty())?))
        }

        /// Opens a folder in it.
        pub fn folder(&self, name: &OsStr) -> io::Result<Folder> {
            let flags = FOLDER | OFlags::NOFOLLOW;
            Ok(Folder(openat(&self.0, name, flags, Mode::empty())?))
        }

        /// Opens a regular file in it.
        pub fn file(&self, name: &OsStr) -> io::Result<File> {
            // Opening a pipe would wake its writer, so look first.
            if self.status(name)?.kind != Kind::File {
                return Err(not_a_file());
            }
            // It may have become a pipe meanwhile, for which opening would wait.
            let flags = OFlags::RDONLY
                | OFlags::NOFOLLOW
                | OFlags::NONBLOCK
                | OFlags::NOCTTY
                | OFlags::CLOEXEC;
            let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
            match Status::of(&file)?.kind {
                Kind::File => Ok(file),
                _ => Err(not_a_file()),
            }
        }

        /// What an entry is, without following it.
        pub fn status(&self, name: &OsStr) -> io::Result<Status> {
            let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(Status {
                kind: kind(FileType::from_raw_mode(stat.st_mode)),
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified: i128::from(stat.st_mtime) * 1_000_000_000
                    + i128::from(stat.st_mtime_nsec as i64),
            })
        }

        /// The names in it, in order, with what they are. The order of the file system is not stable.
        pub fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
            let mut entries = Vec::new();
            for entry in Dir::read_from(&self.0)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                let kind = match entry.file_type() {
                    // Some file systems do not tell.
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

    fn kind(of: FileType) -> Kind {
        match of {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
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
        /// Opens the folder below which everything else is.
        pub fn root(path: &Path) -> io::Result<Folder> {
            fs::read_dir(path)?;
            Ok(Folder(path.canonicalize()?))
        }

        /// Opens a folder in it.
        pub fn folder(&self, name: &OsStr) -> io::Result<Folder> {
            match self.status(name)?.kind {
                Kind::Folder => Ok(Folder(self.0.join(name))),
                _ => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        /// Opens a regular file in it.
        pub fn file(&self, name: &OsStr) -> io::Result<File> {
            match self.status(name)?.kind {
                Kind::File => File::open(self.0.join(name)),
                _ => Err(not_a_file()),
            }
        }

        /// What an entry is, without following it.
        pub fn status(&self, name: &OsStr) -> io::Result<Status> {
            let data = fs::symlink_metadata(self.0.join(name))?;
            Ok(Status {
                kind: kind(data.file_type()),
                bytes: data.len(),
                modified: nanoseconds(data.modified()?),
            })
        }

        /// The names in it, in order, with what they are.
        pub fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
            let mut entries = Vec::new();
            for entry in fs::read_dir(&self.0)? {
                let entry = entry?;
                entries.push((entry.file_name(), kind(entry.file_type()?)));
            }
            entries.sort();
            Ok(entries)
        }
    }

    fn kind(of: fs::FileType) -> Kind {
        match () {
            () if of.is_symlink() => Kind::Link,
            () if of.is_dir() => Kind::Folder,
            () if of.is_file() => Kind::File,
            () => Kind::Other,
        }
    }
}
