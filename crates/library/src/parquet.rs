//! Parquet files as JSON Lines, which the readers know, and rows as Parquet files.

use volary_core::json::Object;
use volary_export::training_rows::RowColumn;
use volary_parquet::{RowWriter, is_parquet};

use crate::error::LibraryError;
use crate::lazy_code::LazyCode;

/// The maximum size of the rows as JSON, in bytes.
const LARGEST: usize = 512 << 20;

/// Converts the bytes of a Parquet file, and returns those of others unchanged. The second value describes rows that
/// could not be read.
pub(crate) async fn as_lines(
    code: &dyn LazyCode,
    bytes: Vec<u8>,
) -> Result<(Vec<u8>, Option<String>), LibraryError> {
    if !is_parquet(&bytes) {
        return Ok((bytes, None));
    }
    let rows = code.read_parquet(bytes, LARGEST).await?;
    Ok((rows.lines.into_bytes(), rows.loss))
}

/// A Parquet file under construction. A trait, so that only the code of the writer knows its type.
pub trait Table {
    /// Adds a row.
    fn push(&mut self, row: &Object) -> Result<(), LibraryError>;
    /// Ends the file and returns its bytes.
    fn finish(self: Box<Self>) -> Result<Vec<u8>, LibraryError>;
}

impl Table for RowWriter {
    fn push(&mut self, row: &Object) -> Result<(), LibraryError> {
        RowWriter::push(self, row).map_err(LibraryError::of_parquet)
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>, LibraryError> {
        RowWriter::finish(*self).map_err(LibraryError::of_parquet)
    }
}

/// Begins a Parquet file with these columns. This reaches the code of the writer.
pub fn begin_table(columns: &[RowColumn]) -> Result<Box<dyn Table>, LibraryError> {
    let columns = columns.iter().map(|column| (&*column.name, column.kind));
    match RowWriter::new(columns) {
        Ok(writer) => Ok(Box::new(writer)),
        Err(error) => Err(LibraryError::of_parquet(error)),
    }
}
