//! Rules for sources and documents, and the check that everything fetched is pinned.

mod inert;
mod links;
mod names;
mod pins;
mod repeats;
mod tidy;
