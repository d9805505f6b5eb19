//! Reads the files of all groups on several threads, in batches of bounded size, and passes on what is made of them in
//! the order of the files.
//!
//! Invariants: the batches that are read but not passed on have few megabytes, except for files that can only be read as
//! a whole; results arrive in order, on the thread of the caller; if the caller fails, or a thread panics, all threads
//! end.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Result;
use indicatif::ProgressBar;
use volary_episode::Episode;
use volary_formats::import::fields::Mappings;
use volary_formats::import::index::LARGE;
use volary_formats::import::{InputFile, Note};

use super::lines::{LineBatch, LineFile, Skipping};
use super::{Group, Report, import_files};

/// The sizes by which files are divided, in bytes.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// The size from which a file of lines is read in batches.
    pub large: u64,
    /// The size of a batch.
    pub batch: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            // As in the page.
            large: LARGE,
            batch: 4 << 20,
        }
    }
}

/// The maximum number of threads. More wait for the file.
const MOST_THREADS: usize = 8;

/// How files are read.
pub struct Reading<'a> {
    pub mappings: &'a Mappings,
    /// The search for which lines of large files may be skipped.
    pub search: Option<Skipping<'a>>,
    pub sizes: Sizes,
}

/// Files or lines that are read at once.
enum Job {
    Files,
    Lines(LineBatch),
    /// The file cannot be read on.
    Failed(String),
}

/// A job with its number, from 0, and its size.
struct Numbered {
    number: usize,
    group: Arc<Group>,
    bytes: u64,
    /// The number of files that it completes.
    files: usize,
    job: Job,
}

/// The result of a job.
struct Done<T> {
    number: usize,
    group: Arc<Group>,
    bytes: u64,
    /// The number of files that it completes, and of those that could be read.
    files: usize,
    read: usize,
    episodes: usize,
    notes: Vec<Note>,
    /// What failed, with the name of the file.
    failed: Vec<(String, String)>,
    result: T,
}

/// The jobs that are left.
struct Source<'a> {
    groups: std::vec::IntoIter<Group>,
    open: Option<(LineFile, Arc<Group>)>,
    number: usize,
    /// The size of the jobs whose results were not passed on.
    in_work: u64,
    most: u64,
    reading: &'a Reading<'a>,
}

impl Source<'_> {
    /// Whether another job may begin.
    fn has_room(&self) -> bool {
        self.in_work == 0 || self.in_work < self.most
    }

    fn next(&mut self) -> Option<Numbered> {
        if let Some((mut file, group)) = self.open.take() {
            match file.next_batch() {
                Ok(Some(batch)) => {
                    let bytes = batch.bytes.len() as u64;
                    let files = usize::from(batch.is_end);
                    if !batch.is_end {
                        self.open = Some((file, group.clone()));
                    }
                    return Some(self.numbered(group, bytes, files, Job::Lines(batch)));
                }
                Ok(None) => {}
                Err(error) => {
                    return Some(self.numbered(group, 0, 1, Job::Failed(error.to_string())));
                }
            }
        }
        let group = Arc::new(self.groups.next()?);
        if let [path] = group.files.as_slice()
            && group.bytes >= self.reading.sizes.large
        {
            let name = path.to_string_lossy();
            let size = self.reading.sizes.batch;
            let file = group.root.join(path);
            // Errors are reported when it is read.
            if let Ok(Some(mut file)) = LineFile::open(&file, &name, self.reading.mappings, size) {
                if let Some(search) = &self.reading.search {
                    file.skip_for(search);
                }
                self.open = Some((file, group));
                return self.next();
            }
        }
        let (bytes, files) = (group.bytes, group.files.len());
        Some(self.numbered(group, bytes, files, Job::Files))
    }

    fn numbered(&mut self, group: Arc<Group>, bytes: u64, files: usize, job: Job) -> Numbered {
        let number = self.number;
        self.number += 1;
        self.in_work += bytes;
        Numbered {
            number,
            group,
            bytes,
            files,
            job,
        }
    }
}

/// What threads share.
struct Pool<'a> {
    source: Mutex<Source<'a>>,
    has_room: Condvar,
    is_stopped: AtomicBool,
}

