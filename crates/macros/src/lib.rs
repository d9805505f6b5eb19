//! `#[tool]`: a function with doc comments becomes a tool.
