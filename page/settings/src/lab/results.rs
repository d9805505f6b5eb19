//! The report of the lab: text, tokens, modes and checks.

use leptos::prelude::*;
use volary_tokens::{MaskMode, TokenStrip, Tokenizer};

use super::checks::{Check, CheckOutcome};
use super::page::Lab;
use super::report::{Difference, ModeReport, Part, Rendering, Report};
use super::token_runs::TokenRuns;
use volary_ui::text::inert;

/// The maximum number of tokens that are drawn of a text or of a mode.
const MOST_DRAWN: usize = 1500;

/// The report.
#[component]
pub(super) fn Results(lab: Lab) -> impl IntoView {
    let report = move || {
        lab.report.with(|report| match report {
            Some(Ok(report)) => {
                untrack(|| lab.with_tokenizer(|tokenizer| drawn(report, tokenizer)))
            }
            Some(Err(_)) => {
                view! { <p role="status">"There is no report: the input has errors."</p> }
                    .into_any()
            }
            None => view! { <p>"…"</p> }.into_any(),
        })
    };
    view! {
        <section class="lab-results" aria-label="Report">
            {report}
        </section>
    }
}

fn drawn(report: &Report, tokenizer: &dyn Tokenizer) -> AnyView {
    view! {
        <Section id="lab-checks" title="Checks" content=checks(&report.checks)/>
        <Section
            id="lab-modes"
            title="Tokens and mask in three modes"
            content=modes(report, tokenizer)
        />
        <Section
            id="lab-rendered"
            title="Rendered text"
            content=rendered(&report.rendered, tokenizer)
        />
    }
    .into_any()
}

fn checks(checks: &[Check]) -> AnyView {
    let rows = checks.iter().map(|check| {
        let (class, word) = match check.outcome {
            CheckOutcome::Good => ("badge good", "Yes"),
            CheckOutcome::Bad => ("badge bad", "No"),
            CheckOutcome::Idle => ("badge", "Not checked"),
        };
        view! {
            <li>
                <strong>{check.question}</strong>
                {" "}
                <span class=class>{word}</span>
                <p>{inert(&check.reason)}</p>
            </li>
        }
    });
    view! { <ul class="lab-checks">{rows.collect_view()}</ul> }.into_any()
}

fn modes(report: &Report, tokenizer: &dyn Tokenizer) -> AnyView {
    let modes = match &report.modes {
        Err(reason) => return view! { <p>{inert(reason)}</p> }.into_any(),
        Ok(modes) => modes,
    };
    let columns: Vec<AnyView> = modes.iter().map(|mode| column(mode, tokenizer)).collect();
    view! {
        <p class="help">
            {"Trained tokens are underlined and tinted, special tokens are boxed. ▼ marks the \
              first difference from the rendered text."}
        </p>
        <div class="lab-modes">{columns}</div>
    }
    .into_any()
}

fn column(mode: &ModeReport, tokenizer: &dyn Tokenizer) -> AnyView {
    let name = mode.mode.name();
    let mut left = MOST_DRAWN;
    let parts: Vec<AnyView> = mode
        .parts
        .iter()
        .enumerate()
        .map(|(place, part)| {
            let at = mode.difference.as_ref().filter(|found| found.part == place);
            let row = part_row(part, at.map(|found| found.at), left, tokenizer);
            left = left.saturating_sub(part.strip.len());
            row
        })
        .collect();
    let error = mode.error.as_ref().map(|reason| {
        let words = format!("It ends here. {reason}");
        view! { <p class="error">{inert(&words)}</p> }
    });
    let counts = format!("{} tokens, {} trained", mode.len(), mode.trained());
    view! {
        <section class="lab-mode" aria-label=format!("Mode {name}")>
            <h3>{name}</h3>
            <p class="help">{meaning(mode.mode)}</p>
            <p class="lab-counts">{counts}</p>
            <p class="lab-difference">{inert(&difference(mode))}</p>
            <ol class="lab-parts">{parts}</ol>
            {cut(mode.len())}
            {error}
        </section>
    }
    .into_any()
}

fn meaning(mode: MaskMode) -> &'static str {
    match mode {
        MaskMode::Seed => {
            "The text that the message adds: what follows the length of the previous text."
        }
        MaskMode::Fixed => {
            "The same, including the turn's header; an error if the previous text changed."
        }
        MaskMode::TokenIn => {
            "Sampled tokens are kept as they are; observations are rendered and tokenized separately."
        }
    }
}

fn difference(mode: &ModeReport) -> String {
    match (&mode.difference, &mode.error) {
        (
            Some(Difference {
                part,
                found,
                expected,
                ..
            }),
            _,
        ) => {
            let name = mode.parts.get(*part).map_or("", |part| &part.name);
            let named = |text: &str| match text {
                "" => "nothing more".to_owned(),
                text => format!("{text:?}"),
            };
            format!(
                "First difference in {name}: {} where the rendered text has {}.",
                named(found),
                named(expected)
            )
        }
        (None, Some(_)) => "No difference up to where it ends.".to_owned(),
        (None, None) => "The same as the rendered text.".to_owned(),
    }
}

