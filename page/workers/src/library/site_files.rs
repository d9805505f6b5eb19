//! The files of a site's list, on the server of the page.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{self, StreamExt};
use volary_core::json::Text;
use volary_formats::import::index::torch_dump::is_dump;
use volary_library::LibraryError;
use volary_library::file_server::{FileServer, ListPieces, ListedFile, Opened};
use volary_library::source::ReadError;
use volary_protocol::library::RemoteFile;

use super::file_heads;
use super::opened_file::OpenedFile;
use volary_browser::files::ranged_file::RangedFile;
use volary_browser::http::{self, Timeouts};
use volary_browser::location;

/// The server of the page.
pub(crate) struct SiteFiles;

impl FileServer for SiteFiles {
    fn list<'a>(&'a self, url: &'a str) -> LocalBoxFuture<'a, Result<ListPieces, LibraryError>> {
        let request = http::Request {
            method: "GET",
            url: url.to_owned(),
            own_cookies: true,
            ..http::Request::default()
        };
        async move {
            let response = http::send(&request, Timeouts::of(Duration::from_secs(60))).await;
            let response = response.map_err(|error| LibraryError::IncompleteList {
                why: error.to_string().into(),
            })?;
            if response.status() != 200 {
                let why = format!("the server answered {}.", response.status());
                return Err(LibraryError::NoList { why: why.into() });
            }
            let pieces = stream::unfold(response, |mut response| async {
                let piece = response.piece().await.transpose()?;
                let piece = piece.map_err(ReadError::refused);
                Some((piece, response))
            });
            Ok(pieces.boxed_local())
        }
        .boxed_local()
    }

    fn address(&self, list: &str, path: &str) -> Text {
        location::beside(list, path).into()
    }

    fn open(
        &self,
        ListedFile { file, bytes }: ListedFile,
        head: u64,
        is_growing: bool,
    ) -> LocalBoxFuture<'static, Opened> {
        async move {
            // The directory of a dump is at its end, and is wanted at once.
            let archive = is_dump(&file.name).then_some(bytes);
            let opened = RangedFile::open(&file.name, &file.url, head, archive).await;
            let opened = opened.map_err(ReadError::refused)?;
            Ok(OpenedFile::of(opened, is_growing).await)
        }
        .boxed_local()
    }

    fn open_together<'a>(
        &'a self,
        heads: &'a str,
        files: &'a [RemoteFile],
        is_growing: bool,
    ) -> LocalBoxFuture<'a, Vec<Option<Opened>>> {
        async move {
            let mut opened = Vec::with_capacity(files.len());
            for file in file_heads::open(heads, files).await {
                opened.push(match file {
                    Some(Ok(file)) => Some(Ok(OpenedFile::of(file, is_growing).await)),
                    Some(Err(error)) => Some(Err(ReadError::refused(error))),
                    None => None,
                });
            }
            opened
        }
        .boxed_local()
    }
}
