//! Reads on in large files of lines that have grown, so that following a run does not read its file again and again.
//!
//! Invariant: a file is continued only if its first bytes, and the last ones that were read, are still the same.
//! Otherwise it was replaced, and is read from its start.

use volary_core::json::Text;
use volary_formats::import::index::{InPlace, Indexer};

use super::state::{KnownEpisode, LibraryService};
use crate::source::{ReadAt, Window, digest_of};

/// The number of bytes that are compared at either end of what was read.
pub(super) const COMPARED: u64 = 1 << 14;

/// The state in which the reading of a file ended.
pub(super) struct Continuation {
    /// The id of the file.
    pub(super) file: Text,
    /// The offset from which on it is read.
    pub(super) at: u64,
    pub(super) indexer: Indexer,
    /// The digests of its first bytes, and of the last ones before `at`.
    start: Start,
    end: Text,
}

/// The digest of the first bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// How many there are.
    length: u64,
    digest: Text,
}

impl Continuation {
    /// The continuation of a file; `None` if its format has none, or the file cannot be read any more. `start` is that
    /// of the former continuation.
    pub(super) async fn of(
        file: &Text,
        source: &dyn ReadAt,
        reader: &dyn InPlace,
        start: Option<Start>,
    ) -> Option<Continuation> {
        let (indexer, at) = reader.continued()?;
        // In order, because the source may read ahead.
        let start = match start.filter(|start| start.length == COMPARED) {
            Some(start) => start,
            None => Start::of(source, at).await?,
        };
        Some(Continuation {
            file: file.clone(),
            at,
            indexer,
            start,
            end: end_of(source, at).await?,
        })
    }

    /// What the next continuation need not read again.
    pub(super) fn start(&self) -> Start {
        self.start.clone()
    }

    /// The episodes that are read again, because they may have grown.
    pub(super) fn unfinished(&self, library: &LibraryService) -> Vec<Text> {
        let known = library.known.borrow();
        let is_after = |known_episode: &KnownEpisode| {
            let location = known_episode.location.as_ref()?;
            let start = location.range.parts.first()?.start;
            Some(location.file == self.file && start >= self.at)
        };
        let episodes = known.episodes.iter();
        let after = episodes.filter(|(_, known_episode)| is_after(known_episode) == Some(true));
        after.map(|(id, _)| id.clone()).collect()
    }

    /// Whether a file is the one that was read, with more at its end. The window then holds what follows.
    pub(super) async fn fits(&self, window: &Window) -> bool {
        let file = window.source();
        file.size() >= self.at
            && Start::of(&**file, self.at).await.as_ref() == Some(&self.start)
            && end_of(window, self.at).await.as_ref() == Some(&self.end)
    }
}

impl Start {
    /// The beginning of the first `at` bytes.
    async fn of(source: &dyn ReadAt, at: u64) -> Option<Start> {
        let length = at.min(COMPARED);
        let digest = digest_of(source, 0..length).await.ok()?;
        Some(Start { length, digest })
    }
}

