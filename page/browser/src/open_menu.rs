//! What closes an open menu, a `details` element: a press elsewhere, or Escape.

use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent, Node, Window};

use crate::element;

/// The listeners of an open menu, which are removed on drop.
pub struct OpenMenu {
    window: Window,
    pressed: Closure<dyn Fn(Event)>,
    typed: Closure<dyn Fn(KeyboardEvent)>,
}

impl OpenMenu {
    /// Closes the menu when the person leaves it. After Escape its summary has the focus; a press elsewhere has moved it.
    pub fn watch(menu: &Element) -> Option<OpenMenu> {
        let window = web_sys::window()?;
        let within = menu.clone();
        let pressed = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            let target = event
                .target()
                .and_then(|target| target.dyn_into::<Node>().ok());
            if !within.contains(target.as_ref()) {
                close(&within);
            }
        });
        let within = menu.clone();
        let typed = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
            if event.key() != "Escape" || event.is_composing() || event.default_prevented() {
                return;
            }
            close(&within);
            // The selector is a constant, so the query cannot fail.
            let summary = within.query_selector("summary").ok().flatten();
            if let Some(summary) = summary.and_then(|summary| summary.dyn_into().ok()) {
                element::focus(&summary as &HtmlElement);
            }
        });
        // Neither can fail: the names of the events are constants.
        let _ = window
            .add_event_listener_with_callback("pointerdown", pressed.as_ref().unchecked_ref());
        let _ = window.add_event_listener_with_callback("keydown", typed.as_ref().unchecked_ref());
        Some(OpenMenu {
            window,
            pressed,
            typed,
        })
    }
}

impl Drop for OpenMenu {
    fn drop(&mut self) {
        // Neither can fail: the names of the events are constants.
        let _ = self.window.remove_event_listener_with_callback(
            "pointerdown",
            self.pressed.as_ref().unchecked_ref(),
        );
        let _ = self
            .window
            .remove_event_listener_with_callback("keydown", self.typed.as_ref().unchecked_ref());
    }
}

fn close(menu: &Element) {
    // Cannot fail: the name is well-formed.
    let _ = menu.remove_attribute("open");
}
