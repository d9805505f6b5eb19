//! The lazy code of a worker beyond small environments that a person plays: the other environments, servers and Python.
//! `lazy_services` adds evaluations, tau-bench's checkout and rollouts to the same part.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::wasm_split::wasm_split;
use volary_core::Clock;
use volary_core::registry::Registry;
use volary_episode::{Episode, Recipe};
use volary_library::replay::{Replayed, replay};
use volary_protocol::environments::ServerAccess;

use super::checkout::StoredData;
use super::elsewhere;
use super::live::{Announce, LiveEnvironment, OpeningRefusal};
use volary_browser::lazy::Loaded;

/// Opens an environment that does not run in this worker.
type OpenElsewhere =
    for<'a> fn(
        Recipe,
        &'a [ServerAccess],
        Rc<dyn Clock>,
        Announce<'a>,
    ) -> LocalBoxFuture<'a, Result<(Episode, LiveEnvironment), OpeningRefusal>>;

/// The lazy code.
pub(super) struct AllEnvironments {
    /// All built-in environments.
    pub registry: Registry,
    pub open_elsewhere: OpenElsewhere,
    /// Replays an episode of the library in its environment.
    pub replay: fn(Episode, Rc<dyn Clock>) -> LocalBoxFuture<'static, Replayed>,
}

/// Loads the code.
#[wasm_split(all_environments, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn load() -> Loaded<AllEnvironments> {
    Ok(AllEnvironments {
        registry: volary_envs::registry_with_tau_bench(),
        open_elsewhere: elsewhere::open,
        replay: |episode, clock| replay(episode, clock, Rc::new(StoredData)).boxed_local(),
    })
}
