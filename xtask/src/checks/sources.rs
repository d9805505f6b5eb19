//! What sources and documents have to look like, and that everything which is fetched is pinned.

mod inert;
mod links;
mod pins;
mod tidy;
