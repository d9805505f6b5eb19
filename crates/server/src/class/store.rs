//! A class in a SQLite file: its hand-ins, the code for pupils, and the hash of the teacher's key.
//!
//! A hand-in belongs to an assignment, the pupil's name and the secret of the pupil's browser; the next one of the same
//! three replaces it. Without the secret, nobody can replace a hand-in of somebody else with the same name.
//!
//! Invariants: [`Store::put`] returns after the data has reached the disk (`synchronous = FULL`). If there is no space,
//! everything stored before is unchanged. The code is random, and is the same until it is renewed.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};
use uuid::Uuid;
use volary_classroom::wire::{Receipt, Summary, to_text};
use volary_classroom::{BoardRow, Name, Standing};
use volary_core::json::{from_json, read};

/// The version of the tables, stored in the file.
const VERSION: i64 = 2;

/// The version without the table `class`: the code for pupils was derived from the teacher's key.
const WITHOUT_CODE: i64 = 1;

/// Marks the file as a class of Volary: "VLcl".
const APPLICATION: i64 = 0x564c_636c;

/// The time for which to wait for another program that has locked the file.
const BUSY: Duration = Duration::from_secs(5);

const HAND_INS: &str = "
CREATE TABLE hand_in (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL,
    title TEXT NOT NULL,
    pupil TEXT NOT NULL,
    secret TEXT NOT NULL,
    received REAL NOT NULL,
    times INTEGER NOT NULL,
    tasks TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (assignment, pupil, secret)
) STRICT;
";

/// The table with the only row of the class.
const CLASS: &str = "
CREATE TABLE class (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    code TEXT NOT NULL,
    key_hash TEXT
) STRICT;
";

const PUT: &str = "
INSERT INTO hand_in (id, assignment, title, pupil, secret, received, times, tasks, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8)
ON CONFLICT (assignment, pupil, secret) DO UPDATE
SET title = ?3, received = ?6, times = times + 1, tasks = ?7, body = ?8
RETURNING id, times
";

/// The limits of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of hand-ins; replacing one is always possible.
    pub hand_ins: u32,
    /// The maximum size of the file, in bytes.
    pub file: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            hand_ins: 5_000,
            file: 1 << 30,
        }
    }
}

/// Why the file cannot be opened, read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk is full, or the file has its maximum size.
    #[error("the disk of the class server is full")]
    Full,
    /// There are as many hand-ins as the limit allows.
    #[error("the class has its maximum of {limit} hand-ins")]
    TooMany { limit: u32 },
    #[error("the file is not a class of Volary; choose another name to create one")]
    Foreign,
    #[error("the class was made by a newer Volary (version {version})")]
    Newer { version: i64 },
    #[error("cannot get random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// The file cannot be created.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// SQLite's own error.
    #[error(transparent)]
    Sql(rusqlite::Error),
    /// The server is stopping.
    #[error("the class is closed, because the server is stopping")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full,
            Some(ErrorCode::NotADatabase) => StoreError::Foreign,
            _ => StoreError::Sql(error),
        }
    }
}

/// A hand-in to store.
#[derive(Clone, Debug)]
pub struct NewHandIn {
    pub assignment: String,
    pub title: Name,
    pub pupil: Name,
    /// The secret of the pupil's browser.
    pub secret: String,
    /// In seconds since 1970 (UTC).
    pub received: f64,
    pub tasks: Vec<Standing>,
    /// The whole hand-in, as text.
    pub body: String,
}

/// The open file of a class.
pub struct Store {
    connection: Connection,
    limits: Limits,
    /// Whether the file was made by a version whose code for pupils was derived from the key. It has a new code now.
    pub was_migrated: bool,
}

