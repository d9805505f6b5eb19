//! The rich view of a frame: blocks that an environment describes as data, rendered the same way for all
//! environments.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::view::{Block, Shape, Tone, View};

use super::erased::dynamic;
use super::icon::hidden_name;
use super::markup::{El, el, nothing, path, svg, svg_text};
use super::text::{folded_text, inert_in};
use crate::later::Later;
use crate::projection::shapes::{circle, polyline, rectangle};
use crate::projection::summary::reward_text;

/// Renders a view; nothing for `None`.
#[component]
pub fn FrameView(
    /// The view.
    #[prop(into)]
    view: Signal<Option<View>>,
) -> impl IntoView {
    dynamic(move || view.with(|view| view.as_ref().map_or_else(nothing, draw)))
}

fn draw(view: &View) -> AnyView {
    let blocks = view.blocks.iter().map(block).collect::<Vec<_>>();
    el("div").class("frame-view").child(blocks).view()
}

static OTHERS: Later<fn(&Block) -> AnyView> = Later::new();

pub(crate) fn install() {
    OTHERS.set(other_block);
}

/// The first environment initially shows only passages; the code of other blocks is loaded later.
fn block(block: &Block) -> AnyView {
    match block {
        Block::Passage { label, text } => el("div")
            .class("block")
            .child(inert_in("p", "block-label", label))
            .child(
                el("div")
                    .class("passage")
                    .child(folded_text(text.clone(), RwSignal::default())),
            )
            .view(),
        other => OTHERS.get().map_or_else(nothing, |draw| draw(other)),
    }
}

fn other_block(block: &Block) -> AnyView {
    match block {
        Block::Verdict { tone, text } => {
            let class = match tone {
                Tone::Plain => "verdict",
                Tone::Good => "verdict tone-good",
                Tone::Bad => "verdict tone-bad",
                Tone::Notice => "verdict tone-notice",
            };
            inert_in("p", class, text).view()
        }
        Block::Results { label, rows } => results(label, rows),
        Block::Gauge {
            label,
            value,
            low,
            high,
            target,
        } => gauge(label, *value, (*low, *high), *target),
        Block::Drawing {
            label,
            width,
            height,
            shapes,
        } => drawing(label, (*width, *height), shapes),
        // A block that this version does not know.
        _ => nothing(),
    }
}

/// The CSS class of a tone.
const fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "tone-plain",
        Tone::Good => "tone-good",
        Tone::Bad => "tone-bad",
        Tone::Notice => "tone-notice",
    }
}

/// A tone in words, for readers who cannot see its colour.
fn tone_word(tone: Tone) -> Option<AnyView> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some(hidden_name(" (good)")),
        Tone::Bad => Some(hidden_name(" (bad)")),
        Tone::Notice => Some(hidden_name(" (notice)")),
    }
}

fn results(label: &Text, rows: &[(Text, Text, Tone)]) -> AnyView {
    let rows = rows.iter().map(|(input, result, tone)| {
        let leads_to = el("span").class("faint").child(" → ");
        let input = inert_in("td", "input", input).attr("role", "cell");
        let result = inert_in("td", "result", result)
            .attr("role", "cell")
            .child(tone_word(*tone));
        el("tr")
            .attr("role", "row")
            .class(tone_class(*tone))
            .child(input.child(leads_to))
            .child(result)
    });
    el("table")
        .class("results")
        // The style sheet displays it as text lines, so some browsers drop its table role.
        .attr("role", "table")
        .attr("aria-label", label.to_string())
        .child(inert_in("caption", "block-label", label))
        .child(
            el("tbody")
                .attr("role", "rowgroup")
                .child(rows.collect::<Vec<_>>()),
        )
        .view()
}

