//! The worker's part in the library: hears what the librarian is asked, and passes on what she says. Nothing
//! waits for anything else: a large file is read in slices, and episodes are opened between them. Files from
//! addresses are fetched here, so that they are read while they come and the page has nothing to carry.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use futures_util::future::{Either, select};
use js_sys::Array;
use volary_core::json::Text;
use wasm_bindgen::prelude::*;
use web_sys::Blob;

use super::files::GivenFile;
use super::files::arriving::{Arriving, FetchError};
use super::http::HttpError;
use super::spawn;
use super::worker_letter;
use super::worker_loop::Host;
use crate::library::librarian::Said;
use crate::library::origin::Origin;
use crate::library::protocol::{Answer, Number, Request};
use crate::library::source::Source;
use crate::projection::text::size_text;
use crate::storage::change_feed;

/// How far a file has come is said again after so many seconds.
const LONGEST_SILENCE: f64 = 0.1;

/// What the librarian is to do.
pub(super) enum Task {
    Request(Request),
    /// Read files, under a number.
    Read(Number, Origin, Vec<GivenFile>),
}

/// A request as text, or an array: a number, an origin, then names and files.
pub(super) fn task(data: &JsValue) -> Option<Task> {
    if let Some(text) = data.as_string() {
        return Request::read(&text).map(Task::Request);
    }
    let letter: Vec<JsValue> = data.dyn_ref::<Array>()?.iter().collect();
    let (number, rest) = letter.split_first()?;
    let (origin, files) = rest.split_first()?;
    let origin = Origin::read(&origin.as_string()?)?;
    let files = files.chunks_exact(2);
    let files = files.filter_map(|pair| GivenFile::of(&pair[0].as_string()?, pair[1].clone()));
    Some(Task::Read(
        number.as_f64()? as Number,
        origin,
        files.collect(),
    ))
}

impl Host {
    /// Does it, beside whatever else is done.
    pub(super) fn shelve(self: Rc<Self>, task: Task) {
        if !self.listens.replace(true) {
            let host = Rc::clone(&self);
            change_feed::listen(move |changed| spawn(Rc::clone(&host).hear(changed)));
        }
        spawn(async move {
            let say = |said| self.pass_on(said);
            match task {
                Task::Request(Request::Fetch {
                    number,
                    origin,
                    files,
                }) => self.fetch(number, origin, files, &say).await,
                Task::Request(request) => self.librarian.perform(request, &say).await,
                Task::Read(number, origin, files) => {
                    let files = files
                        .into_iter()
                        .map(|file| Rc::new(file) as Rc<dyn Source>);
                    let files = files.collect();
                    self.librarian.read(number, files, origin, &say).await;
                }
            }
        });
    }

    /// Fetches files, and reads them; a single one while it comes.
    async fn fetch(
        &self,
        number: Number,
        origin: Origin,
        files: Vec<(Text, Text)>,
        say: &dyn Fn(Said),
    ) {
        let _going = self.librarian.expect();
        let is_single = files.len() == 1;
        let mut coming: Vec<(Text, Rc<Arriving>)> = Vec::new();
        for (name, url) in files {
            let begun = self.arriving(number, &name, &url);
            let cancelled = self.librarian.cancelled(number);
            let begun = match select(pin!(begun), pin!(cancelled)).await {
                Either::Left((begun, _)) => begun,
                Either::Right(_) => break,
            };
            match begun {
                Ok(file) => {
                    if !is_single {
                        // Who waits for a connection would seem to be silent.
                        let cancelled = self.librarian.cancelled(number);
                        let _ = select(pin!(file.whole()), pin!(cancelled)).await;
                    }
                    coming.push((url, file));
                }
                Err(error) => say(unfetched(number, url, &error)),
            }
        }
        let sources = coming
            .iter()
            .map(|(_, file)| Rc::clone(file) as Rc<dyn Source>);
        let sources = sources.collect();
        let reading = self.librarian.read(number, sources, origin, say);
        let cancelled = self.librarian.cancelled(number);
        let stop = || coming.iter().for_each(|(_, file)| file.stop());
        if let Either::Right((_, reading)) = select(pin!(reading), pin!(cancelled)).await {
            stop();
            reading.await;
        }
        for (url, file) in &coming {
            match file.failure() {
                None | Some(FetchError::Stopped) => {}
                Some(error) => say(unfetched(number, url.clone(), &error)),
            }
        }
        stop();
    }

    async fn arriving(
        &self,
        number: Number,
        name: &str,
        url: &str,
    ) -> Result<Rc<Arriving>, FetchError> {
        let (shown, scope) = (name.to_owned(), self.scope.clone());
        let (clock, told) = (Rc::clone(&self.clock), Cell::new(self.clock.now()));
        let progress = move |came: u64, size: Option<u64>| {
            // Pieces come faster than anybody can read.
            let now = clock.now();
            if now - told.get() < LONGEST_SILENCE {
                return;
            }
            told.set(now);
            let of = size.map_or_else(String::new, |size| {
                format!(" of {}", size_text(size as usize))
            });
            let answer = Answer::Progress {
                number,
                doing: format!("Fetching {shown}: {}{of}", size_text(came as usize)).into(),
                done: size.map(|size| came as f64 / size.max(1) as f64),
            };
            // A text can always be cloned to the page.
            let _ = scope.post_message(&answer.to_text().into());
        };
        Arriving::begin(name, url, progress).await
    }

    async fn hear(self: Rc<Self>, changed: change_feed::ChangedEpisodes) {
        let say = |said| self.pass_on(said);
        for start in &changed.gone_from {
            self.librarian.hear_forgotten(start, &say).await;
        }
        self.librarian.hear_gone(&changed.gone, &say).await;
        self.librarian.hear_kept(&changed.kept, &say).await;
    }

    fn pass_on(&self, said: Said) {
        match said {
            Said::Answer(answer) => worker_letter::post(&self.scope, &answer.to_text()),
            Said::Part(event) => worker_letter::post(&self.scope, &event.to_text()),
            Said::File { name, parts } => {
                let pieces: Array = parts.into_iter().map(JsValue::from).collect();
                // Without room for it the person sees that no file comes.
                if let Ok(blob) = Blob::new_with_str_sequence(&pieces) {
                    // Files can always be cloned to the page.
                    let _ = self.scope.post_message(&Array::of2(&name.into(), &blob));
                }
            }
        }
    }
}

/// Says why a file did not come.
fn unfetched(number: Number, url: Text, error: &FetchError) -> Said {
    let (status, answered) = match error {
        FetchError::Status { status } => (Some(*status), true),
        FetchError::Http {
            error: HttpError::NoReply { .. },
        } => (None, false),
        _ => (None, true),
    };
    Said::Answer(Answer::Unfetched {
        number,
        url,
        reason: error.to_string().into(),
        status,
        answered,
    })
}
