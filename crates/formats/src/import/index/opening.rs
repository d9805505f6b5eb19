//! Opens large files to read them in place.

use std::rc::Rc;

use super::in_place::InPlace;
use super::packed::PackedLog;
use super::slices::Slices;
use super::torch_dump::TorchDump;
use crate::archive::is_archive;
use crate::archive::listing::{ListedMember, Parts, Unlisted, list};
use crate::import::fields::Mappings;
use crate::read_at::{ReadAt, ReadError};

/// The maximum number of members of an archive.
const MOST_MEMBERS: usize = 500_000;

/// Opens a file to read it in place; `None` if it must be read as a whole. Records that no reader recognises are read by
/// the mappings.
pub async fn open(
    file: Rc<dyn ReadAt>,
    mappings: Mappings,
) -> Result<Option<Box<dyn InPlace>>, ReadError> {
    let start = file.read(0..file.size().min(4)).await?;
    if !is_archive(&start) {
        let size = file.size();
        let slices = Slices::of(file, size, mappings);
        return Ok(Some(Box::new(slices)));
    }
    let Some((members, parts)) = directory(&*file).await? else {
        return Ok(None);
    };
    if let Some(dump) = TorchDump::of(Rc::clone(&file), file.size(), &members) {
        return Ok(Some(Box::new(dump)));
    }
    let log = PackedLog::of(file, &members, parts);
    Ok(log.map(|log| Box::new(log) as Box<dyn InPlace>))
}

/// The members of a zip file, and what was read of it; `None` if it is damaged, or packed in another way. A truncated archive
/// is read as a whole.
pub async fn directory(file: &dyn ReadAt) -> Result<Option<(Vec<ListedMember>, Parts)>, ReadError> {
    let mut parts = Parts::of(file.size());
    loop {
        match list(&parts, MOST_MEMBERS) {
            Ok(members) => return Ok(Some((members, parts))),
            Err(Unlisted::Failed(_)) => return Ok(None),
            Err(Unlisted::Wanted(range)) => {
                let bytes = file.read(range.clone()).await?;
                parts.add(range.start, bytes);
            }
        }
    }
}
