//! Compression and decompression of whole buffers.

mod compressor;
mod decompressor;

pub use compressor::Compressor;
pub use decompressor::Decompressor;
