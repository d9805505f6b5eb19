//! The code that a program may load when it is first needed: the readers of formats, Parquet, the environments.
//!
//! Invariant: nothing else in this crate calls that code, so that a page can leave it out of its first parts.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, ready};
use volary_core::Clock;
use volary_core::outside::Closed;
use volary_episode::Episode;
use volary_export::training_rows::RowColumn;
use volary_parquet::{Rows, read_rows};

use crate::error::LibraryError;
use crate::parquet::{self, Table};
use crate::readers::{Readers, all_readers};
use crate::replay::{self, Replayed};

/// Code that is loaded when it is first needed.
pub trait LazyCode {
    /// The readers of all formats.
    fn readers(&self) -> LocalBoxFuture<'static, Result<&'static dyn Readers, LibraryError>>;

    /// Reads a Parquet file of at most `largest` bytes as JSON Lines.
    fn read_parquet(
        &self,
        bytes: Vec<u8>,
        largest: usize,
    ) -> LocalBoxFuture<'static, Result<Rows, LibraryError>>;

    /// Begins a Parquet file with these columns.
    fn begin_parquet<'a>(
        &'a self,
        columns: &'a [RowColumn],
    ) -> LocalBoxFuture<'a, Result<Box<dyn Table>, LibraryError>>;

    /// Replays an episode in its environment.
    fn replay(&self, episode: Episode, clock: Rc<dyn Clock>) -> LocalBoxFuture<'static, Replayed>;
}

/// The code as part of the program. Replays get nothing from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct StaticCode;

impl LazyCode for StaticCode {
    fn readers(&self) -> LocalBoxFuture<'static, Result<&'static dyn Readers, LibraryError>> {
        ready(Ok(all_readers())).boxed_local()
    }

    fn read_parquet(
        &self,
        bytes: Vec<u8>,
        largest: usize,
    ) -> LocalBoxFuture<'static, Result<Rows, LibraryError>> {
        let rows = read_rows(bytes, largest).map_err(LibraryError::of_parquet);
        ready(rows).boxed_local()
    }

    fn begin_parquet<'a>(
        &'a self,
        columns: &'a [RowColumn],
    ) -> LocalBoxFuture<'a, Result<Box<dyn Table>, LibraryError>> {
        ready(parquet::begin_table(columns)).boxed_local()
    }

    fn replay(&self, episode: Episode, clock: Rc<dyn Clock>) -> LocalBoxFuture<'static, Replayed> {
        replay::replay(episode, clock, Rc::new(Closed)).boxed_local()
    }
}
