//! The catalogue of environments, and the editor of the user's Python files.
//!
//! - [`page`]: shows either of them. [`catalogue`]: all environments: built-in ones, the user's, and those on servers.
//!   [`checkout`]: those of tau-bench, from the user's checkout.
//! - [`editor`]: a Python file, its errors, its output, its versions; [`code_check`]: which result of a run it shows.
//!   [`templates`]: initial contents of a new file. [`python_import`]: reads files that the user drops.

mod catalogue;
mod checkout;
mod code_check;
mod editor;
pub mod page;
mod python_import;
mod templates;
