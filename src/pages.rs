//! Loads the code of each page.
//!
//! A page is built at the first visit and then stays mounted, so that it keeps its state. The code of all pages except
//! the playground is loaded when they are first opened. A new page needs a [`Page`], a row in [`Page::ALL`], its route
//! in [`Page::of`], and its loader in [`load`].

use futures_util::FutureExt;
use futures_util::future::try_join;
use leptos::wasm_split::wasm_split;
use volary_view::route::Route;

use volary_browser::lazy::{DrawFn, Loaded};
use volary_browser::{appearance, location, spawn};
use volary_review::opened_pages;
use volary_ui::lazy::Coming;
use volary_ui::navigation::Page;
use volary_ui::styles;

/// The loader of a page; `None` for the page that is part of the first load.
pub fn load(page: Page) -> Option<fn() -> Coming> {
    match page {
        Page::Playground => None,
        Page::Review => Some(|| Box::pin(table_or_opened())),
        Page::Evaluate => Some(|| Box::pin(evaluate())),
        Page::Environments => Some(|| Box::pin(environments())),
        Page::Learn => Some(|| Box::pin(learn())),
        Page::School => Some(|| Box::pin(school())),
        Page::Class => Some(|| Box::pin(class())),
        Page::Settings => Some(|| Box::pin(settings())),
        Page::Template => Some(|| Box::pin(template())),
    }
}

/// Starts to load the code of the page in the address, before anything is drawn. [`load`] waits for the same code.
pub fn load_ahead() {
    let page = Page::of(&Route::parse(&location::hash()));
    let Some(load) = load(page) else {
        return;
    };
    let mut coming = load();
    // This sends the requests; a spawned future would be polled only after the page is drawn.
    if coming.as_mut().now_or_never().is_none() {
        spawn(async move {
            let _ = coming.await;
        });
    }
}

/// Loads the view for frames in other pages.
pub fn embed() -> Coming {
    Box::pin(embedded())
}

/// Loads the help dialog.
pub fn key_help() -> Coming {
    Box::pin(help())
}

#[wasm_split(playground, wasm_split_path = leptos::wasm_split, fallible)]
fn help() -> Loaded<DrawFn> {
    styles::adopt_connections();
    Ok(volary_ui::key_help::key_help)
}

/// Review, with the code of what the address opens in it.
async fn table_or_opened() -> Loaded<DrawFn> {
    match Route::parse(&location::hash()) {
        Route::Review(place) if opened_pages::are_wanted(&place) => {
            let (page, _) = try_join(review(), opened_pages::load()).await?;
            Ok(page)
        }
        _ => review().await,
    }
}

#[wasm_split(review, wasm_split_path = leptos::wasm_split, fallible)]
fn review() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/library.css"));
    appearance::adopt(include_str!("../style/table.css"));
    appearance::adopt(include_str!("../style/mapping.css"));
    appearance::adopt(include_str!("../style/plot.css"));
    appearance::adopt(include_str!("../style/chart.css"));
    Ok(volary_review::page::page)
}

#[wasm_split(evaluate, wasm_split_path = leptos::wasm_split, fallible)]
fn evaluate() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/evaluate.css"));
    appearance::adopt(include_str!("../style/results.css"));
    appearance::adopt(include_str!("../style/progress-bar.css"));
    Ok(volary_evaluate::page)
}

#[wasm_split(learn, wasm_split_path = leptos::wasm_split, fallible)]
fn learn() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/reading.css"));
    appearance::adopt(include_str!("../style/learn.css"));
    appearance::adopt(include_str!("../style/present.css"));
    Ok(volary_teach::learn::page::page)
}

#[wasm_split(school_page, wasm_split_path = leptos::wasm_split, fallible)]
fn school() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/school.css"));
    Ok(volary_school_page::page::page)
}

/// In the part of the lessons, whose player it uses.
#[wasm_split(learn, wasm_split_path = leptos::wasm_split, fallible)]
fn class() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/reading.css"));
    appearance::adopt(include_str!("../style/learn.css"));
    appearance::adopt(include_str!("../style/class.css"));
    Ok(volary_teach::class::page::page)
}

/// In the same part as the lessons, whose player it shows.
#[wasm_split(learn, wasm_split_path = leptos::wasm_split, fallible)]
fn embedded() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/reading.css"));
    appearance::adopt(include_str!("../style/learn.css"));
    appearance::adopt(include_str!("../style/embed.css"));
    Ok(volary_teach::embed::page::page)
}

#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
fn settings() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/settings.css"));
    Ok(volary_settings::settings::page::page)
}

/// In the part of the settings: each additional part adds files of shared code, so a small page is not worth a part of
/// its own.
#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
fn environments() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/settings.css"));
    appearance::adopt(include_str!("../style/environments.css"));
    Ok(volary_settings::environments::page::page)
}

#[wasm_split(template, wasm_split_path = leptos::wasm_split, fallible)]
fn template() -> Loaded<DrawFn> {
    styles::adopt_connections();
    appearance::adopt(include_str!("../style/lab.css"));
    Ok(volary_settings::lab::page::page)
}
