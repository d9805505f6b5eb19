//! Lessons: the list of them, and a lesson with its episodes, tasks and checks.
//!
//! - [`page`]: loads the lesson that the address names; [`lesson_page`]: which one is shown. [`list`]: the built-in lessons.
//! - [`lesson_view`]: a lesson; [`check_view`]: its checks and questions.
//! - [`player`]: an environment that is played within a lesson; [`player_view`] draws it.
//! - [`presentation`]: lessons and sequences of links as slides; [`sequence`]: the links of a sequence.
//! - [`school_view`]: a task on the page of the school.
//! - [`opening`]: opens an episode or task that is not part of a lesson.
//! - [`lesson_progress`]: the reader's progress, stored in the browser.
//!
//! Invariants: a file of another origin is fetched only after a click. Only built-in environments run here, so a lesson
//! reaches no server, no model and no key. Nothing that the reader does is sent anywhere.

mod check_view;
mod lesson_page;
mod lesson_progress;
mod lesson_view;
mod list;
pub(crate) mod opening;
pub mod page;
pub mod player;
pub mod player_view;
mod presentation;
mod school_view;
mod sequence;
