//! The selected token, the chosen stream with its pinned scale, and changed limits in the address, so that a link opens the same view.

use std::time::Duration;

use leptos::prelude::*;
use volary_view::route::TokenPlace;

use super::pins::{pin, pins};
use super::{EPSILON, TOLERANCE, Tokens};
use crate::viewer::Viewer;
use volary_browser::timers;

/// The pointer passes over many tokens; only one on which it rests is written, as browsers limit changes of the address.
const REST: Duration = Duration::from_millis(300);

/// Shows what the address names, and keeps what is shown in the address.
pub(crate) fn keep(tokens: Tokens, viewer: Viewer) {
    // The transcript that has the token may be mounted later.
    Effect::new(move |_| {
        let wanted = viewer.tokens_wanted.get();
        let is_ready = tokens.has_tokens.get() && tokens.reading.context.with(Option::is_some);
        if let Some(wanted) = wanted.filter(|_| is_ready) {
            untrack(|| show(tokens, &TokenPlace::read(&wanted)));
            viewer.tokens_wanted.set(None);
        }
    });
    let shown = Memo::new(move |_| {
        if !tokens.has_tokens.get() {
            return String::new();
        }
        let stream = tokens.stream.get();
        let changed = |limit: RwSignal<f64>, usual: f64| {
            let limit = limit.get();
            (limit.to_bits() != usual.to_bits()).then_some(limit)
        };
        let place = TokenPlace {
            token: tokens.head.get(),
            scale: pins().range(&stream),
            stream: (!stream.is_empty()).then_some(stream),
            clip: changed(tokens.epsilon, EPSILON),
            tolerance: changed(tokens.tolerance, TOLERANCE),
        };
        place.to_query()
    });
    let rest = StoredValue::new_local(None);
    Effect::new(move |_| {
        let now = shown.get();
        // Another episode has an address of its own, though the same stream may be shown.
        viewer.shown.edition.track();
        // What an address names stays in it until it is shown.
        if viewer.tokens_wanted.with(Option::is_some) {
            return;
        }
        let write = move || {
            if viewer.tokens_shown.with_untracked(|known| *known != now) {
                viewer.tokens_shown.set(now);
            }
        };
        rest.set_value(Some(timers::alarm(REST, write)));
    });
}

fn show(tokens: Tokens, place: &TokenPlace) {
    let Some(record) = tokens.known() else {
        return;
    };
    let stream = place.stream.clone().unwrap_or_default();
    if let Some(range) = place.scale.filter(|_| !stream.is_empty()) {
        pin(&stream, Some(range));
    }
    tokens.stream.set(stream);
    let limits = [
        (tokens.epsilon, place.clip),
        (tokens.tolerance, place.tolerance),
    ];
    for (limit, named) in limits {
        if let Some(named) = named {
            limit.set(named);
        }
    }
    if let Some(token) = place.token.filter(|token| *token < record.strip.len()) {
        // By then the messages are drawn.
        timers::next_frame(move || tokens.show(token));
    }
}
