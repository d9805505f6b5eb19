//! The user's checkout of tau-bench: reads one from files, checks and stores it, and provides its data to
//! environments.
//!
//! Invariants: a checkout without a readable domain is not stored, and the previous one then stays. The code of
//! tau-bench is loaded with the first checkout or the first request for data.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, Shared};
use leptos::wasm_split::wasm_split;
use volary_core::Json;
use volary_core::json::Text;
use volary_core::outside::{Answer, Closed, Data, ModelRequest, Outside, OutsideError};
use volary_envs::tau::Task;
use volary_envs::tau::checkout::{CheckoutError, Original, ReadFile};
use volary_envs::tau::checkout_files::{CUSTOMER_SOURCE, needed};
use volary_envs::tau::original::OriginalData;
use volary_formats::archive::{Archive, ArchiveError, Limits, is_archive};
use volary_protocol::checkout::{self as protocol, Event, Request, Summary};

use volary_browser::database::DatabaseError;
use volary_browser::files::GivenFile;
use volary_browser::files::streaming_download::StreamingDownload;
use volary_browser::lazy::{Loaded, Unloaded};
use volary_storage::checkout as storage;

/// The largest zip file, in bytes. The original's is 30 MB.
const LARGEST_ZIP: f64 = 256.0 * 1024.0 * 1024.0;
/// The largest file of a folder, in bytes. The original's largest is 2.3 MB.
const LARGEST_FILE: f64 = 64.0 * 1024.0 * 1024.0;

/// Where replies go.
pub type Send = Rc<dyn Fn(Event)>;

/// The needed files, by their paths from the root of the repository.
type Files = BTreeMap<String, Text>;

/// Why a checkout is not stored. Each text is for people.
#[derive(Debug, thiserror::Error)]
enum Rejection {
    /// The code of tau-bench could not be loaded.
    #[error(transparent)]
    Unloaded(#[from] Unloaded),
    /// No file was given.
    #[error("It contains no files.")]
    Empty,
    /// A file is too large to be one of a checkout.
    #[error("{file} is larger than {megabytes} MB.")]
    TooLarge { file: String, megabytes: f64 },
    /// A file could not be read.
    #[error("{file} could not be read: {why}")]
    Unreadable { file: String, why: String },
    /// The zip file could not be fetched.
    #[error("{url} could not be fetched: {why}")]
    NotFetched { url: String, why: String },
    /// The only file is not a zip file.
    #[error("{file} is not a zip file. Add the folder of tau-bench, or a zip file of it.")]
    NoZip { file: String },
    /// The zip file ends early.
    #[error("{file} is cut off: the directory at its end is missing. Download it again.")]
    CutOff { file: String },
    /// The zip file is damaged or too large.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The zip file has two checkouts.
    #[error(
        "{file} contains {path} twice, with different contents. Pack one checkout of tau-bench."
    )]
    Twice { file: String, path: String },
    /// A file is not text.
    #[error("{path} is not UTF-8 text.")]
    NoText { path: String },
    /// No file of tau-bench was found.
    #[error(
        "It does not contain tau-bench: no file of tau_bench/envs/retail or tau_bench/envs/airline was found."
    )]
    NoCheckout,
    /// No domain can be played; with the problem of each.
    #[error("{problems}.")]
    NoDomain { problems: String },
    /// The browser's database refused.
    #[error("The browser did not store it: {0}")]
    NotStored(DatabaseError),
}

/// The summary of an added checkout, or an error.
type Added = LocalBoxFuture<'static, Result<Summary, Rejection>>;
/// The data of a domain. Their type is in the lazy code.
type StoredDataResult = Result<Rc<dyn Any>, OutsideError>;

/// The lazy code of tau-bench, and of the database that stores its files.
struct Code {
    add: fn(Request, Vec<GivenFile>, Send) -> Added,
    data: fn(String) -> LocalBoxFuture<'static, StoredDataResult>,
}

#[wasm_split(tau, wasm_split_path = leptos::wasm_split, fallible)]
fn code() -> Loaded<Code> {
    Ok(Code {
        add: |request, files, send| add(request, files, send).boxed_local(),
        data: |name| data_of_checkout(name).boxed_local(),
    })
}

