//! Lazy parts of the page, which are loaded on demand.
//!
//! A part is the code and data that only a marked function reaches; the build splits it off the wasm. Calling the
//! function returns a future that first loads the part, once:
//!
//! ```ignore
//! #[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
//! fn load_settings() -> Loaded<DrawFn> {
//!     Ok(settings_view::settings_view)
//! }
//! ```
//!
//! `components::lazy` draws a page that is loaded like this. Invariant: a failed load is reported and can be retried;
//! it affects nothing else.

use leptos::prelude::AnyView;
use leptos::wasm_split::SplitLoaderError;

/// Draws a page. A part returns this function instead of a view, so that the view is created where it is shown.
pub type DrawFn = fn() -> AnyView;

/// The result of a marked function.
pub type Loaded<T> = Result<T, Unloaded>;

/// A part could not be loaded. Only the browser's console says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Its code could not be loaded: you are offline, or the site was updated.")]
pub struct Unloaded;

impl Unloaded {
    /// The advice that is shown to the user.
    pub const ADVICE: &str = "Try again. If that does not help, reload the page.";
}

impl From<SplitLoaderError> for Unloaded {
    fn from(_: SplitLoaderError) -> Self {
        Unloaded
    }
}
