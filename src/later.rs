//! What the first part of the code calls only once there is more than a first visit shows: steps, other
//! environments' forms and views, errors in a form.
//!
//! Such a function stands behind a [`Later`], a place that is empty at first. [`install`] fills all of
//! them; whatever part is loaded later calls it before anything else, so what needs them is never
//! drawn without them. A direct call would bring the function into the first load.

use std::sync::OnceLock;

use crate::components::{form, frame_view, key_help, text, transcript};
use crate::projection;

/// The place of a function that comes later.
pub struct Later<F>(OnceLock<F>);

impl<F: Copy> Later<F> {
    /// The place, empty.
    pub const fn new() -> Self {
        Later(OnceLock::new())
    }

    /// Puts the function there.
    pub fn set(&self, function: F) {
        // Whoever comes second brings the same.
        let _ = self.0.set(function);
    }

    /// The function, if it is here.
    pub fn get(&self) -> Option<F> {
        // Where nothing is loaded in parts, everything is here.
        #[cfg(not(target_family = "wasm"))]
        install();
        self.0.get().copied()
    }
}

impl<F: Copy> Default for Later<F> {
    fn default() -> Self {
        Later::new()
    }
}

/// Fills all places.
pub fn install() {
    form::install();
    frame_view::install();
    key_help::install();
    text::install();
    transcript::install();
    projection::form::install();
    projection::tree::install();
}
