//! Files that are read while they are downloaded.

use std::any::Any;
use std::ops::Range;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_browser::files::streaming_download::StreamingDownload;
use volary_core::json::Text;

use super::Source;

impl Source for StreamingDownload {
    fn name(&self) -> Text {
        StreamingDownload::name(self).into()
    }

    fn size(&self) -> u64 {
        StreamingDownload::size(self)
    }

    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
        self.slice(range).boxed_local()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
