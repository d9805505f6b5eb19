//! The part of a worker that plays environments: its services and their channels.

use std::rc::Rc;

use leptos::wasm_split::wasm_split;
use volary_core::Clock;
use volary_protocol::envelope::decode_request;
use volary_protocol::{Channel, DecodeError};

use super::checkout;
use super::environments::Environments;
use super::evaluation::EvaluationService;
use super::host::{Incoming, Replies, Services, files, listen};
use super::rollout::RolloutService;
use volary_browser::clock::BrowserClock;
use volary_browser::lazy::Loaded;
use volary_browser::spawn;
use volary_browser::transferable::Attachment;
use volary_browser::worker_port::WorkerPort;

struct EnvironmentHost {
    environments: Environments,
    evaluations: EvaluationService,
    rollouts: RolloutService,
}

/// Serves the page.
#[wasm_split(environments, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn serve(port: WorkerPort) -> Loaded<()> {
    port.report_panics();
    let clock: Rc<dyn Clock> = Rc::new(BrowserClock);
    let host = EnvironmentHost {
        environments: Environments::new(volary_envs::registry_with_tau_bench(), Rc::clone(&clock)),
        evaluations: EvaluationService::new(volary_envs::registry_with_tau_bench(), clock),
        rollouts: RolloutService::default(),
    };
    listen(&port, Rc::new(host));
    Ok(())
}

impl Services for EnvironmentHost {
    fn handle(self: Rc<Self>, request: Incoming<'_>, replies: Replies) -> Result<(), DecodeError> {
        let attachments = request.attachments;
        match request.channel {
            Channel::Environments => {
                let request = decode_request(request.body)?;
                spawn(async move {
                    let send = |event| replies.send(&event);
                    self.environments.handle(request, &send).await;
                });
            }
            Channel::Evaluation => {
                let request = decode_request(request.body)?;
                spawn(async move {
                    let send = |event, texts: Option<_>| {
                        let attachments = texts.into_iter().map(Attachment::Texts);
                        replies.send_with(&event, attachments.collect());
                    };
                    let EnvironmentHost {
                        evaluations,
                        environments,
                        ..
                    } = &*self;
                    evaluations.handle(request, environments, &send).await;
                });
            }
            Channel::Checkout => {
                let request = decode_request(request.body)?;
                spawn(checkout::handle(
                    request,
                    files(attachments),
                    Rc::new(move |event| replies.send(&event)),
                ));
            }
            Channel::Rollout => {
                let request = decode_request(request.body)?;
                spawn(async move {
                    let event = self.rollouts.handle(request, attachments).await;
                    replies.send(&event);
                });
            }
            // Not of this part: the call completes without a reply.
            Channel::Library => {}
        }
        Ok(())
    }
}
