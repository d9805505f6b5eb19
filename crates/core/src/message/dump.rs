//! Messages to JSON.
