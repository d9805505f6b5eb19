//! The client against servers that do as they should, and against those that do not.

#![cfg(test)]

mod faults;
mod reading;
mod scripted;
mod talk;
