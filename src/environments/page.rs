//! The page of environments: the catalogue, or one file in the editor.

use leptos::prelude::*;

use super::catalogue::Catalogue;
use super::editor::EditorPage;
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
    let content = move || match file.get() {
        Some(name) => view! { <EditorPage name/> }.into_any(),
        None => view! { <Catalogue/> }.into_any(),
    };
    view! { <div class="environments">{content}</div> }.into_any()
}
