//! The files of a list, which `volary view` writes while it reads folders: read in groups, while the list arrives.
//!
//! Files of one folder are read together, because some formats spread an episode over several files. Large files are read
//! in place, in ranges. While a group is read, the next one is opened.
//!
//! Invariant: at most one group is open while another is read.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use futures_channel::mpsc;
use futures_util::future::{Either, join, select};
use futures_util::{StreamExt, stream};
use volary_core::json::{Json, Text};
use volary_core::quantity::plural;
use volary_formats::import::index::torch_dump::is_dump;
use volary_formats::import::together::other_of;
use volary_formats::import::{Note, NoteLevel};
use volary_protocol::RequestId;
use volary_protocol::library::{Event, FileChanges, FileList, Origin, RemoteFile};

use super::continuation::{COMPARED, Continuation};
use super::file_list::{Groups, Lines};
use super::file_pairs::FilePairs;
use super::reading as readings;
use super::renewal::Renewal;
use super::report::Report;
use super::state::{LibraryService, Output, Send};
use crate::error::LibraryError;
use crate::file_server::{FileServer, ListedFile, Opened};
use crate::source::{Source, Window};

/// How many files are opened at the same time. Browsers have six connections to a server.
const CONCURRENT_OPENS: usize = 6;

/// How much is read when a file is opened, in bytes, unless only its beginning is wanted: most files are no longer.
const HEAD: u64 = 256 << 10;

/// A group of files that are open.
struct OpenGroup {
    files: Vec<ListedFile>,
    sources: Vec<Result<Rc<dyn Source>, LibraryError>>,
}

/// Reads the files of a list.
pub(super) async fn fetch_list(
    service: &LibraryService,
    id: RequestId,
    server: &dyn FileServer,
    origin: Origin,
    list: FileList,
    send: Send<'_>,
) {
    let _flight = service.expect();
    let fetching = Fetching::new(service, id, server, origin, list.heads, send);
    if let Err(error) = fetching.all(&list.url).await {
        fetching.note(error.sentences());
    }
    fetching.end();
}

/// Files changed: reads those that were written to, and marks the episodes of the others.
pub(super) async fn refresh(mut fetching: Fetching<'_>, changes: FileChanges) {
    let FileChanges {
        changed,
        gone,
        settled,
    } = changes;
    let _flight = fetching.service.expect();
    fetching.renewal.is_growing = true;
    fetching.renewal.mark_deleted(&gone).await;
    let mut groups = Groups::default();
    for file in changed {
        let listed = ListedFile { file, bytes: 0 };
        if let Some(group) = groups.push(listed) {
            fetching.read(group).await;
        }
    }
    fetching.read(groups.rest()).await;
    // After the reading: a file may have been written to, and settled, while another refresh ran.
    fetching.renewal.mark_settled(&settled).await;
    // Files that are half written are not worth a remark.
    fetching.report.take();
    fetching.found.set(1);
    fetching.end();
}

pub(super) struct Fetching<'a> {
    service: &'a LibraryService,
    id: RequestId,
    origin: Origin,
    send: Send<'a>,
    server: &'a dyn FileServer,
    /// The address of the beginnings of many files in one response, if there is one.
    heads: Option<Text>,
    report: RefCell<Report>,
    files: Cell<usize>,
    found: Cell<usize>,
    is_cancelled: Cell<bool>,
    pairs: RefCell<FilePairs>,
    renewal: Renewal<'a>,
}

