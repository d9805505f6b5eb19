//! Lessons: the list of them, and one lesson with its episodes, tasks and checks.
//!
//! - [`page`]: which lesson the address names, and where its file comes from. [`list`]: those of the page.
//! - [`lesson_view`]: a lesson; [`check_view`]: its checks and questions.
//! - [`player`]: an environment that is played within a page; [`player_view`] draws it.
//! - [`reader`]: what the reader has done, kept in the browser.
//!
//! Invariants: a file of another origin is fetched only after a click. Only built-in environments run here, so a lesson
//! reaches no server, no model and no key. Nothing that the reader does is sent anywhere.

mod check_view;
mod lesson_view;
mod list;
pub mod page;
mod player;
mod player_view;
mod reader;
