//! Change feed of files that are written to while the library shows them.
//!
//! Invariants: one refresh runs at a time, and changes that arrive meanwhile are merged into the next one, once per
//! file. A file that is no longer written to is reported as settled, once.

use std::collections::{BTreeMap, BTreeSet};

use volary_core::json::Text;
use volary_protocol::library::{FileChanges, RemoteFile};

/// Seconds without a write after which a file is settled.
const QUIET: f64 = 10.0;

/// An effect for the page to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Listen to the changes of the site's files from now on.
    Listen,
    /// Have the worker apply this, and call [`LiveFiles::done`] afterwards.
    Refresh(FileChanges),
    /// Have the worker read the whole list again, and call [`LiveFiles::done`] afterwards.
    Reload,
    /// Call [`LiveFiles::woken`] after this many seconds.
    Wake(f64),
}

/// The changed files, keyed by address. Times are in seconds of any monotonic clock.
#[derive(Debug, Default)]
pub struct LiveFiles {
    is_listening: bool,
    /// Whether the worker is reading the list or a refresh.
    is_busy: bool,
    must_reload: bool,
    changed: BTreeMap<Text, RemoteFile>,
    gone: BTreeSet<Text>,
    settled: BTreeSet<Text>,
    /// The time of the last write, for files that are not settled.
    growing: BTreeMap<Text, f64>,
    is_due: bool,
}

impl LiveFiles {
    /// Notes that the worker starts to read the list. A second list is that of a new worker: the page listens already.
    pub fn begin(&mut self) -> Vec<Effect> {
        self.is_busy = true;
        if std::mem::replace(&mut self.is_listening, true) {
            Vec::new()
        } else {
            vec![Effect::Listen]
        }
    }

