//! The worker that runs the environments of the playground.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_browser::worker_client::{Replies, WorkerClient};
use volary_protocol::WorkerPart;
use volary_protocol::environments::{self, Request};

use super::state::Playground;

/// Starts the worker before it is needed, unless a working one exists.
pub fn warm_up(playground: Playground) {
    let is_working = |worker: &WorkerClient| !worker.is_lost();
    if playground
        .driver()
        .with_value(|driver| driver.worker.as_ref().is_some_and(is_working))
    {
        return;
    }
    match WorkerClient::start(WorkerPart::Environments) {
        Ok(worker) => playground
            .driver()
            .update_value(|driver| driver.worker = Some(worker)),
        Err(reason) => playground.alert(Notice::new(
            "The environment's worker failed to start.",
            reason,
            "Reload the page. If that does not help, use another browser.",
        )),
    }
}

/// Sends a request that has no replies.
pub(crate) fn send_request(playground: Playground, request: &Request) {
    drop(call(playground, request));
}

pub(crate) fn call(
    playground: Playground,
    request: &Request,
) -> Option<Replies<environments::Event>> {
    playground
        .driver()
        .with_value(|driver| Some(driver.worker.as_ref()?.call(request)))
}
