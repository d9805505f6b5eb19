//! A broadcast channel to all other tabs and workers of this page.

use wasm_bindgen::prelude::*;
use web_sys::{BroadcastChannel, MessageEvent};

/// The name of the channel, which other pages of the origin may share.
const NAME: &str = "volary";

thread_local! {
    /// One object for sending and receiving, because a channel does not receive its own messages.
    static CHANNEL: Option<BroadcastChannel> = BroadcastChannel::new(NAME).ok();
}

/// Sends a message. It is lost if nobody listens.
pub fn send(text: &str) {
    CHANNEL.with(|channel| {
        if let Some(channel) = channel {
            let _ = channel.post_message(&text.into());
        }
    });
}

/// Calls `heard` with each message from another tab or worker.
pub fn listen(heard: impl Fn(String) + 'static) {
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        if let Some(text) = event.data().as_string() {
            heard(text);
        }
    });
    CHANNEL.with(|channel| {
        if let Some(channel) = channel {
            channel.set_onmessage(Some(listener.as_ref().unchecked_ref()));
        }
    });
    listener.forget();
}
