//! What the first part of the code calls only once there is more than a first visit shows: steps, other
//! environments' forms and views, errors in a form.
//!
//! Such a function stands behind a [`Later`], a place that is empty at first. [`install`] fills all of
//! them; whatever part is loaded later calls it before anything else, so what needs them is never
//! drawn without them. A direct call would bring the function into the first load.
//!
//! What a person presses before that is not lost: [`once_here`] has it wait for the code.

use std::sync::{Arc, OnceLock};

use leptos::prelude::AnyView;

use crate::components::{form, frame_view, key_help, term, text, transcript};
use crate::projection;

/// The place of a function that comes later.
pub struct Later<F>(OnceLock<F>);

/// The place of a part of the page.
pub type LaterView = Later<fn() -> AnyView>;

impl<F: Copy> Later<F> {
    /// The place, empty.
    pub const fn new() -> Self {
        Later(OnceLock::new())
    }

    /// Puts the function there.
    pub fn set(&self, function: F) {
        // A second caller would install the same.
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

/// What is to be done once all places are filled.
pub type Act = Arc<dyn Fn() + Send + Sync>;

type Load = Box<dyn Fn(Act) + Send + Sync>;

/// Has an act done once the code is here, and the code loaded.
static LOAD: OnceLock<Load> = OnceLock::new();

static HERE: Later<()> = Later::new();

/// Says who loads what is missing for an act.
pub fn load_with(load: impl Fn(Act) + Send + Sync + 'static) {
    // There is one page.
    let _ = LOAD.set(Box::new(load));
}

/// Does what needs the code behind the places: now, or when it has come.
pub fn once_here(act: impl Fn() + Send + Sync + 'static) {
    match LOAD.get() {
        Some(load) if HERE.get().is_none() => load(Arc::new(act)),
        _ => act(),
    }
}

/// Fills all places.
pub fn install() {
    form::install();
    frame_view::install();
    key_help::install();
    term::install();
    text::install();
    transcript::install();
    projection::curve::install();
    projection::form::install();
    projection::tree::install();
    HERE.set(());
}
