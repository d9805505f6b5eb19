//! Closures behind few concrete types.
//!
//! Every distinct closure type given to a view makes the compiler write its whole reactive machinery
//! anew, one to three kilobytes each. These helpers box the closure, so that the machinery is written
//! once for each kind of value. Views use them for all that changes and all that is pressed.

use leptos::prelude::*;

/// A text that changes.
pub fn words(text: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    Signal::derive(text)
}

/// A fixed text that changes for another.
pub fn label(text: impl Fn() -> &'static str + Send + Sync + 'static) -> Signal<&'static str> {
    Signal::derive(text)
}

/// A condition that changes.
pub fn flag(condition: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    Signal::derive(condition)
}

/// An attribute with a text of its own that comes and goes.
pub fn maybe_words(
    text: impl Fn() -> Option<String> + Send + Sync + 'static,
) -> Signal<Option<String>> {
    Signal::derive(text)
}

/// A part of the view that changes.
pub fn dynamic(view: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    boxed(Box::new(view))
}

fn boxed(view: Box<dyn Fn() -> AnyView + Send>) -> AnyView {
    (move || view()).into_any()
}

/// A part of the view that is there while a condition holds, and made anew each time.
pub fn shown(
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    // A memo, so that the part is not made again while the condition stays as it is.
    let when = Memo::new(move |_| when());
    dynamic(move || if when.get() { view() } else { ().into_any() })
}

/// A part of the view that is made when a condition holds for the first time, and stays.
pub fn kept(
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    let seen = Memo::new(move |seen: Option<&bool>| seen.is_some_and(|seen| *seen) || when());
    shown(move || seen.get(), view)
}

/// Does something whenever the signals that it reads change.
pub fn watch(act: impl FnMut() + 'static) {
    watch_boxed(Box::new(act));
}

fn watch_boxed(mut act: Box<dyn FnMut()>) {
    Effect::new(move |_| act());
}
