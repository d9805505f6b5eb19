//! A class: assignments, a pupil's work on one, and the teacher's board. `docs/classroom.md` describes it.
//!
//! - [`page`]: what the address names. [`assign_view`]: a teacher makes an assignment; [`given_view`]: its link, code
//!   and file; [`given`]: the assignments that were made in this browser.
//! - [`work_view`]: a pupil's work; [`desk`]: the same as signals, kept in the browser.
//! - [`board_view`]: who has reached what; [`board_rows`]: the rows and texts that it shows; [`board_table`]: its table; [`connection_panel`]: its connection to a server;
//!   [`board`]: the same as signals, from a server and from files. [`blind_view`]: judging pairs of trajectories without
//!   knowing who acted; [`pair_view`]: the same for two that an address names.
//! - [`service`]: requests to a class server; [`reply`]: what its replies mean; [`server_fields`]: its address and key in a form. [`qr`]: a link as a
//!   picture.
//!
//! Invariants: an address alone sends nothing. A pupil's work leaves the browser by a click on **Hand in** or **Save as
//! a file** only, and a teacher's key is sent to the origin that it was entered for, after a click on **Connect**.

mod assign_view;
mod blind_view;
mod board;
mod board_rows;
mod board_table;
mod board_view;
mod connection_panel;
mod desk;
mod given;
mod given_view;
pub mod page;
mod pair_view;
mod qr;
mod reply;
mod server_fields;
mod service;
mod start;
mod work_view;
