//! Answers with their quotes, each with the result of its check and a link to the passage.

use std::sync::Arc;

use leptos::prelude::*;
use volary_ask::answer::Evidence;
use volary_ask::cache::AnswerRecord;
use volary_ask::{QuoteState, Support};
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_ui::term::Terms;
use volary_ui::text::inert;
use volary_view::ask::quote::{
    QuotePieceKind, difference, hash, state_class, state_text, support_class,
};
use volary_view::route::{ReviewPlace, Route};

use super::state::use_ask;

/// The number of answers that are drawn at first, and added with each press of the button.
const SHOWN: usize = 30;

/// The answers to a question, with a filter.
#[component]
pub(super) fn AnswerList(id: Text) -> impl IntoView {
    let state = use_ask();
    let only = RwSignal::new(None::<Support>);
    let most = RwSignal::new(SHOWN);
    let answers = Memo::new(move |_| {
        state.history.with(|history| {
            let answers = history.answers(&id);
            let answers = answers.map(|(_, record)| Arc::clone(record));
            answers.collect::<Vec<_>>()
        })
    });
    let chosen = Memo::new(move |_| {
        let only = only.get();
        answers.with(|answers| {
            let answers = answers.iter();
            let chosen = answers
                .filter(|record| only.is_none_or(|support| record.answer.support == support));
            chosen.cloned().collect::<Vec<_>>()
        })
    });
    let kinds = [
        Support::Supported,
        Support::NotNeeded,
        Support::Unsupported,
        Support::Unreadable,
    ];
    let option = move |support: Support| {
        let text = move || {
            let count = answers.with(|answers| {
                let answers = answers.iter();
                answers
                    .filter(|record| record.answer.support == support)
                    .count()
            });
            format!("{} ({})", support.as_str(), count_text(count))
        };
        view! { <option value=support.as_str()>{text}</option> }
    };
    let options = move || kinds.map(option).into_iter().collect_view();
    let pick = move |event| {
        let value = event_target_value(&event);
        most.set(SHOWN);
        only.set(kinds.into_iter().find(|support| support.as_str() == value));
    };
    let list = move || {
        chosen.with(|chosen| {
            let shown = chosen.iter().take(most.get());
            shown.map(|record| answer_view(record)).collect_view()
        })
    };
    let more = move || {
        let rest = chosen.with(|chosen| chosen.len().saturating_sub(most.get()));
        (rest > 0).then(|| {
            view! {
                <button type="button" on:click=move |_| most.update(|most| *most += SHOWN)>
                    {format!("Show more ({})", plural(rest, "answer"))}
                </button>
            }
        })
    };
    view! {
        <Show when=move || answers.with(|answers| !answers.is_empty())>
            <section class="card" aria-label="Answers">
                <div class="card-head">
                    <h2>
                        {"Answers"}
                        <Terms place="ask-answers" terms=&["exact, close, elsewhere, not found"]/>
                    </h2>
                    <label class="ask-only">
                        {"Quotes"}
                        <select on:change=pick>
                            <option value="">{"all"}</option>
                            {options}
                        </select>
                    </label>
                </div>
                <ul class="ask-answers">{list}</ul>
                {more}
            </section>
        </Show>
    }
}

/// The address of an episode.
pub(super) fn episode_hash(id: &str) -> String {
    let place = ReviewPlace {
        episode: Some(id.to_owned()),
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}

/// The name of a trajectory; its id if it has none.
pub(super) fn name_of(record: &AnswerRecord) -> &Text {
    if record.name.trim().is_empty() {
        &record.episode
    } else {
        &record.name
    }
}

/// An answer as an item of a list.
pub(super) fn answer_view(record: &AnswerRecord) -> AnyView {
    let answer = &record.answer;
    let value = (answer.label.is_some() || answer.score.is_some()).then(|| {
        view! {
            <span class="badge" dir="auto">
                {inert(&answer.value_text())}
            </span>
        }
    });
    let support = format!("ask-support {}", support_class(answer.support));
    let notes = answer.notes.iter().map(|note| {
        view! {
            <p class="help" dir="auto">
                {inert(note)}
            </p>
        }
    });
    view! {
        <li>
            <article class="ask-answer">
                <header>
                    <a href=episode_hash(&record.episode) dir="auto">
                        {inert(name_of(record))}
                    </a>
                    {value}
                    <span class=support>{answer.support.as_str()}</span>
                </header>
                <p dir="auto">{inert(&answer.explanation)}</p>
                {quotes_view(record)}
                {notes.collect_view()}
            </article>
        </li>
    }
    .into_any()
}

/// The quotes of an answer.
pub(super) fn quotes_view(record: &AnswerRecord) -> AnyView {
    let quotes = record.answer.evidence.iter();
    let quotes = quotes.map(|evidence| quote_view(&record.episode, evidence));
    let quotes = quotes.collect_view();
    if record.answer.evidence.is_empty() {
        return ().into_any();
    }
    view! { <ul class="ask-quotes">{quotes}</ul> }.into_any()
}

fn quote_view(episode: &str, evidence: &Evidence) -> AnyView {
    let text = match hash(episode, evidence) {
        Some(href) => view! {
            <a href=href title="Open the trajectory at these words">
                {inert(&evidence.quote)}
            </a>
        }
        .into_any(),
        None => inert(&evidence.quote),
    };
    let message = evidence
        .message
        .map(|message| format!("message {message}, "));
    let class = format!("ask-state {}", state_class(evidence.state));
    view! {
        <li>
            <blockquote dir="auto">{text}</blockquote>
            <p class="ask-check">
                {message} <span class=class>{state_text(evidence)}</span>
            </p>
            {difference_view(evidence)}
        </li>
    }
    .into_any()
}

/// How a quote that is not exact differs from the words of the trajectory.
fn difference_view(evidence: &Evidence) -> Option<AnyView> {
    let words = evidence.words.as_ref()?;
    if evidence.state == QuoteState::Exact {
        return None;
    }
    let pieces = difference(&evidence.quote, words).into_iter();
    let pieces = pieces.map(|piece| match piece.kind {
        QuotePieceKind::Both => inert(&piece.text),
        QuotePieceKind::Quote => view! {
            <del>
                <span class="visually-hidden">{"only in the quote: "}</span>
                {inert(&piece.text)}
            </del>
        }
        .into_any(),
        QuotePieceKind::Trajectory => view! {
            <ins>
                <span class="visually-hidden">{"in the trajectory: "}</span>
                {inert(&piece.text)}
            </ins>
        }
        .into_any(),
    });
    Some(
        view! {
            <p class="ask-difference" dir="auto">
                <span class="faint">{"Difference: "}</span>
                {pieces.collect_view()}
            </p>
        }
        .into_any(),
    )
}
