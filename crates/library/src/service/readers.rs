//! The readers of all formats: lazy code, more than a third of what the library needs. Only rollout dumps (`dump`) are read
//! without it, so that the rows of a training run appear sooner.
//!
//! Invariant: outside of [`Readers::all`], nothing calls a reader.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::table::Row;
use volary_core::json::{Json, Text};
use volary_episode::Episode;
use volary_formats::archive::Limits;
use volary_formats::archive::listing::{ListedMember, Parts};
use volary_formats::import::fields::{FieldMapping, Mappings, Unmapped};
use volary_formats::import::index::torch_dump::is_dump;
use volary_formats::import::index::{EpisodeRange, open_mapped};
use volary_formats::import::{ImportError, ImportOutcome, InputFile, import_mapped, preview};

use super::continuation::Continuation;
use super::large_file::{Beginning, FileRead};
use super::reading::RunningImport;
use super::{LibraryService, annotations, packed_log, slices};
use crate::lazy_code::LazyCode;
use crate::source::{Source, Window};

/// The beginning of a large file.
pub(super) type FileBegun<'b> = LocalBoxFuture<'b, Result<Option<Box<dyn Beginning>>, String>>;

/// Why files were not imported. The message of an [`ImportError`] lists all readers, so only their part can write it.
pub(super) struct Refused {
    /// For people.
    pub reason: String,
    /// The files whose members can be mapped.
    pub unmapped: Vec<Unmapped>,
}

/// The readers of all formats.
#[derive(Clone, Copy)]
pub struct Readers(&'static dyn ReaderCode);

impl Readers {
    /// This reaches the code of all readers.
    pub fn all() -> Readers {
        Readers(&AllReaders)
    }
}

/// The operations that need a reader. This is a trait so that only [`Readers::all`] contains their code.
pub(super) trait ReaderCode {
    /// Imports files that are in memory.
    fn import(&self, files: &[InputFile], mappings: &Mappings) -> Result<ImportOutcome, Refused>;

    /// The episodes that a mapping makes of the first record of a file.
    fn preview(&self, head: &Json, fields: &FieldMapping) -> Result<Vec<Episode>, String>;

    /// Opens an episode of a large file: `parts` are the bytes at its place.
    fn open(
        &self,
        file: &str,
        parts: Vec<Vec<u8>>,
        place: &EpisodeRange,
        row: &Row,
        fields: Option<&FieldMapping>,
    ) -> Option<Episode>;

    /// Reads the first slice of a large file.
    fn begin_slices<'b>(
        &self,
        library: &'b LibraryService,
        reading: &'b RunningImport<'_>,
        file: &'b Rc<dyn Source>,
    ) -> FileBegun<'b>;

    /// Reads on in a large file that has grown.
    fn read_on<'b, 'a>(
        &self,
        library: &'a LibraryService,
        reading: &'b RunningImport<'a>,
        window: Window,
        continuation: Continuation,
    ) -> FileRead<'b>;

    /// Reads the header and the first sample of a zip file, if it is a log. `parts` were read for its directory.
    fn begin_log<'b>(
        &self,
        window: &'b Window,
        members: &'b [ListedMember],
        parts: Parts,
    ) -> FileBegun<'b>;

    /// Whether the first episode of a large file is a trace.
    fn begins_with_trace<'b>(&self, file: &'b dyn Source) -> LocalBoxFuture<'b, bool>;
}

/// Loads the readers. The error is a message for the user.
pub(super) async fn load(code: &dyn LazyCode) -> Result<&'static dyn ReaderCode, String> {
    code.readers().await.map(|Readers(readers)| readers)
}

/// Loads the readers before they are used, if one of these files may need them. A failure is ignored: the first use tries
/// again and reports it.
pub(super) async fn load_ahead(code: &dyn LazyCode, files: impl IntoIterator<Item = &Text>) {
    if !files.into_iter().all(|name| is_dump(name)) {
        let _ = load(code).await;
    }
}

struct AllReaders;

impl ReaderCode for AllReaders {
    fn import(&self, files: &[InputFile], mappings: &Mappings) -> Result<ImportOutcome, Refused> {
        import_mapped(files, Limits::default(), mappings).map_err(|error| Refused {
            reason: error.to_string(),
            unmapped: match error {
                ImportError::NoEpisode { unmapped, .. } => unmapped,
                _ => Vec::new(),
            },
        })
    }

    fn preview(&self, head: &Json, fields: &FieldMapping) -> Result<Vec<Episode>, String> {
        preview(head, fields)
    }

    fn open(
        &self,
        file: &str,
        parts: Vec<Vec<u8>>,
        place: &EpisodeRange,
        row: &Row,
        fields: Option<&FieldMapping>,
    ) -> Option<Episode> {
        open_mapped(file, parts, place, row, fields)
    }

    fn begin_slices<'b>(
        &self,
        library: &'b LibraryService,
        reading: &'b RunningImport<'_>,
        file: &'b Rc<dyn Source>,
    ) -> FileBegun<'b> {
        async move {
            let first = slices::begin(library, reading, file).await?;
            Ok(Some(Box::new(first) as Box<dyn Beginning>))
        }
        .boxed_local()
    }

    fn read_on<'b, 'a>(
        &self,
        library: &'a LibraryService,
        reading: &'b RunningImport<'a>,
        window: Window,
        continuation: Continuation,
    ) -> FileRead<'b> {
        slices::read_on(library, reading, window, continuation).boxed_local()
    }

    fn begin_log<'b>(
        &self,
        window: &'b Window,
        members: &'b [ListedMember],
        parts: Parts,
    ) -> FileBegun<'b> {
        async move {
            let log = packed_log::open(window, members, parts).await?;
            Ok(log.map(|log| Box::new(log) as Box<dyn Beginning>))
        }
        .boxed_local()
    }

    fn begins_with_trace<'b>(&self, file: &'b dyn Source) -> LocalBoxFuture<'b, bool> {
        annotations::begins_with_trace(file).boxed_local()
    }
}
