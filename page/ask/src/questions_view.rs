//! The questions that were asked before, each with its model, date, answers, cost and the rates of its quotes.

use leptos::prelude::*;
use volary_app::ask::asked::AskedQuestion;
use volary_app::ask::history::AskHistory;
use volary_browser::timers;
use volary_core::quantity::count_text;
use volary_ui::text::inert;
use volary_view::ask::AskPlace;
use volary_view::ask::costs::{rates_text, spent_text};

use super::state::use_ask;

#[component]
pub(super) fn Questions() -> impl IntoView {
    let state = use_ask();
    let rows = move || {
        state.history.with(|history| {
            let questions = history.questions().into_iter();
            let view = state.host.place.with_untracked(|place| place.view.clone());
            questions
                .map(|question| row(history, question, &view))
                .collect_view()
        })
    };
    let is_any = Memo::new(move |_| {
        state
            .history
            .with(|history| !history.questions().is_empty())
    });
    view! {
        <Show when=move || is_any.get()>
            <section class="card" aria-label="Questions asked before">
                <h2>{"Questions asked before"}</h2>
                <div
                    class="table-scroll"
                    tabindex="0"
                    role="region"
                    aria-label="Table of questions"
                >
                    <table class="ask-table">
                        <thead>
                            <tr>
                                {HEADS
                                    .map(|head| view! { <th scope="col">{head}</th> })
                                    .into_iter()
                                    .collect_view()}
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </section>
        </Show>
    }
}

const HEADS: [&str; 7] = [
    "Question",
    "Model",
    "Asked",
    "Answers",
    "Unsupported",
    "Quotes",
    "Cost",
];

fn row(history: &AskHistory, question: &AskedQuestion, view: &str) -> AnyView {
    let href = AskPlace::Answers(question.id.clone()).to_hash(view);
    let answers = history.answers(&question.id).len();
    let rates = history.rates(&question.id);
    let rates = rates.models.get(&question.setup.model);
    let unsupported = rates.map_or(0, |rates| rates.unsupported + rates.unreadable);
    let quotes = rates.and_then(rates_text).unwrap_or_else(|| "–".to_owned());
    let counts = if answers == question.rows.len() {
        count_text(answers)
    } else {
        format!(
            "{} of {}",
            count_text(answers),
            count_text(question.rows.len())
        )
    };
    view! {
        <tr>
            <th scope="row" dir="auto">
                <a href=href>{inert(&question.name)}</a>
            </th>
            <td dir="auto">{inert(&question.setup.model)}</td>
            <td>{timers::local_time(question.time)}</td>
            <td class="number">{counts}</td>
            <td class="number">{unsupported.to_string()}</td>
            <td>{quotes}</td>
            <td>{spent_text(&history.spent(&question.id))}</td>
        </tr>
    }
    .into_any()
}
