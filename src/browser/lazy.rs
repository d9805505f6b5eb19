//! Parts of the page that are loaded when they are asked for.
//!
//! A part is whatever is reached from a marked function alone, code and data; the build cuts it out
//! of the wasm. Called, the function is a future that loads the part first, once:
//!
//! ```ignore
//! #[wasm_split(model, wasm_split_path = leptos::wasm_split, fallible)]
//! fn load_settings() -> Loaded<Page> {
//!     Ok(settings_view::settings_view)
//! }
//! ```
//!
//! `components::lazy` draws a page that comes like this. What always holds: a part that does not come
//! is told and can be asked for again; nothing else is lost by it.

use leptos::prelude::AnyView;
use leptos::wasm_split::SplitLoaderError;

/// What draws a part. A part gives this rather than the view, so that the view is made where it is
/// shown.
pub type Page = fn() -> AnyView;

/// What a marked function gives.
pub type Loaded<T> = Result<T, Unloaded>;

/// A part that did not come. The browser's console knows more; a page is not told why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Its code could not be loaded: you are offline, or the site was updated.")]
pub struct Unloaded;

impl Unloaded {
    /// What a person can do about it.
    pub const ADVICE: &str = "Try again. If that does not help, reload the page.";
}

impl From<SplitLoaderError> for Unloaded {
    fn from(_: SplitLoaderError) -> Self {
        Unloaded
    }
}
