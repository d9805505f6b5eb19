//! The server of a list of files, such as `volary view`.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::LocalBoxStream;
use volary_core::json::Text;
use volary_protocol::library::RemoteFile;

use crate::error::LibraryError;
use crate::source::{ReadError, Source};

/// A file of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedFile {
    pub file: RemoteFile,
    /// Its size when the list was made; 0 if that is unknown.
    pub bytes: u64,
}

/// A file that was opened, or why it cannot be.
pub type Opened = Result<Rc<dyn Source>, ReadError>;

/// The pieces in which a list arrives. An error ends it.
pub type ListPieces = LocalBoxStream<'static, Result<Vec<u8>, ReadError>>;

/// The server of a list of files.
pub trait FileServer {
    /// Requests a list.
    fn list<'a>(&'a self, url: &'a str) -> LocalBoxFuture<'a, Result<ListPieces, LibraryError>>;

    /// The address of a path that a list names.
    fn address(&self, list: &str, path: &str) -> Text;

    /// Opens a file to be read in ranges. Its first `head` bytes are requested at once. `is_growing` says whether it is being
    /// written to.
    fn open(
        &self,
        file: ListedFile,
        head: u64,
        is_growing: bool,
    ) -> LocalBoxFuture<'static, Opened>;

    /// Opens files with one request to the address of their beginnings. The result has an item for each; `None` if that file
    /// must be opened by itself.
    fn open_together<'a>(
        &'a self,
        heads: &'a str,
        files: &'a [RemoteFile],
        is_growing: bool,
    ) -> LocalBoxFuture<'a, Vec<Option<Opened>>>;
}
