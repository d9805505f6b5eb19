//! The user's own environments, written in Python: real fhaviary in a sandboxed frame of the page.
//!
//! An environment of a Python file speaks the protocol of task dataset servers, through a port instead of the network,
//! so everything that plays environments on servers plays these.
//!
//! - [`files`]: files, versions and recipes; [`wheels`]: packages that they import. Pure. [`stored`]: what the browser
//!   keeps of them. [`loading`]: how they get into Python.
//! - [`hub`]: which question of which asker is answered. Pure. [`runtime`]: its effects, on the page.
//! - [`opening`]: a recipe becomes an environment; [`transport`]: the protocol's bytes. Both in a worker of the page.
//! - [`limits`]: of time and memory, which the user sets.
//!
//! What always holds: Python runs in the frame's workers and nowhere else, and code that came with a link or a file runs
//! only after the user saw it and agreed.

pub mod files;
pub mod hub;
pub mod limits;
pub mod loading;
pub mod opening;
pub mod runtime;
pub mod stored;
pub mod transport;
pub mod wheels;
