//! The page of environments: the catalogue, or one file in the editor.

use leptos::prelude::*;

use super::catalogue::{Catalogue, import};
use super::checkout::Adding;
use super::editor::EditorPage;
use crate::browser::files::GivenFile;
use crate::browser::location;
use crate::navigation::{Hooks, Page, use_pages};
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
    let adding = Adding::new();
    let problem = RwSignal::new(String::new());
    let take = move |files: Vec<GivenFile>| match Adding::takes(&files) {
        true => {
            // Its progress is in the catalogue.
            location::go(&Route::Environments { file: None }.to_hash());
            adding.take(files);
        }
        false => import(files, problem),
    };
    pages.hook(
        Page::Environments,
        Hooks {
            keys: &[],
            press: Box::new(|_| false),
            take_files: Box::new(take),
            drop_words: "Drop a checkout of tau-bench (its folder or zip), or Python files. They stay in your \
                         browser.",
        },
    );
    let content = move || match file.get() {
        Some(name) => view! { <EditorPage name/> }.into_any(),
        None => view! { <Catalogue adding problem/> }.into_any(),
    };
    view! { <div class="environments">{content}</div> }.into_any()
}
