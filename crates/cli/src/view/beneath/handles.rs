//! Folders of systems other than Unix. `cap-std` opens each entry relative to the handle of its folder, and lets nobody
//! rename an open folder. Tests run this on Unix as well.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, Metadata, OpenOptions};

use super::{EntryKind, Status, not_a_file};

/// An open folder.
pub struct Folder(Dir);

impl Folder {
    /// Opens the folder at a path, in which links are followed.
    pub fn at(path: &Path) -> io::Result<Folder> {
        Ok(Folder(Dir::open_ambient_dir(path, ambient_authority())?))
    }

    /// Opens the folder at a path, in order to open what is in it.
    pub fn parent_at(path: &Path) -> io::Result<Folder> {
        Folder::at(path)
    }

    /// Opens this folder again.
    pub fn again(&self) -> io::Result<Folder> {
        Ok(Folder(self.0.try_clone()?))
    }

    /// Opens a folder in this folder.
    pub fn folder(&self, name: &OsStr) -> io::Result<Folder> {
        Ok(Folder(self.0.open_dir_nofollow(name)?))
    }

    /// Opens a regular file in this folder.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OpenOptions::new().read(true))
    }

    /// Opens a folder in this folder, and creates it if it is missing.
    pub fn make_folder(&self, name: &OsStr) -> io::Result<Folder> {
        match self.0.create_dir(name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        self.folder(name)
    }

    /// Opens a regular file in this folder for reading and appending, and creates it if it is missing.
    pub fn append_to(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        self.open(name, &mut options)
    }

    fn open(&self, name: &OsStr, options: &mut OpenOptions) -> io::Result<File> {
        match self.status(name) {
            Ok(status) if status.kind != EntryKind::File => return Err(not_a_file()),
            // The options decide whether a missing file is an error.
            _ => options.follow(FollowSymlinks::No),
        };
        let file = self.0.open_with(name, options)?.into_std();
        match status_of(&file)?.kind {
            EntryKind::File => Ok(file),
            _ => Err(not_a_file()),
        }
    }

    /// The status of an entry, without following links.
    pub fn status(&self, name: &OsStr) -> io::Result<Status> {
        let data = self.0.symlink_metadata(name)?;
        status(&data, 0)
    }

    /// The entries, sorted by name, with their kinds.
    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in self.0.entries()? {
            let entry = entry?;
            entries.push((entry.file_name(), kind(entry.file_type()?)));
        }
        entries.sort();
        Ok(entries)
    }
}

/// The status of an open file.
pub fn status_of(file: &File) -> io::Result<Status> {
    let data = Metadata::from_file(file)?;
    status(&data, data.ino())
}

fn status(data: &Metadata, number: u64) -> io::Result<Status> {
    Ok(Status {
        kind: kind(data.file_type()),
        bytes: data.len(),
        modified: nanoseconds(data.modified()?.into_std()),
        changed: 0,
        number,
    })
}

fn kind(of: FileType) -> EntryKind {
    match () {
        () if of.is_symlink() => EntryKind::Link,
        () if of.is_dir() => EntryKind::Folder,
        () if of.is_file() => EntryKind::File,
        () => EntryKind::Other,
    }
}

fn nanoseconds(time: SystemTime) -> i128 {
    let of = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(0);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => of(after),
        Err(before) => -of(before.duration()),
    }
}
