//! Files that are read while they are downloaded.

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use futures_util::{FutureExt, TryFutureExt};
use volary_browser::files::streaming_download::StreamingDownload;
use volary_core::json::Text;
use volary_library::source::{ReadAt, ReadBytes, ReadError, Source};

/// A download as a source.
#[derive(Clone)]
pub(crate) struct DownloadSource(pub Rc<StreamingDownload>);

impl ReadAt for DownloadSource {
    fn name(&self) -> Text {
        self.0.name().into()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let bytes = self.0.slice(range);
        bytes.map_err(ReadError::refused).boxed_local()
    }
}

impl Source for DownloadSource {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
