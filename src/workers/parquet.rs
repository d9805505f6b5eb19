//! Parquet files as JSON Lines, which the readers know. The Parquet reader is a lazy part, which the first such file
//! loads. It panics on some damaged files, so it runs isolated: that file is not read, and nothing else is lost.

use leptos::wasm_split::wasm_split;
use volary_parquet::{ParquetError, Rows, contradictory, is_parquet, read_rows};

use crate::browser::isolation::isolated;
use crate::browser::lazy::Loaded;

/// The maximum size of the rows as JSON, in bytes.
const LARGEST: usize = 512 << 20;

type Read = fn(Vec<u8>, usize) -> Result<Rows, ParquetError>;

#[wasm_split(parquet, wasm_split_path = leptos::wasm_split, fallible)]
fn load() -> Loaded<Read> {
    Ok(read_rows)
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
