//! What the library service (`volary_library`) gets from the browser.
//!
//! - `indexed_db_store`: the store. `given_file`, `download`, `opened_file`: files as sources of bytes.
//! - `fetching`: files at addresses, which are read while they are downloaded. `site_files`: the files of a site's list;
//!   `file_heads`: the beginnings of many of them in one response.
//! - `parts`: the lazy parts of the code.

pub(crate) mod download;
pub(crate) mod fetching;
mod file_heads;
pub(crate) mod given_file;
pub(crate) mod indexed_db_store;
mod opened_file;
pub(crate) mod parts;
pub(crate) mod site_files;
