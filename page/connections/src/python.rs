//! The user's own environments in Python: real fhaviary in a sandboxed frame of the page.
//!
//! An environment of a Python file implements the protocol of task dataset servers over a port instead of the network,
//! so all code that plays environments on servers plays these too.
//!
//! - [`stored`]: the files that the browser stores ([`volary_app::python::files`]). [`loading`]: loads them into Python.
//! - [`runtime`]: carries out the effects of [`volary_app::python::hub`], which assigns answers to questions.
//! - [`opening`]: opens the environment of a recipe; [`transport`]: carries the protocol. Both run in a worker of
//!   the page.
//! - [`limits`]: limits of time and memory, which the user sets.
//!
//! Invariants: Python runs in the frame's workers and nowhere else, and code from a link or a file runs only after the
//! user saw it and agreed.

pub mod limits;
pub mod loading;
pub mod opening;
pub mod runtime;
pub mod stored;
pub mod transport;
