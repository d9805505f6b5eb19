//! The files of a list, which `volary view` writes while it reads folders: read in groups, while the list arrives.
//!
//! Files of one folder are read together, because some formats spread an episode over several files. Large files are read
//! in place, in ranges. While a group is read, the next one is opened.
//!
//! Invariant: when a file is read again, its episodes keep their ids and their places in the table. Those that are no
//! longer in it are gone; those of a deleted file stay, and say so.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_channel::mpsc;
use futures_util::future::{Either, LocalBoxFuture, join, select};
use futures_util::{FutureExt, StreamExt, stream};
use volary_core::json::{Json, Text};
use volary_protocol::RequestId;
use volary_protocol::library::{Event, FileChanges, FileList, Origin, RemoteFile};
use volary_trajectory::table::Row;

use super::continuation::{COMPARED, Continuation};
use super::dump_pairs::{DumpPairs, Earlier, other_dump_of};
use super::file_list::{Groups, Lines, ListedFile};
use super::opened_file::OpenedFile;
use super::{BATCH, LibraryService, Output, Send, file_heads, reading as readings};
use crate::browser::files::ranged_file::{HEAD, RangedFile};
use crate::browser::files::streaming_download::FetchError;
use crate::browser::http::{self, HttpError, Patience};
use crate::browser::location;
use crate::library::repository::EpisodeStore;
use crate::library::source::{Source, Window};
use crate::projection::text::plural;

/// How many files are opened at the same time. Browsers have six connections to a server.
const AT_ONCE: usize = 6;
/// How many remarks are kept.
const MOST_NOTES: usize = 50;

/// Opens a file. Its first bytes, as many as given, are read at once. The flag says whether it is being written to.
type Open<'a> = &'a dyn Fn(
    RemoteFile,
    u64,
    bool,
) -> LocalBoxFuture<'static, Result<Rc<dyn Source>, FetchError>>;

/// A group of files that are open. A problem with one is a sentence for people.
struct OpenGroup {
    files: Vec<ListedFile>,
    sources: Vec<Result<Rc<dyn Source>, String>>,
}

/// Reads the files of a list.
pub async fn fetch_list(
    service: &LibraryService,
    id: RequestId,
    origin: Origin,
    list: FileList,
    send: Send<'_>,
) {
    let _flight = service.expect();
    let mut fetching = Fetching::new(service, id, origin, send, &open);
    fetching.heads = list.heads;
    if let Err(error) = fetching.all(&list.url).await {
        fetching.note(format!("The list of files is incomplete: {error}").into());
    }
    fetching.end();
}

/// Files changed: reads those that were written to, and marks the episodes of the others.
pub async fn refresh(
    service: &LibraryService,
    id: RequestId,
    origin: Origin,
    changes: FileChanges,
    heads: Option<Text>,
    send: Send<'_>,
) {
    let mut fetching = Fetching::new(service, id, origin, send, &open);
    fetching.heads = heads;
    refresh_with(fetching, changes).await;
}

async fn refresh_with(mut fetching: Fetching<'_>, changes: FileChanges) {
    let FileChanges {
        changed,
        gone,
        settled,
    } = changes;
    let _flight = fetching.service.expect();
    fetching.is_growing = true;
    fetching.mark(&gone, DELETED, |_| true).await;
    fetching
        .mark(&settled, OPEN, |row| &*row.outcome == RUNNING)
        .await;
    let mut groups = Groups::default();
    for file in changed {
        let listed = ListedFile { file, bytes: 0 };
        if let Some(group) = groups.push(listed) {
            fetching.read(group).await;
        }
    }
    fetching.read(groups.rest()).await;
    // Files that are half written are not worth a remark.
    fetching.notes.take();
    fetching.found.set(1);
    fetching.end();
}

/// The outcome of an episode whose file is being written to, of one that is not over, and of one whose file is gone.
const RUNNING: &str = "running";
const OPEN: &str = "open";
const DELETED: &str = "file deleted";

struct Fetching<'a> {
    service: &'a LibraryService,
    id: RequestId,
    origin: Origin,
    send: Send<'a>,
    open: Open<'a>,
    /// The address of the beginnings of many files in one response, if there is one.
    heads: Option<Text>,
    notes: RefCell<Vec<Text>>,
    files: Cell<usize>,
    found: Cell<usize>,
    is_cancelled: Cell<bool>,
    pairs: RefCell<DumpPairs>,
    /// Whether the files were written to just now.
    is_growing: bool,
    /// The rows that the files had when they were last read.
    before: RefCell<BTreeMap<Text, Row>>,
    /// The rows that they have now, as far as they differ from what was stored.
    after: RefCell<Vec<Row>>,
}

