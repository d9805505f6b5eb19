//! Change feed of the shown folders, as server-sent events.
//!
//! Changes are debounced and sent together, each path once, so that ten thousand new files are a few events. A client
//! that reconnects continues where it was (`Last-Event-ID`); if that was too long ago, or changes were lost, it is
//! asked to read the list again.
//!
//! Local disks report changes; network disks, and those that cannot be watched, are polled once a second.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, stream};
use notify::event::{AccessKind, EventKind};
use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};
use serde::Serialize;
use tokio::sync::watch;

use super::listing::{Listing, ListingLine};
use super::notes::NotesFile;
use super::polling::{Touched, poll};
use super::roots::Roots;
use super::served::View;

/// The debounce interval: changes are sent after this time without further ones…
const QUIET: Duration = Duration::from_millis(60);
/// …and after this time at the latest.
const PATIENCE: Duration = Duration::from_millis(300);
/// The polling interval of disks that report no changes.
const POLL: Duration = Duration::from_secs(1);
/// The maximum number of paths per event.
const MOST_PATHS: usize = 1000;
/// The number of events stored for clients that reconnect.
const KEPT: usize = 256;

/// The changes of one debounce interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Changes {
    /// Files that are new or were written to.
    changed: Vec<ListingLine>,
    /// The addresses of deleted files, or of deleted folders with all their contents.
    gone: Vec<String>,
    /// Whether the file of notes was written to, also by another program.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    notes: bool,
}

/// The log of recent events.
#[derive(Debug, Default)]
struct Log {
    /// The number of the first stored event.
    first: u64,
    /// As JSON; `None` if changes were lost.
    events: VecDeque<Option<String>>,
}

/// The next event for a client, and the number of the following one.
#[derive(Debug, PartialEq)]
enum Next {
    Changes(String, u64),
    Reload(u64),
    Nothing,
}

impl Log {
    fn next_number(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn push(&mut self, event: Option<String>) {
        self.events.push_back(event);
        if self.events.len() > KEPT {
            self.events.pop_front();
            self.first += 1;
        }
    }

    fn next(&self, number: u64) -> Next {
        let Some(place) = number.checked_sub(self.first) else {
            return Next::Reload(self.next_number());
        };
        let event = usize::try_from(place)
            .ok()
            .and_then(|place| self.events.get(place));
        match event {
            Some(Some(json)) => Next::Changes(json.clone(), number + 1),
            // Reloading the list includes all later changes.
            Some(None) => Next::Reload(self.next_number()),
            None if number > self.next_number() => Next::Reload(self.next_number()),
            None => Next::Nothing,
        }
    }
}

/// Watches the shown folders.
pub struct Live {
    log: Arc<Mutex<Log>>,
    /// Notified on each event.
    grown: watch::Receiver<()>,
}

impl Live {
    /// Watches folders, and the file of notes in them, until the program ends.
    pub fn watch(roots: &Arc<Roots>, notes: Option<&NotesFile>) -> Live {
        let log = Arc::new(Mutex::new(Log::default()));
        let (grow, grown) = watch::channel(());
        let (send, receive) = mpsc::channel();
        let roots = Arc::clone(roots);
        let notes = notes.cloned();
        let kept = Arc::clone(&log);
        // Registering watches takes long in large folders, and a network disk may hang.
        std::thread::spawn(move || {
            let (_watchers, polled) = watchers(&roots, &send);
            let paths = notes.as_ref().map(NotesFile::paths);
            if !polled.is_empty() {
                poll(&roots, polled, notes, POLL, send);
            }
            collect(&roots, paths.as_ref(), &receive, &mut |event| {
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(event);
                grow.send_replace(());
            });
        });
        Live { log, grown }
    }

