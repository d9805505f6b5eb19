//! Comparison of two episodes: aligned steps, the first difference, and its details.

use leptos::prelude::*;
use volary_trajectory::Episode;
use volary_trajectory::align::Row;

use super::comparison::{Comparison, is_same};
use super::library_page::back_link;
use crate::components::erased::{dynamic, maybe_words, words};
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::rows::{Rows, anew};
use crate::components::text::{inert, inert_in};
use crate::playground::controls::buttons;
use crate::projection::compare::{Line, Marked, Section, sections};
use crate::projection::outline::{class_and_name, line};
use crate::projection::summary::reward_text;
use crate::projection::text::{count_text, plural};
use crate::route::{Place, ReviewPlace, Route};

/// The height of a row, as in the style sheet.
const ROW: f64 = 34.0;

/// The page of a comparison.
pub fn compare_page(comparison: Comparison) -> El {
    el("div").class("compare").child(head(comparison)).child(
        el("div")
            .class("compare-panes")
            .child(
                el("section")
                    .class("pane compare-rows")
                    .attr("aria-label", "Aligned steps")
                    .child(aligned(comparison)),
            )
            .child(
                el("section")
                    .class("pane compare-detail")
                    .attr("aria-label", "Differences")
                    .child(detail(comparison)),
            ),
    )
}

fn head(comparison: Comparison) -> El {
    let names = dynamic(move || {
        comparison.pair.with(|pair| {
            let Some((left, right)) = pair else {
                return nothing();
            };
            all(vec![
                name(left, "left", false).view(),
                el("span").class("faint").child("vs.").view(),
                name(right, "right", comparison.live.get()).view(),
            ])
        })
    });
    let verdict = words(move || {
        comparison.alignment.with(|alignment| {
            let Some(alignment) = alignment else {
                return String::new();
            };
            let differing = alignment.rows.iter().filter(|row| !is_same(row)).count();
            match alignment.first_divergence {
                None => format!(
                    "Both are identical: {}.",
                    plural(alignment.rows.len(), "step")
                ),
                Some(0) => "First difference: start.".to_owned(),
                Some(row) => format!(
                    "First difference: step {}; {} of {} steps differ.",
                    count_text(row),
                    count_text(differing),
                    count_text(alignment.rows.len())
                ),
            }
        })
    });
    let go = move |label: &'static str, forward: bool| {
        button("quiet small")
            .on_click(move || {
                comparison.go_to_difference(forward);
            })
            .child(label)
    };
    el("header")
        .class("library-head compare-head")
        .child(back_link())
        .child(el("h1").class("visually-hidden").child("Comparison"))
        .child(names)
        .child(el("p").class("faint").attr("role", "status").child(verdict))
        .child(buttons([
            go("Previous difference", false),
            go("Next difference", true),
        ]))
}

fn name(episode: &Episode, side: &'static str, in_playground: bool) -> El {
    let name = match episode.name.trim() {
        "" => &*episode.id,
        name => name,
    };
    let address = match in_playground {
        true => Route::Playground(Place {
            environment: episode.environment().map(|name| name.to_string()),
            ..Place::default()
        }),
        false => Route::Review(ReviewPlace {
            episode: Some(episode.id.to_string()),
            ..ReviewPlace::default()
        }),
    };
    let reward = episode.reward().map(reward_text);
    el("span")
        .class(format!("compare-name {side}"))
        .child(
            el("a")
                .attr("href", address.to_hash())
                .child(inert_in("strong", "", name)),
        )
        .child(
            el("span")
                .class("faint")
                .child(format!(" {}", plural(episode.steps.len(), "step"))),
        )
        .child(reward.map(|reward| {
            el("span")
                .class("faint")
                .child(format!(", reward {reward} "))
        }))
        .child(in_playground.then(|| el("span").class("badge").child("in the playground")))
}

fn aligned(comparison: Comparison) -> AnyView {
    let count = Memo::new(move |_| comparison.rows() + 1);
    let edition = Memo::new(move |edition: Option<&u32>| {
        comparison.alignment.track();
        edition.map_or(0, |edition| edition.wrapping_add(1))
    });
    Rows {
        count: count.into(),
        edition: edition.into(),
        height: ROW,
        seen: Signal::derive(move || Some(comparison.selected.get())),
        role: "list",
        class: "aligned",
        name: Some("Aligned steps"),
    }
    .view_of(
        move |number| comparison.identity(number),
        anew(move |number| aligned_row(comparison, number)),
    )
}

