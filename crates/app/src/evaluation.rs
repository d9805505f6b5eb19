//! Playing many episodes: what is scheduled, stored, paused and shown.
