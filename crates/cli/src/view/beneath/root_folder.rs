//! A folder that was given on the command line, as each request opens it.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::Folder;

/// The way to a folder. It is opened by its name in its parent folder, which stays open. So a folder that is deleted
/// and made again is found, and a link that takes its place, or that of a folder above it, is not followed.
pub enum RootFolder {
    InParent {
        parent: Folder,
        name: OsString,
    },
    /// A folder without a parent, or whose parent cannot be opened, stays open itself.
    Itself(Folder),
}

impl RootFolder {
    /// The way to the folder at a path, whose links were followed.
    pub fn find(path: &Path) -> io::Result<RootFolder> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(RootFolder::Itself(Folder::at(path)?));
        };
        match Folder::parent_at(parent) {
            Ok(parent) => Ok(RootFolder::InParent {
                parent,
                name: name.to_owned(),
            }),
            Err(_) => Ok(RootFolder::Itself(Folder::at(path)?)),
        }
    }

    /// Opens the folder.
    pub fn open(&self) -> io::Result<Folder> {
        match self {
            RootFolder::InParent { parent, name } => parent.folder(name),
            RootFolder::Itself(folder) => folder.again(),
        }
    }
}
