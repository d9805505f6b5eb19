//! Files that are read while they are downloaded.

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_browser::files::streaming_download::StreamingDownload;
use volary_core::json::Text;
use volary_library::source::Source;

/// A download as a source.
#[derive(Clone)]
pub(crate) struct DownloadSource(pub Rc<StreamingDownload>);

impl Source for DownloadSource {
    fn name(&self) -> Text {
        self.0.name().into()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
        self.0.slice(range).boxed_local()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