    /// Handles changed and deleted files.
    pub fn changes(&mut self, changed: Vec<RemoteFile>, gone: Vec<Text>, now: f64) -> Vec<Effect> {
        for place in gone {
            let is_in = |url: &Text| {
                let rest = url.strip_prefix(&*place);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            self.changed.retain(|url, _| !is_in(url));
            self.growing.retain(|url, _| !is_in(url));
            self.settled.retain(|url| !is_in(url));
            self.gone.insert(place);
        }
        for file in changed {
            self.gone.remove(&file.url);
            self.settled.remove(&file.url);
            self.growing.insert(file.url.clone(), now);
            self.changed.insert(file.url.clone(), file);
        }
        self.next(now)
    }

    /// Handles that changes were missed: the whole list is read again.
    pub fn reload(&mut self, now: f64) -> Vec<Effect> {
        self.must_reload = true;
        self.changed.clear();
        self.gone.clear();
        self.next(now)
    }

    /// Handles that the list, or a refresh, was read.
    pub fn done(&mut self, now: f64) -> Vec<Effect> {
        self.is_busy = false;
        self.next(now)
    }

    /// Handles the timer of [`Effect::Wake`].
    pub fn woken(&mut self, now: f64) -> Vec<Effect> {
        self.is_due = false;
        let (quiet, growing) = std::mem::take(&mut self.growing)
            .into_iter()
            .partition(|(_, last)| now - last >= QUIET);
        self.growing = growing;
        self.settled.extend(BTreeMap::into_keys(quiet));
        self.next(now)
    }

    fn next(&mut self, now: f64) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.is_busy {
            if std::mem::take(&mut self.must_reload) {
                self.is_busy = true;
                effects.push(Effect::Reload);
            } else {
                let refresh = FileChanges {
                    changed: std::mem::take(&mut self.changed).into_values().collect(),
                    gone: std::mem::take(&mut self.gone).into_iter().collect(),
                    settled: std::mem::take(&mut self.settled).into_iter().collect(),
                };
                if refresh != FileChanges::default() {
                    self.is_busy = true;
                    effects.push(Effect::Refresh(refresh));
                }
            }
        }
        let first = self.growing.values().copied().reduce(f64::min);
        if let Some(first) = first.filter(|_| !self.is_due) {
            self.is_due = true;
            effects.push(Effect::Wake((first + QUIET - now).max(0.1)));
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(url: &str) -> RemoteFile {
        RemoteFile {
            name: url.into(),
            url: url.into(),
        }
    }

    fn refresh(changed: &[&str], gone: &[&str], settled: &[&str]) -> Effect {
        let texts = |texts: &[&str]| texts.iter().map(|text| Text::from(*text)).collect();
        Effect::Refresh(FileChanges {
            changed: changed.iter().map(|url| file(url)).collect(),
            gone: texts(gone),
            settled: texts(settled),
        })
    }

    #[test]
    fn a_list_that_is_read_by_another_worker_is_not_listened_to_twice() {
        let mut live = LiveFiles::default();
        assert_eq!(live.begin(), [Effect::Listen]);
        // The worker is ended, and the next one reads the list again.
        live.done(1.0);
        assert_eq!(live.begin(), []);
        assert_eq!(
            live.changes(vec![file("a")], vec![], 2.0),
            [Effect::Wake(QUIET)]
        );
        assert_eq!(live.done(3.0), [refresh(&["a"], &[], &[])]);
    }

    #[test]
    fn changes_wait_for_the_list_and_for_each_other() {
        let mut live = LiveFiles::default();
        live.begin();
        assert_eq!(
            live.changes(vec![file("a")], vec![], 0.0),
            [Effect::Wake(QUIET)]
        );
        assert_eq!(
            live.changes(vec![file("b"), file("a")], vec!["c".into()], 1.0),
            []
        );
        assert_eq!(live.done(2.0), [refresh(&["a", "b"], &["c"], &[])]);
        assert_eq!(live.changes(vec![file("a")], vec![], 3.0), []);
        assert_eq!(live.done(4.0), [refresh(&["a"], &[], &[])]);
        assert_eq!(live.done(5.0), []);
    }

    #[test]
    fn the_last_word_on_a_file_counts() {
        let mut live = LiveFiles::default();
        live.begin();
        live.changes(vec![file("d/a"), file("d/b"), file("da")], vec![], 0.0);
        live.changes(vec![], vec!["d".into()], 0.0);
        live.changes(vec![file("x")], vec![], 0.0);
        live.changes(vec![], vec!["x".into()], 0.0);
        live.changes(vec![file("x")], vec![], 0.0);
        assert_eq!(live.done(1.0), [refresh(&["da", "x"], &["d"], &[])]);
    }

    #[test]
    fn a_file_that_stops_growing_settles_once() {
        let mut live = LiveFiles::default();
        let effects = live.changes(vec![file("a")], vec![], 0.0);
        assert_eq!(effects, [refresh(&["a"], &[], &[]), Effect::Wake(QUIET)]);
        live.done(0.1);
        live.changes(vec![file("b")], vec![], 5.0);
        live.done(5.1);
        assert_eq!(
            live.woken(10.0),
            [refresh(&[], &[], &["a"]), Effect::Wake(5.0)]
        );
        live.done(10.1);
        assert_eq!(live.woken(15.0), [refresh(&[], &[], &["b"])]);
        live.done(15.1);
        assert_eq!(live.woken(30.0), []);
    }

    #[test]
    fn missed_changes_reload_the_list() {
        let mut live = LiveFiles::default();
        live.changes(vec![file("a")], vec![], 0.0);
        live.changes(vec![file("b")], vec![], 0.5);
        assert_eq!(live.reload(1.0), []);
        assert_eq!(live.done(2.0), [Effect::Reload]);
        assert_eq!(live.done(3.0), []);
    }

    /// What happens to the site and its reader.
    #[derive(Clone, Debug)]
    enum Act {
        Write(usize),
        Delete(usize),
        Missed,
        /// The worker has read what it was given.
        Done,
        Wait(f64),
    }

    const URLS: [&str; 4] = ["d/a", "d/b", "da", "x"];
    /// What can be deleted: files, and a folder of two.
    const PLACES: [&str; 3] = ["d", "da", "x"];

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            4 => (0..URLS.len()).prop_map(Act::Write),
            1 => (0..PLACES.len()).prop_map(Act::Delete),
            1 => Just(Act::Missed),
            3 => Just(Act::Done),
            3 => prop::sample::select(&[0.5, 4.0, 11.0][..]).prop_map(Act::Wait),
        ]
    }

