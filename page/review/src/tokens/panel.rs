//! The panel about the tokens of an episode: the selected token, jumps to extreme ones, checks, charts, and the trained
//! text. Its parts are computed while it is open.

use leptos::prelude::*;
use volary_analysis::tokens::Extreme;
use volary_core::quantity::count_text;
use volary_view::token_words::token_facts;

use super::charts::{Curves, HistogramView};
use super::checks::Checks;
use super::trained::TrainedText;
use super::vocabulary::shown;
use super::{Tokens, is_positive};
use volary_connections::tokenizer;
use volary_ui::number_field::NumberField;
use volary_ui::text::inert;
use volary_view::review::side_panels::TOKENS;

#[component]
pub(crate) fn TokenPanel(tokens: Tokens) -> impl IntoView {
    view! {
        <Show when=move || tokens.panel.get() == TOKENS>
            <div class="token-panel">
                <Selected tokens/>
                <Jumps tokens/>
                <Checks tokens/>
                <HistogramView tokens/>
                <Curves tokens/>
                <TrainedText tokens/>
            </div>
        </Show>
    }
}

/// The figures of the selected token.
#[component]
fn Selected(tokens: Tokens) -> impl IntoView {
    let facts = move || {
        let record = tokens.known()?;
        let token = tokens.head.get()?;
        let id = record.strip.ids().get(token)?;
        let text = tokenizer::given().map(|given| shown(*id, Some(&given)));
        Some(token_facts(
            &record,
            token,
            text.as_ref(),
            tokens.epsilon.get(),
        ))
    };
    let body = move || match facts() {
        None => {
            view! { <p class="help">{"Point at a token, or select one with the keyboard."}</p> }
                .into_any()
        }
        Some(facts) => {
            let facts = facts.into_iter().map(|(name, value)| {
                view! {
                    <div class="fact">
                        <dt>{inert(&name)}</dt>
                        <dd>{inert(&value)}</dd>
                    </div>
                }
            });
            view! { <dl class="facts">{facts.collect_view()}</dl> }.into_any()
        }
    };
    view! {
        <section aria-labelledby="token-selected">
            <div class="pane-head">
                <h2 id="token-selected">{"Selected token"}</h2>
                <NumberField
                    id="token-epsilon"
                    label="Clip range ε"
                    value=tokens.epsilon
                    allows=is_positive
                    change=move |range| tokens.epsilon.set(range)
                />
            </div>
            {body}
        </section>
    }
}

/// Jumps to the tokens of a ranking.
#[component]
fn Jumps(tokens: Tokens) -> impl IntoView {
    let options = Extreme::ALL
        .into_iter()
        .enumerate()
        .map(|(place, extreme)| {
            view! {
                <option value=place.to_string() selected=move || tokens.extreme.get() == extreme>
                    {extreme.name()}
                </option>
            }
        });
    let options = options.collect_view();
    let chosen = move |event| {
        let place = event_target_value(&event).parse::<usize>().ok();
        if let Some(extreme) = place.and_then(|place| Extreme::ALL.get(place)) {
            tokens.at.set(None);
            tokens.extreme.set(*extreme);
        }
    };
    let count = move || tokens.ranking.with(|ranking| ranking.len());
    let words = move || match (tokens.at.get(), count()) {
        (_, 0) => "The file has no such data.".to_owned(),
        (None, count) => format!("{} to look at", count_text(count)),
        (Some(at), count) => format!("{} of {}", count_text(at + 1), count_text(count)),
    };
    let button = move |name: &'static str, title: &'static str, forward: bool| {
        view! {
            <button
                type="button"
                class="small"
                title=title
                disabled=move || count() == 0
                on:click=move |_| {
                    tokens.jump(forward);
                }
            >
                {name}
            </button>
        }
    };
    view! {
        <section aria-labelledby="token-jumps">
            <h2 id="token-jumps">{"Go to"}</h2>
            <div class="token-jumps">
                <select aria-label="Go to" on:change=chosen>
                    {options}
                </select>
                <div class="button-row">
                    {button("Previous token", "Shift+T", false)} {button("Next token", "T", true)}
                </div>
                <span class="faint" role="status">
                    {words}
                </span>
            </div>
        </section>
    }
}
