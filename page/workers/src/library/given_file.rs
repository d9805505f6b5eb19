//! Files that the user picked or dropped, or that the database holds.

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use futures_util::{FutureExt, TryFutureExt};
use volary_browser::files::GivenFile;
use volary_core::json::Text;
use volary_library::source::{ReadAt, ReadBytes, ReadError, Source};

/// A file of the browser as a source.
#[derive(Clone, Debug)]
pub(crate) struct GivenSource(pub GivenFile);

impl ReadAt for GivenSource {
    fn name(&self) -> Text {
        self.0.name.as_str().into()
    }

    fn size(&self) -> u64 {
        self.0.size as u64
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let bytes = self.0.slice(range);
        bytes.map_err(ReadError::refused).boxed_local()
    }
}

impl Source for GivenSource {
    fn followed_by(&self, others: &[Rc<dyn Source>]) -> Option<Rc<dyn Source>> {
        let others = others.iter().map(|other| {
            let other: &GivenSource = other.as_any().downcast_ref()?;
            Some(&other.0)
        });
        let others: Vec<&GivenFile> = others.collect::<Option<_>>()?;
        let joined = GivenFile::joined(&self.0, &others)?;
        Some(Rc::new(GivenSource(joined)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
