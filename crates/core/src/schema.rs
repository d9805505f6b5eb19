//! Checking values against JSON Schema.
