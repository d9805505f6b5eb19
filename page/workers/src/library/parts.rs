//! The lazy parts of the library's code: the readers of formats, Parquet and the environments. The reader of Parquet panics
//! on some damaged files, so it runs isolated: that file is not read, and nothing else is lost.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::wasm_split::wasm_split;
use volary_core::Clock;
use volary_episode::Episode;
use volary_export::training_rows::RowColumn;
use volary_library::parquet::{Table, begin_table};
use volary_library::readers::{Readers, all_readers};
use volary_library::replay::Replayed;
use volary_library::{LazyCode, LibraryError};
use volary_parquet::{ParquetError, Rows, contradictory, read_rows};

use crate::all_environments;
use volary_browser::isolation::isolated;
use volary_browser::lazy::{Loaded, Unloaded};

/// The code of the library, in lazy parts.
pub(crate) struct LazyParts;

type ReadParquet = fn(Vec<u8>, usize) -> Result<Rows, ParquetError>;
type BeginParquet = fn(&[RowColumn]) -> Result<Box<dyn Table>, LibraryError>;

#[wasm_split(readers, wasm_split_path = leptos::wasm_split, fallible)]
fn load_readers() -> Loaded<&'static dyn Readers> {
    Ok(all_readers())
}

#[wasm_split(parquet, wasm_split_path = leptos::wasm_split, fallible)]
fn load_parquet_reader() -> Loaded<ReadParquet> {
    Ok(read_rows)
}

#[wasm_split(parquet_writer, wasm_split_path = leptos::wasm_split, fallible)]
fn load_parquet_writer() -> Loaded<BeginParquet> {
    Ok(begin_table)
}

impl LazyCode for LazyParts {
    fn readers(&self) -> LocalBoxFuture<'static, Result<&'static dyn Readers, LibraryError>> {
        let unloaded = |Unloaded| {
            let advice = Unloaded::ADVICE;
            let why = format!(
                "The code that reads files could not be loaded: you are offline, or the site was \
                 updated. {advice}"
            );
            LibraryError::Code { why: why.into() }
        };
        async move { load_readers().await.map_err(unloaded) }.boxed_local()
    }

    fn read_parquet(
        &self,
        bytes: Vec<u8>,
        largest: usize,
    ) -> LocalBoxFuture<'static, Result<Rows, LibraryError>> {
        async move {
            let read = load_parquet_reader().await.map_err(said)?;
            let rows = isolated(move || read(bytes, largest));
            let rows = rows.unwrap_or_else(|_| Err(contradictory()));
            rows.map_err(LibraryError::of_parquet)
        }
        .boxed_local()
    }

    fn begin_parquet<'a>(
        &'a self,
        columns: &'a [RowColumn],
    ) -> LocalBoxFuture<'a, Result<Box<dyn Table>, LibraryError>> {
        async move {
            let begin = load_parquet_writer().await.map_err(said)?;
            begin(columns)
        }
        .boxed_local()
    }

    fn replay(&self, episode: Episode, clock: Rc<dyn Clock>) -> LocalBoxFuture<'static, Replayed> {
        async move {
            let all = all_environments::load().await.map_err(said)?;
            (all.replay)(episode, clock).await
        }
        .boxed_local()
    }
}

fn said(error: Unloaded) -> LibraryError {
    LibraryError::Code {
        why: error.to_string().into(),
    }
}
