//! The trajectories below the paths: a row of each stays in memory, and one is read from its file when a tool needs it.
//!
//! Invariants: no more is in memory than the rows, the batches of the reading driver and [`MOST_OPEN`] trajectories. Before
//! each answer the files are listed; those that changed, and those that are read together with them, are read again. Ids differ:
//! one that another file has too gets a number, as in the library of the page, and keeps it.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::bail;
use tokio_util::sync::CancellationToken;
use volary_analysis::behaviour::diagnostics::{
    DiagnosticKind, TaskSteps, diagnostics, extra_steps,
};
use volary_analysis::result::TaskOutcome;
use volary_analysis::search::Query;
use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_episode::Episode;
use volary_formats::import::fields::Mappings;
use volary_formats::import::ids::variants;

use super::failure::ToolFailure;
use super::files::Files;
use crate::inputs::{self, Report};

/// The number of trajectories that stay in memory after they were read.
const MOST_OPEN: usize = 8;
/// The number of problems with files that are reported.
const MOST_PROBLEMS: usize = 20;

/// A trajectory in the list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file, as other commands report it; empty if several files contain the trajectory.
    pub file: String,
    /// The row, whose id is that of the list.
    pub row: Arc<Row>,
    /// The id in the file.
    pub own_id: Text,
    /// For each of [`DiagnosticKind::ALL`], the number of findings and the first step with one.
    pub diagnostics: [(usize, usize); 8],
    /// The file on disk; `None` if it is not known.
    on_disk: Option<PathBuf>,
}

/// The list as it is now.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub entries: Vec<Arc<Entry>>,
    /// What could not be read, for display; at most [`MOST_PROBLEMS`].
    pub problems: Vec<String>,
}

#[derive(Default)]
struct State {
    files: Files,
    listing: Arc<Listing>,
    /// The last trajectories that were read.
    open: VecDeque<(Arc<Entry>, Arc<Episode>)>,
}

/// The trajectories below paths. Threads share it.
pub struct Catalog {
    paths: Vec<PathBuf>,
    mappings: Mappings,
    state: Mutex<State>,
}

impl Catalog {
    /// Nothing is read before the first question.
    pub fn new(paths: Vec<PathBuf>, mappings: Mappings) -> Catalog {
        Catalog {
            paths,
            mappings,
            state: Mutex::default(),
        }
    }

    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// All trajectories, as they are on disk now. Others wait while files are read. That is never cancelled, since the next
    /// question would begin it again.
    pub fn listing(&self) -> Result<Arc<Listing>, ToolFailure> {
        Ok(self.current()?.listing.clone())
    }

