//! Reads the files of all groups on several threads, in batches of bounded size, and passes on what is made of them in
//! the order of the files.
//!
//! A large file is read in place by one thread ([`volary_formats::import::index::open_in_place`]), as in the page, and all
//! threads work on its episodes.
//!
//! Invariants: the batches that are read but not passed on have few megabytes, except for files that can only be read as
//! a whole; results arrive in order, on the thread of the caller; if the caller fails, or a thread panics, all threads
//! end. The thread whose results are passed on next never waits for room.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Result;
use indicatif::ProgressBar;
use volary_episode::Episode;
use volary_formats::import::fields::Mappings;
use volary_formats::import::index::LineFilter;
use volary_formats::import::{InputFile, Note};

use super::large_file::{LargeFile, Part};
use super::{Group, Report, import_files};

/// The size of a batch in bytes.
const BATCH: u64 = 4 << 20;
/// The maximum number of threads. More wait for the file.
const MOST_THREADS: usize = 8;

/// How files are read.
pub struct Reading<'a> {
    pub mappings: &'a Mappings,
    /// The search for which lines of large files are left out.
    pub filter: Option<LineFilter>,
    /// The size of a batch in bytes.
    pub batch: u64,
}

impl<'a> Reading<'a> {
    pub fn of(mappings: &'a Mappings, filter: Option<LineFilter>) -> Reading<'a> {
        Reading {
            mappings,
            filter,
            batch: BATCH,
        }
    }
}

/// The position of a batch: the index of its group, and its own within the group.
type Position = (usize, usize);

/// What a thread does next.
enum Job {
    /// To read a group.
    Read { index: usize, group: Arc<Group> },
    /// To work on a batch.
    Work(Batch),
}

/// Episodes that were read.
struct Batch {
    position: Position,
    group: Arc<Group>,
    /// The number of bytes that the episodes were read from.
    bytes: u64,
    /// In the last batch of a group, the number of its files that could be read.
    files: Option<usize>,
    /// Each with the file that it was read from.
    episodes: Vec<(String, Episode)>,
    notes: Vec<Note>,
    /// What failed, with the name of the file.
    failed: Vec<(String, String)>,
}

/// The result of a batch, whose episodes became `result`.
struct Done<T> {
    batch: Batch,
    episodes: usize,
    result: T,
}

/// What is left to do.
struct Queue {
    groups: std::iter::Enumerate<std::vec::IntoIter<Group>>,
    batches: VecDeque<Batch>,
    /// The number of threads that read, and may add batches.
    reading: usize,
    /// The index of the group whose results are passed on next.
    front: usize,
    /// The size of the batches whose results were not passed on.
    in_work: u64,
}

/// What threads share.
struct Pool<'a> {
    queue: Mutex<Queue>,
    changed: Condvar,
    is_stopped: AtomicBool,
    threads: usize,
    reading: &'a Reading<'a>,
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
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        let waited = self.changed.wait(queue);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // Nobody is between the question and the wait.
        drop(self.queue());
        self.changed.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Whether another batch may be read.
    fn has_room(&self, queue: &Queue) -> bool {
        queue.in_work == 0 || queue.in_work < 2 * self.threads as u64 * self.reading.batch
    }

    /// Waits for a job, and takes it. `None` if there are none, or all work is stopped.
    fn take(&self) -> Option<Job> {
        let mut queue = self.queue();
        while !self.is_stopped() {
            if let Some(batch) = queue.batches.pop_front() {
                return Some(Job::Work(batch));
            }
            if self.has_room(&queue)
                && let Some((index, group)) = queue.groups.next()
            {
                queue.reading += 1;
                queue.in_work += group.bytes;
                return Some(Job::Read {
                    index,
                    group: Arc::new(group),
                });
            }
            if queue.reading == 0 && queue.groups.len() == 0 {
                return None;
            }
            queue = self.wait(queue);
        }
        None
    }

    /// Works until there are no more jobs.
    fn work<T>(&self, work: &dyn Fn(Vec<(String, Episode)>) -> T, results: &Sender<Done<T>>) {
        let _stop = StopOnPanic(self);
        let done = |mut batch: Batch| {
            let episodes = std::mem::take(&mut batch.episodes);
            let done = Done {
                episodes: episodes.len(),
                result: work(episodes),
                batch,
            };
            // Without a receiver, all work is stopped.
            let _ = results.send(done);
        };
        while let Some(job) = self.take() {
            match job {
                Job::Work(batch) => done(batch),
                Job::Read { index, group } => {
                    self.read(index, &group, &done);
                    self.queue().reading -= 1;
                    self.changed.notify_all();
                }
            }
        }
    }

    /// Reads a group. `done` works on a batch on this thread.
    fn read(&self, index: usize, group: &Arc<Group>, done: &dyn Fn(Batch)) {
        if let Some(file) = LargeFile::open(group, self.reading) {
            // Its batches count, not the file.
            self.queue().in_work -= group.bytes;
            self.changed.notify_all();
            if self.read_in_place(index, group, file, done) {
                return;
            }
            self.queue().in_work += group.bytes;
        }
        done(self.whole(index, group));
    }

