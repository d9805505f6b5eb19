//! The page of the school.

use leptos::prelude::*;
use volary_app::school::SchoolEvent;
use volary_view::route::Route;

use super::checks_view::{BreakIt, Checks};
use super::class_view::ClassView;
use super::contest_view::ContestView;
use super::controls::Controls;
use super::curves::Curves;
use super::group_view::GroupView;
use super::knobs_view::KnobsView;
use super::questions::{Ask, Exams};
use super::samples::Samples;
use super::state::SchoolState;
use super::storing_view::StoringView;
use super::task_view::TaskView;
use volary_ui::alert_box::AlertWords;
use volary_ui::navigation::use_pages;

/// Draws the page. The run of the address is begun at once, so that Train has nothing to wait for.
pub fn page() -> AnyView {
    let pages = use_pages();
    let state = SchoolState::new();
    let query = Memo::new(move |former: Option<&String>| match pages.route.get() {
        Route::Learn { path } if Route::is_school(&path) => {
            let (_, query) = path.split_once('?').unwrap_or_default();
            query.to_owned()
        }
        // Another page is shown; the run goes on.
        _ => former.cloned().unwrap_or_default(),
    });
    Effect::new(move |_| state.send(SchoolEvent::Open(query.get())));
    let notice = move || {
        let notice = state.school.with(|school| school.notice.clone());
        notice.map(|notice| {
            view! {
                <div class="alert" role="alert">
                    <AlertWords what=notice.what why=notice.why advice=notice.advice/>
                    <button
                        type="button"
                        class="quiet"
                        on:click=move |_| state.send(SchoolEvent::Dismiss)
                    >
                        {"Dismiss"}
                    </button>
                </div>
            }
        })
    };
    let size = move || match state.school.with(|school| school.parameters) {
        0 => "A small language model, ".to_owned(),
        count => format!("A language model with {count} parameters, "),
    };
    view! {
        <div class="school">
            <header class="school-head">
                <h1>{"Watch an agent learn"}</h1>
                <p>
                    {size} {"trained in this page by reinforcement learning: it samples answers, a \
                     grader rewards them, and an update makes what was better than average more probable. At first it guesses. Then it \
                     discovers the tool, its arguments, and what to do with the result."}
                </p>
            </header>
            <TaskView/>
            {notice}
            <Controls state/>
            <div class="school-columns">
                <div class="school-main">
                    <Curves state/>
                    <Samples state/>
                    <GroupView state/>
                </div>
                <div class="school-side">
                    <Checks state/>
                    <BreakIt state/>
                    <Ask state/>
                    <ContestView state/>
                    <Exams state/>
                    <KnobsView state/>
                    <ClassView state/>
                    <StoringView state/>
                </div>
            </div>
        </div>
    }
    .into_any()
}
