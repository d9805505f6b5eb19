//! The client against servers that do as they should, and against those that do not.

mod faults;
mod reading;
mod scripted;
mod talk;
