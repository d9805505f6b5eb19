//! Packed logs: the directory of the zip file has the places of the members of each sample, and the samples are read one by
//! one. Part of the readers' code (`readers`).

use futures_util::FutureExt;
use volary_formats::archive::listing::{ListedMember, Parts};
use volary_formats::import::index::packed::PackedLog;

use super::BATCH;
use super::large_file::{Beginning, FileRead, LargeFile};
use super::packed::SEEN;
use super::reading::{self, FileOutcome};
use crate::source::Window;

/// Recognises the members of a zip file as a log, and reads its header and first sample. `parts` were read for the
/// directory.
pub(super) async fn open(
    window: &Window,
    members: &[ListedMember],
    parts: Parts,
) -> Result<Option<PackedLog>, String> {
    let Some(mut log) = PackedLog::of(&window.source().name(), members) else {
        return Ok(None);
    };
    // The header usually precedes the directory.
    if let Some((start, bytes)) = parts.into_known().into_iter().next_back() {
        window.hold(start, bytes);
    }
    log.read_head(&window.read(log.head()).await?);
    read_sample(&mut log, 0, window).await?;
    Ok(Some(log))
}

impl Beginning for PackedLog {
    fn read_to_end<'b>(self: Box<Self>, file: LargeFile<'b, '_>) -> FileRead<'b> {
        read_samples(file, *self).boxed_local()
    }
}

async fn read_samples(file: LargeFile<'_, '_>, mut log: PackedLog) -> Result<FileOutcome, String> {
    let LargeFile {
        library,
        reading,
        window,
        ..
    } = file;
    let (size, name) = (window.source().size(), window.source().name());
    let mut done = 0;
    for number in 0..log.samples().len() {
        if reading::is_cancelled(library, reading.number) {
            return Ok(FileOutcome::Cancelled);
        }
        let places = log.samples()[number].iter();
        done += places.map(|place| place.end - place.start).sum::<u64>();
        if number > 0 {
            read_sample(&mut log, number, window).await?;
        }
        // The first row is shown at once, the next ones once they fill a screen.
        if number == 0 || number == SEEN || number.is_multiple_of(BATCH) {
            file.take(log.take_entries()).await;
            reading.progress(&name, done.min(size));
        }
    }
    log.finish();
    file.take(log.take_entries()).await;
    reading
        .report
        .borrow_mut()
        .extend(log.notes().iter().cloned());
    Ok(FileOutcome::Taken)
}

async fn read_sample(log: &mut PackedLog, number: usize, window: &Window) -> Result<(), String> {
    let places = log.samples().get(number).cloned().unwrap_or_default();
    let mut parts = Vec::with_capacity(places.len());
    for place in places {
        parts.push(window.read(place).await?);
    }
    log.read_sample(number, &parts);
    Ok(())
}
