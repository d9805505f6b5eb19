//! The services of a worker that need all environments: evaluations, tau-bench's checkout and rollouts.

use std::rc::Rc;

use volary_core::Clock;
use volary_protocol::envelope::decode_request;
use volary_protocol::{Channel, DecodeError};

use super::checkout;
use super::environments::Environments;
use super::evaluation::EvaluationService;
use super::rollout::RolloutService;
use super::services::{Incoming, Replies, Services, files};
use volary_browser::spawn;
use volary_browser::transferable::Attachment;

pub(crate) struct EvaluationHost {
    /// Those that the page plays in this worker.
    environments: Rc<Environments>,
    evaluations: EvaluationService,
    rollouts: RolloutService,
}

impl EvaluationHost {
    pub fn new(environments: Rc<Environments>, clock: Rc<dyn Clock>) -> Self {
        EvaluationHost {
            environments,
            evaluations: EvaluationService::new(volary_envs::registry_with_tau_bench(), clock),
            rollouts: RolloutService::default(),
        }
    }
}

impl Services for EvaluationHost {
    fn handle(self: Rc<Self>, request: Incoming, replies: Replies) -> Result<(), DecodeError> {
        let Incoming {
            channel,
            body,
            attachments,
            ..
        } = request;
        match channel {
            Channel::Evaluation => {
                let request = decode_request(&body)?;
                spawn(async move {
                    let send = |event, texts: Option<_>| {
                        let attachments = texts.into_iter().map(Attachment::Texts);
                        replies.send_with(&event, attachments.collect());
                    };
                    let evaluations = &self.evaluations;
                    evaluations.handle(request, &self.environments, &send).await;
                });
            }
            Channel::Checkout => {
                let request = decode_request(&body)?;
                spawn(checkout::handle(
                    request,
                    files(attachments),
                    Rc::new(move |event| replies.send(&event)),
                ));
            }
            Channel::Rollout => {
                let request = decode_request(&body)?;
                spawn(async move {
                    let event = self.rollouts.handle(request, attachments).await;
                    replies.send(&event);
                });
            }
            // Not of these services: the call completes without a reply.
            Channel::Environments | Channel::Library | Channel::School => {}
        }
        Ok(())
    }
}
