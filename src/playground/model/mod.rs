//! The policy Model: a model acts, with the person's own key.
//!
//! - [`settings`]: how it is asked, as forms and as a value; [`settings_view`] draws them, [`keeping`] keeps them.
//! - [`player`] asks for one action after the other; [`state`] holds the settings and the current turn; [`turn`] draws it.
//! - [`requests`]: what went over the wire, step by step.
//!
//! All of it is a part of its own, loaded when a model is first asked for: it is reached through the few
//! functions here alone.

mod keeping;
mod player;
mod requests;
mod settings;
mod settings_view;
mod state;
mod turn;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;

use super::player::Player;
use super::state::Playground;
use crate::browser::lazy::{Loaded, Page};
use crate::components::lazy::lazy;

/// The settings of the policy.
pub fn settings_pane() -> AnyView {
    lazy("the settings of the model", || Box::pin(load_settings()))
}

/// What the model is saying, at the end of the transcript.
pub fn turn_pane() -> AnyView {
    lazy("the model's turn", || Box::pin(load_turn()))
}

/// The dialog that shows what went over the wire for a step.
pub fn requests_dialog() -> AnyView {
    lazy("the requests", || Box::pin(load_requests()))
}

/// A player for the chosen model. If a setting is invalid, its field is marked instead.
pub async fn seated(playground: Playground) -> Loaded<Option<Box<dyn Player>>> {
    load_player(playground).await
}

#[wasm_split(model, wasm_split_path = leptos::wasm_split, fallible)]
fn load_settings() -> Loaded<Page> {
    Ok(settings_view::settings_view)
}

#[wasm_split(model, wasm_split_path = leptos::wasm_split, fallible)]
fn load_turn() -> Loaded<Page> {
    Ok(turn::turn_pane)
}

#[wasm_split(model, wasm_split_path = leptos::wasm_split, fallible)]
fn load_requests() -> Loaded<Page> {
    Ok(requests::requests_dialog)
}

#[wasm_split(model, wasm_split_path = leptos::wasm_split, fallible)]
fn load_player(playground: Playground) -> Loaded<Option<Box<dyn Player>>> {
    Ok(player::seated(playground))
}
