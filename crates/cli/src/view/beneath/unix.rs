//! Folders of Unix: each entry is opened relative to its open folder.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, statat};

use super::{EntryKind, Status, not_a_file};

/// An open folder.
pub struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Opens the folder at a path, in which links are followed.
    pub fn at(path: &Path) -> io::Result<Folder> {
        Ok(Folder(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// Opens the folder at a path, in order to open what is in it. Where the system can, this needs no permission to
    /// read the folder.
    pub fn parent_at(path: &Path) -> io::Result<Folder> {
        #[cfg(target_os = "linux")]
        let flags = FOLDER | OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        let flags = FOLDER;
        Ok(Folder(openat(CWD, path, flags, Mode::empty())?))
    }

    /// Opens this folder again.
    pub fn again(&self) -> io::Result<Folder> {
        self.folder(OsStr::new("."))
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
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
        match status_of(&file)?.kind {
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
        match status_of(&file)?.kind {
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
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec as i64),
            number: stat.st_ino,
        })
    }

    /// The entries, sorted by name, with their kinds. The order of the file system is not stable.
    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if matches!(name.as_bytes(), b"." | b"..") {
                continue;
            }
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

/// The status of an open file.
pub fn status_of(file: &File) -> io::Result<Status> {
    let data = file.metadata()?;
    let kind = match () {
        () if data.is_file() => EntryKind::File,
        () if data.is_dir() => EntryKind::Folder,
        () => EntryKind::Other,
    };
    Ok(Status {
        kind,
        bytes: data.len(),
        modified: nanoseconds(data.mtime(), data.mtime_nsec()),
        changed: nanoseconds(data.ctime(), data.ctime_nsec()),
        number: data.ino(),
    })
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}
