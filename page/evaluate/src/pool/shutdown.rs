//! Shuts down workers that hold environments on servers. The environments are closed first, by the worker or without
//! it.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::select;
use volary_protocol::evaluation::Request;

use super::{Pool, SharedSlot};
use volary_browser::{self as browser, timers};

/// The time limit for a worker to close its environments on servers.
const PATIENCE: Duration = Duration::from_secs(10);

impl Drop for Pool {
    fn drop(&mut self) {
        if self.is_remote {
            self.workers.iter().for_each(shut_down);
        }
    }
}

/// Lets a worker close its environments on servers before it is terminated.
fn shut_down(slot: &SharedSlot) {
    let replies = {
        let mut slot = slot.borrow_mut();
        // Ignore its remaining results.
        slot.work.leave();
        let worker = slot.worker.as_ref();
        worker.map(|worker| worker.call(&Request::Shutdown))
    };
    let Some(mut replies) = replies else { return };
    let slot = Rc::clone(slot);
    browser::spawn(async move {
        let closing = async {
            while let Some(Ok(reply)) = replies.next().await {
                slot.borrow_mut().note(&reply.event);
            }
        };
        select(pin!(closing), pin!(timers::sleep(PATIENCE))).await;
        let mut slot = slot.borrow_mut();
        let held = slot.work.release();
        slot.finish("The evaluation was left.", &held);
    });
}
