//! Findings over the answers to a question: claims whose citations open the answers with their quotes.

use std::sync::Arc;

use leptos::prelude::*;
use volary_agent::model::Usage;
use volary_app::ask::findings::{AskFindings, FindingsRequest};
use volary_ask::cache::AnswerRecord;
use volary_ask::plan::TYPICAL_ANSWER;
use volary_browser::{element, timers};
use volary_core::json::Text;
use volary_core::quantity::{large_plural, plural};
use volary_ui::sharing_check::{CheckedExport, CheckedExportDialog};
use volary_ui::text::inert;
use volary_view::ask::claims::{ClaimPiece, claim_pieces};
use volary_view::asking::cost_text;

use super::answers_view::answer_view;
use super::findings_export;
use super::question_view::asked;
use super::state::{AskState, use_ask};

/// The id of the answers that a claim cites.
const CITED: &str = "ask-cited";

#[component]
pub(super) fn FindingsPage(id: Text) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let is_there = Memo::new(move |_| question.with(Option::is_some));
    let findings = {
        let id = id.clone();
        Memo::new(move |_| state.history.with(|history| history.findings(&id).cloned()))
    };
    let checked = CheckedExport::new();
    let shown_id = id.clone();
    let shown = move || {
        let findings = findings.get()?;
        Some(view! { <Claims id=shown_id.clone() findings checked/> })
    };
    let id = StoredValue::new(id);
    view! {
        <Show when=move || is_there.get()>
            <Write id=id.get_value()/>
        </Show>
        {shown}
        <CheckedExportDialog export=checked/>
    }
}

/// What writing findings will cost, and the button.
#[component]
fn Write(id: Text) -> impl IntoView {
    let state = use_ask();
    let request = {
        let id = id.clone();
        Memo::new(move |_| {
            state
                .history
                .with(|history| FindingsRequest::of(history, &id))
        })
    };
    let text = {
        let id = id.clone();
        move || match request.get() {
            None => "There are no answers yet.".to_owned(),
            Some(request) => cost_line(state, &id, &request),
        }
    };
    let is_writing = {
        let id = id.clone();
        Memo::new(move |_| state.writing.with(|writing| *writing == Some(id.clone())))
    };
    let has_findings = {
        let id = id.clone();
        Memo::new(move |_| {
            state
                .history
                .with(|history| history.findings(&id).is_some())
        })
    };
    let write = move |_| {
        if let Some(request) = request.get_untracked() {
            state.write_findings(id.clone(), request);
        }
    };
    let name = move || {
        if is_writing.get() {
            "Writing…"
        } else if has_findings.get() {
            "Write again"
        } else {
            "Write findings"
        }
    };
    view! {
        <section class="card" aria-label="Write findings">
            <p>
                {"The model summarises the answers. Each claim cites the answers that it rests on, and \
                  each answer its quotes."}
            </p>
            <p class="faint">{text}</p>
            <div class="button-row">
                <button
                    type="button"
                    class:primary=move || !has_findings.get()
                    disabled=move || is_writing.get() || request.with(Option::is_none)
                    on:click=write
                >
                    {name}
                </button>
            </div>
        </section>
    }
}

fn cost_line(state: AskState, id: &Text, request: &FindingsRequest) -> String {
    let setup = state
        .history
        .with(|history| Some(history.question(id)?.setup.clone()));
    let mut text = format!(
        "One request about {}, about {}",
        plural(request.episodes.len(), "answer"),
        large_plural(request.tokens, "token")
    );
    let price = setup.and_then(|setup| state.facts(&setup.connection, &setup.model)?.price);
    if let Some(price) = price {
        let usage = Usage {
            prompt: request.tokens,
            completion: TYPICAL_ANSWER,
            ..Usage::default()
        };
        text.push_str(&format!(", {}", cost_text(price.cost(&usage))));
    }
    if request.left_out > 0 {
        text.push_str(&format!(
            "; {} do not fit",
            plural(request.left_out, "answer")
        ));
    }
    text.push('.');
    text
}

/// The claims, and the answers that the chosen one cites.
#[component]
fn Claims(id: Text, findings: AskFindings, checked: CheckedExport) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let chosen = RwSignal::new(None::<usize>);
    let episodes = Arc::new(findings.episodes.clone());
    let claims = findings.claims().into_iter().map(|claim| {
        let pieces = claim_pieces(&claim.text).into_iter();
        let missing = claim.missing.clone();
        let pieces = pieces.map(move |piece| match piece {
            ClaimPiece::Words(words) => inert(&words),
            ClaimPiece::Citation(number) if missing.contains(&number) => {
                view! { <del title="There is no such answer">{format!("[A{number}]")}</del> }
                    .into_any()
            }
            ClaimPiece::Citation(number) => {
                let open = move |_| {
                    chosen.set(Some(number));
                    element::show_id(CITED);
                };
                view! {
                    <button
                        type="button"
                        class="ask-citation"
                        aria-label=format!("Answer {number}")
                        aria-expanded=move || (chosen.get() == Some(number)).to_string()
                        on:click=open
                    >
                        {format!("A{number}")}
                    </button>
                }
                .into_any()
            }
        });
        let problem = (!claim.is_supported()).then(|| {
            let text = if claim.missing.is_empty() {
                "cites no answer"
            } else {
                "cites an answer that does not exist"
            };
            view! { <span class="ask-support support-bad">{text}</span> }
        });
        view! {
            <li dir="auto">{pieces.collect_view()} " " {problem}</li>
        }
    });
    let claims = claims.collect_view();
    let cited = move || {
        let number = chosen.get()?;
        let episode = episodes.get(number.checked_sub(1)?)?;
        let record: Option<Arc<AnswerRecord>> = state
            .history
            .with(|history| history.answer(&id, episode).cloned());
        let record = record?;
        Some(view! {
            <h2>{format!("Answer {number}")}</h2>
            <ul class="ask-answers">{answer_view(&record)}</ul>
        })
    };
    let left_out = (findings.left_out > 0).then(|| {
        format!(
            " {} did not fit into the request.",
            plural(findings.left_out, "answer")
        )
    });
    let facts = format!(
        "{}, {}, over {}.",
        findings.model,
        timers::local_time(findings.time),
        plural(findings.episodes.len(), "answer")
    );
    let save = move |_| {
        if let Some(question) = question.get_untracked() {
            findings_export::export(state, checked, &question, &findings);
        }
    };
    view! {
        <section class="card" aria-label="Findings">
            <h2>{"Findings"}</h2>
            <p class="faint" dir="auto">
                {inert(&facts)} {left_out}
            </p>
            <ul class="ask-claims">{claims}</ul>
            <div class="button-row">
                <button
                    type="button"
                    title="One file with the claims, the cited answers and the quoted passages"
                    on:click=save
                >
                    {"Save as HTML page"}
                </button>
            </div>
        </section>
        <section class="ask-cited" id=CITED aria-label="Cited answer" aria-live="polite" tabindex="-1">
            {cited}
        </section>
    }
}
