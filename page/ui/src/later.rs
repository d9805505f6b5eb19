//! Functions of lazily loaded code that the first load calls only for more than a first view shows: steps, forms,
//! views of environments, errors in a form.
//!
//! Such a function is called through a [`Later`], a slot that is empty at first. [`crate::whole::install`] fills all slots.
//! Invariant: whatever part draws with them calls it before anything else, so that nothing is drawn without the
//! functions that it needs. The table of Review draws with none of them, and does not call it. A direct call would bring
//! the function into the first load.
//!
//! A user action before that is not lost: [`once_here`] defers it until the code is loaded.

use std::sync::{Arc, OnceLock};

use leptos::prelude::AnyView;

/// A slot for a lazily loaded function.
pub struct Later<F>(OnceLock<F>);

/// A slot for a lazily loaded part of the page.
pub type LaterView = Later<fn() -> AnyView>;

impl<F: Copy> Later<F> {
    pub const fn new() -> Self {
        Later(OnceLock::new())
    }

    /// Fills the slot.
    pub fn set(&self, function: F) {
        // A second caller would install the same function.
        let _ = self.0.set(function);
    }

    /// Returns the function, or `None` if it is not loaded yet.
    pub fn get(&self) -> Option<F> {
        self.0.get().copied()
    }
}

impl<F: Copy> Default for Later<F> {
    fn default() -> Self {
        Later::new()
    }
}

/// An act that needs all slots to be filled.
pub type Act = Arc<dyn Fn() + Send + Sync>;

type Load = Box<dyn Fn(Act) + Send + Sync>;

/// Loads the missing code and then runs an act.
static LOAD: OnceLock<Load> = OnceLock::new();

/// Filled once all other slots are.
pub(crate) static HERE: Later<()> = Later::new();

/// Registers the loader of the missing code.
pub fn load_with(load: impl Fn(Act) + Send + Sync + 'static) {
    // There is only one page.
    let _ = LOAD.set(Box::new(load));
}

/// Runs an act that needs the lazily loaded code: at once if it is loaded, else after loading it.
pub fn once_here(act: impl Fn() + Send + Sync + 'static) {
    match LOAD.get() {
        Some(load) if HERE.get().is_none() => load(Arc::new(act)),
        _ => act(),
    }
}
