//! What the recorded tokens of an episode show.
//!
//! - `checks`: whether the right tokens are trained, and whether values and texts fit. `sections`: the turns as the
//!   marks of the template show them. `vocabulary`: what both need of a tokenizer.
//! - `figures`: the summary of a record that is stored with the row of its episode.
//! - `extremes`: tokens worth looking at. `readout`: a token in figures. `trained_text`: what was trained on.

mod checks;
mod extremes;
mod figures;
mod readout;
mod sections;
mod trained_text;
mod vocabulary;

pub use checks::{CheckKind, CheckResult, TokenCheck, checks, is_of_other_model};
pub use extremes::Extreme;
pub use figures::TokenFigures;
pub use readout::{Clip, Readout};
pub use trained_text::{TrainedPiece, gap_text, joined, trained_text};
pub use vocabulary::Vocabulary;
