//! Reads the first episode of files, in a worker of its own, so that no file can affect anything else.

use futures_util::StreamExt;
use volary_app::library::replies::{EpisodeReply, NoReply};
use volary_protocol::WorkerPart;
use volary_protocol::episode::Assembled;
use volary_protocol::library::{NamedFile, Request};

use volary_browser::worker_client::WorkerClient;

/// Starts a worker for [`read`]. Dropping it ends the reading.
///
/// # Errors
///
/// Fails only in a browser without workers.
pub fn worker() -> Result<WorkerClient, String> {
    WorkerClient::start(WorkerPart::Library)
}

/// Returns the first episode of files that belong together, or why there is none.
pub fn read(
    worker: &WorkerClient,
    files: Vec<NamedFile>,
) -> impl Future<Output = Result<Assembled, NoReply>> + use<> {
    let mut replies = worker.call(&Request::ReadFirst { files });
    async move {
        let mut episode = EpisodeReply::default();
        loop {
            let reply = replies.next().await;
            if let Some(read) = episode.push(reply.map(|reply| reply.map(|reply| reply.event))) {
                return read;
            }
        }
    }
}
