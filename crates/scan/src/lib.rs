//! Loops over many bytes. They are a crate of their own since the page is compiled for size, and these, through
//! which every byte of a large file goes, are compiled for speed (`Cargo.toml` says so).
//!
//! - [`fold`]: upper and lower case as one. [`signature`]: which trigrams a text has.
//!   [`line_end`], [`text_end`]: where to go on.

pub mod fold;
pub mod signature;

/// Where the first line ends: the place of its line feed.
pub fn line_end(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes)
}

/// Where the first quote or backslash stands.
pub fn text_end(bytes: &[u8]) -> Option<usize> {
    memchr::memchr2(b'"', b'\\', bytes)
}
