//! The server over real sockets: each test starts its own on a free port of this machine.

#![cfg(test)]

mod bodies;
mod bridge;
mod class;
mod closing;
mod episodes;
mod extensions;
mod http;
mod isolation;
mod limits;
mod mcp;
mod openenv;
mod order;
mod pages;
mod running;
mod scripted;
mod slow;
mod socket;
