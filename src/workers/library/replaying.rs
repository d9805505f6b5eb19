//! Replays an episode. The code of the environments is another part of the worker's code, which the first replay loads.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::wasm_split::wasm_split;
use volary_agent::check::{Check, check_with};
use volary_core::Clock;
use volary_core::json::Text;
use volary_trajectory::Episode;

use super::super::checkout::StoredData;
use super::{LibraryService, opening};
use crate::browser::lazy::Loaded;

/// Replays an episode. Returns the result as text, and the first step that differs.
type Replay = fn(Episode, Rc<dyn Clock>) -> LocalBoxFuture<'static, Replayed>;
type Replayed = Result<(String, Option<u64>), String>;

#[wasm_split(environments, wasm_split_path = leptos::wasm_split, fallible)]
fn load() -> Loaded<Replay> {
    Ok(|episode, clock| replay_with(episode, clock).boxed_local())
}

/// Replays an episode of the library. Returns the result as text, and the first step that differs.
pub(super) async fn replay(library: &LibraryService, id: &Text) -> Replayed {
    let episode = opening::episode(library, id).await?;
    let replay = load().await.map_err(|error| error.to_string())?;
    replay(episode, Rc::clone(&library.clock)).await
}

async fn replay_with(episode: Episode, clock: Rc<dyn Clock>) -> Replayed {
    let registry = volary_envs::registry_with_tau_bench();
    let known = episode.recipe.as_ref().is_some_and(|recipe| {
        let mut names = registry.available();
        names.any(|name| *name == *recipe.environment)
    });
    if !known {
        return Err(
            "This page does not have its environment, or the source does not say how to \
             create it."
                .to_owned(),
        );
    }
    let check = check_with(&registry, &episode, clock, Rc::new(StoredData)).await;
    match check.map_err(|error| error.to_string())? {
        Check::Same { steps } => Ok((
            format!("Replayed: all {steps} steps match the recording."),
            None,
        )),
        Check::NoRecipe => Err("The source does not say how to create its environment.".to_owned()),
        Check::Differs(found) => Ok((
            format!("Replayed: step {} differs. {}", found.step, found.words()),
            Some(found.step as u64),
        )),
    }
}
