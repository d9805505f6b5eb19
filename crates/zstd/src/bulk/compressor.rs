//! Compression, which is not supported.

use std::io::{Cursor, Error, ErrorKind, Result};
use std::marker::PhantomData;

/// Exists because `parquet` names it; it compresses nothing.
pub struct Compressor<'a>(PhantomData<&'a ()>);

impl Compressor<'static> {
    /// Never fails.
    pub fn new(_level: i32) -> Result<Self> {
        Ok(Compressor(PhantomData))
    }

    /// # Errors
    /// Always: writing Zstandard is not supported.
    pub fn compress_to_buffer(
        &mut self,
        _source: &[u8],
        _destination: &mut Cursor<&mut Vec<u8>>,
    ) -> Result<usize> {
        Err(Error::new(
            ErrorKind::Unsupported,
            "Zstandard is read, and not written.",
        ))
    }
}