async fn end_of(source: &dyn ReadAt, at: u64) -> Option<Text> {
    digest_of(source, at.saturating_sub(COMPARED)..at)
        .await
        .ok()
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::cell::{Cell, RefCell};
    use std::ops::Range;
    use std::rc::Rc;

    use futures_util::FutureExt;
    use volary_episode::native;
    use volary_protocol::library::Origin;

    use super::super::tests::{MemorySource, episode, ids, large, open, service};
    use super::super::{Output, reading};
    use super::*;
    use crate::source::{ReadBytes, Source};

    const NAME: &str = "runs/log.jsonl";

    fn read(
        service: &LibraryService,
        file: &MemorySource,
        continuation: Option<Continuation>,
    ) -> Vec<Output> {
        read_source(service, Rc::new(file.clone()), continuation)
    }

    fn read_source(
        service: &LibraryService,
        source: Rc<dyn Source>,
        continuation: Option<Continuation>,
    ) -> Vec<Output> {
        let said = RefCell::new(Vec::new());
        let say = |output| said.borrow_mut().push(output);
        let origin = Origin::Published;
        let done = match continuation {
            None => reading::read(service, 1, vec![source], origin, &say).now_or_never(),
            Some(from) => {
                let window = Window::on(source);
                assert_eq!(from.fits(&window).now_or_never(), Some(true));
                let reading = reading::read_on(service, 1, window, from, origin, &say);
                reading.now_or_never().map(|ended| ended.tell(&say))
            }
        };
        assert!(done.is_some());
        said.take()
    }

    fn fits(known: &Continuation, file: &MemorySource) -> bool {
        let window = Window::on(Rc::new(file.clone()));
        known.fits(&window).now_or_never().unwrap()
    }

    /// A file that is being written to, and counts the bytes that are read.
    struct Growing {
        file: MemorySource,
        read: Cell<u64>,
    }

    impl ReadAt for Growing {
        fn name(&self) -> Text {
            self.file.name()
        }

        fn size(&self) -> u64 {
            self.file.size()
        }

        fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
            self.read.set(self.read.get() + range.end - range.start);
            self.file.read(range)
        }
    }

    impl Source for Growing {
        fn as_any(&self) -> &dyn Any {
            self
        }

        fn is_growing(&self) -> bool {
            true
        }
    }

    fn continuation(service: &LibraryService) -> Option<Continuation> {
        service.continuations.borrow_mut().remove(NAME)
    }

    fn text(output: &[Output]) -> String {
        format!("{output:?}")
    }

    #[test]
    fn lines_are_added_and_the_unfinished_one_is_read_again() {
        let service = service();
        let mut file = large(NAME, &["a", "b"]);
        file.bytes.extend(b"\n");
        let third = native::to_text(&episode("c", "the third"));
        file.bytes.extend(&third.as_bytes()[..third.len() / 2]);
        assert_eq!(ids(&read(&service, &file, None))[..2], ["a", "b"]);

        // Another version with the same beginning does not fit.
        let known = continuation(&service).unwrap();
        let mut other = file.clone();
        let end = usize::try_from(known.at).unwrap();
        other.bytes[end - 40] = b'x';
        assert!(!fits(&known, &other));
        other.bytes.truncate(end - 1);
        assert!(!fits(&known, &other));

        file.bytes.extend(&third.as_bytes()[third.len() / 2..]);
        file.bytes.extend(b"\n");
        for id in known.unfinished(&service) {
            assert!(id != "a".into() && id != "b".into());
            service.lose(&id);
        }
        assert_eq!(ids(&read(&service, &file, Some(known))), ["c"]);

        // Again, with an id that is known.
        let known = continuation(&service).unwrap();
        assert!(known.unfinished(&service).is_empty());
        file.bytes
            .extend(native::to_text(&episode("a", "the fourth")).as_bytes());
        assert_eq!(ids(&read(&service, &file, Some(known))), ["a (2)"]);
        // Without a line break at its end it may still grow.
        let known = continuation(&service).unwrap();
        assert_eq!(known.unfinished(&service), ["a (2)".into()]);
        for (id, content) in [("b", "word b"), ("c", "the third"), ("a (2)", "the fourth")] {
            assert!(text(&open(&service, id)).contains(content), "{id}");
        }
    }

    #[test]
    fn small_files_and_other_formats_are_read_as_a_whole() {
        let service = service();
        let small = MemorySource {
            name: NAME.into(),
            bytes: native::to_text(&episode("a", "one")).into_bytes(),
        };
        read(&service, &small, None);
        assert!(continuation(&service).is_none());
    }

    /// An hour of writing must not read, or hold, the file once for each line.
    #[test]
    fn the_work_of_an_append_is_that_of_what_was_appended() {
        let service = service();
        let line = |number: usize| {
            let content = format!("word{number} ").repeat(200);
            native::to_text(&episode(&format!("e{number}"), &content)) + "\n"
        };
        let mut file = MemorySource {
            name: NAME.into(),
            bytes: (0..100).map(line).collect::<String>().into_bytes(),
        };
        let growing = |file: &MemorySource| Growing {
            file: file.clone(),
            read: Cell::new(0),
        };
        read_source(&service, Rc::new(growing(&file)), None);
        for number in 100..300 {
            let text = line(number);
            file.bytes.extend_from_slice(text.as_bytes());
            let known = continuation(&service).unwrap();
            assert!(known.unfinished(&service).is_empty());
            let source = Rc::new(growing(&file));
            let said = read_source(&service, Rc::clone(&source) as Rc<dyn Source>, Some(known));
            assert_eq!(ids(&said), [format!("e{number}")]);
            assert_eq!(source.read.get(), 2 * COMPARED + text.len() as u64);
            // Only its newest version is held.
            assert_eq!(Rc::strong_count(&source), 3, "by the test, window and file");
        }
        assert_eq!(service.windows.borrow().len(), 1);
        assert_eq!(service.known.borrow().episodes.len(), 300);
        for (id, content) in [("e7", "word7"), ("e299", "word299")] {
            assert!(text(&open(&service, id)).contains(content), "{id}");
        }
    }
}