    fn is_in(url: &str, place: &str) -> bool {
        let rest = url.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The page, and what it should have read.
    #[derive(Default)]
    struct Page {
        live: LiveFiles,
        now: f64,
        is_busy: bool,
        wakes: Vec<f64>,
        /// The files whose last write was not read yet.
        unread: BTreeSet<&'static str>,
        /// Those that were written to and are not settled.
        open: BTreeMap<&'static str, f64>,
        /// The places whose deletion was not read yet.
        gone: BTreeSet<&'static str>,
    }

    impl Page {
        fn act(&mut self, act: &Act) -> Result<(), TestCaseError> {
            let effects = match *act {
                Act::Write(number) => {
                    let url = URLS[number];
                    self.unread.insert(url);
                    self.open.insert(url, self.now);
                    self.gone.remove(url);
                    self.live.changes(vec![file(url)], vec![], self.now)
                }
                Act::Delete(number) => {
                    let place = PLACES[number];
                    self.unread.retain(|url| !is_in(url, place));
                    self.open.retain(|url, _| !is_in(url, place));
                    self.gone.insert(place);
                    self.live.changes(vec![], vec![place.into()], self.now)
                }
                Act::Missed => {
                    self.unread.clear();
                    self.gone.clear();
                    self.live.reload(self.now)
                }
                Act::Done if self.is_busy => {
                    self.is_busy = false;
                    self.live.done(self.now)
                }
                Act::Done => Vec::new(),
                Act::Wait(seconds) => return self.wait(seconds),
            };
            self.carry_out(effects)
        }

        fn wait(&mut self, seconds: f64) -> Result<(), TestCaseError> {
            let end = self.now + seconds;
            while let Some(place) = self.wakes.iter().position(|at| *at <= end) {
                self.now = self.now.max(self.wakes.swap_remove(place));
                let effects = self.live.woken(self.now);
                self.carry_out(effects)?;
            }
            self.now = end;
            Ok(())
        }

        fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(), TestCaseError> {
            for effect in effects {
                match effect {
                    Effect::Listen => return Err(TestCaseError::fail("nobody began")),
                    Effect::Wake(wait) => {
                        prop_assert!(wait > 0.0);
                        self.wakes.push(self.now + wait);
                        prop_assert_eq!(self.wakes.len(), 1, "one timer at a time");
                    }
                    Effect::Reload => {
                        prop_assert!(!self.is_busy, "one reading at a time");
                        self.is_busy = true;
                    }
                    Effect::Refresh(FileChanges {
                        changed,
                        gone,
                        settled,
                    }) => {
                        prop_assert!(!self.is_busy, "one reading at a time");
                        self.is_busy = true;
                        for file in changed {
                            prop_assert!(self.unread.remove(&*file.url), "{} again", file.url);
                        }
                        for place in gone {
                            prop_assert!(self.gone.remove(&*place), "{place} again");
                        }
                        for url in settled {
                            let last = self.open.remove(&*url);
                            let is_quiet = last.is_some_and(|last| self.now - last >= QUIET);
                            prop_assert!(is_quiet, "{url} is settled too early or twice");
                        }
                    }
                }
            }
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn every_write_is_read_and_every_file_settles_once(
            acts in prop::collection::vec(act(), 0..40),
        ) {
            let mut page = Page::default();
            for act in &acts {
                page.act(act)?;
            }
            for _ in 0..4 {
                page.act(&Act::Done)?;
                page.act(&Act::Wait(2.0 * QUIET))?;
            }
            page.act(&Act::Done)?;
            page.act(&Act::Done)?;
            prop_assert!(page.unread.is_empty(), "{:?} was never read", page.unread);
            prop_assert!(page.gone.is_empty(), "{:?} was never read", page.gone);
            prop_assert!(page.open.is_empty(), "{:?} never settles", page.open);
        }
    }
}
