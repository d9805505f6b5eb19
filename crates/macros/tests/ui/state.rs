use std::cell::RefCell;

use volary_macros::tool;

struct State;

/// Take the state away.
#[tool]
fn by_value(state: State) {
    let _ = state;
}

/// Hold the state while waiting.
#[tool]
async fn held(state: &mut State) {
    let _ = state;
}

/// Take any state.
#[tool]
fn any(state: &mut impl Clone) {
    let _ = state;
}

/// Take a cell exclusively.
#[tool]
async fn exclusive_cell(state: &mut RefCell<State>) {
    let _ = state;
}

fn main() {}
