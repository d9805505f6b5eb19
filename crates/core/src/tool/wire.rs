//! Tools from and to JSON.