    /// Reads a large file. Returns whether it could be read in place.
    fn read_in_place(
        &self,
        index: usize,
        group: &Arc<Group>,
        mut file: LargeFile,
        done: &dyn Fn(Batch),
    ) -> bool {
        let name = group.files.first().map(|path| path.to_string_lossy());
        let name = name.unwrap_or_default();
        let shown = group.shown(&name);
        for number in 0.. {
            let mut batch = Batch {
                position: (index, number),
                group: Arc::clone(group),
                bytes: 0,
                files: None,
                episodes: Vec::new(),
                notes: Vec::new(),
                failed: Vec::new(),
            };
            match file.next_part() {
                Ok(Part::Whole) => return false,
                Ok(Part::Episodes {
                    episodes,
                    bytes,
                    end,
                }) => {
                    let episodes = episodes.into_iter();
                    batch.bytes = bytes;
                    batch.episodes = episodes.map(|one| (shown.clone(), one)).collect();
                    if let Some(notes) = end {
                        (batch.files, batch.notes) = (Some(1), notes);
                    }
                }
                Err(error) => {
                    batch.files = Some(0);
                    batch
                        .failed
                        .push((name.clone().into_owned(), error.to_string()));
                }
            }
            let is_end = batch.files.is_some();
            if !self.add(batch, done) || is_end {
                break;
            }
        }
        true
    }

    /// Adds a batch, or works on it if the others have enough to do. Returns whether to go on.
    fn add(&self, batch: Batch, done: &dyn Fn(Batch)) -> bool {
        let mut queue = self.queue();
        while !self.is_stopped() && batch.position.0 != queue.front && !self.has_room(&queue) {
            queue = self.wait(queue);
        }
        queue.in_work += batch.bytes;
        if queue.batches.len() < self.threads {
            queue.batches.push_back(batch);
            drop(queue);
            self.changed.notify_all();
        } else {
            drop(queue);
            done(batch);
        }
        !self.is_stopped()
    }

    /// Reads the files of a group together.
    fn whole(&self, index: usize, group: &Arc<Group>) -> Batch {
        let (mut inputs, mut failed) = (Vec::new(), Vec::new());
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
        let files = inputs.len();
        let mut episodes = Vec::new();
        let notes = import_files(inputs, self.reading.mappings, &mut |file, episode| {
            episodes.push((group.shown(file), episode));
            Ok(())
        });
        Batch {
            position: (index, 0),
            group: Arc::clone(group),
            bytes: group.bytes,
            files: Some(files),
            episodes,
            notes: notes.unwrap_or_default(),
            failed,
        }
    }

    /// Makes room for other batches, once results were passed on.
    fn passed_on(&self, bytes: u64, front: usize) {
        let mut queue = self.queue();
        queue.in_work -= bytes;
        queue.front = front;
        drop(queue);
        self.changed.notify_all();
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
        queue: Mutex::new(Queue {
            groups: groups.into_iter().enumerate(),
            batches: VecDeque::new(),
            reading: 0,
            front: 0,
            in_work: 0,
        }),
        changed: Condvar::new(),
        is_stopped: AtomicBool::new(false),
        threads,
        reading,
    };
    let mut report = Report::default();
    thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..threads {
            let (pool, send) = (&pool, send.clone());
            scope.spawn(move || pool.work(work, &send));
        }
        drop(send);
        let mut early = BTreeMap::new();
        let mut next: Position = (0, 0);
        for done in receive {
            early.insert(done.batch.position, done);
            while let Some(Done {
                batch,
                episodes,
                result,
            }) = early.remove(&next)
            {
                next = match batch.files {
                    Some(_) => (next.0 + 1, 0),
                    None => (next.0, next.1 + 1),
                };
                report.files += batch.files.unwrap_or_default();
                report.episodes += episodes;
                for (name, error) in batch.failed {
                    report.add_loss(&batch.group.shown(&name), error);
                }
                report.add(&batch.group, &batch.notes);
                if batch.files.is_some() {
                    progress.inc(batch.group.files.len() as u64);
                }
                if let Err(error) = each(result) {
                    pool.stop();
                    return Err(error);
                }
                pool.passed_on(batch.bytes, next.0);
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
    use volary_analysis::search::Query;
    use volary_formats::import::index::is_large;

    use super::*;

    /// Reads the files with small batches; each episode becomes its file, id and name.
    fn names(folder: &PathBuf, search: Option<&Query>) -> Result<(Vec<[String; 3]>, Report)> {
        let mappings = Mappings::default();
        let reading = Reading {
            mappings: &mappings,
            filter: search.and_then(LineFilter::of),
            batch: 70_000,
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
        let said = said.repeat(250);
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
        assert!(is_large(numbered.len() as u64, b"{", false));
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
            assert!(note.text.starts_with("Line 2001"), "{}", note.text);
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
        // Both files are parsed at their start.
        assert!(found.len() < 300, "{}", found.len());

        // All threads end.
        std::fs::write(folder.join("a.jsonl"), lines(&|_| line("stop", "words "))).unwrap();
        let stopped = self::names(&folder, None).unwrap_err();
        assert_eq!(stopped.to_string(), "stopped");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
