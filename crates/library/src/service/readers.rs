//! The readers of all formats: lazy code, more than a third of what the library needs. Only rollout dumps are read without
//! it, so that the rows of a training run appear sooner.
//!
//! Invariant: outside of [`Readers::all`], nothing calls a reader.

use std::rc::Rc;

use volary_analysis::table::Row;
use volary_core::json::{Json, Text};
use volary_episode::Episode;
use volary_formats::archive::Limits;
use volary_formats::archive::listing::{ListedMember, Parts};
use volary_formats::import::fields::{FieldMapping, Mappings, Unmapped};
use volary_formats::import::index::torch_dump::is_dump;
use volary_formats::import::index::{
    EpisodeRange, InPlace, Indexer, PackedLog, Slices, open_mapped,
};
use volary_formats::import::{ImportError, ImportOutcome, InputFile, import_mapped, preview};

use crate::lazy_code::LazyCode;
use crate::source::ReadAt;

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

    /// Begins the first `size` bytes of a large file of lines, or of one list.
    fn begin_slices(&self, file: Rc<dyn ReadAt>, size: u64, mappings: Mappings)
    -> Box<dyn InPlace>;

    /// Reads on from an offset in a large file that has grown.
    fn go_on(&self, file: Rc<dyn ReadAt>, indexer: Indexer, at: u64) -> Box<dyn InPlace>;

    /// Begins a zip file, if it is a log. `parts` were read for its directory.
    fn begin_log(
        &self,
        file: Rc<dyn ReadAt>,
        members: &[ListedMember],
        parts: Parts,
    ) -> Option<Box<dyn InPlace>>;
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

    fn begin_slices(
        &self,
        file: Rc<dyn ReadAt>,
        size: u64,
        mappings: Mappings,
    ) -> Box<dyn InPlace> {
        Box::new(Slices::of(file, size, mappings))
    }

    fn go_on(&self, file: Rc<dyn ReadAt>, indexer: Indexer, at: u64) -> Box<dyn InPlace> {
        Box::new(Slices::continuing(file, indexer, at))
    }

    fn begin_log(
        &self,
        file: Rc<dyn ReadAt>,
        members: &[ListedMember],
        parts: Parts,
    ) -> Option<Box<dyn InPlace>> {
        let log = PackedLog::of(file, members, parts)?;
        Some(Box::new(log))
    }
}
