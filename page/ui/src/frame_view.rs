//! The rich view of a frame: blocks that an environment describes as data, rendered the same way for all environments.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::view::{Block, Shape, Tone, View};
use volary_view::drawing::{GAUGE_LENGTH, GaugeShape, drawing_size, number_attribute, plain};
use volary_view::shapes::{circle, polyline, rectangle};

use super::keyed::keyed;
use super::text::{folded_text, inert};

/// Renders a view; empty for `None`.
#[component]
pub fn FrameView(#[prop(into)] view: Signal<Option<View>>) -> impl IntoView {
    let count =
        Memo::new(move |_| view.with(|view| view.as_ref().map_or(0, |view| view.blocks.len())));
    // Unchanged blocks are not rendered again.
    let keys = move || (0..count.get() as u64).collect();
    let draw = move |place: u64| {
        let place = usize::try_from(place).unwrap_or_default();
        let found = Memo::new(move |_| view.with(|view| view.as_ref()?.blocks.get(place).cloned()));
        (move || found.with(|found| found.as_ref().map(block))).into_any()
    };
    view! {
        <Show when=move || count.get() != 0>
            <div class="frame-view">
                {keyed(keys, draw)}
            </div>
        </Show>
    }
}

fn block(block: &Block) -> AnyView {
    match block {
        Block::Passage { label, text } => {
            let passage = folded_text(text.clone(), RwSignal::default());
            view! {
                <div class="block">
                    <p class="block-label" dir="auto">
                        {inert(label)}
                    </p>
                    <div class="passage">{passage}</div>
                </div>
            }
            .into_any()
        }
        Block::Verdict { tone, text } => {
            let class = match tone {
                Tone::Plain => "verdict",
                Tone::Good => "verdict tone-good",
                Tone::Bad => "verdict tone-bad",
                Tone::Notice => "verdict tone-notice",
            };
            view! {
                <p class=class dir="auto">
                    {inert(text)}
                </p>
            }
            .into_any()
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
        // A block type that this version does not support.
        _ => ().into_any(),
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

/// Names a tone, for users who cannot see its colour.
fn tone_word(tone: Tone) -> Option<impl IntoView> {
    let word = match tone {
        Tone::Plain => return None,
        Tone::Good => " (good)",
        Tone::Bad => " (bad)",
        Tone::Notice => " (notice)",
    };
    Some(view! { <span class="visually-hidden">{word}</span> })
}

fn results(label: &Text, rows: &[(Text, Text, Tone)]) -> AnyView {
    // The style sheet displays the table as lines of text, which makes some browsers drop its table roles.
    let rows = rows.iter().map(|(input, result, tone)| {
        view! {
            <tr role="row" class=tone_class(*tone)>
                <td class="input" dir="auto" role="cell">
                    {inert(input)}
                    <span class="faint">{" → "}</span>
                </td>
                <td class="result" dir="auto" role="cell">
                    {inert(result)}
                    {tone_word(*tone)}
                </td>
            </tr>
        }
    });
    view! {
        <table class="results" role="table" aria-label=label.to_string()>
            <caption class="block-label" dir="auto">
                {inert(label)}
            </caption>
            <tbody role="rowgroup">{rows.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

fn gauge(label: &Text, value: f64, (low, high): (f64, f64), target: Option<f64>) -> AnyView {
    let shape = GaugeShape::of(value, (low, high), target);
    let target_note = shape
        .target_text
        .map(|target| view! { <span class="faint">{format!(" / target {target}")}</span> });
    let fill = rectangle(0.0, 1.0, shape.fill, 4.0);
    let target = shape.target.map(|x| {
        view! { <path class="gauge-target" d=rectangle(x, 0.0, 1.0, 6.0)></path> }
    });
    view! {
        <div class="block gauge">
            <p class="block-label" dir="auto">
                {inert(label)}
            </p>
            <div
                role="meter"
                aria-label=label.to_string()
                aria-valuenow=number_attribute(value)
                aria-valuemin=number_attribute(low)
                aria-valuemax=number_attribute(high)
                aria-valuetext=shape.text
            >
                <p class="gauge-value" aria-hidden="true">
                    {shape.value}
                    {target_note}
                </p>
                <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                    <path class="gauge-scale" d=rectangle(0.0, 1.0, GAUGE_LENGTH, 4.0)></path>
                    <path class="gauge-fill" d=fill></path>
                    {target}
                </svg>
                <p class="gauge-ends faint" aria-hidden="true">
                    <span>{plain(low)}</span>
                    <span>{plain(high)}</span>
                </p>
            </div>
        </div>
    }
    .into_any()
}

fn drawing(label: &Text, (width, height): (f64, f64), shapes: &[Shape]) -> AnyView {
    let (width, height) = drawing_size((width, height));
    // The font size is relative to the size of the drawing, whatever its units.
    let font_size = width.min(height) / 20.0;
    let shapes: Vec<AnyView> = shapes.iter().map(shape).collect();
    view! {
        <figure class="drawing">
            <svg
                viewBox=format!("0 0 {width} {height}")
                role="img"
                aria-label=label.to_string()
                font-size=font_size.to_string()
            >
                {shapes}
            </svg>
            <figcaption class="faint" dir="auto">
                {inert(label)}
            </figcaption>
        </figure>
    }
    .into_any()
}

fn shape(shape: &Shape) -> AnyView {
    match shape {
        Shape::Circle {
            center,
            radius,
            tone,
        } => {
            let class = format!("shape {}", tone_class(*tone));
            view! { <path class=class d=circle(*center, *radius)></path> }.into_any()
        }
        Shape::Line {
            points,
            width,
            tone,
        } => {
            let class = format!("shape-line {}", tone_class(*tone));
            view! { <path class=class d=polyline(points) stroke-width=width.to_string()></path> }
                .into_any()
        }
        Shape::Label { at, text, tone } => {
            let class = format!("shape-label {}", tone_class(*tone));
            view! {
                <text class=class x=at.0.to_string() y=at.1.to_string()>
                    {inert_words(text)}
                </text>
            }
            .into_any()
        }
        // A shape that this version does not support.
        _ => view! { <path></path> }.into_any(),
    }
}

/// A text within an SVG, which cannot contain HTML. Invisible characters are removed.
fn inert_words(text: &str) -> String {
    use volary_view::text::{TextPiece, pieces};
    pieces(text)
        .into_iter()
        .filter_map(|piece| match piece {
            TextPiece::Plain(plain) => Some(plain),
            TextPiece::Hidden { .. } => None,
        })
        .collect()
}