pub async fn handle(request: Request, files: Vec<GivenFile>, send: Send) {
    let added = match code().await {
        Ok(code) => (code.add)(request, files, Rc::clone(&send)).await,
        Err(error) => Err(error.into()),
    };
    send(match added {
        Ok(summary) => Event::Stored(summary),
        Err(error) => Event::Refused {
            reason: error.to_string().into(),
        },
    });
}

/// Cached data by checkout id and name. Every episode of an evaluation requests the same data.
type Known = BTreeMap<(String, String), Reading>;
type Reading = Shared<LocalBoxFuture<'static, StoredDataResult>>;

thread_local! {
    static KNOWN: RefCell<Known> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns the data with a name from the stored checkout.
pub async fn data(name: String) -> StoredDataResult {
    let code = code().await.map_err(|error| failed(error.to_string()))?;
    (code.data)(name).await
}

async fn data_of_checkout(name: String) -> StoredDataResult {
    let id = match storage::id().await {
        Ok(Some(id)) => id,
        Ok(None) => {
            return Err(failed(
                "The data of tau-bench are not in this browser. Add your checkout of tau-bench on the page \
                 Environments.",
            ));
        }
        Err(error) => {
            return Err(failed(format!(
                "The stored checkout of tau-bench could not be read: {error}"
            )));
        }
    };
    let reading = KNOWN.with_borrow_mut(|known| {
        known.retain(|(of, _), reading| *of == id && !matches!(reading.peek(), Some(Err(_))));
        let key = (id, name.clone());
        let reading = known.entry(key);
        reading
            .or_insert_with(|| read_stored(name).boxed_local().shared())
            .clone()
    });
    reading.await
}

/// Provides only stored data. A replay of a recorded episode needs nothing else from outside.
pub(super) struct StoredData;

impl Outside for StoredData {
    fn fetch(&self, address: &str) -> Answer {
        Closed.fetch(address)
    }

    fn complete(&self, request: ModelRequest) -> Answer {
        Closed.complete(request)
    }

    fn ask(&self, shown: &str) -> Answer {
        Closed.ask(shown)
    }

    fn data(&self, name: &str) -> Data {
        data(name.to_owned()).boxed_local()
    }
}

async fn read_stored(name: String) -> StoredDataResult {
    let unknown = || failed(format!("The data of {name} is not available."));
    let (original, split) = OriginalData::of_name(&name).ok_or_else(unknown)?;
    let folder = format!("tau_bench/envs/{}/", original.name());
    let mut files = Files::new();
    for prefix in [folder.as_str(), CUSTOMER_SOURCE] {
        let stored = storage::files(prefix).await;
        let stored = stored.map_err(|error| failed(error.to_string()))?;
        files.extend(stored.into_iter().map(|(path, text)| (path, text.into())));
    }
    let read = |path: &str| files.get(path).cloned();
    let data = OriginalData::read(original, split, &read);
    data.map(|data| Rc::new(data) as Rc<dyn Any>)
        .map_err(|error| failed(error.to_string()))
}

fn failed(message: impl Into<Text>) -> OutsideError {
    OutsideError {
        message: message.into(),
    }
}

async fn add(request: Request, given: Vec<GivenFile>, send: Send) -> Result<Summary, Rejection> {
    let given = match request {
        Request::Read => given,
        Request::Fetch { url } => vec![fetch(&url, Rc::clone(&send)).await?],
    };
    let files = match &*given {
        [] => return Err(Rejection::Empty),
        [zip] if needed(&zip.name).is_none() => {
            progress(&send, format!("Reading {}", zip.name), None);
            let bytes = read_file(zip, LARGEST_ZIP).await?;
            unpacked(&zip.name, &bytes)?
        }
        folder => from_folder(folder, &send).await?,
    };
    progress(&send, "Checking the data and tasks", None);
    let checked = Checked::of(&files)?;
    progress(&send, "Storing", None);
    let files = files
        .into_iter()
        .map(|(path, text)| (path, text.to_string()));
    storage::keep(&checked.summary.id, files, checked.tasks)
        .await
        .map_err(Rejection::NotStored)?;
    Ok(checked.summary)
}

async fn fetch(url: &str, send: Send) -> Result<GivenFile, Rejection> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let doing = format!("Fetching {name}");
    let failed = |error: &dyn std::fmt::Display| Rejection::NotFetched {
        url: url.to_owned(),
        why: error.to_string(),
    };
    let report = move |received: u64, size: Option<u64>| {
        let done = size.map(|size| received as f64 / size.max(1) as f64);
        progress(&send, doing.as_str(), done);
    };
    let download = StreamingDownload::begin(name, url, report).await;
    let download = download.map_err(|error| failed(&error))?;
    download.whole().await.map_err(|error| failed(&error))
}

