//! Reads on in large files of lines that have grown, so that following a run does not read its file again and again.
//!
//! Invariant: a file is continued only if its first bytes, and the last ones that were read, are still the same.
//! Otherwise it was replaced, and is read from its start.

use volary_core::json::Text;
use volary_trajectory::import::index::Indexer;

use super::{LibraryService, Volume};
use crate::library::source::{Source, digest_of};

/// The number of bytes that are compared at either end of what was read.
const COMPARED: u64 = 1 << 14;

/// The state in which the reading of a file ended.
pub(super) struct Continuation {
    /// The id of the file.
    pub(super) file: Text,
    /// The offset from which on it is read.
    pub(super) at: u64,
    pub(super) indexer: Indexer,
    /// The digests of its first bytes, and of the last ones before `at`.
    ends: (Text, Text),
}

impl Continuation {
    /// The continuation of a file; `None` if its format has none, or the file cannot be read any more.
    pub(super) async fn of(
        file: &Text,
        source: &dyn Source,
        indexer: &Indexer,
    ) -> Option<Continuation> {
        let (indexer, at) = indexer.continued()?;
        Some(Continuation {
            file: file.clone(),
            at,
            indexer,
            ends: ends_of(source, at).await?,
        })
    }

    /// The episodes that are read again, because they may have grown.
    pub(super) fn unfinished(&self, library: &LibraryService) -> Vec<Text> {
        let known = library.known.borrow();
        let is_after = |volume: &Volume| {
            let place = volume.place.as_ref()?;
            let start = place.place.parts.first()?.start;
            Some(place.file == self.file && start >= self.at)
        };
        let episodes = known.episodes.iter();
        let after = episodes.filter(|(_, volume)| is_after(volume) == Some(true));
        after.map(|(id, _)| id.clone()).collect()
    }

    /// Whether a file is the one that was read, with more at its end.
    pub(super) async fn fits(&self, source: &dyn Source) -> bool {
        source.size() >= self.at && ends_of(source, self.at).await.as_ref() == Some(&self.ends)
    }
}

async fn ends_of(source: &dyn Source, at: u64) -> Option<(Text, Text)> {
    let start = digest_of(source, 0..at.min(COMPARED)).await.ok()?;
    let end = digest_of(source, at.saturating_sub(COMPARED)..at).await;
    Some((start, end.ok()?))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use futures_util::FutureExt;
    use volary_protocol::library::Origin;
    use volary_trajectory::native;

    use super::super::tests::{MemorySource, episode, ids, large, open, service};
    use super::super::{Output, reading};
    use super::*;

    const NAME: &str = "runs/log.jsonl";

    fn read(
        service: &LibraryService,
        file: &MemorySource,
        continuation: Option<Continuation>,
    ) -> Vec<Output> {
        let said = RefCell::new(Vec::new());
        let say = |words| said.borrow_mut().push(words);
        let source: Rc<dyn Source> = Rc::new(file.clone());
        let origin = Origin::Published;
        let done = match continuation {
            None => reading::read(service, 1, vec![source], origin, &say).now_or_never(),
            Some(from) => reading::read_on(service, 1, source, from, origin, &say).now_or_never(),
        };
        assert!(done.is_some());
        said.take()
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
        assert_eq!(known.fits(&other).now_or_never(), Some(false));
        other.bytes.truncate(end - 1);
        assert_eq!(known.fits(&other).now_or_never(), Some(false));

        file.bytes.extend(&third.as_bytes()[third.len() / 2..]);
        file.bytes.extend(b"\n");
        assert_eq!(known.fits(&file).now_or_never(), Some(true));
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
        assert_eq!(known.fits(&file).now_or_never(), Some(true));
        assert_eq!(ids(&read(&service, &file, Some(known))), ["a (2)"]);
        // Without a line break at its end it may still grow.
        let known = continuation(&service).unwrap();
        assert_eq!(known.unfinished(&service), ["a (2)".into()]);
        for (id, words) in [("b", "word b"), ("c", "the third"), ("a (2)", "the fourth")] {
            assert!(text(&open(&service, id)).contains(words), "{id}");
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
}
