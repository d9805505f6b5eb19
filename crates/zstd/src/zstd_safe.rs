//! What frames declare about their sizes.

/// The content size that a frame declares. Always `None`, so the caller uses the size from its page header.
///
/// # Errors
/// Never. The return type is that of the original crate.
pub fn get_frame_content_size(_frame: &[u8]) -> Result<Option<u64>, std::io::Error> {
    Ok(None)
}

/// The maximum size of a compressed text.
pub fn compress_bound(size: usize) -> usize {
    size
}