    fn current(&self) -> Result<MutexGuard<'_, State>, ToolFailure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let files = Files::list(&self.paths).map_err(ToolFailure::files)?;
        let changed = files.changed_since(&state.files);
        if changed.is_empty() {
            return Ok(state);
        }
        let listing = Listing::clone(&state.listing);
        let listing = self.updated(listing, &files, &changed)?;
        *state = State {
            files,
            listing: Arc::new(listing),
            open: VecDeque::new(),
        };
        Ok(state)
    }

    /// The list after these files changed.
    fn updated(
        &self,
        mut listing: Listing,
        files: &Files,
        changed: &BTreeSet<PathBuf>,
    ) -> Result<Listing, ToolFailure> {
        let mut again = files.read_with(changed);
        let mut entries = std::mem::take(&mut listing.entries);
        let former: HashMap<(String, Text), Text> = entries
            .iter()
            .map(|entry| (entry.place(), entry.row.id.clone()))
            .collect();
        let is_first = entries.is_empty();
        if is_first || entries.iter().any(|entry| entry.on_disk.is_none()) {
            // Folders are passed as such, so that files of other kinds in them are no problems.
            again = self.paths.iter().cloned().collect();
            entries.clear();
            listing.problems.clear();
        } else {
            let is_stale = |file: Option<&Path>| {
                file.is_some_and(|file| again.contains(file) || changed.contains(file))
            };
            entries.retain(|entry| !is_stale(entry.on_disk.as_deref()));
            listing
                .problems
                .retain(|problem| !again.iter().any(|file| starts_with(problem, file)));
        }
        if !files.is_empty() && !again.is_empty() {
            let again: Vec<PathBuf> = again.into_iter().collect();
            let mut found = Vec::new();
            let never = CancellationToken::new();
            let report = self.read(&again, None, &never, &|_| true, &mut |entry, _| {
                found.push(entry);
                Ok(())
            })?;
            for entry in &mut found {
                entry.on_disk = files.holding(&entry.file).map(Path::to_owned);
            }
            found.sort_by(|one, other| one.on_disk.cmp(&other.on_disk));
            let mut taken: HashSet<Text> =
                entries.iter().map(|entry| entry.row.id.clone()).collect();
            // Those that were there keep their ids, in whichever order the files are.
            let (known, new): (Vec<Entry>, Vec<Entry>) = found
                .into_iter()
                .partition(|entry| former.contains_key(&entry.place()));
            for mut entry in known.into_iter().chain(new) {
                entry.take_free_id(former.get(&entry.place()), &mut taken);
                entries.push(Arc::new(entry));
            }
            if is_first {
                let losses = report.notes.iter().filter(|note| note.is_loss);
                let losses = losses.map(|note| format!("{}: {}", note.file, note.text));
                listing.problems.extend(losses.take(MOST_PROBLEMS));
            }
        }
        // Stable, so the trajectories of a file keep their order.
        entries.sort_by(|one, other| one.on_disk.cmp(&other.on_disk));
        count_extra_steps(&mut entries);
        listing.entries = entries;
        Ok(listing)
    }

    /// Passes the trajectories of paths that are wanted to `each`, in the order of the files. With a query, lines of large
    /// files may be skipped if they lack its words.
    fn read(
        &self,
        paths: &[PathBuf],
        query: Option<&Query>,
        cancelled: &CancellationToken,
        is_wanted: &(dyn Fn(&Episode) -> bool + Sync),
        each: &mut dyn FnMut(Entry, Episode) -> anyhow::Result<()>,
    ) -> Result<Report, ToolFailure> {
        let work = |episodes: Vec<(String, Episode)>| -> Vec<(Entry, Episode)> {
            let wanted = episodes.into_iter();
            let wanted = wanted.filter(|(_, episode)| is_wanted(episode));
            wanted
                .map(|(file, episode)| (Entry::of(file, &episode), episode))
                .collect()
        };
        let mut stopped = false;
        let report = inputs::read_batches(paths, &self.mappings, query, &work, &mut |batch| {
            for (entry, episode) in batch {
                if cancelled.is_cancelled() {
                    stopped = true;
                    bail!("cancelled");
                }
                each(entry, episode)?;
            }
            Ok(())
        });
        match report {
            _ if stopped => Err(ToolFailure::Cancelled),
            Ok(report) => Ok(report),
            // Also if there is no trajectory in them.
            Err(error) => Ok(Report {
                notes: vec![inputs::Remark {
                    file: String::new(),
                    is_loss: true,
                    text: format!("{error:#}"),
                }],
                ..Report::default()
            }),
        }
    }

    /// Passes the trajectories that may match a query to `each`, until it returns `false`.
    pub fn search(
        &self,
        query: &Query,
        cancelled: &CancellationToken,
        is_wanted: &(dyn Fn(&Episode) -> bool + Sync),
        each: &mut dyn FnMut(Entry, Episode) -> bool,
    ) -> Result<(), ToolFailure> {
        let listing = self.listing()?;
        let entries = listing.entries.iter();
        let listed: HashMap<(&str, &str), &Arc<Entry>> = entries
            .map(|entry| ((&*entry.file, &*entry.own_id), entry))
            .collect();
        self.read(
            &self.paths,
            Some(query),
            cancelled,
            is_wanted,
            &mut |mut entry, episode| {
                // A file that has changed since is listed the next time.
                if let Some(listed) = listed.get(&(&*entry.file, &*entry.own_id)) {
                    entry.row = Arc::clone(&listed.row);
                }
                if each(entry, episode) {
                    Ok(())
                } else {
                    bail!("enough")
                }
            },
        )?;
        Ok(())
    }

    /// Reads a trajectory by its id, and by its file if several have the id.
    pub fn open(
        &self,
        id: &str,
        file: Option<&str>,
        cancelled: &CancellationToken,
    ) -> Result<(Arc<Entry>, Arc<Episode>), ToolFailure> {
        let mut state = self.current()?;
        let entry = find(&state.listing, id, file)?;
        let known = state
            .open
            .iter()
            .find(|(known, _)| Arc::ptr_eq(known, &entry));
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let paths: Vec<PathBuf> = match &entry.on_disk {
            Some(file) => {
                let wanted = BTreeSet::from([file.clone()]);
                state.files.read_with(&wanted).into_iter().collect()
            }
            None => self.paths.clone(),
        };
        let mut found = None;
        let has_id = |episode: &Episode| episode.id == entry.own_id;
        self.read(&paths, None, cancelled, &has_id, &mut |one, episode| {
            if one.file == entry.file {
                found = Some(episode);
                bail!("found");
            }
            Ok(())
        })?;
        let Some(mut episode) = found else {
            return Err(ToolFailure::Changed { id: id.to_owned() });
        };
        episode.id = entry.row.id.clone();
        let opened = (entry, Arc::new(episode));
        state.open.push_front(opened.clone());
        state.open.truncate(MOST_OPEN);
        Ok(opened)
    }
}

