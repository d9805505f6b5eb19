//! Tools as texts for prompts.