fn aligned_row(comparison: Comparison, number: usize) -> AnyView {
    let row = comparison.alignment.with_untracked(|alignment| {
        let alignment = alignment.as_ref()?;
        match number.checked_sub(1) {
            None => Some(Row {
                left: None,
                right: None,
                likeness: alignment.start,
            }),
            Some(place) => alignment.rows.get(place).cloned(),
        }
    });
    let Some(row) = row else {
        return nothing();
    };
    let same = match number {
        0 => row.likeness.observations,
        _ => is_same(&row),
    };
    let (left, right) = comparison.pair.with_untracked(|pair| match pair {
        Some((left, right)) => (side(left, number, row.left), side(right, number, row.right)),
        None => (el("span"), el("span")),
    });
    let selected = move || comparison.selected.get() == number;
    let current = maybe_words(move || selected().then(|| "true".to_owned()));
    let class = words(move || {
        let mark = if same { "" } else { " differs" };
        let selected = if selected() { " selected" } else { "" };
        format!("aligned-row{mark}{selected}")
    });
    let sign = if same { "=" } else { "≠" };
    let said = if same { "same" } else { "different" };
    el("div")
        .class(class)
        .attr("role", "listitem")
        .child(
            button("aligned-step")
                .attr("aria-current", current)
                .on_click(move || comparison.selected.set(number))
                .child(left)
                .child(
                    el("span")
                        .class("aligned-sign")
                        .attr("role", "img")
                        .attr("aria-label", said)
                        .child(sign),
                )
                .child(right),
        )
        .view()
}

/// One side of a row.
fn side(episode: &Episode, number: usize, step: Option<usize>) -> El {
    let step = match (number, step) {
        (0, _) => 0,
        (_, Some(step)) => step + 1,
        (_, None) => return el("span").class("aligned-side missing").child("—"),
    };
    let line = line(episode, step);
    let (kind, name) = class_and_name(line.kind);
    let number = match step {
        0 => "Start".to_owned(),
        step => count_text(step),
    };
    el("span")
        .class("aligned-side")
        .child(el("span").class("outline-number").child(number))
        .child(
            el("span")
                .class(format!("kind-mark {kind}"))
                .attr("title", name),
        )
        .child(inert_in("span", "outline-title", &line.title))
}

fn detail(comparison: Comparison) -> AnyView {
    dynamic(move || {
        let selected = comparison.selected.get();
        let row = comparison.alignment.with(|alignment| {
            let rows = &alignment.as_ref()?.rows;
            selected
                .checked_sub(1)
                .and_then(|place| rows.get(place))
                .cloned()
        });
        let found = comparison.pair.with(|pair| {
            pair.as_ref()
                .map(|(left, right)| sections(left, right, row.as_ref()))
        });
        let Some(found) = found else {
            return nothing();
        };
        all(found.iter().map(|found| section(found).view()).collect())
    })
}

fn section(section: &Section) -> El {
    let lines = section.lines.iter().map(|line| match line {
        Line::Same(text) => el("div").class("diff-line").child(inert(text)).view(),
        Line::Skipped(count) => el("div")
            .class("diff-line skipped")
            .child(format!("{} alike", plural(*count, "line")))
            .view(),
        Line::Left(marked) => marked_line("diff-line left", "del", "left: ", marked).view(),
        Line::Right(marked) => marked_line("diff-line right", "ins", "right: ", marked).view(),
    });
    let same = section.same;
    let body = match section.lines.is_empty() {
        true => el("p").class("faint").child("No differences."),
        false => el("div")
            .class("diff-lines")
            .attr("dir", "auto")
            .child(lines.collect::<Vec<_>>()),
    };
    el("section")
        .class("diff-section")
        .child(
            el("h2")
                .child(section.title)
                .child(same.then(|| el("span").class("badge").child("same")))
                .child((!same).then(|| el("span").class("badge notice").child("differs"))),
        )
        .child(body)
}

fn marked_line(class: &'static str, tag: &'static str, side: &'static str, marked: &Marked) -> El {
    el("div")
        .class(class)
        .child(el("span").class("visually-hidden").child(side))
        .child(inert(&marked.before))
        .child((!marked.mark.is_empty()).then(|| el(tag).child(inert(&marked.mark))))
        .child(inert(&marked.after))
}
