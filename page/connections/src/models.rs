//! Models: the user's connections, and requests to models.
//!
//! - [`connections`]: the named connections, as a value; [`prices`]: the price table. Both are stored between
//!   visits, without keys: see [`volary_secrets`].
//! - [`provider_choice`]: the provider of a connection. [`model_select`]: the choice of a connection.
//! - [`ask`]: one request to a model with retries; [`within`]: the same within limits. [`record`]: the record
//!   of a request in a step. [`list`]: lists the models of a provider.
//! - `known_servers`: what earlier requests showed; `delta_stream`: deltas without the key; `unanswered`: failures.
//! - [`rollout`]: prompts and tokens of models behind SGLang's `/generate`.
//! - [`sampling`]: sampling parameters.
//! - [`diagnose`]: diagnoses missing responses.
//!
//! Only lazy pages use this code; the first view does not need it.

pub mod ask;
pub mod connections;
mod delta_stream;
pub mod diagnose;
mod known_servers;
pub mod list;
pub mod model_select;
pub mod prices;
pub mod provider_choice;
pub mod record;
pub mod rollout;
pub mod sampling;
mod unanswered;
pub mod within;

pub use ask::{Ask, Asked, Asking, RequestProgress, ask};
pub use connections::Saved;
pub use diagnose::diagnose;
pub use unanswered::Unanswered;
pub use within::{Limits, Stopped, ask_within};
