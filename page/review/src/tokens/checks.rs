//! The list of checks. Each one leads to the tokens that it is about.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::tokens::{CheckResult, TokenCheck, Vocabulary, checks};
use volary_core::quantity::count_text;

use super::vocabulary::Texts;
use super::{Tokens, is_positive};
use volary_browser as browser;
use volary_connections::tokenizer;
use volary_ui::number_field::NumberField;
use volary_ui::text::inert;

#[component]
pub(super) fn Checks(tokens: Tokens) -> impl IntoView {
    let found = RwSignal::new(None::<Arc<Vec<TokenCheck>>>);
    Effect::new(move |_| {
        let record = tokens.known();
        let tolerance = tokens.tolerance.get();
        let texts = tokenizer::given().map(Texts);
        let episode = tokens.episode;
        found.set(None);
        // The panel is drawn first: long episodes take a moment.
        browser::timers::next_frame(move || {
            let list = record.map(|record| {
                let texts = texts.as_ref().map(|texts| texts as &dyn Vocabulary);
                episode.try_with_untracked(|episode| checks(episode, &record, texts, tolerance))
            });
            found.try_set(list.flatten().map(Arc::new));
        });
    });
    let list = move || match found.get() {
        None => view! { <p class="help">{"Checking…"}</p> }.into_any(),
        Some(list) => {
            let rows = list.iter().map(|check| row(tokens, check)).collect_view();
            view! { <ul class="token-checks">{rows}</ul> }.into_any()
        }
    };
    view! {
        <section aria-labelledby="token-checks">
            <div class="pane-head">
                <h2 id="token-checks">{"Checks"}</h2>
                <NumberField
                    id="token-tolerance"
                    label="Allowed difference"
                    value=tokens.tolerance
                    allows=is_positive
                    change=move |difference| tokens.tolerance.set(difference)
                />
            </div>
            {list}
        </section>
    }
}

fn row(tokens: Tokens, check: &TokenCheck) -> AnyView {
    let (class, verdict, sign) = match check.verdict {
        CheckResult::Passed => ("passed", "passed", "✓"),
        CheckResult::Failed => ("failed", "failed", "✗"),
        CheckResult::Unknown => ("unknown", "unknown", "?"),
    };
    let tokens_at = StoredValue::new(check.tokens.clone());
    let count = check.tokens.len();
    let at = RwSignal::new(None::<usize>);
    let name = check.kind.name();
    let label = move || match (at.get(), count) {
        (_, 1) => "Go to the token".to_owned(),
        (None, count) => format!("Go to the first of {}", count_text(count)),
        (Some(at), count) => format!("Next ({} of {})", count_text(at + 1), count_text(count)),
    };
    let go = move |_| {
        let next = at.get_untracked().map_or(0, |at| (at + 1) % count.max(1));
        at.set(Some(next));
        if let Some(token) = tokens_at.with_value(|tokens_at| tokens_at.get(next).copied()) {
            tokens.go(token);
        }
    };
    let button = (count > 0).then(|| {
        view! {
            <button
                type="button"
                class="small"
                aria-label=move || format!("{}: {name}", label())
                on:click=go
            >
                {label}
            </button>
        }
    });
    view! {
        <li class=format!("token-check {class}")>
            <span class="token-verdict">
                <span aria-hidden="true">{sign}</span>
                {format!(" {verdict}")}
            </span>
            <span class="check-name">{name}</span>
            <span class="check-words">{inert(&check.summary)}</span>
            {button}
        </li>
    }
    .into_any()
}
