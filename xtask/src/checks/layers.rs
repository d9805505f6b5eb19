//! Dependencies point inward: between crates, and between the folders of `src/`.

mod crates;
mod folders;
