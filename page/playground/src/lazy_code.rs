//! What playing by hand does not need: files and links, policies, servers, Python, reading stored episodes. Everything else knows it
//! only as this table of functions; [`super::lazy_part`] fills it when one of them is used.
//!
//! Invariant: a single direct call of one of these functions from another module would load it with the code that plays.

use futures_util::future::LocalBoxFuture;
use leptos::prelude::*;
use volary_app::playground::address::EpisodeStart;
use volary_app::playground::known::KnownEnvironments;
use volary_browser::files::GivenFile;
use volary_browser::lazy::Loaded;
use volary_core::json::{Object, Text};
use volary_episode::Recipe;
use volary_protocol::environments::{Question, QuestionId, ServerAccess};
use volary_view::route::PlaygroundPlace;

use super::state::Playground;

/// Returns the start that opens a recipe, if an address can name it.
pub(super) type StartOf = fn(Playground, &Recipe) -> Option<EpisodeStart>;

/// Loads the table. Concurrent calls load it once.
pub(super) type LoadCode = fn(Playground) -> LocalBoxFuture<'static, Loaded<&'static LazyCode>>;

/// The functions, by the module that has them.
pub(super) struct LazyCode {
    /// `demonstration`: lets a scripted agent solve the shown task.
    pub demonstrate: fn(Playground),
    /// `linked_code`: plans the code of a file at an address.
    pub open_code: fn(Playground, &str),
    /// `linked_code`: drops the file, because something else is opened.
    pub leave_code: fn(Playground),
    /// `linked_code`: returns whether a file is being fetched or waits for consent.
    pub is_code_pending: fn(Playground) -> bool,
    /// `links`: opens the episode in a link, or an environment if it has none.
    pub open_link: fn(Playground, &str, Option<&str>),
    /// `links`: the address of the shown episode, given the start of its recipe.
    pub address: fn(Playground, StartOf) -> PlaygroundPlace,
    /// `players`: creates the player of a run.
    pub seat: fn(Playground, u32),
    /// `questions`: answers a question of the environment.
    pub ask: fn(Playground, QuestionId, Question),
    /// `rival`: lets a model play the task of a stored episode.
    pub play_rival: fn(Playground, String, Recipe),
    /// `run_loop`: lets the chosen policy act.
    pub run: fn(Playground),
    /// `saving`: reads a stored episode.
    pub read_stored: fn(Playground, Text),
    /// `second_run`: draws the second run of a Python episode.
    pub second_run: fn() -> AnyView,
    /// `transfer`: reads files that were picked or dropped.
    pub take_files: fn(Playground, Vec<GivenFile>),
    /// `transfer`: offers links to the episode.
    pub share: fn(Playground),
    /// Draws the dialogs.
    pub dialogs: fn() -> AnyView,
    /// Draws the cost of models in roles.
    pub role_costs: fn() -> AnyView,
    pub connected: ConnectedEnvironments,
}

/// What concerns environments that are no part of the page: those on servers and those in Python files. There are none
/// until this code is loaded.
pub(super) struct ConnectedEnvironments {
    /// Which environments can be opened, with those of the page. Tracks changes.
    pub known: fn(Playground) -> KnownEnvironments,
    /// Fills the form of the configuration. Returns `false` if no connected environment has this name.
    pub configure: fn(Playground, &str, Option<&Object>) -> bool,
    /// Opens an episode of the setup. Returns `false` if no connected environment is chosen.
    pub reset: fn(Playground, &Object, Option<u64>) -> bool,
    /// Adds the code of a recipe to the choices.
    pub adopt: fn(Playground, &Recipe),
    /// Notes that the user agreed to run the code of a recipe.
    pub agree: fn(Playground, &Recipe),
    /// Gives the worker what it needs for a recipe besides [`ConnectedEnvironments::access`].
    pub prepare_worker: fn(Playground, &Recipe),
    /// Ends Python code that does not end by itself.
    pub stop: fn(Playground),
    /// What a worker needs to call the server of a recipe.
    pub access: fn(Playground, &Recipe) -> Vec<ServerAccess>,
    /// Closes an environment on a server.
    pub close: fn(&str, &str),
    /// Plans a new environment on a server that an address names.
    pub plan_task: fn(Playground, &str),
}
