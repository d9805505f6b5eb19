//! The worker's side of the page: services that carry out requests of `volary_protocol`.
//!
//! - [`host`]: decodes each request once and passes it to its service; sends the replies.
//! - [`environments`]: plays environments, `live` one of them.
//!
//! What always holds: a panic or an endless loop in here costs this worker, not the page. Services know no browser;
//! they reply through the function they are given.

pub mod environments;
pub mod host;
pub(crate) mod live;
