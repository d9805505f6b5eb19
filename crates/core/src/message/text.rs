//! Display texts, joining, appending.
