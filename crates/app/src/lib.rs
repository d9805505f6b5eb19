//! The state machines of the page. Each takes an event and returns effects as data; the page carries the effects out and
//! reports their results as further events.
//!
//! Invariants: nothing here knows a browser, a clock or a task; the same events give the same state and the same effects.

pub mod evaluation;
pub mod library;
pub mod notice;
pub mod outside;
pub mod playground;
pub mod rollout;
