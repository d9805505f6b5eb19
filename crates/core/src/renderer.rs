//! Trajectories as files.
