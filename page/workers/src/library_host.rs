//! The part of a worker that reads, stores and searches trajectories: its service and the channel.

use std::rc::Rc;

use leptos::wasm_split::wasm_split;
use volary_protocol::envelope::decode_request;
use volary_protocol::library::{self, Request};
use volary_protocol::{Channel, DecodeError, RequestId};

use super::library::fetching::fetch;
use super::library::given_file::GivenSource;
use super::library::indexed_db_store::IndexedDbStore;
use super::library::parts::LazyParts;
use super::library::site_files::SiteFiles;
use super::services::{Incoming, Replies, Services, files, listen};
use volary_browser::clock::BrowserClock;
use volary_browser::lazy::Loaded;
use volary_browser::transferable::Attachment;
use volary_browser::worker_port::WorkerPort;
use volary_browser::{spawn, timers};
use volary_library::source::Source;
use volary_library::{LibraryService, Output};
use volary_storage::change_feed;

struct LibraryHost {
    library: LibraryService,
}

/// Serves the page.
#[wasm_split(library, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn serve(port: WorkerPort) -> Loaded<()> {
    port.report_panics();
    let (code, clock) = (Rc::new(LazyParts), Rc::new(BrowserClock));
    let library = LibraryService::new(IndexedDbStore, code, clock, timers::wall_clock);
    listen(&port, Rc::new(LibraryHost { library }));
    Ok(())
}

/// The attached files.
fn sources(attachments: Vec<Attachment>) -> Vec<Rc<dyn Source>> {
    let files = files(attachments).into_iter();
    files
        .map(|file| Rc::new(GivenSource(file)) as Rc<dyn Source>)
        .collect()
}

impl Services for LibraryHost {
    fn handle(self: Rc<Self>, request: Incoming, replies: Replies) -> Result<(), DecodeError> {
        // On other channels, the call completes without a reply: they are not of this part.
        if request.channel == Channel::Library {
            let decoded = decode_request(&request.body)?;
            spawn(self.handle_library(request.id, decoded, request.attachments, replies));
        }
        Ok(())
    }
}

impl LibraryHost {
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
                spawn(async move { host.library.handle_changes(news, &send).await });
            }),
            Request::Read { origin } => {
                let files = sources(attachments);
                self.library.read(id, files, origin, &send).await;
            }
            Request::ShowUnstored { rows } => {
                let texts = sources(attachments);
                self.library.show_unstored(rows, texts, &send).await;
            }
            Request::Fetch { origin, files } => {
                fetch(&self.library, id, origin, files, Rc::new(send)).await;
            }
            Request::FetchList { origin, list } => {
                self.library
                    .fetch_list(id, &SiteFiles, origin, list, &send)
                    .await;
            }
            Request::Refresh {
                origin,
                changes,
                heads,
            } => {
                self.library
                    .refresh(id, &SiteFiles, origin, changes, heads, &send)
                    .await;
            }
            request => self.library.handle(id, request, &send).await,
        }
    }
}
