//! A pool of idle workers, because starting one takes longer than playing hundreds of episodes. Workers of a finished
//! evaluation are kept for the next one; others are started while an evaluation is being set up.

use std::cell::RefCell;

use super::worker_count;
use volary_browser::worker_client::WorkerClient;
use volary_protocol::WorkerPart;

thread_local! {
    static IDLE: RefCell<Vec<WorkerClient>> = const { RefCell::new(Vec::new()) };
}

/// Starts as many workers as an evaluation needs.
pub fn start() {
    while IDLE.with_borrow(Vec::len) < worker_count() {
        // If workers cannot be started, the evaluation reports it.
        let Ok(worker) = WorkerClient::start(WorkerPart::Environments) else {
            break;
        };
        give(worker);
    }
}

/// Returns a worker to the pool, unless the pool is full.
pub(super) fn give(worker: WorkerClient) {
    IDLE.with_borrow_mut(|idle| {
        if idle.len() < worker_count() {
            idle.push(worker);
        }
    });
}

/// Terminates all idle workers.
pub fn end() {
    IDLE.take();
}

/// Takes a worker that still works out of the pool.
pub(super) fn take() -> Option<WorkerClient> {
    IDLE.with_borrow_mut(|idle| {
        idle.retain(|worker| !worker.is_lost());
        idle.pop()
    })
}
