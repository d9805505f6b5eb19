//! Several files that are read as one.

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use volary_core::json::Text;

use super::{ReadAt, ReadBytes, Source};

/// Several files, read as one under the name of the first.
pub struct JoinedSource {
    files: Vec<Rc<dyn Source>>,
}

impl JoinedSource {
    /// Joins files, in this order.
    pub fn of(files: Vec<Rc<dyn Source>>) -> JoinedSource {
        JoinedSource { files }
    }

    /// The parts of a range: each file with the range in it.
    fn parts(&self, range: &Range<u64>) -> Vec<(&Rc<dyn Source>, Range<u64>)> {
        let mut start = 0;
        let mut parts = Vec::new();
        for file in &self.files {
            let end = start + file.size();
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                parts.push((file, from - start..to - start));
            }
            start = end;
        }
        parts
    }
}

impl ReadAt for JoinedSource {
    fn name(&self) -> Text {
        self.files
            .first()
            .map(|file| file.name())
            .unwrap_or_default()
    }

    fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size()).sum()
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let parts = self.parts(&range).into_iter();
        let mut parts: Vec<_> = parts.map(|(file, part)| file.read(part)).collect();
        if parts.len() == 1 {
            return parts.remove(0);
        }
        Box::pin(async {
            let mut bytes = Vec::new();
            for part in parts {
                bytes.extend(part.await?);
            }
            Ok(bytes)
        })
    }

    fn read_through(&self, start: u64) {
        let parts = self.parts(&(start..self.size()));
        if let Some((file, part)) = parts.first() {
            file.read_through(part.start);
        }
    }
}

impl Source for JoinedSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_growing(&self) -> bool {
        self.files.iter().any(|file| file.is_growing())
    }

    fn release(&self) {
        self.files.iter().for_each(|file| file.release());
    }

    fn can_be_read_again(&self) -> bool {
        self.files.iter().all(|file| file.can_be_read_again())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::super::ReadError;
    use super::super::tests::Noted;
    use super::*;

    fn joined(files: &[Vec<u8>]) -> JoinedSource {
        let files = files
            .iter()
            .map(|bytes| Noted::of(bytes.clone()) as Rc<dyn Source>);
        JoinedSource::of(files.collect())
    }

    fn read(source: &JoinedSource, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
        source.read(range).now_or_never().expect("it is ready")
    }

    proptest! {
        #[test]
        fn joined_files_are_read_as_one(
            files in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..5), 0..5),
            start in 0_u64..24,
            length in 0_u64..24,
        ) {
            let whole = files.concat();
            let joined = joined(&files);
            prop_assert_eq!(joined.size(), whole.len() as u64);
            let start = start.min(joined.size());
            let end = (start + length).min(joined.size());
            let expected = whole[start as usize..end as usize].to_vec();
            prop_assert_eq!(read(&joined, start..end), Ok(expected));
        }
    }

    /// A file that fails, grows, or may be read again.
    #[derive(Default)]
    struct Special {
        is_growing: bool,
        is_repeatable: bool,
        /// Where reads are announced.
        through: RefCell<Vec<u64>>,
    }

    impl ReadAt for Special {
        fn name(&self) -> Text {
            "special".into()
        }

        fn size(&self) -> u64 {
            10
        }

        fn read(&self, _range: Range<u64>) -> ReadBytes<'_> {
            std::future::ready(Err(ReadError::refused("It was moved."))).boxed_local()
        }

        fn read_through(&self, start: u64) {
            self.through.borrow_mut().push(start);
        }
    }

    impl Source for Special {
        fn as_any(&self) -> &dyn Any {
            self
        }

        fn is_growing(&self) -> bool {
            self.is_growing
        }

        fn can_be_read_again(&self) -> bool {
            self.is_repeatable
        }
    }

    #[test]
    fn a_part_that_fails_fails_the_read() {
        let files: Vec<Rc<dyn Source>> =
            vec![Noted::of(b"abc".to_vec()), Rc::new(Special::default())];
        let joined = JoinedSource::of(files);
        assert_eq!(read(&joined, 0..3), Ok(b"abc".to_vec()), "it is not needed");
        assert_eq!(
            read(&joined, 2..4),
            Err(ReadError::refused("It was moved."))
        );
    }

    #[test]
    fn properties_of_one_file_are_those_of_all() {
        let special = |is_growing, is_repeatable| -> Rc<dyn Source> {
            Rc::new(Special {
                is_growing,
                is_repeatable,
                ..Special::default()
            })
        };
        let growing = JoinedSource::of(vec![special(false, true), special(true, true)]);
        assert!(growing.is_growing() && growing.can_be_read_again());
        let joined = JoinedSource::of(vec![special(false, true), special(false, false)]);
        assert!(!joined.is_growing() && !joined.can_be_read_again());
        assert_eq!(joined.name(), Text::from("special"));
        assert_eq!(JoinedSource::of(Vec::new()).name(), Text::default());
    }

    #[test]
    fn reading_ahead_starts_in_the_file_that_has_the_offset() {
        let [one, other] = [Rc::new(Special::default()), Rc::new(Special::default())];
        let files: Vec<Rc<dyn Source>> =
            vec![Rc::<Special>::clone(&one), Rc::<Special>::clone(&other)];
        let joined = JoinedSource::of(files);
        joined.read_through(13);
        joined.read_through(4);
        joined.read_through(20);
        assert_eq!(*one.through.borrow(), [4]);
        assert_eq!(*other.through.borrow(), [3], "nothing follows the end");
    }
}
