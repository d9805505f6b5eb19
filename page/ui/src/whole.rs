//! Fills the slots of [`crate::later`]: makes the functions available that a first view does not need.

use crate::{form, frame_tree, frame_view, key_help, later, reward_curve, term, text, transcript};

/// Fills all slots. Only a lazily loaded part may call this, since it brings all these functions into the part.
pub fn install() {
    form::install();
    frame_tree::install();
    frame_view::install();
    key_help::install();
    reward_curve::install();
    term::install();
    text::install();
    transcript::install();
    later::HERE.set(());
}
