//! Services whose code is loaded with the first request for them.
//!
//! Invariant: requests are handled in the order in which they arrived, also those that waited for the code.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::wasm_split::wasm_split;
use volary_protocol::DecodeError;

use super::environments::Environments;
use super::evaluation_host::EvaluationHost;
use super::services::{Incoming, Replies, Services};
use volary_browser::clock::BrowserClock;
use volary_browser::lazy::Loaded;
use volary_browser::spawn;
use volary_browser::worker_port::WorkerPort;

/// Makes the services next to [`Environments`].
type MakeServices = fn(Rc<Environments>) -> Rc<dyn Services>;

/// Loads the code, which is of the same part as all environments.
#[wasm_split(all_environments, wasm_split_path = leptos::wasm_split, fallible)]
fn load_services() -> Loaded<MakeServices> {
    Ok(|environments| Rc::new(EvaluationHost::new(environments, Rc::new(BrowserClock))))
}

/// The services next to [`Environments`].
pub(super) struct LazyServices {
    port: WorkerPort,
    environments: Rc<Environments>,
    state: RefCell<State>,
}

enum State {
    /// These wait for the code. It is being loaded if there are any.
    Waiting(Vec<(Incoming, Replies)>),
    Loaded(Rc<dyn Services>),
}

impl LazyServices {
    pub fn new(port: WorkerPort, environments: Rc<Environments>) -> Self {
        LazyServices {
            port,
            environments,
            state: RefCell::new(State::Waiting(Vec::new())),
        }
    }

    /// Handles a request, after loading the code if it is the first one.
    pub fn handle(self: Rc<Self>, request: Incoming, replies: Replies) -> Result<(), DecodeError> {
        let loaded = match &mut *self.state.borrow_mut() {
            State::Loaded(services) => Rc::clone(services),
            State::Waiting(waiting) => {
                waiting.push((request, replies));
                if waiting.len() == 1 {
                    spawn(Rc::clone(&self).load());
                }
                return Ok(());
            }
        };
        loaded.handle(request, replies)
    }

    async fn load(self: Rc<Self>) {
        // The page ends a worker that cannot load its code, and says why.
        let Ok(make) = load_services().await else {
            return self.port.post_unloaded();
        };
        let services = make(Rc::clone(&self.environments));
        let state = self.state.replace(State::Loaded(Rc::clone(&services)));
        let State::Waiting(waiting) = state else {
            return;
        };
        for (request, replies) in waiting {
            // Undecodable bytes come from a page of another build. Its call completes without a reply.
            let _ = Rc::clone(&services).handle(request, replies);
        }
    }
}