impl Store {
    /// Opens a file; creates it if it does not exist.
    pub fn open(path: &Path, limits: Limits) -> Result<Store, StoreError> {
        create_private(path)?;
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        let kind = (
            number(&connection, "application_id")?,
            number(&connection, "user_version")?,
        );
        match kind {
            (0, 0) if is_empty(&connection)? => {
                connection.execute_batch("PRAGMA journal_mode = WAL;")?;
                make_tables(&mut connection, &[HAND_INS, CLASS])?;
            }
            (APPLICATION, VERSION) => {}
            (APPLICATION, WITHOUT_CODE) => make_tables(&mut connection, &[CLASS])?,
            (APPLICATION, version) => return Err(StoreError::Newer { version }),
            _ => return Err(StoreError::Foreign),
        }
        let page_size = number(&connection, "page_size")?.max(1);
        let pages = limits.file / u64::try_from(page_size).unwrap_or(4096);
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;
             PRAGMA max_page_count = {pages};"
        ))?;
        Ok(Store {
            connection,
            limits,
            was_migrated: kind == (APPLICATION, WITHOUT_CODE),
        })
    }

    /// The code for pupils.
    pub fn code(&self) -> Result<String, StoreError> {
        Ok(self
            .connection
            .query_row("SELECT code FROM class", [], |row| row.get(0))?)
    }

    /// Replaces the code for pupils by another random one.
    pub fn renew_code(&self) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE class SET code = ?1", [random_code()?])?;
        Ok(())
    }

    /// The hash of the teacher's key; `None` before the first key.
    pub fn key_hash(&self) -> Result<Option<String>, StoreError> {
        Ok(self
            .connection
            .query_row("SELECT key_hash FROM class", [], |row| row.get(0))?)
    }

    pub fn set_key_hash(&self, hash: &str) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE class SET key_hash = ?1", [hash])?;
        Ok(())
    }

    /// Stores hand-ins, in one transaction if possible, because waiting for the disk once is faster.
    pub fn put(&mut self, hand_ins: &[NewHandIn]) -> Vec<Result<Receipt, StoreError>> {
        match self.put_together(hand_ins) {
            Ok(receipts) => receipts.into_iter().map(Ok).collect(),
            Err(error) if hand_ins.len() == 1 => vec![Err(error)],
            // One of them does not fit. The others must not suffer from that.
            Err(_) => hand_ins.chunks(1).flat_map(|one| self.put(one)).collect(),
        }
    }

    fn put_together(&mut self, hand_ins: &[NewHandIn]) -> Result<Vec<Receipt>, StoreError> {
        let limit = self.limits.hand_ins;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut receipts = Vec::with_capacity(hand_ins.len());
        for new in hand_ins {
            let values = params![
                Uuid::new_v4().simple().to_string(),
                new.assignment,
                new.title.as_str(),
                new.pupil.as_str(),
                new.secret,
                new.received,
                to_text(&new.tasks),
                new.body,
            ];
            let mut statement = transaction.prepare(PUT)?;
            let (id, times): (String, u32) =
                statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            receipts.push(Receipt {
                id,
                replaced: times > 1,
                received: new.received,
            });
        }
        let count: u32 = transaction
            .prepare("SELECT count(*) FROM hand_in")?
            .query_row([], |row| row.get(0))?;
        if count > limit && receipts.iter().any(|receipt| !receipt.replaced) {
            // Dropping the transaction rolls it back.
            return Err(StoreError::TooMany { limit });
        }
        transaction.commit()?;
        Ok(receipts)
    }

    /// The rows of the board, of one assignment or of all.
    pub fn rows(&self, assignment: Option<&str>) -> Result<Vec<BoardRow>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT id, assignment, title, pupil, received, times, tasks FROM hand_in
             WHERE ?1 IS NULL OR assignment = ?1 ORDER BY rowid",
        )?;
        let rows = statement.query_map([assignment], |row| {
            let tasks: String = row.get(6)?;
            Ok(BoardRow {
                id: row.get(0)?,
                assignment: row.get(1)?,
                title: Name::from(row.get::<_, String>(2)?),
                pupil: Name::from(row.get::<_, String>(3)?),
                received: row.get(4)?,
                times: row.get(5)?,
                // Only this program writes it.
                tasks: read(&tasks)
                    .ok()
                    .and_then(|tasks| from_json(&tasks).ok())
                    .unwrap_or_default(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The text of a hand-in; `None` if there is none with this id.
    pub fn body(&self, id: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT body FROM hand_in WHERE id = ?1")?;
        Ok(statement.query_row([id], |row| row.get(0)).optional()?)
    }

    /// The assignments with hand-ins, the latest first.
    pub fn summaries(&self) -> Result<Vec<Summary>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT assignment, title, count(*), max(received) AS latest FROM hand_in
             GROUP BY assignment ORDER BY latest DESC",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(Summary {
                assignment: row.get(0)?,
                title: Name::from(row.get::<_, String>(1)?),
                hand_ins: row.get(2)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Closes the file. Afterwards it is complete without the files next to it.
    pub fn close(self) -> Result<(), StoreError> {
        Ok(self.connection.close().map_err(|(_, error)| error)?)
    }
}

/// Makes tables, among them that of the class with a random code, in one transaction.
fn make_tables(connection: &mut Connection, tables: &[&str]) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(&tables.concat())?;
    transaction.execute(
        "INSERT INTO class (only, code) VALUES (1, ?1)",
        [random_code()?],
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

/// 128 random bits, in letters and digits.
fn random_code() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn number(connection: &Connection, pragma: &str) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

fn is_empty(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(tables == 0)
}

/// Creates the file if it does not exist, readable for its owner only. SQLite gives the files next to it the same mode.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