async fn from_folder(given: &[GivenFile], send: &Send) -> Result<Files, Rejection> {
    let mut files = Files::new();
    let wanted: Vec<_> = given
        .iter()
        .filter_map(|file| Some((needed(&file.name)?, file)))
        .collect();
    for (place, (path, file)) in wanted.iter().enumerate() {
        let done = place as f64 / wanted.len() as f64;
        progress(send, format!("Reading {path}"), Some(done));
        let bytes = read_file(file, LARGEST_FILE).await?;
        files.insert((*path).to_owned(), text_of(path, bytes)?);
    }
    Ok(files)
}

async fn read_file(file: &GivenFile, largest: f64) -> Result<Vec<u8>, Rejection> {
    if file.size > largest {
        let megabytes = largest / f64::from(1 << 20);
        let file = file.name.clone();
        return Err(Rejection::TooLarge { file, megabytes });
    }
    let bytes = file.read().await;
    bytes.map_err(|why| Rejection::Unreadable {
        file: file.name.clone(),
        why,
    })
}

fn progress(send: &Send, doing: impl Into<Text>, done: Option<f64>) {
    let doing = doing.into();
    send(Event::Progress { doing, done });
}

/// Extracts the needed files from a zip file.
fn unpacked(name: &str, bytes: &[u8]) -> Result<Files, Rejection> {
    if !is_archive(bytes) {
        let file = name.to_owned();
        return Err(Rejection::NoZip { file });
    }
    let mut archive = Archive::open(bytes, Limits::default().of_packed(bytes.len()))?;
    if archive.is_cut() {
        let file = name.to_owned();
        return Err(Rejection::CutOff { file });
    }
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    let mut files = Files::new();
    for (place, path) in names.iter().enumerate() {
        let Some(path) = needed(path) else { continue };
        if let Some(read) = archive.read(place) {
            let text = text_of(path, read?)?;
            // Of two checkouts in one file, no mixture is read.
            if let Some(other) = files.insert(path.to_owned(), text.clone())
                && other != text
            {
                let (file, path) = (name.to_owned(), path.to_owned());
                return Err(Rejection::Twice { file, path });
            }
        }
    }
    Ok(files)
}

fn text_of(path: &str, bytes: Vec<u8>) -> Result<Text, Rejection> {
    let text = String::from_utf8(bytes).map_err(|_| Rejection::NoText {
        path: path.to_owned(),
    })?;
    Ok(text.into())
}

/// A checkout whose files were checked.
struct Checked {
    summary: Summary,
    /// The tasks of each split as JSON, by the name of their data.
    tasks: Vec<(String, String)>,
}

impl Checked {
    /// Reads every domain. Fails if none of them can be played.
    fn of(files: &Files) -> Result<Checked, Rejection> {
        let read = |path: &str| files.get(path).cloned();
        let mut checked = Checked {
            summary: Summary {
                id: id_of(files),
                ..Summary::default()
            },
            tasks: Vec::new(),
        };
        for original in Original::ALL {
            if let Err(problem) = checked.add(original, &read) {
                checked.summary.problems.push(problem.to_string().into());
            }
        }
        if files.is_empty() {
            Err(Rejection::NoCheckout)
        } else if checked.summary.domains.is_empty() {
            let problems = checked.summary.problems.join(". ");
            Err(Rejection::NoDomain { problems })
        } else {
            Ok(checked)
        }
    }

