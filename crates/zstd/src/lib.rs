//! Stands in for the crate `zstd`, which is written in C and does not compile to WebAssembly without a C compiler. It has
//! the functions that the crate `parquet` calls, and decompresses with ruzstd, which the page contains anyway.
//!
//! `[patch.crates-io]` in the `Cargo.toml` of the workspace selects it. Invariant: decompression never writes more than
//! the capacity of its destination.

pub mod bulk;
pub mod zstd_safe;
