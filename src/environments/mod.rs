//! The catalogue of environments, and the editor of the user's own.
//!
//! - [`page`]: which of both is shown. [`catalogue`]: all environments: built in, the user's, on servers.
//!   [`checkout`]: those of tau-bench, from the user's checkout.
//! - [`editor`]: a Python file, its errors, its output, its versions. [`templates`]: what a new file begins with.

mod catalogue;
mod checkout;
mod editor;
pub mod page;
mod templates;
