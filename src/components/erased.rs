//! Type-erased closures for views.
//!
//! Every distinct closure type in a view makes the compiler generate its reactive machinery again, one to three
//! kilobytes each. These helpers box the closure, so that it is generated once for each kind of value.

use leptos::prelude::*;

/// A reactive text.
pub fn words(text: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    Signal::derive(text)
}

/// A static text that is replaced by another.
pub fn label(text: impl Fn() -> &'static str + Send + Sync + 'static) -> Signal<&'static str> {
    Signal::derive(text)
}

/// A reactive condition.
pub fn flag(condition: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    Signal::derive(condition)
}

/// A reactive attribute that may be absent.
pub fn maybe_words(
    text: impl Fn() -> Option<String> + Send + Sync + 'static,
) -> Signal<Option<String>> {
    Signal::derive(text)
}

/// A reactive part of the view.
pub fn dynamic(view: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    boxed(Box::new(view))
}

fn boxed(view: Box<dyn Fn() -> AnyView + Send>) -> AnyView {
    (move || view()).into_any()
}

/// A part of the view that exists while a condition holds, and is rebuilt each time.
pub fn shown(
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    // A memo, so that the part is not rebuilt while the condition stays the same.
    let when = Memo::new(move |_| when());
    dynamic(move || if when.get() { view() } else { ().into_any() })
}

/// A part of the view that is built when a condition first holds, and then kept.
pub fn kept(
    when: impl Fn() -> bool + Send + Sync + 'static,
    view: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    let seen = Memo::new(move |seen: Option<&bool>| seen.is_some_and(|seen| *seen) || when());
    shown(move || seen.get(), view)
}

/// Runs an effect whenever the signals that it reads change.
pub fn watch(act: impl FnMut() + 'static) {
    watch_boxed(Box::new(act));
}

fn watch_boxed(mut act: Box<dyn FnMut()>) {
    Effect::new(move |_| act());
}
