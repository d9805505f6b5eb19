//! The end of workers that have environments on servers: these are closed first, by the worker or without it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::{End, Pool, Post};
use crate::evaluate::abroad;
use crate::evaluate::protocol::{Order, Word};
use crate::shell::{self, timers};

/// How long workers have to close what they have on servers, in seconds…
const WINDING_UP: f64 = 10.0;
/// …and how often it is looked whether they are ready.
const GLANCE: Duration = Duration::from_millis(50);

impl Drop for Pool {
    fn drop(&mut self) {
        if self.is_abroad {
            self.workers.iter().for_each(wind_up);
        }
    }
}

/// Lets a worker close what it has on servers before it ends.
fn wind_up(worker: &Rc<RefCell<Post>>) {
    {
        let mut post = worker.borrow_mut();
        let Some(link) = &post.link else { return };
        link.post(&Order::End.to_text());
        post.end = End::Wanted;
    }
    let worker = Rc::clone(worker);
    shell::spawn(async move {
        let deadline = timers::now() + WINDING_UP;
        while worker.borrow().end != End::Ready && timers::now() < deadline {
            timers::sleep(GLANCE).await;
        }
        worker.borrow_mut().finish();
    });
}

impl Post {
    /// Ends the worker, if there is one, and closes what it has on servers.
    pub(super) fn finish(&mut self) {
        self.link = None;
        abroad::close(&std::mem::take(&mut self.held));
    }

    pub(super) fn take_word(&mut self, word: Word) {
        match word {
            Word::Opened { url, env_id } => {
                self.held.insert(env_id.clone());
                abroad::opened(url, env_id);
            }
            Word::Closed { env_id } => {
                self.held.remove(&env_id);
                abroad::closed(&env_id);
            }
            // Of cells, not of servers.
            Word::Left { .. } => {}
            Word::Idle => self.end = End::Ready,
        }
    }
}