/// The entry with an id: that of the list, or with a file the one in that file.
pub fn find(listing: &Listing, id: &str, file: Option<&str>) -> Result<Arc<Entry>, ToolFailure> {
    let mut entries = listing.entries.iter();
    let found = match file {
        None => entries.find(|entry| *entry.row.id == *id),
        Some(file) => entries
            .find(|entry| entry.file == file && (*entry.row.id == *id || *entry.own_id == *id)),
    };
    let found = found.cloned();
    found.ok_or_else(|| ToolFailure::NoTrajectory { id: id.to_owned() })
}

fn starts_with(problem: &str, file: &Path) -> bool {
    file.to_str().is_some_and(|file| problem.starts_with(file))
}

impl Entry {
    fn of(file: String, episode: &Episode) -> Entry {
        let mut counts = [(0, 0); 8];
        for diagnostic in diagnostics(episode) {
            let kinds = counts.iter_mut().zip(DiagnosticKind::ALL);
            for ((count, first), kind) in kinds {
                if kind == diagnostic.kind {
                    if *count == 0 {
                        *first = diagnostic.step;
                    }
                    *count += 1;
                }
            }
        }
        Entry {
            file,
            row: Arc::new(Row::of(episode, Vec::new())),
            own_id: episode.id.clone(),
            diagnostics: counts,
            on_disk: None,
        }
    }

    /// The file, and the id in it.
    fn place(&self) -> (String, Text) {
        (self.file.clone(), self.own_id.clone())
    }

    /// Takes an id that no other entry has: the former one, if it is free.
    fn take_free_id(&mut self, former: Option<&Text>, taken: &mut HashSet<Text>) {
        let mut ids = former.cloned().into_iter().chain(variants(&self.own_id));
        let free = ids.find(|id| taken.insert(id.clone()));
        if let Some(id) = free.filter(|id| *id != self.row.id) {
            Arc::make_mut(&mut self.row).id = id;
        }
    }

    /// The diagnostics that were found: kind, number and first step.
    pub fn found(&self) -> impl Iterator<Item = (DiagnosticKind, usize, usize)> {
        let kinds = DiagnosticKind::ALL.into_iter().zip(self.diagnostics);
        kinds
            .filter(|(_, (count, _))| *count > 0)
            .map(|(kind, (count, first))| (kind, count, first))
    }
}

/// Fills in the diagnostic that compares the trials of a task.
fn count_extra_steps(entries: &mut [Arc<Entry>]) {
    let tasks: Vec<TaskSteps<'_>> = entries
        .iter()
        .map(|entry| {
            let row = &entry.row;
            let verdict = TaskOutcome::of(row.reward, Some(&row.outcome), &row.scores);
            TaskSteps {
                task: row.task.as_ref().map(|task| &*task.id),
                steps: row.steps,
                succeeded: verdict.map(|verdict| verdict == TaskOutcome::Succeeded),
            }
        })
        .collect();
    let extra = extra_steps(&tasks);
    let shortest: Vec<(usize, usize)> = extra
        .iter()
        .zip(&tasks)
        .map(|(extra, task)| {
            let extra = extra.unwrap_or_default();
            (extra, (task.steps + 1).saturating_sub(extra))
        })
        .collect();
    for (entry, (extra, first)) in entries.iter_mut().zip(shortest) {
        let found = if extra > 0 { (extra, first) } else { (0, 0) };
        if entry.diagnostics[0] != found {
            Arc::make_mut(entry).diagnostics[0] = found;
        }
    }
}
