//! JSON to messages.