impl<'a> Fetching<'a> {
    fn new(
        service: &'a LibraryService,
        id: RequestId,
        origin: Origin,
        send: Send<'a>,
        open: Open<'a>,
    ) -> Fetching<'a> {
        Fetching {
            service,
            id,
            origin,
            send,
            open,
            heads: None,
            notes: RefCell::default(),
            files: Cell::new(0),
            found: Cell::new(0),
            is_cancelled: Cell::new(false),
            pairs: RefCell::default(),
            is_growing: false,
            before: RefCell::default(),
            after: RefCell::default(),
        }
    }

    /// Gives an outcome to episodes of files at these addresses, or in these folders.
    async fn mark(&self, urls: &[Text], outcome: &str, which: impl Fn(&Row) -> bool) {
        if urls.is_empty() {
            return;
        }
        let service = self.service;
        let ids: Vec<Text> = {
            let urls_of = service.url_of.borrow();
            let file_of = service.file_of.borrow();
            let is_meant = |url: &Text| {
                urls.iter().any(|at| {
                    let rest = url.strip_prefix(&**at);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            };
            let meant = file_of
                .iter()
                .filter(|(_, file)| urls_of.get(*file).is_some_and(is_meant));
            meant.map(|(id, _)| id.clone()).collect()
        };
        for ids in ids.chunks(BATCH) {
            let rows = service.guests.rows_of(ids).await.into_iter();
            let rows = rows.map(|(row, _)| row).filter(|row| which(row));
            let rows: Vec<Row> = rows
                .map(|row| Row {
                    outcome: outcome.into(),
                    ..row
                })
                .collect();
            // Memory accepts everything.
            let _ = service.guests.label(rows.clone()).await;
            if !rows.is_empty() {
                (self.send)(Output::Event(Event::Changed { rows }));
            }
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
            let window = self.open(&listed.file, COMPARED).await.map(Window::on);
            match window {
                Ok(window) if continuation.fits(&window).await => {
                    self.go_on(window, continuation).await;
                }
                _ => others.push(listed),
            }
        }
        others
    }

    async fn open(&self, file: &RemoteFile, head: u64) -> Result<Rc<dyn Source>, FetchError> {
        (self.open)(file.clone(), head, self.is_growing).await
    }

    /// Opens files, in their order. An error is a sentence for people.
    async fn open_all(&self, files: Vec<RemoteFile>) -> Vec<Result<Rc<dyn Source>, String>> {
        let heads = self.heads.as_ref().filter(|_| files.len() > 1);
        let mut together = match heads {
            Some(heads) => file_heads::open(heads, &files).await.into_iter(),
            None => Vec::new().into_iter(),
        };
        let opened = stream::iter(files).map(|file| {
            let opened = together.next().flatten();
            async move {
                let opened = match opened {
                    Some(Ok(opened)) => Ok(OpenedFile::of(opened, self.is_growing).await),
                    Some(Err(error)) => Err(error),
                    None => self.open(&file, HEAD).await,
                };
                opened.map_err(|error| format!("{} could not be read: {error}", file.name))
            }
        });
        opened.buffered(AT_ONCE).collect().await
    }

    async fn go_on(&self, window: Window, continuation: Continuation) {
        let service = self.service;
        let ids = continuation.unfinished(service);
        self.put_aside(&ids).await;
        let send = |output| self.pass_on(output);
        readings::read_on(service, self.id, window, continuation, self.origin, &send).await;
        self.renew().await;
    }

    /// Forgets episodes that are read again. Their rows stay in the table meanwhile. Returns the files that they were
    /// opened from.
    async fn put_aside(&self, ids: &[Text]) -> BTreeSet<Text> {
        let service = self.service;
        let rows = service.guests.rows_of(ids).await;
        let rows = rows.into_iter().map(|(row, _)| (row.id.clone(), row));
        self.before.replace(rows.collect());
        let mut files = BTreeSet::new();
        for id in ids {
            let place = service.lose(id).and_then(|volume| volume.place);
            files.extend(place.map(|place| place.file.clone()));
        }
        service.guests.forget(ids).await;
        files
    }

    /// Forgets the episodes of files that are read again.
    async fn forget(&self, group: &[ListedFile]) {
        let service = self.service;
        let names: BTreeSet<&Text> = group.iter().map(|listed| &listed.file.name).collect();
        let ids: Vec<Text> = {
            let file_of = service.file_of.borrow();
            let known = file_of.iter().filter(|(_, file)| names.contains(file));
            known.map(|(id, _)| id.clone()).collect()
        };
        let files = self.put_aside(&ids).await;
        for file in files.iter().filter(|file| !service.is_wanted(file)) {
            service.windows.borrow_mut().remove(file);
            service.guests.forget_file(file).await;
        }
        let mut urls = service.url_of.borrow_mut();
        let mut continuations = service.continuations.borrow_mut();
        for ListedFile { file, .. } in group {
            urls.insert(file.name.clone(), file.url.clone());
            continuations.remove(&file.name);
        }
    }

    /// The group was read: episodes that are no longer there are gone, and those that are there have grown.
    async fn renew(&self) {
        let after = self.after.take();
        let _ = self.service.guests.label(after.clone()).await;
        let mut before = self.before.take();
        for row in after {
            if before.remove(&row.id).is_some() {
                let (id, into) = (row.id.clone(), row.id);
                (self.send)(Output::Event(Event::Grown { id, into }));
            }
        }
        let ids: Vec<Text> = before.into_keys().collect();
        if !ids.is_empty() {
            (self.send)(Output::Event(Event::Gone { ids }));
        }
    }

    /// The row as it is shown: it keeps its place in the table, and says whether it is being written.
    fn shown(&self, mut row: Row) -> Row {
        if let Some(before) = self.before.borrow().get(&row.id) {
            row.added = before.added;
            row.tags.clone_from(&before.tags);
        }
        if self.is_growing && &*row.outcome == OPEN {
            row.outcome = RUNNING.into();
        }
        row
    }

    async fn all(&self, list: &str) -> Result<(), HttpError> {
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
    ) -> Result<(), HttpError> {
        let request = http::Request {
            method: "GET",
            url: list.to_owned(),
            own_cookies: true,
            ..http::Request::default()
        };
        let patience = Patience::of(Duration::from_secs(60));
        let mut response = http::send(&request, patience).await?;
        if response.status() != 200 {
            let text = format!(
                "The list of files could not be fetched: the server answered {}.",
                response.status()
            );
            self.note(text.into());
            return Ok(());
        }
        let mut lines = Lines::default();
        let mut groups = Groups::default();
        loop {
            let piece = response.piece().await?;
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
            url: location::beside(list, &text("path")?).into(),
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
        let files = match self.is_growing {
            true => {
                let group = self.with_other_dumps(group).await;
                self.read_on(group).await
            }
            false => self.with_rollouts(group),
        };
        if files.is_empty() {
            return None;
        }
        let wanted = files.iter().map(|listed| listed.file.clone()).collect();
        let sources = self.unless_cancelled(self.open_all(wanted)).await?;
        Some(OpenGroup { files, sources })
    }

    async fn import(&self, group: OpenGroup) {
        self.forget(&group.files).await;
        let mut sources: Vec<Rc<dyn Source>> = Vec::with_capacity(group.sources.len());
        for opened in group.sources {
            match opened {
                Ok(file) => sources.push(file),
                Err(text) => self.note(text.into()),
            }
        }
        let send = |output| self.pass_on(output);
        let reading = readings::read(self.service, self.id, sources, self.origin, &send);
        // Reading ends by itself when it is cancelled.
        let mut reading = pin!(reading);
        if self.unless_cancelled(&mut reading).await.is_none() {
            reading.await;
        }
        self.renew().await;
    }

    /// Adds the rollout dumps that belong to the training dumps of a group and were read in an earlier one: files that are
    /// read together are joined.
    fn with_rollouts(&self, mut group: Vec<ListedFile>) -> Vec<ListedFile> {
        let Earlier { found, left_out } = self.pairs.borrow_mut().earlier(&group);
        if left_out > 0 {
            let dumps = plural(left_out, "training dump");
            self.note(
                format!(
                    "{dumps} of a large run were not joined with the rollouts of their steps. To join a step, open its \
                     two files together."
                )
                .into(),
            );
        }
        group.splice(0..0, found);
        group
    }

    /// Adds the other dumps of the steps whose dumps were written just now, if they were read before and are not too large.
    async fn with_other_dumps(&self, mut group: Vec<ListedFile>) -> Vec<ListedFile> {
        let others: Vec<RemoteFile> = {
            let urls = self.service.url_of.borrow();
            let others = group.iter().filter_map(|listed| {
                let name: Text = other_dump_of(&listed.file.name)?.into();
                let url = urls.get(&name)?.clone();
                Some(RemoteFile { name, url })
            });
            let is_here = |file: &RemoteFile| group.iter().any(|here| here.file.name == file.name);
            others.filter(|file| !is_here(file)).collect()
        };
        for file in others {
            // One that is gone is marked as such.
            let Ok(opened) = self.open(&file, COMPARED).await else {
                continue;
            };
            let bytes = opened.size();
            if self.pairs.borrow_mut().take_room(bytes) {
                group.insert(0, ListedFile { file, bytes });
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

    /// Passes on what a group of files is answered with, except for its end: others follow.
    fn pass_on(&self, output: Output) {
        match output {
            Output::Event(Event::Read { notes }) => {
                notes.into_iter().for_each(|note| self.note(note))
            }
            Output::Event(Event::Refused { reason }) => self.note(reason),
            Output::Event(Event::Progress { doing, .. }) => {
                // How many files follow is not known.
                let done = None;
                (self.send)(Output::Event(Event::Progress { doing, done }));
            }
            Output::Event(Event::Added { rows }) => {
                self.found.set(self.found.get() + rows.len());
                let rows: Vec<Row> = rows.into_iter().map(|row| self.shown(row)).collect();
                if self.is_growing || !self.before.borrow().is_empty() {
                    self.after.borrow_mut().extend(rows.iter().cloned());
                }
                (self.send)(Output::Event(Event::Added { rows }));
            }
            output => (self.send)(output),
        }
    }

    fn note(&self, note: Text) {
        let mut notes = self.notes.borrow_mut();
        if notes.len() < MOST_NOTES && !note.is_empty() {
            notes.push(note);
        }
    }

    fn end(&self) {
        self.service.cancelled.remove(self.id);
        let mut notes = self.notes.take();
        // A folder that is empty is one where a run begins.
        if self.found.get() == 0 && self.files.get() > 0 {
            let files = plural(self.files.get(), "file");
            notes.insert(0, format!("No trajectory was found in {files}.").into());
        }
        (self.send)(Output::Event(Event::Read { notes }));
    }
}

fn open(
    file: RemoteFile,
    head: u64,
    is_growing: bool,
) -> LocalBoxFuture<'static, Result<Rc<dyn Source>, FetchError>> {
    let opened = async move {
        let file = RangedFile::open(&file.name, &file.url, head).await?;
        Ok(OpenedFile::of(file, is_growing).await)
    };
    opened.boxed_local()
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::ops::Range;
    use std::task::{Context, Poll, Waker};

    use volary_trajectory::Episode;

    use super::super::tests::{MemorySource, episode, file, ids, open, service};
    use super::*;

    /// A file that is being written to.
    struct Written(MemorySource);

    impl Source for Written {
        fn name(&self) -> Text {
            self.0.name()
        }

        fn size(&self) -> u64 {
            self.0.size()
        }

        fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
            self.0.read(range)
        }

        fn as_any(&self) -> &dyn Any {
            self
        }

        fn is_growing(&self) -> bool {
            true
        }
    }

    fn remote(name: &str) -> RemoteFile {
        RemoteFile {
            name: name.into(),
            url: name.into(),
        }
    }

    /// Reads files that were written to, and marks those that are no longer. What is in memory is read at once.
    fn refresh_now(
        service: &LibraryService,
        files: &[MemorySource],
        settled: &[Text],
    ) -> Vec<Output> {
        let said = RefCell::new(Vec::new());
        let say = |words| said.borrow_mut().push(words);
        let open = |wanted: RemoteFile, _, _| {
            let file = files.iter().find(|file| file.name == wanted.name);
            let file = file.map(|file| Rc::new(Written(file.clone())) as Rc<dyn Source>);
            std::future::ready(file.ok_or(FetchError::Status { status: 404 })).boxed_local()
        };
        let fetching = Fetching::new(service, 1, Origin::Published, &say, &open);
        let changes = FileChanges {
            changed: files.iter().map(|file| remote(&file.name)).collect(),
            settled: settled.to_vec(),
            ..FileChanges::default()
        };
        let done = refresh_with(fetching, changes).now_or_never();
        assert!(done.is_some());
        said.take()
    }

    fn grown(said: &[Output]) -> Vec<&str> {
        let grown = said.iter().filter_map(|said| match said {
            Output::Event(Event::Grown { id, into }) => {
                assert_eq!(id, into);
                Some(&**into)
            }
            _ => None,
        });
        grown.collect()
    }

    fn rows(said: &[Output]) -> Vec<&Row> {
        let rows = said.iter().filter_map(|said| match said {
            Output::Event(Event::Added { rows } | Event::Changed { rows }) => Some(rows),
            _ => None,
        });
        rows.flatten().collect()
    }

    /// An episode that is not over, as long as this many words.
    fn unfinished(id: &str, words: usize) -> Episode {
        episode(id, &"word ".repeat(words))
    }

    #[test]
    fn several_episodes_of_a_file_grow_at_once() {
        // A file that is read as a whole, and one that is read in place.
        for words in [10, 40_000] {
            let service = service();
            let made = |words: usize, ids: &[&str]| {
                let episodes = ids.iter().map(|id| unfinished(id, words));
                file("runs/a.jsonl", &episodes.collect::<Vec<_>>())
            };
            let said = refresh_now(&service, &[made(words, &["a", "b", "c"])], &[]);
            assert_eq!(ids(&said), ["a", "b", "c"]);
            assert!(grown(&said).is_empty(), "they are new");
            let before = open(&service, "b");
            let said = refresh_now(&service, &[made(words + 5, &["a", "b", "c", "d"])], &[]);
            assert_eq!(grown(&said), ["a", "b", "c"]);
            assert_eq!(ids(&said), ["a", "b", "c", "d"]);
            assert!(rows(&said).iter().all(|row| &*row.outcome == RUNNING));
            assert_ne!(open(&service, "b"), before);
            // One is gone, the others have changed.
            let said = refresh_now(&service, &[made(words + 9, &["a", "c"])], &[]);
            assert_eq!(grown(&said), ["a", "c"]);
            let gone = vec!["b".into(), "d".into()];
            assert!(said.contains(&Output::Event(Event::Gone { ids: gone })));
            // Nobody writes any more.
            let said = refresh_now(&service, &[], &["runs/a.jsonl".into()]);
            let outcomes = rows(&said).into_iter();
            let outcomes: BTreeMap<&str, &str> =
                outcomes.map(|row| (&*row.id, &*row.outcome)).collect();
            assert_eq!(outcomes, BTreeMap::from([("a", OPEN), ("c", OPEN)]));
        }
    }

    #[test]
    fn a_file_that_is_rewritten_again_and_again_leaves_nothing() {
        for words in [10, 40_000] {
            let service = service();
            let read = |number: usize| {
                let episodes =
                    ["a", "b"].map(|id| episode(id, &format!("{number} ").repeat(words)));
                let files = [
                    file("runs/a.jsonl", &episodes),
                    file("runs/b.json", &episodes[..1]),
                ];
                refresh_now(&service, &files, &["runs/c.json".into()]);
                open(&service, "a");
                service.sizes()
            };
            read(10);
            let before = read(11);
            for number in 12..40 {
                assert_eq!(read(number), before, "{words} words, version {number}");
            }
        }
    }

    fn listed(name: &str, bytes: u64) -> ListedFile {
        let file = RemoteFile {
            name: name.into(),
            url: "".into(),
        };
        ListedFile { file, bytes }
    }

    /// A file of the tests of importers.
    fn dump(name: &str, file: &str) -> MemorySource {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/crates/trajectory/tests/fixtures"
        );
        MemorySource {
            name: name.into(),
            bytes: std::fs::read(format!("{folder}/{file}")).unwrap(),
        }
    }

    /// Whether the first sample of the rollouts has training data.
    fn is_joined(service: &LibraryService) -> bool {
        let rows = service
            .guests
            .rows_of(&["3-0".into()])
            .now_or_never()
            .unwrap();
        rows[0].0.metadata.contains_key("training_data")
    }

    #[test]
    fn a_training_dump_that_is_written_later_is_joined() {
        let rollouts = dump("desk/rollout_data/3.pt", "slime-rollout.pt");
        let trained = dump("desk/train_data/3.pt", "slime-train.pt");
        let service = service();
        let said = RefCell::new(Vec::new());
        let say = |words| said.borrow_mut().push(words);
        let files = [rollouts, trained];
        let open = |wanted: RemoteFile, _, _| {
            let file = files.iter().find(|file| file.name == wanted.name).cloned();
            let file = file.map(|file| Rc::new(file) as Rc<dyn Source>);
            std::future::ready(file.ok_or(FetchError::Status { status: 404 })).boxed_local()
        };
        let written = |file: &MemorySource| {
            let fetching = Fetching::new(&service, 1, Origin::Published, &say, &open);
            let changes = FileChanges {
                changed: vec![remote(&file.name)],
                ..FileChanges::default()
            };
            refresh_with(fetching, changes).now_or_never().unwrap();
        };
        written(&files[0]);
        assert!(!is_joined(&service));
        written(&files[1]);
        assert!(is_joined(&service));
        assert!(grown(&said.borrow()).contains(&"3-0"));
        // What is written again stays joined, and there once.
        written(&files[0]);
        assert!(is_joined(&service));
        let ids = service.file_of.borrow().len();
        assert_eq!(ids, 2, "{:?}", service.file_of.borrow());
    }

    /// A file whose bytes arrive later.
    struct Late(MemorySource);

    impl Source for Late {
        fn name(&self) -> Text {
            self.0.name()
        }

        fn size(&self) -> u64 {
            self.0.size()
        }

        fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
            let mut waits = 3;
            let bytes = self.0.bytes[range.start as usize..range.end as usize].to_vec();
            poll_fn(move |_| {
                waits -= 1;
                match waits {
                    0 => Poll::Ready(Ok(bytes.clone())),
                    _ => Poll::Pending,
                }
            })
            .boxed_local()
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    #[test]
    fn one_group_is_opened_while_another_is_read() {
        let files = ["a", "b", "c"].map(|id| file(&format!("{id}.json"), &[episode(id, id)]));
        let happened = RefCell::new(Vec::new());
        let say = |output| {
            if let Output::Event(Event::Added { rows }) = output {
                happened.borrow_mut().push(format!("read {}", rows[0].id));
            }
        };
        let open = |wanted: RemoteFile, _, _| {
            happened.borrow_mut().push(format!("open {}", wanted.name));
            let file = files.iter().find(|file| file.name == wanted.name).cloned();
            let file = file.map(|file| Rc::new(Late(file)) as Rc<dyn Source>);
            std::future::ready(file.ok_or(FetchError::Status { status: 404 })).boxed_local()
        };
        let service = service();
        let fetching = Fetching::new(&service, 1, Origin::Published, &say, &open);
        let (mut opened, groups) = mpsc::channel(0);
        let opening = async {
            for file in &files {
                let listed = listed(&file.name, file.bytes.len() as u64);
                fetching.open_next(vec![listed], &mut opened).await;
            }
            drop(opened);
        };
        let mut reading = pin!(join(opening, fetching.import_each(groups)));
        let mut context = Context::from_waker(Waker::noop());
        while reading.as_mut().poll(&mut context).is_pending() {}
        let expected = [
            "open a.json",
            "open b.json",
            "read a",
            "open c.json",
            "read b",
            "read c",
        ];
        assert_eq!(*happened.borrow(), expected);
    }

    #[test]
    fn training_dumps_are_joined_with_rollouts_of_an_earlier_group() {
        let files = [
            dump("desk/rollout_data/3.pt", "slime-rollout.pt"),
            dump("desk/train_data/3.pt", "slime-train.pt"),
        ];
        for (pairs, joined) in [
            (DumpPairs::default(), true),
            (DumpPairs::with_room(10), false),
        ] {
            let service = service();
            let said = RefCell::new(Vec::new());
            let say = |words| said.borrow_mut().push(words);
            let open = |wanted: RemoteFile, _, _| {
                let file = files.iter().find(|file| file.name == wanted.name).cloned();
                let file = file.map(|file| Rc::new(file) as Rc<dyn Source>);
                std::future::ready(file.ok_or(FetchError::Status { status: 404 })).boxed_local()
            };
            let fetching = Fetching::new(&service, 1, Origin::Published, &say, &open);
            fetching.pairs.replace(pairs);
            for file in &files {
                let listed = listed(&file.name, file.bytes.len() as u64);
                fetching.read(vec![listed]).now_or_never().unwrap();
            }
            fetching.end();
            let said = said.borrow();
            let Some(Output::Event(Event::Read { notes })) = said.last() else {
                panic!("{said:?}");
            };
            let has = |words: &str| notes.iter().any(|note| note.contains(words));
            assert_eq!(has("Joined with their training data"), joined, "{notes:?}");
            assert_eq!(has("were not joined"), !joined, "{notes:?}");
            assert_eq!(is_joined(&service), joined);
            // The rollouts are there once.
            assert_eq!(grown(&said).contains(&"3-0"), joined);
        }
    }
}
