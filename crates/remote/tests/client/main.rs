//! The client with conforming servers, and with faulty ones.

#![cfg(test)]

mod faults;
mod reading;
mod scripted;
mod talk;