fn part_row(
    part: &Part,
    difference: Option<usize>,
    room: usize,
    tokenizer: &dyn Tokenizer,
) -> AnyView {
    let counts = format!(
        "{} tokens, {} trained",
        part.strip.len(),
        part.strip.trained()
    );
    view! {
        <li class=difference.map(|_| "differs")>
            <div class="lab-part-head">
                <span>{part.name.clone()}</span>
                <span class="faint">{counts}</span>
            </div>
            {tokens(&part.strip, difference, room, tokenizer)}
        </li>
    }
    .into_any()
}

/// Draws tokens in runs of the same mask. A trained run is a `mark` element, so it is distinguishable without
/// colours.
fn tokens(
    strip: &TokenStrip,
    difference: Option<usize>,
    room: usize,
    tokenizer: &dyn Tokenizer,
) -> AnyView {
    let TokenRuns {
        runs,
        differs_at_end,
    } = TokenRuns::of(strip, difference, room, tokenizer);
    let runs = runs.into_iter().map(|run| {
        let tokens = run.tokens.iter().map(|token| {
            let class = if token.is_special {
                "token special"
            } else {
                "token"
            };
            view! {
                {token.differs.then(first_difference)}
                <span class=class>{inert(&token.text)}</span>
            }
        });
        let tokens = tokens.collect_view();
        if run.is_trained {
            view! { <mark class="trained">{tokens}</mark> }.into_any()
        } else {
            view! { <span class="untrained">{tokens}</span> }.into_any()
        }
    });
    let at_end = differs_at_end.then(first_difference);
    view! { <div class="lab-tokens">{runs.collect_view()} {at_end}</div> }.into_any()
}

fn first_difference() -> AnyView {
    view! {
        <strong class="lab-mark" role="img" aria-label="First difference">
            "▼"
        </strong>
    }
    .into_any()
}

fn cut(tokens: usize) -> Option<impl IntoView> {
    (tokens > MOST_DRAWN).then(|| {
        let words = format!("The first {MOST_DRAWN} of {tokens} tokens are drawn.");
        view! { <p class="help">{words}</p> }
    })
}

fn rendered(rendered: &Result<Rendering, String>, tokenizer: &dyn Tokenizer) -> AnyView {
    let error = |reason: &str| {
        view! {
            <p class="error" role="alert">
                {inert(reason)}
            </p>
        }
        .into_any()
    };
    let rendering = match rendered {
        Ok(rendering) => rendering,
        Err(reason) => return error(reason),
    };
    let strip = match &rendering.tokens {
        Err(reason) => error(reason),
        Ok(strip) => view! {
            <p class="lab-counts" role="status">
                {format!("{} tokens", strip.len())}
            </p>
            <details>
                <summary>{"Show the tokens"}</summary>
                {tokens(strip, None, MOST_DRAWN, tokenizer)}
                {cut(strip.len())}
            </details>
        }
        .into_any(),
    };
    view! {
        <pre class="lab-text" tabindex="0" role="group" aria-label="Text">
            {inert(&rendering.text)}
        </pre>
        {strip}
    }
    .into_any()
}

#[component]
fn Section(id: &'static str, title: &'static str, content: AnyView) -> impl IntoView {
    view! {
        <section class="lab-part" aria-labelledby=id>
            <h2 id=id>{title}</h2>
            {content}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(difference: Option<Difference>, error: Option<&str>) -> ModeReport {
        ModeReport {
            mode: MaskMode::Seed,
            parts: Vec::new(),
            error: error.map(str::to_owned),
            difference,
        }
    }

    fn differs(found: &str, expected: &str) -> Option<Difference> {
        Some(Difference {
            part: 0,
            at: 3,
            found: found.to_owned(),
            expected: expected.to_owned(),
        })
    }

    #[test]
    fn a_difference_quotes_both_texts() {
        let words = difference(&mode(differs("<|im_end|>", "\n"), None));
        assert!(
            words.ends_with("\"<|im_end|>\" where the rendered text has \"\\n\"."),
            "{words}"
        );
        // One of them may end before the other.
        let words = difference(&mode(differs("", "a"), None));
        assert!(
            words.contains("nothing more where the rendered text has \"a\""),
            "{words}"
        );
        let words = difference(&mode(differs("a", ""), None));
        assert!(words.ends_with("has nothing more."), "{words}");
    }

    #[test]
    fn a_mode_that_stops_early_is_not_called_the_same() {
        let same = difference(&mode(None, None));
        assert_eq!(same, "The same as the rendered text.");
        let stopped = difference(&mode(None, Some("The prefix changed.")));
        assert_eq!(stopped, "No difference up to where it ends.");
        let both = difference(&mode(differs("a", "b"), Some("The prefix changed.")));
        assert!(both.starts_with("First difference"), "{both}");
    }
}
