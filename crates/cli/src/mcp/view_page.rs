//! The page that shows the trajectories, which is served from when an address is first asked for.
//!
//! Invariant: only this machine reaches it, and only with the token that is part of the address.

use std::path::PathBuf;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use volary_analysis::table::Column;
use volary_analysis::table::filter::Filter;
use volary_analysis::table::view::View;

use super::failure::ToolFailure;
use crate::view::BackgroundView;

/// A place in the page.
pub enum ViewPlace<'a> {
    /// A step of a trajectory.
    Step { id: &'a str, step: usize },
    /// The trajectories with a name.
    Named { name: &'a str },
}

impl ViewPlace<'_> {
    /// The route of the page, as `ReviewPlace` of crates/view reads it.
    fn to_path(&self) -> String {
        match self {
            ViewPlace::Step { id, step } => {
                let id = utf8_percent_encode(id, NON_ALPHANUMERIC);
                format!("/review/{id}?step={step}")
            }
            ViewPlace::Named { name } => {
                let view = View {
                    filters: vec![(Column::Name, Filter::OneOf(vec![(*name).to_owned()]))],
                    ..View::default()
                };
                format!("/review?{}", view.to_query())
            }
        }
    }
}

/// A page that may be served already.
pub struct ViewPage {
    paths: Vec<PathBuf>,
    folder: Option<PathBuf>,
    runtime: Handle,
    served: Mutex<Option<BackgroundView>>,
}

impl ViewPage {
    /// Nothing is served yet. `folder` is another build of the page.
    pub fn new(paths: Vec<PathBuf>, folder: Option<PathBuf>, runtime: Handle) -> ViewPage {
        ViewPage {
            paths,
            folder,
            runtime,
            served: Mutex::default(),
        }
    }

    /// The address of a place in the page. Blocks; must not be called on a thread of the runtime that drives tasks.
    pub fn address(&self, place: &ViewPlace<'_>) -> Result<String, ToolFailure> {
        self.runtime.block_on(async {
            let mut served = self.served.lock().await;
            let view = match &mut *served {
                Some(view) => view,
                none => {
                    let view = BackgroundView::start(&self.paths, self.folder.as_deref()).await;
                    none.insert(view.map_err(|error| ToolFailure::Page {
                        reason: format!("{error:#}"),
                    })?)
                }
            };
            Ok(view.address(&place.to_path()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_routes_of_the_page() {
        let step = ViewPlace::Step { id: "a/b", step: 3 };
        assert_eq!(step.to_path(), "/review/a%2Fb?step=3");
        let named = ViewPlace::Named { name: "a b" };
        assert_eq!(named.to_path(), "/review?filter=name~is~a%20b");
    }
}
