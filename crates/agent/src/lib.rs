//! Policies, and the runner that plays an environment and records the episode.
