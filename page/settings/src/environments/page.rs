//! The page of environments: the catalogue, or a file in the editor.

use std::rc::Rc;

use leptos::prelude::*;
use volary_view::route::Route;

use super::catalogue::Catalogue;
use super::checkout::Adding;
use super::editor::EditorPage;
use super::python_import::may_be_checkout;
use volary_browser::files::GivenFile;
use volary_browser::location;
use volary_ui::navigation::{Hooks, Page, use_pages};

/// The handler of dropped files, which the mounted catalogue or editor sets.
pub(super) type DropTarget = StoredValue<Option<Rc<dyn Fn(Vec<GivenFile>)>>, LocalStorage>;

pub fn page() -> AnyView {
    let pages = use_pages();
    let file = Memo::new(move |last: Option<&Option<String>>| {
        pages.route.with(|route| match route {
            Route::Environments { file } => file.clone(),
            // Another page is shown; this one keeps its state.
            _ => last.cloned().flatten(),
        })
    });
    let adding = Adding::new();
    let target: DropTarget = StoredValue::new_local(None);
    let take = move |files: Vec<GivenFile>| {
        if may_be_checkout(files.iter().map(|file| &*file.name)) {
            // The catalogue shows the progress.
            location::go(&Route::Environments { file: None }.to_hash());
            adding.take(files);
        } else if let Some(take) = target.get_value() {
            take(files);
        }
    };
    pages.hook(
        Page::Environments,
        Hooks {
            keys: &[],
            press: Box::new(|_| false),
            take_files: Box::new(take),
            drop_words: "Drop a checkout of tau-bench (its folder or zip), Python files, or on an editor wheels. They \
                         stay in your browser.",
        },
    );
    let content = move || match file.get() {
        Some(name) => view! { <EditorPage name target/> }.into_any(),
        None => view! { <Catalogue adding target/> }.into_any(),
    };
    view! { <div class="environments">{content}</div> }.into_any()
}