    fn add(&mut self, original: Original, read: ReadFile<'_>) -> Result<(), CheckoutError> {
        let contents = original.examine(read)?;
        let mut splits = Vec::new();
        for (split, count, _) in &contents.splits {
            let tasks = original.tasks(*split, read)?;
            let tasks: Vec<Json> = tasks.iter().map(Task::to_json).collect();
            let text = Json::List(tasks).to_compact_text();
            self.tasks
                .push((OriginalData::name(original, *split), text));
            splits.push(protocol::Split {
                name: split.name().into(),
                tasks: *count,
            });
        }
        let differences = contents.differences().into_iter().map(Text::from);
        self.summary.domains.push(protocol::Domain {
            name: original.name().into(),
            splits,
            differences: differences.collect(),
        });
        Ok(())
    }
}

/// Identifies a checkout: the start of a hash of all files.
fn id_of(files: &Files) -> Text {
    let mut hash = hmac_sha256::Hash::new();
    for (path, text) in files {
        for part in [path.as_str(), text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    let digest = hash.finalize();
    let digits = digest.iter().take(8);
    let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
    digits.into()
}

#[cfg(test)]
mod tests {
    use volary_formats::archive::Packer;

    use super::*;

    /// The files of a small airline domain in a folder.
    fn airline(user: &str) -> Vec<(&'static str, String)> {
        vec![
            ("tau_bench/envs/airline/data/flights.json", "{}".to_owned()),
            (
                "tau_bench/envs/airline/data/reservations.json",
                "{}".to_owned(),
            ),
            (
                "tau_bench/envs/airline/data/users.json",
                format!("{{\"{user}\": {{}}}}"),
            ),
            ("tau_bench/envs/airline/wiki.md", "Fly safely.".to_owned()),
            (
                "tau_bench/envs/airline/tasks_test.py",
                "TASKS = [Task(user_id=\"ben_2\", instruction=\"i\", actions=[], outputs=[])]"
                    .to_owned(),
            ),
        ]
    }

    fn zip(files: &[(&str, String)]) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.add("tau-bench-main/README.md", b"# tau").unwrap();
        for (path, text) in files {
            let path = format!("tau-bench-main/{path}");
            packer.add(&path, text.as_bytes()).unwrap();
        }
        packer.finish().unwrap()
    }

    fn checked(files: &[(&str, String)]) -> Result<Checked, Rejection> {
        Checked::of(&unpacked("a.zip", &zip(files)).unwrap())
    }

    #[test]
    fn a_zip_is_unpacked_checked_and_summed_up() {
        let checked = checked(&airline("ben_2")).unwrap();
        let [domain] = &*checked.summary.domains else {
            panic!("one domain");
        };
        assert_eq!((&*domain.name, domain.splits[0].tasks), ("airline", 1));
        assert_eq!(
            domain.differences,
            [
                Text::from("tau_bench/envs/airline/data"),
                Text::from("tau_bench/envs/airline/tasks_test.py")
            ]
        );
        assert_eq!(checked.summary.problems.len(), 1);
        assert!(checked.summary.problems[0].contains("envs/retail/"));
        let tasks = &checked.tasks[0];
        assert_eq!(tasks.0, "tau-bench/airline/test");
        assert!(tasks.1.contains("ben_2"));
    }

    #[test]
    fn a_hostile_zip_is_a_checkout_or_an_error() {
        let whole = airline("ben_2");
        let with = |others: &[(&str, &[u8])]| {
            let mut packer = Packer::default();
            for (path, text) in &whole {
                packer.add(path, text.as_bytes()).unwrap();
            }
            for (path, bytes) in others {
                packer.add(path, bytes).unwrap();
            }
            unpacked("a.zip", &packer.finish().unwrap())
        };
        // Names are no paths: those that lead elsewhere are other files, or one of the needed files.
        let wiki = "tau_bench/envs/airline/wiki.md";
        let names = [
            "../../etc/passwd",
            "/etc/passwd",
            "C:\\x",
            "a\0b",
            "",
            "tau_bench/envs/../x",
        ];
        let others: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &b"x"[..])).collect();
        let files = with(&others).unwrap();
        assert_eq!(files.len(), whole.len());
        assert_eq!(&*files[wiki], "Fly safely.");
        for name in ["../../", "/", "a/../../"] {
            let twice = with(&[(&format!("{name}{wiki}"), b"Fly.")])
                .unwrap_err()
                .to_string();
            assert!(twice.contains("twice, with different contents"), "{twice}");
            let same = with(&[(&format!("{name}{wiki}"), b"Fly safely.")]).unwrap();
            assert_eq!(same, files);
        }
        // A link is a file with a path, which is not followed.
        let link = with(&[("tau_bench/envs/airline/tasks_dev.py", b"../../x")]);
        assert_eq!(link.unwrap(), files);
        let orders = "tau_bench/envs/retail/data/orders.json";
        let bomb = with(&[(orders, &vec![b'['; 9 << 20])])
            .unwrap_err()
            .to_string();
        assert!(bomb.contains("unpacks to more than 8 MB"), "{bomb}");
        let binary = with(&[(orders, &[0xff, 0xfe])]).unwrap_err().to_string();
        assert!(binary.contains("not UTF-8"), "{binary}");
        let crowd: Vec<String> = (0..50_001).map(|place| format!("{place}")).collect();
        let crowd: Vec<(&str, &[u8])> = crowd.iter().map(|name| (&**name, &b""[..])).collect();
        let crowd = with(&crowd).unwrap_err().to_string();
        assert!(crowd.contains("more than 50000 files"), "{crowd}");
    }

    #[test]
    fn hostile_contents_are_errors_that_name_their_file() {
        let deep = "[".repeat(1 << 20);
        let digits = "1".repeat(1 << 20);
        let hostile = [
            (2, deep.clone()),
            (2, format!("{{\"a\": {digits}}}")),
            (2, "{\"a\": {}, \"a\": []}".to_owned()),
            (4, format!("TASKS = {deep}")),
            (4, format!("TASKS = {digits}")),
            (4, format!("TASKS = [{}]", "Task(),".repeat(1 << 17))),
            (4, format!("TASKS = [{}]", "('a'".repeat(1 << 17))),
            (4, format!("TASKS = '{}", "\\N".repeat(1 << 17))),
            (4, format!("TASKS = [{}", "#\n".repeat(1 << 19))),
            (4, "TASKS =\n".repeat(1 << 17)),
        ];
        for (place, text) in hostile {
            let mut files = airline("ben_2");
            let start: String = text.chars().take(20).collect();
            files[place].1 = text;
            let began = std::time::Instant::now();
            let error = checked(&files).err().expect(&start).to_string();
            assert!(error.contains(files[place].0), "{start}: {error}");
            assert!(
                error.len() < 2_000,
                "{start}: an error of {} bytes",
                error.len()
            );
            assert!(
                began.elapsed().as_secs() < 20,
                "{start} took {:?}",
                began.elapsed()
            );
        }
    }

    #[test]
    fn an_edited_file_changes_the_id() {
        let id = |user| checked(&airline(user)).unwrap().summary.id;
        assert_eq!(id("ben_2"), id("ben_2"));
        assert_ne!(id("ben_2"), id("eve_3"));
    }

    #[test]
    fn an_incomplete_checkout_is_rejected() {
        let error = |bytes: &[u8]| unpacked("a.zip", bytes).unwrap_err().to_string();
        assert!(error(b"text").contains("not a zip file"));
        let whole = zip(&airline("ben_2"));
        assert!(error(&whole[..whole.len() - 40]).contains("cut off"));
        let none = checked(&[]).err().unwrap().to_string();
        assert!(none.contains("does not contain tau-bench"), "{none}");
        let mut files = airline("ben_2");
        files.truncate(4);
        let missing = checked(&files).err().unwrap().to_string();
        assert!(missing.contains("tasks_test.py is missing"), "{missing}");
        let mut files = airline("ben_2");
        files[2].1 = "{\"ben_2\": {".to_owned();
        let cut = checked(&files).err().unwrap().to_string();
        assert!(cut.contains("airline/data/users.json"), "{cut}");
    }
}
