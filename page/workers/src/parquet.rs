//! Parquet files as JSON Lines, which the readers know, and rows as Parquet files. Reader and writer are lazy parts, which
//! the first such file loads. The reader panics on some damaged files, so it runs isolated: that file is not read, and
//! nothing else is lost.

use leptos::wasm_split::wasm_split;
use volary_core::json::Object;
use volary_formats::export::training_rows::RowColumn;
use volary_parquet::{ParquetError, RowWriter, Rows, contradictory, is_parquet, read_rows};

use volary_browser::isolation::isolated;
use volary_browser::lazy::Loaded;

/// The maximum size of the rows as JSON, in bytes.
const LARGEST: usize = 512 << 20;

type Read = fn(Vec<u8>, usize) -> Result<Rows, ParquetError>;
type Begin = fn(&[RowColumn]) -> Result<Box<dyn Table>, String>;

#[wasm_split(parquet, wasm_split_path = leptos::wasm_split, fallible)]
fn load() -> Loaded<Read> {
    Ok(read_rows)
}

#[wasm_split(parquet_writer, wasm_split_path = leptos::wasm_split, fallible)]
fn load_writer() -> Loaded<Begin> {
    Ok(begin_table)
}

/// Converts the bytes of a Parquet file, and returns those of others unchanged. The second value describes rows that
/// could not be read.
pub(super) async fn as_lines(bytes: Vec<u8>) -> Result<(Vec<u8>, Option<String>), String> {
    if !is_parquet(&bytes) {
        return Ok((bytes, None));
    }
    let read = load().await.map_err(|error| error.to_string())?;
    let rows = isolated(move || read(bytes, LARGEST)).unwrap_or_else(|_| Err(contradictory()));
    let rows = rows.map_err(|error| error.to_string())?;
    Ok((rows.lines.into_bytes(), rows.loss))
}

/// A Parquet file under construction. A trait, so that only the lazy part has the code.
pub(super) trait Table {
    /// Adds a row.
    fn push(&mut self, row: &Object) -> Result<(), String>;
    /// Ends the file and returns its bytes.
    fn finish(self: Box<Self>) -> Result<Vec<u8>, String>;
}

impl Table for RowWriter {
    fn push(&mut self, row: &Object) -> Result<(), String> {
        RowWriter::push(self, row).map_err(|error| error.to_string())
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>, String> {
        RowWriter::finish(*self).map_err(|error| error.to_string())
    }
}

fn begin_table(columns: &[RowColumn]) -> Result<Box<dyn Table>, String> {
    let columns = columns.iter().map(|column| (&*column.name, column.kind));
    match RowWriter::new(columns) {
        Ok(writer) => Ok(Box::new(writer)),
        Err(error) => Err(error.to_string()),
    }
}

/// Begins a file with these columns.
pub(super) async fn begin(columns: &[RowColumn]) -> Result<Box<dyn Table>, String> {
    let begin = load_writer().await.map_err(|error| error.to_string())?;
    begin(columns)
}
