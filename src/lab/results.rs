//! The report: text, tokens, modes and checks.

use leptos::prelude::*;
use volary_tokens::{MaskMode, TokenStrip, Tokenizer};

use super::checks::{Check, Outcome, shown};
use super::page::Lab;
use super::report::{Difference, ModeReport, Part, Rendering, Report};
use crate::components::erased::dynamic;
use crate::components::markup::{El, all, el};
use crate::components::text::inert;

/// How many tokens of a text, or of a mode, are drawn.
const MOST_DRAWN: usize = 1500;

/// All of it.
pub(super) fn results(lab: Lab) -> El {
    el("section")
        .class("lab-results")
        .attr("aria-label", "Report")
        .child(dynamic(move || {
            lab.report.with(|report| match report {
                Some(Ok(report)) => lab
                    .tokenizer
                    .with_value(|tokenizer| drawn(report, &**tokenizer)),
                Some(Err(_)) => el("p")
                    .attr("role", "status")
                    .child("There is no report: the input has errors.")
                    .view(),
                None => el("p").child("…").view(),
            })
        }))
}

fn drawn(report: &Report, tokenizer: &dyn Tokenizer) -> AnyView {
    all(vec![
        checks(&report.checks).view(),
        modes(report, tokenizer).view(),
        rendered(&report.rendered, tokenizer).view(),
    ])
}

fn section(id: &'static str, title: &'static str) -> El {
    el("section")
        .class("lab-part")
        .attr("aria-labelledby", id)
        .child(el("h2").attr("id", id).child(title))
}

fn checks(checks: &[Check]) -> El {
    let rows = checks.iter().map(|check| {
        let (class, word) = match check.outcome {
            Outcome::Good => ("badge good", "Yes"),
            Outcome::Bad => ("badge bad", "No"),
            Outcome::Idle => ("badge", "Not checked"),
        };
        el("li")
            .child(el("strong").child(check.question))
            .child(" ")
            .child(el("span").class(class).child(word))
            .child(el("p").child(inert(&check.reason)))
    });
    section("lab-checks", "Checks")
        .child(el("ul").class("lab-checks").child(rows.collect::<Vec<_>>()))
}

fn modes(report: &Report, tokenizer: &dyn Tokenizer) -> El {
    let section = section("lab-modes", "Tokens and mask in three modes");
    match &report.modes {
        Err(reason) => section.child(el("p").child(inert(reason))),
        Ok(modes) => {
            let columns = modes.iter().map(|mode| column(mode, tokenizer));
            section
                .child(el("p").class("help").child(
                    "Trained tokens are underlined and tinted, special tokens are boxed. ▼ marks the first difference from the rendered text.",
                ))
                .child(
                    el("div")
                        .class("lab-modes")
                        .child(columns.collect::<Vec<_>>()),
                )
        }
    }
}

fn column(mode: &ModeReport, tokenizer: &dyn Tokenizer) -> El {
    let name = mode.mode.name();
    let mut left = MOST_DRAWN;
    let parts: Vec<El> = mode
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
        el("p")
            .class("error")
            .child(inert(&format!("It ends here. {reason}")))
    });
    el("section")
        .class("lab-mode")
        .attr("aria-label", format!("Mode {name}"))
        .child(el("h3").child(name))
        .child(el("p").class("help").child(meaning(mode.mode)))
        .child(el("p").class("lab-counts").child(format!(
            "{} tokens, {} trained",
            mode.len(),
            mode.trained()
        )))
        .child(
            el("p")
                .class("lab-difference")
                .child(inert(&difference(mode))),
        )
        .child(el("ol").class("lab-parts").child(parts))
        .child(cut(mode.len()))
        .child(error)
}

fn meaning(mode: MaskMode) -> &'static str {
    match mode {
        MaskMode::Seed => "What the text has more than before, by its length.",
        MaskMode::Fixed => "The same with the header, if the text before stays as it was.",
        MaskMode::TokenIn => "Sampled tokens as they are, observations rendered apart.",
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

fn part_row(part: &Part, difference: Option<usize>, room: usize, tokenizer: &dyn Tokenizer) -> El {
    let counts = format!(
        "{} tokens, {} trained",
        part.strip.len(),
        part.strip.trained()
    );
    el("li")
        .class(match difference {
            Some(_) => "differs",
            None => "",
        })
        .child(
            el("div")
                .class("lab-part-head")
                .child(el("span").child(part.name.clone()))
                .child(el("span").class("faint").child(counts)),
        )
        .child(tokens(&part.strip, difference, room, tokenizer))
}

/// Tokens in runs of the same mask: a trained run is a `mark`, so that it is one without colours too.
fn tokens(
    strip: &TokenStrip,
    difference: Option<usize>,
    room: usize,
    tokenizer: &dyn Tokenizer,
) -> El {
    let mut out = el("div").class("lab-tokens");
    let mut run: Option<(bool, El)> = None;
    let (mut at, mut mark) = (0, difference);
    let ids = strip.ids().iter().zip(strip.mask()).take(room);
    for (id, is_trained) in ids {
        let text = shown(*id, tokenizer);
        let mut element = match run.take() {
            Some((of, element)) if of == *is_trained => element,
            former => {
                out = out.child(former.map(|(_, element)| element));
                match is_trained {
                    true => el("mark").class("trained"),
                    false => el("span").class("untrained"),
                }
            }
        };
        at += tokenizer.decode(&[*id]).map_or(0, |bytes| bytes.len());
        if mark.is_some_and(|place| place < at) {
            mark = None;
            element = element.child(first_difference());
        }
        let class = match tokenizer.is_special(*id) {
            true => "token special",
            false => "token",
        };
        element = element.child(el("span").class(class).child(inert(&visible(&text))));
        run = Some((*is_trained, element));
    }
    out = out.child(run.map(|(_, element)| element));
    let is_whole = strip.len() <= room;
    out.child(mark.filter(|_| is_whole).map(|_| first_difference()))
}

fn first_difference() -> El {
    el("strong")
        .class("lab-mark")
        .attr("role", "img")
        .attr("aria-label", "First difference")
        .child("▼")
}

/// A token's text with its line breaks visible.
fn visible(text: &str) -> String {
    text.replace('\n', "↵\n")
}

fn cut(tokens: usize) -> Option<El> {
    (tokens > MOST_DRAWN).then(|| {
        el("p").class("help").child(format!(
            "The first {MOST_DRAWN} of {tokens} tokens are drawn."
        ))
    })
}

fn rendered(rendered: &Result<Rendering, String>, tokenizer: &dyn Tokenizer) -> El {
    let section = section("lab-rendered", "Rendered text");
    let rendering = match rendered {
        Ok(rendering) => rendering,
        Err(reason) => {
            return section.child(
                el("p")
                    .class("error")
                    .attr("role", "alert")
                    .child(inert(reason)),
            );
        }
    };
    let text = el("pre")
        .class("lab-text")
        .attr("tabindex", "0")
        .attr("role", "group")
        .attr("aria-label", "Text")
        .child(inert(&rendering.text));
    let section = section.child(text);
    match &rendering.tokens {
        Err(reason) => section.child(
            el("p")
                .class("error")
                .attr("role", "alert")
                .child(inert(reason)),
        ),
        Ok(strip) => section
            .child(
                el("p")
                    .class("lab-counts")
                    .attr("role", "status")
                    .child(format!("{} tokens", strip.len())),
            )
            .child(
                el("details")
                    .child(el("summary").child("Show the tokens"))
                    .child(tokens(strip, None, MOST_DRAWN, tokenizer))
                    .child(cut(strip.len())),
            ),
    }
}
