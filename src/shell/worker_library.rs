//! The worker's part in the library: hears what the librarian is asked, and passes on what she says. Nothing
//! waits for anything else: a large file is read in slices, and episodes are opened between them.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::*;
use web_sys::Blob;

use super::files::GivenFile;
use super::spawn;
use super::worker_loop::Host;
use crate::library::librarian::Said;
use crate::library::origin::Origin;
use crate::library::protocol::{Number, Request};
use crate::library::source::Source;
use crate::records::news;

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
            news::listen(move |news| spawn(Rc::clone(&host).hear(news)));
        }
        spawn(async move {
            let say = |said| self.pass_on(said);
            match task {
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

    async fn hear(self: Rc<Self>, news: news::News) {
        let say = |said| self.pass_on(said);
        for start in &news.gone_from {
            self.librarian.hear_forgotten(start, &say);
        }
        self.librarian.hear_gone(&news.gone, &say);
        self.librarian.hear_kept(&news.kept, &say).await;
    }

    fn pass_on(&self, said: Said) {
        let letter = match said {
            Said::Answer(answer) => answer.to_text().into(),
            Said::Part(event) => event.to_text().into(),
            Said::File { name, parts } => {
                let pieces: Array = parts.into_iter().map(JsValue::from).collect();
                match Blob::new_with_str_sequence(&pieces) {
                    Ok(blob) => Array::of2(&name.into(), &blob).into(),
                    // There is no room for it; the person sees that no file comes.
                    Err(_) => return,
                }
            }
        };
        // Texts and files can always be cloned to the page.
        let _ = self.scope.post_message(&letter);
    }
}
