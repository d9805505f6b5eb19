//! From the bytes of a file to its rows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use volary_core::json::Json;
use volary_core::unpacking::{most_bytes, most_episodes};

use crate::declared::{check_pages, check_schema, first_large_row};
use crate::field::{has_meanings, object};

/// The bytes at both ends of a file.
const MAGIC: &[u8] = b"PAR1";
/// The same of a file whose metadata are encrypted.
const ENCRYPTED: &[u8] = b"PARE";

/// The bytes that the texts of a row may always have before it is built.
const LARGEST_ROW: usize = 8 << 20;

/// Whether these first bytes of a file are those of a Parquet file.
pub fn is_parquet(start: &[u8]) -> bool {
    start.starts_with(MAGIC) || start.starts_with(ENCRYPTED)
}

/// The rows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// JSON Lines: one object a row.
    pub lines: String,
    /// The number of rows.
    pub count: usize,
    /// What could not be read, as a sentence.
    pub loss: Option<String>,
}

/// Why a file has no rows, or cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetError {
    /// The metadata at the end of the file are missing or damaged.
    #[error(
        "This Parquet file cannot be read: {reason}. Its metadata are at its end, so it must be complete; copy it again."
    )]
    Damaged {
        /// The message of the `parquet` crate, without a full stop.
        reason: String,
    },
    /// It is larger than the limit.
    #[error(
        "This Parquet file unpacks to {size} MB; at most {limit} MB are read. Split it, or select fewer columns."
    )]
    TooLarge {
        /// The declared size, in MB.
        size: u64,
        /// The limit, in MB.
        limit: u64,
    },
    /// Its metadata are encrypted.
    #[error("This Parquet file is encrypted. Decrypt it, and write it again without encryption.")]
    Encrypted,
    /// Its pages are compressed in a way for which there is no decoder.
    #[error(
        "This Parquet file is compressed with {codec}, which is not supported. Write it again with another compression, \
         such as `pyarrow.parquet.write_table(table, path, compression=\"zstd\")`."
    )]
    Compression {
        /// The name of the compression.
        codec: &'static str,
    },
    /// A type of a column to write is invalid.
    #[error("`{text}` is not a column type")]
    Type {
        /// What was given as the type, in Arrow's notation.
        text: String,
    },
    /// A file cannot be written.
    #[error("A Parquet file cannot be written: {reason}.")]
    Unwritten {
        /// The message of the `parquet` crate, without a full stop.
        reason: String,
    },
}

/// Reads the rows of a file, up to `limit` bytes of JSON, and no more than a file of its size may become
/// ([`volary_core::unpacking`]).
///
/// # Errors
/// If the metadata are encrypted or cannot be read, or declare more than `limit` bytes or an unsupported compression (Brotli, LZO). If a
/// page is damaged, the rows before it are returned with a [`Rows::loss`].
///
/// The crate `parquet` panics on some damaged files. Natively that is the error [`contradictory`]; WebAssembly cannot
/// unwind, so a page has to isolate the call.
pub fn read_rows(bytes: Vec<u8>, limit: usize) -> Result<Rows, ParquetError> {
    let read = AssertUnwindSafe(|| read(bytes, limit));
    catch_unwind(read).unwrap_or_else(|_| Err(contradictory()))
}

/// The error of a file on which the reader panics.
pub fn contradictory() -> ParquetError {
    ParquetError::Damaged {
        reason: "a page contradicts the metadata".to_owned(),
    }
}

fn read(bytes: Vec<u8>, limit: usize) -> Result<Rows, ParquetError> {
    if bytes.starts_with(ENCRYPTED) {
        return Err(ParquetError::Encrypted);
    }
    let packed = bytes.len();
    let (limit, most_rows) = (limit.min(most_bytes(packed)), most_episodes(packed));
    check_schema(&bytes)?;
    let bytes = Bytes::from(bytes);
    let reader = SerializedFileReader::new(bytes.clone()).map_err(damaged)?;
    let groups = reader.metadata().row_groups().iter();
    let size: u64 = groups
        .map(|group| u64::try_from(group.total_byte_size()).unwrap_or(0))
        .fold(0, u64::saturating_add);
    if size > limit as u64 {
        return Err(ParquetError::TooLarge {
            size: size >> 20,
            limit: limit as u64 >> 20,
        });
    }
    if let Some(codec) = unsupported(reader.metadata()) {
        return Err(ParquetError::Compression { codec });
    }
    let built = most_bytes(packed);
    check_pages(&bytes, &reader, built)?;
    let large_row = first_large_row(&reader, built.min(limit.max(LARGEST_ROW)), most_rows);
    let total = reader.metadata().file_metadata().num_rows();
    let schema = reader.metadata().file_metadata().schema_descr();
    let schema = schema.root_schema_ptr();
    let schema = Some(&*schema).filter(|schema| has_meanings(schema));
    let mut rows = Rows::default();
    let mut iterator = reader.get_row_iter(None).map_err(damaged)?;
    loop {
        if rows.count == most_rows && (rows.count as i64) < total {
            rows.loss = Some(format!(
                "The rows from {} on ({total} in all) are not read: a Parquet file of this size may have {most_rows}. \
                 Convert it to JSON Lines to read all of them.",
                rows.count + 1
            ));
            break;
        }
        if Some(rows.count) == large_row {
            rows.loss = Some(beyond_limit(rows.count, total, limit));
            break;
        }
        let Some(row) = iterator.next() else {
            break;
        };
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                rows.loss = Some(format!(
                    "The rows from {} on cannot be read: {}.",
                    rows.count + 1,
                    reason(&error)
                ));
                break;
            }
        };
        let line = Json::Object(object(&row, schema)).to_python_text();
        if rows.lines.len() + line.len() >= limit {
            rows.loss = Some(beyond_limit(rows.count, total, limit));
            break;
        }
        rows.lines.push_str(&line);
        rows.lines.push('\n');
        rows.count += 1;
    }
    Ok(rows)
}

/// The report of the rows after the first `read` ones, which exceed the limit.
fn beyond_limit(read: usize, total: i64, limit: usize) -> String {
    format!(
        "The rows from {} on ({total} in all) are not read: as JSON, the file has more than {} MB. Convert it to JSON \
         Lines, or split it.",
        read + 1,
        limit >> 20
    )
}

/// The compression of a file for which there is no decoder. The crate would report it page by page, and as its own setting.
fn unsupported(metadata: &ParquetMetaData) -> Option<&'static str> {
    let groups = metadata.row_groups().iter();
    let mut columns = groups.flat_map(RowGroupMetaData::columns);
    columns.find_map(|column| match column.compression() {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    })
}

fn damaged(error: parquet::errors::ParquetError) -> ParquetError {
    ParquetError::Damaged {
        reason: reason(&error),
    }
}

pub(crate) fn reason(error: &parquet::errors::ParquetError) -> String {
    let text = error.to_string();
    text.trim_end_matches(['.', '\n']).to_owned()
}
