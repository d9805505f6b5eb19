//! Rollout dumps of torch: the directory of the zip file has the places of the pickle and of the storages of each tensor,
//! and the samples are read one by one. Each piece of the file is read while the one before it is indexed.

use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, ready};
use volary_formats::import::index::torch_dump::{DumpStep, TorchDump, Training, TrainingFile};

use super::BATCH;
use super::finding::SETTLED;
use super::large_file::{Beginning, FileRead, LargeFile};
use super::packed::{self, SEEN};
use super::reading::{self, FileOutcome};
use super::whole_file_import::LARGEST_WHOLE;
use crate::source::{Source, Window, WindowPool};

/// Reads the samples of a dump.
pub(super) struct DumpReader {
    window: Rc<Window>,
    /// The storages of a sample may be in as many places as it has tensors.
    pool: WindowPool,
    dump: TorchDump,
    coming: Option<Coming>,
}

/// A piece of a file that is being read: its range and its bytes.
type Coming = (Range<u64>, LocalBoxFuture<'static, Result<Vec<u8>, String>>);

/// Opens a torch file, with the training dumps behind it, and reads its first sample; `None` if it must be read as a whole.
pub(super) async fn open(
    window: &Rc<Window>,
    mut dump: TorchDump,
    size: u64,
    trained: &[Rc<dyn Source>],
) -> Result<Option<DumpReader>, String> {
    let Some(trained) = open_training(window, size, trained).await? else {
        return Ok(None);
    };
    dump.join_with(trained);
    dump.keep_texts(true);
    window.source().read_through(dump.start());
    let mut reader = DumpReader {
        pool: WindowPool::on(Rc::clone(window.source())),
        window: Rc::clone(window),
        dump,
        coming: None,
    };
    let step = reader.next_sample().await?;
    Ok((step != DumpStep::Other).then_some(reader))
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
        let Some((members, _)) = packed::directory(&**file).await? else {
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

impl Beginning for DumpReader {
    fn read_to_end<'b>(self: Box<Self>, file: LargeFile<'b, '_>) -> FileRead<'b> {
        read_samples(file, *self).boxed_local()
    }
}

async fn read_samples(
    file: LargeFile<'_, '_>,
    mut reader: DumpReader,
) -> Result<FileOutcome, String> {
    let LargeFile {
        library, reading, ..
    } = file;
    let name = reader.window.source().name();
    let before = library.known.borrow().episodes.len();
    for number in 0.. {
        if reading::is_cancelled(library, reading.number) {
            return Ok(FileOutcome::Cancelled);
        }
        let dump = &mut reader.dump;
        if number == 0 || number == SEEN || number.is_multiple_of(BATCH) {
            file.take(dump.take_entries()).await;
            reading.progress(&name, dump.done());
        }
        dump.keep_texts(before + number < SETTLED);
        if reader.next_sample().await? != DumpStep::Sample {
            break;
        }
    }
    let mut dump = reader.dump;
    file.take(dump.take_entries()).await;
    reading.report.borrow_mut().extend(dump.notes());
    Ok(FileOutcome::Taken)
}
