//! Episodes as other tools read them, and as people do.
//!
//! - [`atif`]: ATIF 1.7 (Harbor). [`inspect`]: a log of Inspect, `.json`. [`ldp`]: trajectories of ldp.
//! - [`csv`]: a table for spreadsheets. [`html`]: one episode as a page that needs nothing else.
//! - `parts`: what several of them share.
//!
//! Ours stand in [`native`](crate::native), Renderer files in [`renderer_files`](crate::renderer_files),
//! messages in [`messages_jsonl`](crate::messages_jsonl).
//!
//! What always holds: what is written is JSON that everyone reads: numbers that JSON does not have are null.

pub mod atif;
pub mod csv;
pub mod html;
pub mod inspect;
pub mod ldp;
pub(crate) mod parts;