    fn next(&self, number: u64) -> Next {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next(number)
    }
}

/// Watches the roots. Returns the watchers, and the roots that no watcher can report.
fn watchers(roots: &Roots, send: &Sender<Touched>) -> (Vec<RecommendedWatcher>, Vec<usize>) {
    let mut watchers = Vec::new();
    let mut polled = Vec::new();
    for (number, root) in roots.iter() {
        let mode = match root.file {
            Some(_) => RecursiveMode::NonRecursive,
            None => RecursiveMode::Recursive,
        };
        let begin = || {
            let config = Config::default().with_follow_symlinks(false);
            let mut watcher = RecommendedWatcher::new(handler(send.clone()), config)?;
            watcher.watch(&root.folder, mode)?;
            notify::Result::Ok(watcher)
        };
        let watcher = (!is_on_network(&root.folder)).then(begin);
        match watcher {
            Some(Ok(watcher)) => watchers.push(watcher),
            Some(Err(_)) | None => polled.push(number),
        }
    }
    (watchers, polled)
}

fn handler(send: Sender<Touched>) -> impl Fn(notify::Result<notify::Event>) + Send + 'static {
    move |event| {
        let touched: Vec<Touched> = match event {
            Ok(event) if event.need_rescan() => vec![None],
            // Reads change nothing.
            Ok(event) if matches!(event.kind, EventKind::Access(kind) if !matches!(kind, AccessKind::Close(_))) => {
                Vec::new()
            }
            Ok(event) => event.paths.into_iter().map(Some).collect(),
            Err(_) => vec![None],
        };
        for touched in touched {
            // The receiver lives as long as the program.
            let _ = send.send(touched);
        }
    }
}

