//! Messages to and from the window around a frame.

use js_sys::JSON;
use wasm_bindgen::prelude::*;
use web_sys::{MessageEvent, Window};

/// A message that arrived at this window.
pub struct ParentMessage {
    /// Whether the parent window sent it.
    pub is_from_parent: bool,
    /// The origin of the sender.
    pub origin: String,
    /// Its data as JSON; `None` if it is something else.
    pub text: Option<String>,
}

/// Whether the page is shown in a frame.
pub fn is_framed() -> bool {
    parent().is_some()
}

/// Sends JSON to the parent window, if its document has this origin (`*` for any).
pub fn post(text: &str, origin: &str) {
    let data = JSON::parse(text);
    if let Some((parent, data)) = parent().zip(data.ok()) {
        // Fails only for an origin that is none, which a browser does not report.
        let _ = parent.post_message(&data, origin);
    }
}

/// Calls back with each message to this window, for the lifetime of the page.
pub fn on_message(heard: impl Fn(ParentMessage) + 'static) {
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let parent = parent().map(JsValue::from);
        let source = event.source().map(JsValue::from);
        let text = JSON::stringify(&event.data()).ok();
        heard(ParentMessage {
            is_from_parent: parent.is_some() && source == parent,
            origin: event.origin(),
            text: text.and_then(|text| text.as_string()),
        });
    });
    if let Some(window) = web_sys::window() {
        // Cannot fail: the name of the event is a constant.
        let _ =
            window.add_event_listener_with_callback("message", listener.as_ref().unchecked_ref());
    }
    listener.forget();
}

/// The window around this one; `None` outside of frames.
fn parent() -> Option<Window> {
    let window = web_sys::window()?;
    let parent = window.parent().ok()??;
    (parent != window).then_some(parent)
}
