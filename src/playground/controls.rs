//! The few shapes that the panes' forms consist of.

use leptos::prelude::*;

use crate::components::erased::words;
use crate::components::markup::{Child, El, el};

/// A form that sends nothing to anywhere: what it does instead is up to `submitted`.
pub fn form(class: &'static str, name: impl Into<String>, submitted: impl Fn() + 'static) -> El {
    el("form")
        .class(class)
        .attr("aria-label", name.into())
        .attr("novalidate", "")
        .on("submit", move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            submitted();
        })
}

/// A control under its label.
pub fn field(id: &'static str, label: &'static str, control: El) -> El {
    el("div")
        .class("field")
        .child(el("label").attr("for", id).child(label))
        .child(control.attr("id", id))
}

/// A choice of one among several; `value` says which, `chosen` hears the value of another.
pub fn choice(value: Signal<String>, chosen: impl Fn(String) + 'static) -> El {
    el("select")
        .text_property("value", value)
        .on("change", move |event: leptos::ev::Event| {
            chosen(event_target_value(&event));
        })
}

/// What can be chosen.
pub fn option(value: impl Into<String>, text: impl Into<String>) -> El {
    el("option").attr("value", value.into()).child(text.into())
}

/// A control into which a text is typed.
pub fn typed(control: El, text: RwSignal<String>) -> El {
    control
        .text_property("value", words(move || text.get()))
        .on("input", move |event: leptos::ev::Event| {
            text.set(event_target_value(&event));
        })
}

/// Buttons in a row.
pub fn buttons(buttons: impl IntoIterator<Item = El>) -> El {
    let row = el("div").class("button-row");
    buttons.into_iter().fold(row, El::child)
}

/// A word or two of help.
pub fn help(words: impl Child) -> El {
    el("p").class("help").child(words)
}
