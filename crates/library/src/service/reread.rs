//! Episodes whose texts are not kept in memory. Their files are read again when they are opened, so that a folder of any
//! size can be shown.
//!
//! Invariant: the text is the one that was read first, or there is an error. Some formats spread an episode over several
//! files, so the file that an episode came from may not be enough; then all files are read that were read with it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::annotations::tags;
use volary_core::json::Text;
use volary_episode::native;
use volary_formats::import::InputFile;
use volary_formats::import::fields::Mappings;

use crate::error::LibraryError;
use crate::lazy_code::LazyCode;
use crate::parquet;
use crate::repository::Reread;
use crate::source::Source;

/// Files that were read together.
pub(super) struct FilesRead {
    sources: Vec<Rc<dyn Source>>,
    /// The index of each in `sources`, by name.
    indices: HashMap<Text, usize>,
    mappings: Mappings,
    code: Rc<dyn LazyCode>,
}

impl FilesRead {
    /// Files that were read with these mappings; `None` if not all of them can be read again.
    pub(super) fn of(
        sources: Vec<Rc<dyn Source>>,
        mappings: Mappings,
        code: &Rc<dyn LazyCode>,
    ) -> Option<Rc<FilesRead>> {
        let names = sources.iter().enumerate();
        let indices = names.map(|(index, source)| (source.name(), index));
        let indices = indices.collect();
        let can_be = sources.iter().all(|source| source.can_be_read_again());
        can_be.then(|| {
            Rc::new(FilesRead {
                sources,
                indices,
                mappings,
                code: Rc::clone(code),
            })
        })
    }

    /// The episode of this id and text, which came from a file of this name as far as that is known.
    pub(super) fn episode(
        self: &Rc<FilesRead>,
        id: &Text,
        file: Option<&Text>,
        text: &str,
    ) -> Rc<dyn Reread> {
        let file = file.and_then(|file| self.indices.get(file).copied());
        Rc::new(RereadEpisode {
            files: Rc::clone(self),
            file,
            id: id.clone(),
            digest: digest(text),
        })
    }

    /// Reads files again, and looks for an episode in them. The error is that of the first file that cannot be read, if the
    /// episode is not in the others.
    async fn find(
        &self,
        sources: &[Rc<dyn Source>],
        wanted: &RereadEpisode,
    ) -> Result<Option<String>, LibraryError> {
        let mut inputs = Vec::with_capacity(sources.len());
        let mut unread = None;
        for source in sources {
            let name = source.name();
            match read(&**source, &*self.code).await {
                Ok(bytes) => inputs.push(InputFile {
                    name: Some(name.to_string()),
                    bytes,
                }),
                Err(error) => {
                    unread.get_or_insert_with(|| LibraryError::FileGone {
                        file: name,
                        error: Box::new(error),
                    });
                }
            }
        }
        let outcome = self.code.readers().await?.import(&inputs, &self.mappings);
        let episodes = outcome.map(|outcome| outcome.episodes).unwrap_or_default();
        let mut texts = episodes.into_iter().map(|mut episode| {
            tags::take(&mut episode);
            episode.id = wanted.id.clone();
            native::to_text(&episode)
        });
        match (texts.find(|text| wanted.is_text(text)), unread) {
            (None, Some(error)) => Err(error),
            (found, _) => Ok(found),
        }
    }
}

struct RereadEpisode {
    files: Rc<FilesRead>,
    /// The index of the file that it came from.
    file: Option<usize>,
    id: Text,
    /// Of its text.
    digest: u64,
}

impl Reread for RereadEpisode {
    fn is_text(&self, text: &str) -> bool {
        digest(text) == self.digest
    }

    fn text(&self) -> LocalBoxFuture<'_, Result<String, LibraryError>> {
        async move {
            let files = &self.files;
            let own = self.file.map(|index| &files.sources[index..=index]);
            if let Some(own) = own
                && let Some(text) = files.find(own, self).await?
            {
                return Ok(text);
            }
            let found = files.find(&files.sources, self).await?;
            found.ok_or(LibraryError::ChangedEpisode)
        }
        .boxed_local()
    }
}

