//! The part of a worker that plays environments: the small ones at once, and the services that need more code once that is
//! loaded.

use std::rc::Rc;

use leptos::wasm_split::wasm_split;
use volary_protocol::envelope::decode_request;
use volary_protocol::{Channel, DecodeError};

use super::environments::Environments;
use super::lazy_services::LazyServices;
use super::services::{Incoming, Replies, Services, listen};
use volary_browser::clock::BrowserClock;
use volary_browser::lazy::Loaded;
use volary_browser::spawn;
use volary_browser::worker_port::WorkerPort;

struct EnvironmentHost {
    environments: Rc<Environments>,
    others: Rc<LazyServices>,
}

/// Serves the page.
#[wasm_split(environments, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn serve(port: WorkerPort) -> Loaded<()> {
    port.report_panics();
    let environments = Environments::new(volary_envs::small_registry(), Rc::new(BrowserClock));
    let environments = Rc::new(environments);
    let others = LazyServices::new(port.clone(), Rc::clone(&environments));
    let host = EnvironmentHost {
        environments,
        others: Rc::new(others),
    };
    listen(&port, Rc::new(host));
    Ok(())
}

impl Services for EnvironmentHost {
    fn handle(self: Rc<Self>, request: Incoming, replies: Replies) -> Result<(), DecodeError> {
        match request.channel {
            Channel::Environments => {
                let request = decode_request(&request.body)?;
                spawn(async move {
                    let send = |event| replies.send(&event);
                    self.environments.handle(request, &send).await;
                });
                Ok(())
            }
            Channel::Evaluation | Channel::Checkout | Channel::Rollout => {
                Rc::clone(&self.others).handle(request, replies)
            }
            // Not of this part: the call completes without a reply.
            Channel::Library | Channel::School => Ok(()),
        }
    }
}