fn gauge(label: &Text, value: f64, (low, high): (f64, f64), target: Option<f64>) -> AnyView {
    /// The length of the scale, in units.
    const LENGTH: f64 = 100.0;
    let range = high - low;
    let place = |value: f64| {
        let share = if range > 0.0 {
            (value - low) / range
        } else {
            0.0
        };
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0) * LENGTH
        }
    };
    let target_words = target.map(plain);
    let words = match &target_words {
        Some(target) => format!("{}, target {target}", plain(value)),
        None => plain(value),
    };
    let shown = |class: &'static str| el("p").class(class).attr("aria-hidden", "true");
    let target_note = target_words.map(|target| {
        el("span")
            .class("faint")
            .child(format!(" / target {target}"))
    });
    let bar = |class: &'static str, d: String| path().class(class).attr("d", d);
    let scale = svg()
        .attr("viewBox", "0 0 100 6")
        .attr("preserveAspectRatio", "none")
        .attr("aria-hidden", "true")
        .child(bar("gauge-scale", rectangle(0.0, 1.0, LENGTH, 4.0)))
        .child(bar(
            "gauge-fill",
            rectangle(0.0, 1.0, place(value).max(0.75), 4.0),
        ))
        .child(target.map(|target| {
            let x = (place(target) - 0.5).clamp(0.0, LENGTH - 1.0);
            bar("gauge-target", rectangle(x, 0.0, 1.0, 6.0))
        }));
    let ends = shown("gauge-ends faint")
        .child(el("span").child(plain(low)))
        .child(el("span").child(plain(high)));
    let meter = el("div")
        .attr("role", "meter")
        .attr("aria-label", label.to_string())
        .attr("aria-valuenow", value.to_string())
        .attr("aria-valuemin", low.to_string())
        .attr("aria-valuemax", high.to_string())
        .attr("aria-valuetext", words)
        .child(shown("gauge-value").child(plain(value)).child(target_note))
        .child(scale)
        .child(ends);
    el("div")
        .class("block gauge")
        .child(inert_in("p", "block-label", label))
        .child(meter)
        .view()
}

/// A number on a gauge, with thousands separators for integers.
fn plain(value: f64) -> String {
    let text = reward_text(value);
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

fn drawing(label: &Text, (width, height): (f64, f64), shapes: &[Shape]) -> AnyView {
    // Clamped, so that no drawing breaks the page.
    let bounded = |length: f64| {
        if length.is_finite() {
            length.clamp(1.0, 1e6)
        } else {
            1.0
        }
    };
    let (width, height) = (bounded(width), bounded(height));
    let shapes = shapes.iter().map(|each| shape(each).view());
    let picture = svg()
        .attr("viewBox", format!("0 0 {width} {height}"))
        .attr("role", "img")
        .attr("aria-label", label.to_string())
        // Text size is relative to the drawing, whatever its units.
        .attr("font-size", (width.min(height) / 20.0).to_string())
        .child(shapes.collect::<Vec<_>>());
    el("figure")
        .class("drawing")
        .child(picture)
        .child(inert_in("figcaption", "faint", label))
        .view()
}

fn shape(shape: &Shape) -> El {
    match shape {
        Shape::Circle {
            center,
            radius,
            tone,
        } => path()
            .class(format!("shape {}", tone_class(*tone)))
            .attr("d", circle(*center, *radius)),
        Shape::Line {
            points,
            width,
            tone,
        } => path()
            .class(format!("shape-line {}", tone_class(*tone)))
            .attr("d", polyline(points))
            .attr("stroke-width", width.to_string()),
        Shape::Label { at, text, tone } => svg_text()
            .class(format!("shape-label {}", tone_class(*tone)))
            .attr("x", at.0.to_string())
            .attr("y", at.1.to_string())
            .child(inert_words(text)),
        // A shape that this version does not know.
        _ => path(),
    }
}

/// A text within an SVG, which cannot contain HTML: invisible characters are removed.
fn inert_words(text: &str) -> String {
    use crate::projection::text::{Piece, pieces};
    pieces(text)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Plain(plain) => Some(plain),
            Piece::Hidden { .. } => None,
        })
        .collect()
}
