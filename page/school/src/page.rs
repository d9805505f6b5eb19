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
        count => format!("A language model with {} parameters, ", thousands(count)),
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
                    <ContestView state/>
                    <ClassView state/>
                </div>
                <div class="school-side">
                    <Checks state/>
                    <BreakIt state/>
                    <Ask state/>
                    <Exams state/>
                    <KnobsView state/>
                    <StoringView state/>
                </div>
            </div>
        </div>
    }
    .into_any()
}

/// A number with a comma before each three digits.
fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let texts = [7, 999, 1_000, 26_528, 1_234_567].map(thousands);
        assert_eq!(texts, ["7", "999", "1,000", "26,528", "1,234,567"]);
    }
}
