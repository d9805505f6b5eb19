//! Server-sent events of the page's own server. The browser connects again by itself.

use wasm_bindgen::prelude::*;
use web_sys::{EventSource, MessageEvent};

/// Calls `heard` with the data of the events of some names, as long as the page lives.
pub fn listen(
    url: &str,
    names: &'static [&'static str],
    heard: impl Fn(&'static str, String) + 'static,
) {
    let Ok(source) = EventSource::new(url) else {
        // The page then shows what there was.
        return;
    };
    let heard = std::rc::Rc::new(heard);
    for name in names {
        let heard = std::rc::Rc::clone(&heard);
        let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            heard(name, event.data().as_string().unwrap_or_default());
        });
        // Cannot fail: the name of the event is a constant.
        let _ = source.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
        listener.forget();
    }
    // The listeners keep it alive.
    std::mem::forget(source);
}