impl<'a> Fetching<'a> {
    pub(super) fn new(
        service: &'a LibraryService,
        id: RequestId,
        server: &'a dyn FileServer,
        origin: Origin,
        heads: Option<Text>,
        send: Send<'a>,
    ) -> Fetching<'a> {
        Fetching {
            service,
            id,
            origin,
            send,
            server,
            heads,
            report: RefCell::default(),
            files: Cell::new(0),
            found: Cell::new(0),
            is_cancelled: Cell::new(false),
            pairs: RefCell::default(),
            renewal: Renewal::new(service, send),
        }
    }

    /// Reads on in the files that have only grown. Returns the others.
    async fn read_on(&self, group: Vec<ListedFile>) -> Vec<ListedFile> {
        let mut others = Vec::new();
        for listed in group {
            let name = &listed.file.name;
            let continuation = self.service.continuations.borrow_mut().remove(name);
            let Some(continuation) = continuation else {
                others.push(listed);
                continue;
            };
            // Its beginning is only compared.
            let window = self.open(&listed, COMPARED).await.map(Window::on);
            match window {
                Ok(window) if continuation.fits(&window).await => {
                    self.go_on(window, continuation).await;
                }
                _ => others.push(listed),
            }
        }
        others
    }

    async fn open(&self, file: &ListedFile, head: u64) -> Opened {
        let is_growing = self.renewal.is_growing;
        self.server.open(file.clone(), head, is_growing).await
    }

    /// Opens files, in their order.
    async fn open_all(&self, files: &[ListedFile]) -> Vec<Result<Rc<dyn Source>, LibraryError>> {
        let heads = self.heads.as_ref().filter(|_| files.len() > 1);
        let mut together = match heads {
            Some(heads) => {
                let files: Vec<RemoteFile> = files.iter().map(|it| it.file.clone()).collect();
                let is_growing = self.renewal.is_growing;
                let opened = self.server.open_together(heads, &files, is_growing);
                opened.await.into_iter()
            }
            None => Vec::new().into_iter(),
        };
        let opened = stream::iter(files).map(|file| {
            let opened = together.next().flatten();
            async move {
                let opened = match opened {
                    Some(opened) => opened,
                    None => self.open(file, HEAD).await,
                };
                opened.map_err(|error| LibraryError::FileGone {
                    file: file.file.name.clone(),
                    error: Box::new(error.into()),
                })
            }
        });
        opened.buffered(CONCURRENT_OPENS).collect().await
    }

    /// Loads the readers before they are used, if one of these files may need them. A failure is ignored: the first use tries
    /// again and reports it.
    async fn load_readers_ahead(&self, files: &[ListedFile]) {
        if !files.iter().all(|listed| is_dump(&listed.file.name)) {
            let _ = self.service.code.readers().await;
        }
    }

    async fn go_on(&self, window: Window, continuation: Continuation) {
        let service = self.service;
        let ids = continuation.unfinished(service);
        self.renewal.put_aside(&ids).await;
        let send = |output| self.pass_on(output);
        let ended =
            readings::read_on(service, self.id, window, continuation, self.origin, &send).await;
        self.report.borrow_mut().append(ended.report);
        self.renewal.finish().await;
    }

    async fn all(&self, list: &str) -> Result<(), LibraryError> {
        // One group waits, so that the next one is opened while another is read.
        let (opened, groups) = mpsc::channel(0);
        let (listed, ()) = join(self.open_each(list, opened), self.import_each(groups)).await;
        listed
    }

    async fn import_each(&self, mut groups: mpsc::Receiver<OpenGroup>) {
        while let Some(group) = groups.next().await {
            self.import(group).await;
            if self.is_cancelled.get() {
                return;
            }
        }
    }

    /// Opens the files of a list as it arrives, in groups.
    async fn open_each(
        &self,
        list: &str,
        mut opened: mpsc::Sender<OpenGroup>,
    ) -> Result<(), LibraryError> {
        let mut pieces = self.server.list(list).await?;
        let mut lines = Lines::default();
        let mut groups = Groups::default();
        loop {
            let piece = pieces.next().await.transpose();
            let piece = piece.map_err(|error| LibraryError::IncompleteList {
                why: error.to_string().into(),
            })?;
            let is_end = piece.is_none();
            for line in lines.take(piece) {
                let Some(listed) = self.listed(list, &line) else {
                    continue;
                };
                if let Some(group) = groups.push(listed) {
                    self.open_next(group, &mut opened).await;
                }
                if self.is_cancelled.get() {
                    return Ok(());
                }
            }
            if is_end {
                self.open_next(groups.rest(), &mut opened).await;
                return Ok(());
            }
        }
    }

    /// The file of a line. A problem is noted.
    fn listed(&self, list: &str, line: &str) -> Option<ListedFile> {
        let json = Json::parse(line).ok()?;
        let text = |key: &str| json.get(key)?.as_text().cloned();
        if let Some(problem) = text("problem") {
            self.note(problem);
            return None;
        }
        let file = RemoteFile {
            name: text("name")?,
            url: self.server.address(list, &text("path")?),
        };
        let bytes = json.get("bytes").and_then(Json::as_f64).unwrap_or_default() as u64;
        Some(ListedFile { file, bytes })
    }

    /// Opens a group and passes it on, once the one before it is being read.
    async fn open_next(&self, group: Vec<ListedFile>, opened: &mut mpsc::Sender<OpenGroup>) {
        // Nobody receives it after a cancellation.
        if poll_fn(|context| opened.poll_ready(context)).await.is_ok()
            && let Some(group) = self.open_group(group).await
        {
            let _ = opened.start_send(group);
        }
    }

    async fn read(&self, group: Vec<ListedFile>) {
        if let Some(group) = self.open_group(group).await {
            self.import(group).await;
        }
    }

    /// Opens the files of a group; `None` if there is nothing to read. Those that have only grown are read on.
    async fn open_group(&self, group: Vec<ListedFile>) -> Option<OpenGroup> {
        if group.is_empty() || self.is_cancelled.get() {
            return None;
        }
        self.files.set(self.files.get() + group.len());
        let files = if self.renewal.is_growing {
            let group = self.with_other_files(group).await;
            self.read_on(group).await
        } else {
            self.with_first_files(group)
        };
        if files.is_empty() {
            return None;
        }
        let readers = self.load_readers_ahead(&files);
        let opened = join(self.open_all(&files), readers);
        let (sources, ()) = self.unless_cancelled(opened).await?;
        Some(OpenGroup { files, sources })
    }

    async fn import(&self, group: OpenGroup) {
        self.renewal.forget(&group.files).await;
        let mut sources: Vec<Rc<dyn Source>> = Vec::with_capacity(group.sources.len());
        for opened in group.sources {
            match opened {
                Ok(file) => sources.push(file),
                Err(error) => self.note(error.sentences()),
            }
        }
        let send = |output| self.pass_on(output);
        let reading = readings::read_some(self.service, self.id, sources, self.origin, &send);
        // Reading ends by itself when it is cancelled.
        let mut reading = pin!(reading);
        let ended = match self.unless_cancelled(&mut reading).await {
            Some(ended) => ended,
            None => reading.await,
        };
        self.report.borrow_mut().append(ended.report);
        self.renewal.finish().await;
    }

    /// Adds the first files of pairs whose second files are in a group, if they were read in an earlier one: files that are
    /// read together are joined.
    fn with_first_files(&self, mut group: Vec<ListedFile>) -> Vec<ListedFile> {
        let earlier = self.pairs.borrow_mut().earlier(&group);
        group.splice(0..0, earlier);
        group
    }

    /// Adds the other files of pairs of which one was written just now, if they were read before and are still there.
    async fn with_other_files(&self, mut group: Vec<ListedFile>) -> Vec<ListedFile> {
        let others: Vec<RemoteFile> = {
            let urls = self.service.url_of.borrow();
            let others = group.iter().filter_map(|listed| {
                let name: Text = other_of(&listed.file.name)?.into();
                let url = urls.get(&name)?.clone();
                Some(RemoteFile { name, url })
            });
            let is_here = |file: &RemoteFile| group.iter().any(|here| here.file.name == file.name);
            others.filter(|file| !is_here(file)).collect()
        };
        for file in others {
            // Its size is unknown until it is opened.
            let mut listed = ListedFile { file, bytes: 0 };
            // The episodes of a deleted file stay, so it is not read again.
            if let Ok(opened) = self.open(&listed, COMPARED).await {
                listed.bytes = opened.size();
                group.insert(0, listed);
            }
        }
        group
    }

    async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match select(pin!(self.service.cancelled(self.id)), pin!(work)).await {
            Either::Left(_) => {
                self.is_cancelled.set(true);
                None
            }
            Either::Right((done, _)) => Some(done),
        }
    }

    /// Passes on what a group of files is answered with.
    fn pass_on(&self, output: Output) {
        match output {
            Output::Event(Event::Progress { doing, .. }) => {
                // How many files follow is not known.
                let done = None;
                (self.send)(Output::Event(Event::Progress { doing, done }));
            }
            Output::Event(Event::Added { rows }) => {
                self.found.set(self.found.get() + rows.len());
                let rows = self.renewal.added(rows);
                (self.send)(Output::Event(Event::Added { rows }));
            }
            output => (self.send)(output),
        }
    }

    /// Adds a sentence about a file that could not be read.
    fn note(&self, text: Text) {
        self.report.borrow_mut().add(Note {
            level: NoteLevel::Unreadable,
            file: "".into(),
            text,
        });
    }

    fn end(&self) {
        self.service.cancelled.remove(self.id);
        let mut notes = self.report.take().lines();
        // A folder that is empty is one where a run begins.
        if self.found.get() == 0 && self.files.get() > 0 {
            let files = plural(self.files.get(), "file");
            notes.insert(0, format!("No trajectory was found in {files}.").into());
        }
        (self.send)(Output::Event(Event::Read { notes }));
    }
}

#[cfg(test)]
mod tests;
