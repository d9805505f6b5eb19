//! Decompression into the capacity of a buffer.

use std::io::{Cursor, Error, ErrorKind, Result};
use std::marker::PhantomData;

use ruzstd::decoding::FrameDecoder;

/// Decompresses buffers of one frame.
pub struct Decompressor<'a>(PhantomData<&'a ()>);

impl Decompressor<'static> {
    /// Never fails.
    pub fn new() -> Result<Self> {
        Ok(Decompressor(PhantomData))
    }

    /// Decompresses into the unused capacity of the destination, from the cursor's position. Returns the number of
    /// written bytes.
    ///
    /// # Errors
    /// If the source is not a frame, or decompresses to more than the capacity.
    pub fn decompress_to_buffer(
        &mut self,
        source: &[u8],
        destination: &mut Cursor<&mut Vec<u8>>,
    ) -> Result<usize> {
        let start = usize::try_from(destination.position()).map_err(invalid)?;
        let buffer = destination.get_mut();
        buffer.truncate(start);
        let mut decoder = FrameDecoder::new();
        decoder
            .decode_all_to_vec(source, buffer)
            .map_err(|error| invalid(error.to_string()))?;
        let written = buffer.len().saturating_sub(start);
        destination.set_position((start + written) as u64);
        Ok(written)
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn decompressed(source: &[u8], capacity: usize) -> Result<Vec<u8>> {
        let mut buffer = Vec::with_capacity(capacity);
        buffer.extend_from_slice(b"before");
        let mut cursor = Cursor::new(&mut buffer);
        cursor.set_position(6);
        let written = Decompressor::new()?.decompress_to_buffer(source, &mut cursor)?;
        assert_eq!(cursor.position() as usize, 6 + written);
        Ok(buffer)
    }

    #[test]
    fn a_frame_is_appended_from_the_position_on() {
        let text = b"one two three ".repeat(50);
        let frame = compress_to_vec(&text[..], CompressionLevel::Fastest);
        let read = decompressed(&frame, 6 + text.len()).unwrap();
        assert_eq!(read, [&b"before"[..], &text].concat());
    }

    #[test]
    fn a_frame_that_is_too_long_or_damaged_is_an_error() {
        let text = b"one two three ".repeat(50_000);
        let frame = compress_to_vec(&text[..], CompressionLevel::Fastest);
        assert!(decompressed(&frame, 1000).is_err());
        assert!(decompressed(&frame[..frame.len() / 2], text.len() + 6).is_err());
        assert!(decompressed(b"not a frame", 100).is_err());
    }
}
