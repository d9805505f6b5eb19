//! The state machines of the page. Each handles events and returns effects as data; the page carries the effects out
//! and reports their results as further events.
//!
//! Invariants: the crate depends on no browser, clock or async runtime; the same events lead to the same state and
//! effects.

pub mod ask;
pub mod behaviour;
pub mod built_in_model;
pub mod class;
pub mod connection_test;
pub mod embed;
pub mod environment_start;
pub mod evaluation;
pub mod export;
pub mod library;
pub mod notice;
pub mod outside;
pub mod playground;
pub mod present;
pub mod python;
pub mod review;
pub mod rollout;
pub mod school;
pub mod servers;
pub mod typed_arguments;
