//! Large zip files: rollout dumps and packed logs, which are read in ranges.

use std::rc::Rc;

use volary_formats::archive::listing::{ListedMember, Parts, Unlisted, list};
use volary_formats::import::index::torch_dump::TorchDump;

use super::large_file::Beginning;
use super::{LibraryService, dump, readers};
use crate::source::{Source, Window};

/// The number of rows that fit on a screen.
pub(super) const SEEN: usize = 40;
/// The maximum number of members of a log.
const MOST_MEMBERS: usize = 500_000;

/// Whether rollout dumps are read in ranges.
pub(super) enum Dumps<'a> {
    /// As a whole.
    Not,
    /// With the training dumps that are behind them.
    With(&'a [Rc<dyn Source>]),
}

/// Reads the directory of a file and its first sample; `None` if it is something else. The window may show training dumps
/// behind the file, too.
pub(super) async fn begin(
    library: &LibraryService,
    window: &Rc<Window>,
    file: &dyn Source,
    dumps: Dumps<'_>,
) -> Result<Option<Box<dyn Beginning>>, String> {
    let Some((members, parts)) = directory(file).await? else {
        return Ok(None);
    };
    let size = file.size();
    match (TorchDump::of(&file.name(), size, &members), dumps) {
        (Some(dump), Dumps::With(trained)) => {
            let dump = dump::open(window, dump, size, trained).await?;
            Ok(dump.map(|dump| Box::new(dump) as Box<dyn Beginning>))
        }
        (Some(_), Dumps::Not) => Ok(None),
        (None, _) => {
            let readers = readers::load(&*library.code).await?;
            readers.begin_log(window, &members, parts).await
        }
    }
}

/// The members of a zip file, and what was read of it; `None` if it is damaged. A truncated archive is imported as a whole.
pub(super) async fn directory(
    file: &dyn Source,
) -> Result<Option<(Vec<ListedMember>, Parts)>, String> {
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
