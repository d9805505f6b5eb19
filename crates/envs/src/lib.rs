//! Built-in environments and task datasets, and the registry of them.