/// Stops the other threads when it is dropped by a panic.
struct StopOnPanic<'a, 'b>(&'a Pool<'b>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

impl<'a> Pool<'a> {
    fn source(&self) -> MutexGuard<'_, Source<'a>> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // Nobody is between the question and the wait.
        drop(self.source());
        self.has_room.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Waits for room, and takes a job. `None` if there are none, or all work is stopped.
    fn take(&self) -> Option<Numbered> {
        let mut source = self.source();
        while !self.is_stopped() {
            if source.has_room() {
                return source.next();
            }
            source = self
                .has_room
                .wait(source)
                .unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn finished(&self, bytes: u64) {
        self.source().in_work -= bytes;
        self.has_room.notify_all();
    }

    /// Works until there are no more jobs.
    fn work<T>(
        &self,
        reading: &Reading<'_>,
        work: &dyn Fn(Vec<(String, Episode)>) -> T,
        results: &Sender<Done<T>>,
    ) {
        let _stop = StopOnPanic(self);
        while let Some(job) = self.take() {
            let done = self.done(job, reading, work);
            if results.send(done).is_err() {
                return;
            }
        }
    }

    fn done<T>(
        &self,
        job: Numbered,
        reading: &Reading<'_>,
        work: &dyn Fn(Vec<(String, Episode)>) -> T,
    ) -> Done<T> {
        let Numbered {
            number,
            group,
            bytes,
            files,
            job,
        } = job;
        let mut failed = Vec::new();
        let mut episodes = Vec::new();
        let mut read = files;
        let mut skipped = 0;
        let notes = match job {
            Job::Failed(error) => {
                read = 0;
                let name = group.files.first().map(|path| path.to_string_lossy());
                failed.push((name.unwrap_or_default().into_owned(), error));
                Vec::new()
            }
            Job::Lines(batch) => {
                let (found, notes) = self.lines(&batch, reading);
                let file = group.files.first().map(|path| path.to_string_lossy());
                let file = group.shown(&file.unwrap_or_default());
                // Something is there, whether or not it is wanted.
                skipped = usize::from(found.is_empty() && batch.may_skip);
                episodes = found
                    .into_iter()
                    .map(|episode| (file.clone(), episode))
                    .collect();
                notes
            }
            Job::Files => {
                let mut inputs = Vec::new();
                for path in &group.files {
                    let name = path.to_string_lossy().into_owned();
                    match fs::read(group.root.join(path)) {
                        Ok(bytes) => inputs.push(InputFile {
                            name: Some(name),
                            bytes,
                        }),
                        Err(error) => failed.push((name, error.to_string())),
                    }
                }
                read = inputs.len();
                import_files(inputs, reading.mappings, &mut |file, episode| {
                    episodes.push((group.shown(file), episode));
                    Ok(())
                })
                .unwrap_or_default()
            }
        };
        Done {
            number,
            bytes,
            files,
            read,
            episodes: episodes.len() + skipped,
            notes,
            failed,
            result: work(episodes),
            group,
        }
    }

    fn lines(&self, batch: &LineBatch, reading: &Reading<'_>) -> (Vec<Episode>, Vec<Note>) {
        let reader = &batch.shared.reader;
        let (bytes, first, is_end) = (&batch.bytes, batch.first, batch.is_end);
        let search = reading.search.as_ref().filter(|_| batch.may_skip);
        let Some(Skipping { filter, .. }) = search else {
            let mut read = reader.read(bytes, first, is_end, None);
            batch.make_ids_differ(&mut read.episodes, &|| self.is_stopped());
            return (read.episodes, read.notes);
        };
        if !filter.may_match(bytes) {
            return (Vec::new(), Vec::new());
        }
        let wanted = |line: &[u8]| filter.may_match(line);
        let read = reader.read(bytes, first, is_end, Some(&wanted));
        (read.episodes, read.notes)
    }
}

/// Reads all groups. `work` runs on any thread, `each` on this one.
pub fn read<T: Send>(
    groups: Vec<Group>,
    reading: &Reading<'_>,
    progress: &ProgressBar,
    work: &(dyn Fn(Vec<(String, Episode)>) -> T + Sync),
    each: &mut dyn FnMut(T) -> Result<()>,
) -> Result<Report> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MOST_THREADS);
    let pool = Pool {
        source: Mutex::new(Source {
            groups: groups.into_iter(),
            open: None,
            number: 0,
            in_work: 0,
            most: (2 * threads * reading.sizes.batch) as u64,
            reading,
        }),
        has_room: Condvar::new(),
        is_stopped: AtomicBool::new(false),
    };
    let mut report = Report::default();
    thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..threads {
            let (pool, send) = (&pool, send.clone());
            scope.spawn(move || pool.work(reading, work, &send));
        }
        drop(send);
        let mut early = BTreeMap::new();
        let mut next = 0;
        for done in receive {
            early.insert(done.number, done);
            while let Some(done) = early.remove(&next) {
                next += 1;
                report.files += done.read;
                report.episodes += done.episodes;
                for (name, error) in done.failed {
                    report.add_loss(&done.group.shown(&name), error);
                }
                report.add(&done.group, &done.notes);
                progress.inc(done.files as u64);
                let bytes = done.bytes;
                if let Err(error) = each(done.result) {
                    pool.stop();
                    return Err(error);
                }
                pool.finished(bytes);
            }
        }
        Ok(())
    })?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use anyhow::bail;
    use volary_analysis::search::{Query, RawFilter};

    use super::*;

    const SIZES: Sizes = Sizes {
        large: 100_000,
        batch: 70_000,
    };

    /// Reads the files with small batches; each episode becomes its file, id and name.
    fn names(folder: &PathBuf, search: Option<&Query>) -> Result<(Vec<[String; 3]>, Report)> {
        let mappings = Mappings::default();
        let search = search.map(|query| Skipping {
            query,
            filter: RawFilter::of(query).unwrap(),
        });
        let reading = Reading {
            mappings: &mappings,
            search,
            sizes: SIZES,
        };
        let mut names = Vec::new();
        let work = |episodes: Vec<(String, Episode)>| {
            let episodes = episodes.into_iter();
            let names = episodes.map(|(file, it)| [file, it.id.to_string(), it.name.to_string()]);
            names.collect::<Vec<_>>()
        };
        let mut each = |some: Vec<[String; 3]>| {
            if some.iter().any(|[_, _, name]| name == "stop") {
                bail!("stopped");
            }
            names.extend(some);
            Ok(())
        };
        let groups = super::super::groups(std::slice::from_ref(folder))?;
        let report = read(groups, &reading, &ProgressBar::hidden(), &work, &mut each)?;
        Ok((names, report))
    }

    fn line(name: &str, said: &str) -> String {
        let said = said.repeat(20);
        format!(
            "{{\"id\": \"{name}\", \"messages\": [{{\"role\": \"user\", \"content\": \"{said}\"}}]}}\n"
        )
    }

    #[test]
    fn episodes_are_in_the_order_of_their_files() {
        let folder = std::env::temp_dir().join(format!("volary-batches-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("b")).unwrap();
        std::fs::create_dir_all(folder.join("c")).unwrap();
        let lines = |of: &dyn Fn(usize) -> String| (0..2_000).map(of).collect::<String>();
        let numbered = lines(&|number| line(&format!("task-{}", number / 2), "some words "));
        std::fs::write(folder.join("a.jsonl"), numbered + "{oops}\n").unwrap();
        let small = line("small", "few words ");
        std::fs::write(folder.join("b/small.jsonl"), small).unwrap();
        let rare = |number| match number {
            1_500 => line("rare", "a sapphire "),
            _ => line("other", "some words "),
        };
        std::fs::write(folder.join("c/z.jsonl"), lines(&rare)).unwrap();
        let (names, report) = names(&folder, None).unwrap();
        assert_eq!((report.files, report.episodes), (3, 4_001));
        assert!(report.has_losses());
        for note in &report.notes {
            assert!(note.text.starts_with("Line 2001 "), "{}", note.text);
        }
        let name = |place: usize| [names[place][1].as_str(), names[place][2].as_str()];
        assert_eq!(name(0), ["task-0", "task-0"]);
        assert_eq!(name(1), ["task-0 (2)", "task-0"]);
        assert_eq!(name(1_999), ["task-999 (2)", "task-999"]);
        assert_eq!(name(2_000), ["small", "small"]);
        assert_eq!(name(2_001), ["other", "other"]);
        assert_eq!(name(4_000), ["other (1999)", "other"]);

        let query = Query::parse("sapphire");
        let (found, _) = self::names(&folder, Some(&query)).unwrap();
        assert!(found.iter().any(|[_, _, name]| name == "rare"));
        assert!(found.len() < 100, "{}", found.len());

        // All threads end.
        std::fs::write(folder.join("a.jsonl"), lines(&|_| line("stop", "words "))).unwrap();
        let stopped = self::names(&folder, None).unwrap_err();
        assert_eq!(stopped.to_string(), "stopped");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
