//! The view for frames in other pages (`?embed=1`): one episode or one task, and nothing else of the page.
//! `docs/embed.md` describes how to use it.
//!
//! - [`page`]: the view, and the conversation with the surrounding page. [`crate::learn::opening`] opens what is asked for.
//! - [`notes`]: the reader's notes, which the surrounding page keeps.
//! - `volary_app::embed` has the messages and decides which of them are handled.
//!
//! **Security invariants:** the view never navigates to another part of the page. It knows the environments that come
//! with the page and nothing of the user: `start.js` removes the browser's stores from the window and from its workers
//! before any of this runs, so neither keys nor stored episodes can be reached. It requests nothing from anywhere.

mod notes;
pub mod page;
