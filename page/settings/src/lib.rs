//! The pages around the others.
//!
//! [`settings`]: connections, keys, storage. [`environments`]: the environments, and the user's own in Python. [`lab`]:
//! shows what a chat template makes of messages.

pub mod environments;
pub mod lab;
pub mod settings;
