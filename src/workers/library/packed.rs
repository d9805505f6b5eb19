//! Packed logs and rollout dumps: the directory contains the place of each sample, or of the storages of its tensors, and
//! samples are read one by one.

use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, ready};
use volary_core::json::Text;
use volary_trajectory::archive::listing::{ListedMember, Parts, Unlisted, list};
use volary_trajectory::import::index::packed::PackedLog;
use volary_trajectory::import::index::torch_dump::{DumpStep, TorchDump, Training, TrainingFile};

use super::finding::SETTLED;
use super::reading::{FileOutcome, RunningImport};
use super::whole_file_import::LARGEST_WHOLE;
use super::{BATCH, LibraryService, reading, streaming_import};
use crate::library::source::{Source, Window, WindowPool};

/// The number of rows that fit on a screen.
const SEEN: usize = 40;
/// The maximum number of members of a log.
const MOST_MEMBERS: usize = 500_000;

/// A zip file that is read in ranges.
pub(super) enum Packed {
    Log(Box<PackedLog>),
    Dump(Box<DumpReader>),
}

/// Whether rollout dumps are read in ranges.
pub(super) enum Dumps<'a> {
    /// As a whole.
    Not,
    /// With the training dumps that are behind them.
    With(&'a [Rc<dyn Source>]),
}

/// Reads the directory of a file and its first sample; `None` if it is something else. The window may show training dumps
/// behind the file, too.
pub(super) async fn open_packed(
    window: &Rc<Window>,
    file: &dyn Source,
    dumps: Dumps<'_>,
) -> Result<Option<Packed>, String> {
    let (size, name) = (file.size(), file.name());
    let Some((members, parts)) = directory(file).await? else {
        return Ok(None);
    };
    if let Some(mut dump) = TorchDump::of(&name, size, &members) {
        let Dumps::With(trained) = dumps else {
            return Ok(None);
        };
        let Some(trained) = open_training(window, size, trained).await? else {
            return Ok(None);
        };
        dump.join_with(trained);
        return open_dump(window, dump).await;
    }
    let Some(mut log) = PackedLog::of(&name, &members) else {
        return Ok(None);
    };
    // The header usually precedes the directory.
    if let Some((start, bytes)) = parts.into_known().into_iter().next_back() {
        window.hold(start, bytes);
    }
    log.read_head(&window.read(log.head()).await?);
    read_sample(&mut log, 0, window).await?;
    Ok(Some(Packed::Log(Box::new(log))))
}

/// The members of a zip file, and what was read of it; `None` if it is damaged. A truncated archive is imported as a whole.
async fn directory(file: &dyn Source) -> Result<Option<(Vec<ListedMember>, Parts)>, String> {
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

/// Opens the training dumps behind a rollout dump of `start` bytes; `None` if one cannot be read so.
async fn open_training(
    window: &Window,
    mut start: u64,
    files: &[Rc<dyn Source>],
) -> Result<Option<Vec<Training>>, String> {
    let mut opened = Vec::with_capacity(files.len());
    for file in files {
        let size = file.size();
        let Some((members, _)) = directory(&**file).await? else {
            return Ok(None);
        };
        let Some(training) = TrainingFile::of(start, size, &members) else {
            return Ok(None);
        };
        let mut head = Vec::with_capacity(training.head().len());
        for range in training.head() {
            if range.end - range.start > LARGEST_WHOLE {
                return Ok(None);
            }
            head.push(window.source().read(range.clone()).await?);
        }
        let Some(training) = training.open(&head) else {
            return Ok(None);
        };
        opened.push(training);
        start += size;
    }
    Ok(Some(opened))
}

/// Reads a torch file up to its first sample; `None` if it is no rollout dump.
async fn open_dump(window: &Rc<Window>, mut dump: TorchDump) -> Result<Option<Packed>, String> {
    dump.keep_texts(true);
    window.source().read_through(dump.start());
    let mut reader = DumpReader {
        pool: WindowPool::on(Rc::clone(window.source())),
        window: Rc::clone(window),
        dump,
        coming: None,
    };
    let step = reader.next_sample().await?;
    Ok((step != DumpStep::Other).then(|| Packed::Dump(Box::new(reader))))
}

pub(super) async fn read_dump<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    id: &Text,
    mut reader: DumpReader,
) -> Result<FileOutcome, String> {
    let name = reader.window.source().name();
    let before = library.known.borrow().episodes.len();
    for number in 0.. {
        if reading::is_cancelled(library, reading.number) {
            return Ok(FileOutcome::Cancelled);
        }
        let dump = &mut reader.dump;
        if number == 0 || number == SEEN || number.is_multiple_of(BATCH) {
            streaming_import::take(library, reading, id, dump.take_entries()).await;
            reading.progress(&name, dump.done());
        }
        dump.keep_texts(before + number < SETTLED);
        if reader.next_sample().await? != DumpStep::Sample {
            break;
        }
    }
    let mut dump = reader.dump;
    streaming_import::take(library, reading, id, dump.take_entries()).await;
    reading.notes.borrow_mut().extend(dump.notes());
    Ok(FileOutcome::Taken)
}

/// Reads the samples of a dump, each piece of the file while the one before it is indexed.
pub(super) struct DumpReader {
    window: Rc<Window>,
    /// The storages of a sample may be in as many places as it has tensors.
    pool: WindowPool,
    dump: TorchDump,
    coming: Option<Coming>,
}

/// A piece of a file that is being read: its range and its bytes.
type Coming = (Range<u64>, LocalBoxFuture<'static, Result<Vec<u8>, String>>);

impl DumpReader {
    /// Reads until the next sample was read, or there are no more.
    async fn next_sample(&mut self) -> Result<DumpStep, String> {
        loop {
            let ranges = match self.dump.advance() {
                DumpStep::Wanted(ranges) => ranges,
                step => return Ok(step),
            };
            let length = |range: &Range<u64>| range.end - range.start;
            if ranges.iter().any(|range| length(range) > LARGEST_WHOLE) {
                return Ok(DumpStep::Other);
            }
            let coming = self
                .coming
                .take_if(|(coming, _)| ranges == [coming.clone()]);
            let parts = match coming {
                Some((_, bytes)) => vec![bytes.await?],
                None => self.pool.read(&ranges).await?,
            };
            if let [piece] = ranges.as_slice()
                && let Some(next) = self.dump.ahead(piece)
            {
                self.coming = Some((next.clone(), self.begin(next)));
            }
            self.dump.feed(parts);
        }
    }

    /// Begins to read a range.
    fn begin(&self, range: Range<u64>) -> LocalBoxFuture<'static, Result<Vec<u8>, String>> {
        let source = Rc::clone(self.window.source());
        let mut bytes = async move { source.read(range).await }.boxed_local();
        match (&mut bytes).now_or_never() {
            Some(bytes) => ready(bytes).boxed_local(),
            None => bytes,
        }
    }
}

pub(super) async fn read_packed<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    id: &Text,
    window: &Window,
    mut log: PackedLog,
) -> Result<FileOutcome, String> {
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
            streaming_import::take(library, reading, id, log.take_entries()).await;
            reading.progress(&name, done.min(size));
        }
    }
    log.finish();
    streaming_import::take(library, reading, id, log.take_entries()).await;
    reading.notes.borrow_mut().extend_from_slice(log.notes());
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
