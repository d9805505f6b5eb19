//! Task datasets by configuration.
