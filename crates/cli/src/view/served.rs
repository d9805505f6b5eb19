//! What `volary view` serves: the state of all routes.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::access::Access;
use super::disk::Disk;
use super::live::Live;
use super::notes::NotesFile;
use super::roots::Roots;

/// The shown library, and the access to it.
pub struct ServedLibrary {
    pub roots: Arc<Roots>,
    /// Addresses of files elsewhere.
    pub urls: Vec<String>,
    /// The title of the library.
    pub title: String,
    pub access: Access,
    /// The change feed.
    pub live: Live,
    /// The threads that read and write files.
    pub disk: Disk,
    /// Permits for searches.
    pub searches: Arc<Semaphore>,
    /// Where notes are kept, if the user chose that.
    pub notes: Option<NotesFile>,
}

/// The state of the routes.
pub type View = Arc<ServedLibrary>;
