//! The host of a worker: decodes each request once, passes it to its service, and sends the replies.

use std::rc::Rc;

use leptos::wasm_split::wasm_split;
use serde::Serialize;
use volary_core::Clock;
use volary_protocol::envelope::{
    Delivery, decode_header, decode_request, encode_delivery, encode_event,
};
use volary_protocol::library::{self, Request};
use volary_protocol::{Channel, DecodeError, RequestId};

use super::checkout;
use super::environments::Environments;
use super::evaluation::EvaluationService;
use super::library::fetching::fetch;
use super::library::listed_files::{fetch_list, refresh};
use super::library::{LibraryService, Output, listing, reading};
use super::rollout::RolloutService;
use crate::browser::clock::BrowserClock;
use crate::browser::files::GivenFile;
use crate::browser::lazy::Loaded;
use crate::browser::transferable::{Attachment, Letter};
use crate::browser::worker_port::WorkerPort;
use crate::browser::{spawn, timers};
use crate::library::indexed_db_store::IndexedDbStore;
use crate::library::source::Source;
use crate::storage::change_feed;

/// The services of a worker.
pub struct Host {
    port: WorkerPort,
    environments: Environments,
    evaluations: EvaluationService,
    library: LibraryService,
    rollouts: RolloutService,
}

/// Loads the services, then listens to the page.
pub fn start(port: WorkerPort) {
    spawn(async move {
        if serve(port.clone()).await.is_err() {
            port.post_unloaded();
        }
    });
}

#[wasm_split(engine, wasm_split_path = leptos::wasm_split, fallible)]
fn serve(port: WorkerPort) -> Loaded<()> {
    port.report_panics();
    let clock: Rc<dyn Clock> = Rc::new(BrowserClock);
    let host = Rc::new(Host {
        environments: Environments::new(volary_envs::registry_with_tau_bench(), Rc::clone(&clock)),
        evaluations: EvaluationService::new(
            volary_envs::registry_with_tau_bench(),
            Rc::clone(&clock),
            timers::wall_clock,
        ),
        library: LibraryService::new(
            IndexedDbStore,
            volary_envs::registry_with_tau_bench(),
            clock,
            timers::wall_clock,
        ),
        rollouts: RolloutService::default(),
        port: port.clone(),
    });
    port.listen(move |letter| Rc::clone(&host).handle(letter));
    Ok(())
}

impl Host {
    fn handle(self: Rc<Self>, letter: Letter) {
        // Undecodable bytes come from a page of another build. Its call completes without a reply.
        let _ = self.try_handle(letter);
    }

    fn try_handle(self: Rc<Self>, letter: Letter) -> Result<(), DecodeError> {
        let (channel, id, rest) = decode_header(&letter.bytes)?;
        let replies = Replies {
            port: self.port.clone(),
            id,
        };
        match channel {
            Channel::Environments => {
                let request = decode_request(rest)?;
                spawn(async move {
                    let send = |event| replies.send(&event);
                    self.environments.handle(request, &send).await;
                });
            }
            Channel::Evaluation => {
                let request = decode_request(rest)?;
                spawn(async move {
                    let send = |event, texts: Option<_>| {
                        let attachments = texts.into_iter().map(Attachment::Texts);
                        replies.send_with(&event, attachments.collect());
                    };
                    let Host {
                        evaluations,
                        environments,
                        ..
                    } = &*self;
                    evaluations.handle(request, environments, &send).await;
                });
            }
            Channel::Checkout => {
                let request = decode_request(rest)?;
                let files = files(letter.attachments);
                spawn(checkout::handle(
                    request,
                    files,
                    Rc::new(move |event| replies.send(&event)),
                ));
            }
            Channel::Rollout => {
                let request = decode_request(rest)?;
                spawn(async move {
                    let event = self.rollouts.handle(request, letter.attachments).await;
                    replies.send(&event);
                });
            }
            Channel::Library => {
                let request = decode_request(rest)?;
                spawn(self.handle_library(id, request, letter.attachments, replies));
            }
        }
        Ok(())
    }

    async fn handle_library(
        self: Rc<Self>,
        id: RequestId,
        request: Request,
        attachments: Vec<Attachment>,
        replies: Replies,
    ) {
        let replies = Rc::new(replies);
        let send = move |output| match output {
            Output::Event(event) => replies.send(&event),
            Output::File { name, parts } => {
                // If the browser is out of space, no file is sent, which the user sees.
                let file = Attachment::of_parts(parts);
                let name = name.into();
                replies.send_with(&library::Event::File { name }, file.into_iter().collect());
            }
        };
        match request {
            Request::Watch => change_feed::listen(move |news| {
                let (host, send) = (Rc::clone(&self), send.clone());
                spawn(async move { listing::handle_changes(&host.library, news, &send).await });
            }),
            Request::Read { origin } => {
                let files = files(attachments).into_iter();
                let files = files.map(|file| Rc::new(file) as Rc<dyn Source>);
                reading::read(&self.library, id, files.collect(), origin, &send).await;
            }
            Request::Fetch { origin, files } => {
                fetch(&self.library, id, origin, files, Rc::new(send)).await;
            }
            Request::FetchList { origin, list } => {
                fetch_list(&self.library, id, origin, list, &send).await;
            }
            Request::Refresh {
                origin,
                changes,
                heads,
            } => refresh(&self.library, id, origin, changes, heads, &send).await,
            request => self.library.handle(id, request, &send).await,
        }
    }
}

/// The files that are attached to a request.
fn files(attachments: Vec<Attachment>) -> Vec<GivenFile> {
    let files = attachments
        .into_iter()
        .filter_map(|attachment| match attachment {
            Attachment::File(file) => Some(file),
            Attachment::Blob(_) | Attachment::Texts(_) => None,
        });
    files.collect()
}

/// The sender of the replies to a request. Dropping it completes the request.
pub(super) struct Replies {
    port: WorkerPort,
    id: RequestId,
}

impl Replies {
    pub(super) fn send(&self, event: &impl Serialize) {
        self.send_with(event, Vec::new());
    }

    pub(super) fn send_with(&self, event: &impl Serialize, attachments: Vec<Attachment>) {
        self.port.post(Letter {
            bytes: encode_event(self.id, event),
            attachments,
        });
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        self.port.post(Letter {
            bytes: encode_delivery(&Delivery::End { id: self.id }),
            attachments: Vec::new(),
        });
    }
}