/// Whether a folder is on a network disk, which does not report changes of other machines.
fn is_on_network(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        // NFS, SMB, CIFS, SMB2, FUSE (sshfs), 9P, AFS, Ceph, Lustre.
        const NETWORK: [u32; 9] = [
            0x6969,
            0x517b,
            0xff53_4d42,
            0xfe53_4d42,
            0x6573_5546,
            0x0102_1997,
            0x5346_414f,
            0x00c3_6400,
            0x0bd0_0bd0,
        ];
        let stat = rustix::fs::statfs(folder);
        stat.is_ok_and(|stat| NETWORK.contains(&(stat.f_type as u32)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

/// Collects changes into events, until all senders are dropped.
fn collect(
    roots: &Arc<Roots>,
    notes: Option<&[PathBuf; 2]>,
    receive: &Receiver<Touched>,
    push: &mut dyn FnMut(Option<String>),
) {
    while let Ok(first) = receive.recv() {
        let mut is_lost = first.is_none();
        let mut paths: BTreeSet<PathBuf> = first.into_iter().collect();
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now()).min(QUIET);
            match receive.recv_timeout(left) {
                Ok(Some(path)) => drop(paths.insert(path)),
                Ok(None) => is_lost = true,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        if is_lost {
            push(None);
            continue;
        }
        let touched: BTreeSet<(usize, String)> =
            paths.iter().flat_map(|path| roots.within(path)).collect();
        let touched: Vec<(usize, String)> = touched.into_iter().collect();
        let mut events: Vec<Changes> = touched
            .chunks(MOST_PATHS)
            .map(|touched| changes(roots, touched))
            .collect();
        if notes.is_some_and(|notes| notes.iter().any(|path| paths.contains(path))) {
            events.push(Changes {
                notes: true,
                ..Changes::default()
            });
        }
        for changes in events {
            if changes != Changes::default() {
                push(serde_json::to_string(&changes).ok());
            }
        }
    }
}

/// Determines the current state of changed paths.
fn changes(roots: &Arc<Roots>, touched: &[(usize, String)]) -> Changes {
    let mut changes = Changes::default();
    for (number, within) in touched {
        let before = changes.changed.len();
        let lines = Listing::below(roots, *number, within).into_iter();
        let files = lines.filter(|line| matches!(line, ListingLine::File { .. }));
        changes.changed.extend(files);
        let is_there = roots.open(&format!("{number}/{within}")).is_ok()
            || roots.folder(*number, within).is_some();
        if changes.changed.len() == before && !is_there {
            changes.gone.push(format!("file/{number}/{within}"));
        }
    }
    changes
}

/// `GET /api/events`
pub async fn events(
    State(view): State<View>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let log = view
        .live
        .log
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .next_number();
    let next = last.map_or(log, |last| last.saturating_add(1));
    let mut grown = view.live.grown.clone();
    grown.mark_changed();
    let state = (view, grown, next, true);
    let events = stream::unfold(state, |(view, mut grown, next, is_first)| async move {
        if is_first {
            // Tells the client the number of the first event that it will receive.
            let hello = Event::default()
                .id(next.wrapping_sub(1).to_string())
                .event("ready")
                .data("");
            return Some((Ok(hello), (view, grown, next, false)));
        }
        loop {
            let (event, next) = match view.live.next(next) {
                Next::Changes(json, next) => (Event::default().event("changes").data(json), next),
                Next::Reload(next) => (Event::default().event("reload").data(""), next),
                Next::Nothing => {
                    // Ends with the program.
                    grown.changed().await.ok()?;
                    continue;
                }
            };
            let event = event.id((next.wrapping_sub(1)).to_string());
            return Some((Ok(event), (view, grown, next, false)));
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::publish::TestFolder;

    #[test]
    fn a_client_continues_where_it_was() {
        let mut log = Log::default();
        assert_eq!(log.next(0), Next::Nothing);
        log.push(Some("a".into()));
        assert_eq!(log.next(0), Next::Changes("a".into(), 1));
        assert_eq!(log.next(1), Next::Nothing);
        log.push(None);
        log.push(Some("b".into()));
        assert_eq!(log.next(1), Next::Reload(3));
        assert_eq!(log.next(2), Next::Changes("b".into(), 3));
        // A number from a previous run of the program.
        assert_eq!(log.next(9), Next::Reload(3));
        for _ in 0..KEPT {
            log.push(Some("c".into()));
        }
        assert_eq!(log.events.len(), KEPT);
        assert_eq!(log.next(2), Next::Reload(3 + KEPT as u64));
    }

    #[test]
    fn many_changes_are_few_events() {
        let all = TestFolder::with("view-collect", &["runs/a.json", "runs/deep/b.json"]);
        let roots = Arc::new(Roots::find(&[all.path("runs")]).unwrap());
        let (send, receive) = mpsc::channel();
        let folder = all.path("runs");
        for _ in 0..1000 {
            send.send(Some(folder.join("a.json"))).unwrap();
        }
        for name in ["deep", "absent.json", ".hidden.json", "deep/absent"] {
            send.send(Some(folder.join(name))).unwrap();
        }
        send.send(Some(all.path("elsewhere"))).unwrap();
        drop(send);
        let mut events = Vec::new();
        collect(&roots, None, &receive, &mut |event| {
            events.push(event.unwrap());
        });
        assert_eq!(events.len(), 1, "{events:?}");
        let event: serde_json::Value = serde_json::from_str(&events[0]).unwrap();
        let paths: Vec<&str> = event["changed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, ["file/0/a.json", "file/0/deep/b.json"]);
        assert_eq!(
            event["gone"],
            serde_json::json!(["file/0/absent.json", "file/0/deep/absent"])
        );
    }

    #[test]
    fn ten_thousand_files_are_reported_once_each() {
        let all = TestFolder::with("view-storm", &["runs/a.json"]);
        let roots = Arc::new(Roots::find(&[all.path("runs")]).unwrap());
        let live = Live::watch(&roots, None);
        // Until the folder is watched.
        let backoff = Instant::now() + Duration::from_secs(60);
        let mut next = 0;
        let mut seen = BTreeSet::new();
        let mut reloads = 0;
        let mut hear = |seen: &mut BTreeSet<String>| loop {
            match live.next(next) {
                Next::Nothing => return,
                Next::Reload(number) => {
                    reloads += 1;
                    next = number;
                }
                Next::Changes(json, number) => {
                    next = number;
                    let event: serde_json::Value = serde_json::from_str(&json).unwrap();
                    for line in event["changed"].as_array().unwrap() {
                        seen.insert(line["path"].as_str().unwrap().to_owned());
                    }
                }
            }
        };
        while seen.is_empty() && Instant::now() < backoff {
            fs::write(all.path("runs/a.json"), "again").unwrap();
            std::thread::sleep(Duration::from_millis(50));
            hear(&mut seen);
        }
        for number in 0..10_000 {
            fs::write(all.path(&format!("runs/{number}.json")), "{}").unwrap();
        }
        while seen.len() < 10_001 && Instant::now() < backoff {
            std::thread::sleep(Duration::from_millis(50));
            hear(&mut seen);
        }
        assert!(
            seen.len() == 10_001 || reloads > 0,
            "{} {reloads}",
            seen.len()
        );
    }
}
