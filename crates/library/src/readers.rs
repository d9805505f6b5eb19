//! The readers of all formats: lazy code, more than a third of what the library needs. Only rollout dumps are read without
//! it, so that the rows of a training run appear sooner.
//!
//! Invariant: outside of [`all_readers`], nothing calls a reader.

use std::rc::Rc;

use volary_analysis::table::Row;
use volary_core::json::{Json, Text};
use volary_episode::Episode;
use volary_formats::archive::Limits;
use volary_formats::archive::listing::{ListedMember, Parts};
use volary_formats::import::fields::{FieldMapping, Mappings, Unmapped};
use volary_formats::import::index::{
    EpisodeRange, InPlace, Indexer, PackedLog, Slices, open_mapped,
};
use volary_formats::import::{
    ImportError, ImportOutcome, InputFile, NoEpisodeMapped, import_mapped, preview,
};

use crate::source::ReadAt;

/// Why files were not imported. The message of an [`ImportError`] lists all readers, so only their part can write it.
pub struct Refused {
    /// For people.
    pub reason: Text,
    /// The files whose members can be mapped.
    pub unmapped: Vec<Unmapped>,
}

/// The operations that need a reader. This is a trait so that only [`all_readers`] reaches their code.
pub trait Readers {
    /// Imports files that are in memory.
    fn import(&self, files: &[InputFile], mappings: &Mappings) -> Result<ImportOutcome, Refused>;

    /// The episodes that a mapping makes of the first record of a file.
    fn preview(&self, head: &Json, fields: &FieldMapping) -> Result<Vec<Episode>, NoEpisodeMapped>;

    /// Opens an episode of a large file: `parts` are the bytes in its range.
    fn open(
        &self,
        file: &str,
        parts: Vec<Vec<u8>>,
        range: &EpisodeRange,
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

/// The readers of all formats.
pub fn all_readers() -> &'static dyn Readers {
    &AllReaders
}

struct AllReaders;

impl Readers for AllReaders {
    fn import(&self, files: &[InputFile], mappings: &Mappings) -> Result<ImportOutcome, Refused> {
        import_mapped(files, Limits::default(), mappings).map_err(|error| Refused {
            reason: error.to_string().into(),
            unmapped: match error {
                ImportError::NoEpisode { unmapped, .. } => unmapped,
                _ => Vec::new(),
            },
        })
    }

    fn preview(&self, head: &Json, fields: &FieldMapping) -> Result<Vec<Episode>, NoEpisodeMapped> {
        preview(head, fields)
    }

    fn open(
        &self,
        file: &str,
        parts: Vec<Vec<u8>>,
        range: &EpisodeRange,
        row: &Row,
        fields: Option<&FieldMapping>,
    ) -> Option<Episode> {
        open_mapped(file, parts, range, row, fields)
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
