//! The host of a worker: loads the services of its part.

use volary_protocol::WorkerPart;

use super::{environment_host, library_host, school_host};
use volary_browser::lazy::Unloaded;
use volary_browser::spawn;
use volary_browser::worker_port::WorkerPort;

/// Loads the services of this worker's part, then listens to the page.
pub fn start(port: WorkerPort) {
    spawn(async move {
        let served = match port.part() {
            Some(WorkerPart::Environments) => environment_host::serve(port.clone()).await,
            Some(WorkerPart::Library) => library_host::serve(port.clone()).await,
            Some(WorkerPart::School) => school_host::serve(port.clone()).await,
            // A page of another build started it.
            None => Err(Unloaded),
        };
        if served.is_err() {
            port.post_unloaded();
        }
    });
}
