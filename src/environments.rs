//! The catalogue of environments, and the editor of the user's Python files.
//!
//! - [`page`]: shows either of them. [`catalogue`]: all environments: built-in ones, the user's, and those on servers.
//!   [`checkout`]: those of tau-bench, from the user's checkout.
//! - [`editor`]: a Python file, its errors, its output, its versions. [`templates`]: initial contents of a new file.

mod catalogue;
mod checkout;
mod editor;
pub mod page;
mod templates;
