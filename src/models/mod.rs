//! Models as the page uses them: which ones the person has connected, and asking one of them.
//!
//! - [`connections`]: the named connections, as a value; [`prices`]: what answers cost. Both are kept between
//!   visits. Keys are not among them: see [`crate::secrets`].
//! - [`ask`]: one request to a model, with tries, up to its answer; [`within`]: the same within limits.
//!   [`record`]: what a step says of it. [`list`]: the models of a provider.
//! - [`sampling`]: how a model draws its words.
//! - [`diagnose`]: why there was none, and what to do.
//!
//! All of it is reached from a page that was loaded on demand; the first view needs none of it.

pub mod ask;
pub mod connections;
pub mod diagnose;
pub mod list;
pub mod prices;
pub mod record;
pub mod sampling;
pub mod within;

pub use ask::{Ask, Asked, Asking, Progress, Unanswered, ask};
pub use connections::Saved;
pub use diagnose::diagnose;
pub use within::{Limits, Stopped, ask_within};