async fn read(source: &dyn Source, code: &dyn LazyCode) -> Result<Vec<u8>, LibraryError> {
    let bytes = source.read(0..source.size()).await;
    source.release();
    Ok(parquet::as_lines(code, bytes?).await?.0)
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::cell::{Cell, RefCell};
    use std::ops::Range;

    use futures_util::FutureExt;
    use volary_protocol::library::{Event, Origin};

    use super::super::tests::{MemorySource, episode, file, ids, open, service};
    use super::super::{LibraryService, Output, reading};
    use super::*;
    use crate::source::{ReadAt, ReadBytes};

    /// A file that may be read again.
    struct Again {
        file: RefCell<MemorySource>,
        reads: Rc<Cell<usize>>,
    }

    impl ReadAt for Again {
        fn name(&self) -> Text {
            self.file.borrow().name.clone()
        }

        fn size(&self) -> u64 {
            self.file.borrow().size()
        }

        fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
            self.reads.set(self.reads.get() + 1);
            let read = self.file.borrow().read(range).now_or_never();
            std::future::ready(read.unwrap()).boxed_local()
        }
    }

    impl Source for Again {
        fn as_any(&self) -> &dyn Any {
            self
        }

        fn can_be_read_again(&self) -> bool {
            true
        }
    }

    fn read(service: &LibraryService, files: Vec<Rc<dyn Source>>) -> Vec<Output> {
        let said = RefCell::new(Vec::new());
        let say = |output| said.borrow_mut().push(output);
        let reading = reading::read(service, 1, files, Origin::Published, &say);
        assert!(reading.now_or_never().is_some());
        said.take()
    }

    /// A library whose memory for texts is used up.
    fn full() -> LibraryService {
        let service = service();
        let content = "word ".repeat(600_000);
        for number in 0..6 {
            let name = format!("filler/{number}.jsonl");
            let file = file(&name, &[episode(&format!("filler {number}"), &content)]);
            read(&service, vec![Rc::new(file)]);
        }
        service
    }

    fn fixtures() -> Vec<MemorySource> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");
        let files = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<MemorySource> = files
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| MemorySource {
                name: format!("runs/{}", entry.file_name().to_str().unwrap()).into(),
                bytes: std::fs::read(entry.path()).unwrap(),
            })
            .collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        files
    }

    #[test]
    fn episodes_of_every_format_are_the_same_when_they_are_read_again() {
        let (kept, again) = (service(), full());
        let reads = Rc::new(Cell::new(0));
        let plain = fixtures().into_iter();
        let plain = plain.map(|file| Rc::new(file) as Rc<dyn Source>).collect();
        let counted: Vec<Rc<dyn Source>> = fixtures()
            .into_iter()
            .map(|file| {
                let again = Again {
                    file: RefCell::new(file),
                    reads: Rc::clone(&reads),
                };
                Rc::new(again) as Rc<dyn Source>
            })
            .collect();
        let count = counted.len();
        let said = read(&kept, plain);
        let ids = ids(&said);
        assert!(ids.len() > 60, "{}", ids.len());
        assert_eq!(read(&again, counted).len(), said.len());
        let mut from_all = 0;
        for id in &ids {
            reads.set(0);
            // As text, in which NaN equals NaN.
            let (once, before) = (open(&again, id), open(&kept, id));
            assert_eq!(format!("{once:?}"), format!("{before:?}"), "{id}");
            assert!(reads.get() > 0, "{id} is in memory");
            from_all += usize::from(reads.get() > count);
        }
        // Those that belong together with another file.
        assert!((1..=16).contains(&from_all), "{from_all} of {}", ids.len());
    }

    #[test]
    fn what_changed_since_is_an_error() {
        let service = full();
        let again = Rc::new(Again {
            file: RefCell::new(file("runs/a.jsonl", &[episode("a", "one")])),
            reads: Rc::default(),
        });
        read(&service, vec![Rc::clone(&again) as Rc<dyn Source>]);
        let refused = |said: &[Output]| match said {
            [Output::Event(Event::Refused { reason })] => Some(reason.to_string()),
            _ => None,
        };
        assert_eq!(refused(&open(&service, "a")), None);
        again
            .file
            .replace(file("runs/a.jsonl", &[episode("a", "two")]));
        let reason = refused(&open(&service, "a"));
        let expected =
            "Its file no longer contains it. Import the file again to see what it has now.";
        assert_eq!(reason.as_deref(), Some(expected));
    }

    #[test]
    fn an_episode_that_was_read_twice_is_there_once() {
        let service = full();
        let again = || -> Vec<Rc<dyn Source>> {
            vec![Rc::new(Again {
                file: RefCell::new(file("runs/a.jsonl", &[episode("a", "one")])),
                reads: Rc::default(),
            })]
        };
        assert_eq!(ids(&read(&service, again())), ["a"]);
        assert_eq!(ids(&read(&service, again())), ["a"]);
        let other = file("runs/b.jsonl", &[episode("a", "two")]);
        assert_eq!(ids(&read(&service, vec![Rc::new(other)])), ["a (2)"]);
    }
}
