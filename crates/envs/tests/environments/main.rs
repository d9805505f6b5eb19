//! The environments from a player's perspective: made by name, reset, stepped.

#![cfg(test)]

mod calculator;
mod counter;
mod datasets;
mod determinism;
mod dummy;
mod faults;
mod guide;
mod hands;
mod hotpotqa;
mod library_desk;
mod player;
mod registry;
mod slow;
mod tau_bench;
