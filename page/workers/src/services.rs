//! The services of a part of a worker, and the requests and replies between them and the page.

use std::rc::Rc;

use serde::Serialize;
use volary_protocol::envelope::{Delivery, decode_header, encode_delivery, encode_event};
use volary_protocol::{Channel, DecodeError, RequestId};

use volary_browser::files::GivenFile;
use volary_browser::transferable::{Attachment, Letter};
use volary_browser::worker_port::WorkerPort;

/// A request whose header is decoded.
pub(super) struct Incoming {
    pub channel: Channel,
    pub id: RequestId,
    /// The encoded request.
    pub body: Vec<u8>,
    pub attachments: Vec<Attachment>,
}

/// The services of a part.
pub(super) trait Services {
    /// Handles a request. It is complete once `replies` is dropped.
    fn handle(self: Rc<Self>, request: Incoming, replies: Replies) -> Result<(), DecodeError>;
}

/// Passes requests of the page to the services, first those that arrived while the code was loading.
pub(super) fn listen(port: &WorkerPort, services: Rc<dyn Services>) {
    let replying = port.clone();
    port.listen(move |letter| {
        // Undecodable bytes come from a page of another build. Its call completes without a reply.
        let _ = pass(Rc::clone(&services), &replying, letter);
    });
}

fn pass(services: Rc<dyn Services>, port: &WorkerPort, letter: Letter) -> Result<(), DecodeError> {
    let mut bytes = letter.bytes;
    let (channel, id, body) = decode_header(&bytes)?;
    let header = bytes.len() - body.len();
    bytes.drain(..header);
    let replies = Replies {
        port: port.clone(),
        id,
    };
    let request = Incoming {
        channel,
        id,
        body: bytes,
        attachments: letter.attachments,
    };
    services.handle(request, replies)
}

/// The files that are attached to a request.
pub(super) fn files(attachments: Vec<Attachment>) -> Vec<GivenFile> {
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
