//! The page of a question: its head, the run, and the answers.

use leptos::prelude::*;
use volary_analysis::sensitive::{check_document, masked_document};
use volary_app::ask::asked::AskedQuestion;
use volary_app::ask::history::AskHistory;
use volary_app::ask::{AskScope, Event};
use volary_browser::{files, location, timers};
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_ui::Dialog;
use volary_ui::sharing_check::{CheckedExport, CheckedExportDialog};
use volary_ui::text::inert;
use volary_view::ask::costs::{rates_text, spent_text};
use volary_view::ask::{AskPlace, grouped_hash, table_hash};
use volary_view::sharing_texts::OwnedFinding;

use super::answers_view::AnswerList;
use super::page::Missing;
use super::run_view::RunView;
use super::state::{AskState, use_ask};

/// A question of the history; `None` if it does not exist.
pub(super) fn asked(state: AskState, id: &Text) -> Memo<Option<AskedQuestion>> {
    let id = id.clone();
    Memo::new(move |_| state.history.with(|history| history.question(&id).cloned()))
}

/// The name, the question, and the parts of its page.
#[component]
pub(super) fn QuestionHead(id: Text, place: Memo<AskPlace>) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let deleting = RwSignal::new(false);
    let head = move || {
        let question = question.get()?;
        let id = question.id.clone();
        let facts = state.history.with(|history| facts_text(history, &question));
        let has_labels = !question.setup.question.answer.labels().is_empty();
        let parts = [
            (AskPlace::Answers(id.clone()), "Answers", true),
            (AskPlace::Calibration(id.clone()), "Labels", has_labels),
            (AskPlace::Findings(id.clone()), "Findings", true),
        ];
        let view = state.host.place.with_untracked(|place| place.view.clone());
        let links = parts.into_iter().filter(|(_, _, is_shown)| *is_shown);
        let links = links.map(|(part, name, _)| {
            let href = part.to_hash(&view);
            let current = move || (place.get() == part).then_some("page");
            view! {
                <a href=href aria-current=current>
                    {name}
                </a>
            }
        });
        let labels = question.setup.question.answer.labels();
        let labels = (!labels.is_empty()).then(|| {
            view! {
                <p class="faint" dir="auto">
                    {inert(&labels.join(" · "))}
                </p>
            }
        });
        let change = AskPlace::New(Some(id.clone())).to_hash(&view);
        Some(view! {
            <header class="ask-head">
                <h1 dir="auto">{inert(&question.name)}</h1>
                <p class="ask-question" dir="auto">
                    {inert(&question.setup.question.text)}
                </p>
                {labels}
                <p class="faint">{facts}</p>
                <div class="ask-bar">
                    <nav class="ask-parts" aria-label="Question">
                        {links.collect_view()}
                    </nav>
                    <div class="button-row">
                        <a class="button quiet" href=change>
                            {"Change the question"}
                        </a>
                        <button
                            type="button"
                            class="quiet"
                            on:click=move |_| deleting.set(true)
                        >
                            {"Delete"}
                        </button>
                    </div>
                </div>
            </header>
        })
    };
    let forget = move |_| {
        deleting.set(false);
        state.dispatch(Event::Forget(id.clone()));
        let view = state.host.place.with_untracked(|place| place.view.clone());
        location::go(&AskPlace::New(None).to_hash(&view));
    };
    view! {
        <Show when=move || question.with(Option::is_none)>
            <Missing/>
        </Show>
        {head}
        <Dialog open=deleting title="Delete question">
            <p>{"The question, its answers and its findings are deleted. The answers were paid for."}</p>
            <div class="button-row">
                <button type="button" on:click=move |_| deleting.set(false)>
                    {"Cancel"}
                </button>
                <button type="button" class="danger" on:click=forget>
                    {"Delete"}
                </button>
            </div>
        </Dialog>
    }
}

fn facts_text(history: &AskHistory, question: &AskedQuestion) -> String {
    let answers = history.answers(&question.id).len();
    format!(
        "{}, asked {}. {} for {}, {}.",
        question.setup.model,
        timers::local_time(question.time),
        plural(answers, "answer"),
        plural(question.rows.len(), "trajectory"),
        spent_text(&history.spent(&question.id))
    )
}

/// The answers to a question.
#[component]
pub(super) fn AnswersPage(id: Text) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let is_there = Memo::new(move |_| question.with(Option::is_some));
    let id = StoredValue::new(id);
    view! {
        <Show when=move || is_there.get()>
            <RunView id=id.get_value() scope=AskScope::All/>
            <Figures id=id.get_value()/>
            <AnswerList id=id.get_value()/>
        </Show>
    }
}

/// The values of the answers with their numbers, and how often quotes hold.
#[component]
fn Figures(id: Text) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let export_id = id.clone();
    move || {
        let question = question.get()?;
        state.history.with(|history| {
            let total = history.answers(&id).len();
            if total == 0 {
                return None;
            }
            let name = question.name.clone();
            let values = history.values(&id).into_iter().map(|value| {
                let share = value.count as f64 / total as f64 * 100.0;
                let bar = format!("M0 0H{share:.2}V1H0Z");
                let unsupported = (value.unsupported > 0)
                    .then(|| format!("{} unsupported", count_text(value.unsupported)));
                let href = table_hash(&name, Some(&value.value));
                view! {
                    <li>
                        <a href=href dir="auto">
                            {inert(&value.value)}
                        </a>
                        <svg class="ask-share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                            <path d=bar></path>
                        </svg>
                        <span class="number">{count_text(value.count)}</span>
                        <span class="faint">{unsupported}</span>
                    </li>
                }
            });
            let rates = history.rates(&id).models;
            let rates = rates.into_iter().map(|(model, rates)| {
                let quotes = rates_text(&rates).unwrap_or_else(|| "none".to_owned());
                view! {
                    <p dir="auto">
                        {inert(&format!("Quotes of {model}: {quotes}."))}
                        <span class="faint">
                            {format!(
                                " Asked for again: {}, unsupported: {}, unreadable: {}.",
                                rates.retried,
                                rates.unsupported,
                                rates.unreadable,
                            )}
                        </span>
                    </p>
                }
            });
            let values = values.collect_view();
            Some(view! {
                <section class="card" aria-label="Overview">
                    <h2>{"Overview"}</h2>
                    <ul class="ask-values">{values}</ul>
                    {rates.collect_view()}
                    <div class="button-row">
                        <a class="button" href=table_hash(&name, None)>
                            {"Show in the table"}
                        </a>
                        <a class="button" href=grouped_hash(&name)>
                            {"Group the table"}
                        </a>
                        <Export id=export_id.clone()/>
                    </div>
                </section>
            })
        })
    }
}

/// Saves the answers as lines, which `volary ask` reads too.
#[component]
fn Export(id: Text) -> impl IntoView {
    let state = use_ask();
    let checked = CheckedExport::new();
    let save = move |_| {
        let text = state.history.with_untracked(|history| {
            let answers = history.answers(&id);
            let lines = answers.map(|(_, record)| record.to_line() + "\n");
            lines.collect::<String>()
        });
        let found = OwnedFinding::all(check_document(&text));
        checked.save("The file", found, move |is_masked| {
            let masked = is_masked.then(|| masked_document(&text));
            let text = masked.as_ref().unwrap_or(&text);
            files::download("answers.jsonl", "application/jsonl", text.as_bytes());
        });
    };
    view! {
        <button
            type="button"
            title="As volary ask keeps them in .volary/answers.jsonl"
            on:click=save
        >
            {"Save answers"}
        </button>
        <CheckedExportDialog export=checked/>
    }
}
