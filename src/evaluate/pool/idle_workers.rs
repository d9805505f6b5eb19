//! Idle workers: starting one takes longer than playing hundreds of episodes. Those of a finished evaluation are
//! kept for the next one; others are started while one is set up.

use std::cell::RefCell;

use super::worker_count;
use crate::browser::worker_client::WorkerClient;

thread_local! {
    static IDLE: RefCell<Vec<WorkerClient>> = const { RefCell::new(Vec::new()) };
}

/// Starts as many as an evaluation needs.
pub fn start() {
    while IDLE.with_borrow(Vec::len) < worker_count() {
        // Where there are no workers, the evaluation reports it.
        let Ok(worker) = WorkerClient::start() else {
            break;
        };
        give(worker);
    }
}

/// Keeps an idle worker, unless there are enough.
pub(super) fn give(worker: WorkerClient) {
    IDLE.with_borrow_mut(|idle| {
        if idle.len() < worker_count() {
            idle.push(worker);
        }
    });
}

/// Ends them.
pub fn end() {
    IDLE.take();
}

/// Takes one that still works.
pub(super) fn take() -> Option<WorkerClient> {
    IDLE.with_borrow_mut(|idle| {
        idle.retain(|worker| !worker.is_lost());
        idle.pop()
    })
}
