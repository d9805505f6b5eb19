//! The page of environments: the catalogue, or one file in the editor.

use leptos::prelude::*;

use super::catalogue::catalogue;
use super::editor::editor;
use crate::components::erased::dynamic;
use crate::components::markup::el;
use crate::navigation::use_pages;
use crate::route::Route;

/// The page.
pub fn page() -> AnyView {
    let pages = use_pages();
    let file = Memo::new(move |last: Option<&Option<String>>| {
        pages.route.with(|route| match route {
            Route::Environments { file } => file.clone(),
            // Another page is shown; this one stays as it is.
            _ => last.cloned().flatten(),
        })
    });
    let content = dynamic(move || match file.get() {
        Some(name) => untrack(|| editor(name)),
        None => untrack(catalogue),
    });
    el("div").class("environments").child(content).view()
}
