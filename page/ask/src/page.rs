//! The page of Ask: which screen the address names.

use leptos::prelude::*;
use volary_ui::AlertBox;
use volary_ui::keep_alive::KeepAlive;
use volary_view::ask::AskPlace;

use super::calibration_view::CalibrationPage;
use super::findings_view::FindingsPage;
use super::host::AskHost;
use super::question_view::{AnswersPage, QuestionHead};
use super::questions_view::Questions;
use super::setup_view::SetupForm;
use super::state::AskState;

/// Draws the page. It keeps its state, and goes on asking, while another part of Review is shown.
pub(super) fn ask_page() -> AnyView {
    let host: AskHost = expect_context();
    let state = AskState::new(host);
    provide_context(state);
    let place = Memo::new(move |_| host.place.with(AskPlace::of));
    let is_new = Signal::derive(move || matches!(place.get(), AskPlace::New(_)));
    let question = Memo::new(move |_| place.with(|place| place.question().cloned()));
    let pages = move || {
        let id = question.get()?;
        Some(view! {
            <QuestionHead id place/>
            {move || match place.get() {
                AskPlace::Calibration(id) => view! { <CalibrationPage id/> }.into_any(),
                AskPlace::Findings(id) => view! { <FindingsPage id/> }.into_any(),
                AskPlace::Answers(id) => view! { <AnswersPage id/> }.into_any(),
                AskPlace::New(_) | AskPlace::Elsewhere => ().into_any(),
            }}
        })
    };
    view! {
        <div class="ask">
            <a
                class="back-link"
                href=move || {
                    let view = host.place.with(|place| place.view.clone());
                    AskPlace::Elsewhere.to_hash(&view)
                }
            >
                "Trajectories"
            </a>
            <AlertBox notice=state.notice/>
            <KeepAlive is_wanted=is_new>
                <header class="ask-head">
                    <h1>{"Ask"}</h1>
                    <p class="faint">
                        {"A model reads each trajectory, answers one question, and quotes the messages \
                          that its answer rests on. Every quote is checked."}
                    </p>
                </header>
                <SetupForm place/>
                <Questions/>
            </KeepAlive>
            {pages}
        </div>
    }
    .into_any()
}

/// The first words of a page whose question does not exist.
#[component]
pub(super) fn Missing() -> impl IntoView {
    let state = super::state::use_ask();
    move || {
        if !state.is_read.get() {
            return view! { <p class="faint" role="status">"Reading answers…"</p> }.into_any();
        }
        view! {
            <div class="empty-state" role="alert">
                <h1>{"This question is not stored here."}</h1>
                <p>{"It was deleted, or asked in another browser."}</p>
                <a class="button" href="#/review?ask=new">
                    {"Ask a question"}
                </a>
            </div>
        }
        .into_any()
    }
}
