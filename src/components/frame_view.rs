//! The rich view of a frame: blocks that an environment describes as data, drawn in one way for all
//! environments.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::view::{Block, Shape, Tone, View};

use super::erased::dynamic;
use super::text::{FoldedText, inert};
use crate::projection::summary::reward_text;

/// The class of a tone.
const fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "tone-plain",
        Tone::Good => "tone-good",
        Tone::Bad => "tone-bad",
        Tone::Notice => "tone-notice",
    }
}

/// A tone in a word, for those who do not see its colour.
const fn tone_word(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
        Tone::Notice => Some("notice"),
    }
}

/// Draws a view; nothing for `None`.
#[component]
pub fn FrameView(
    /// The view.
    #[prop(into)]
    view: Signal<Option<View>>,
) -> impl IntoView {
    dynamic(move || {
        view.with(|view| match view {
            Some(view) => {
                let blocks = view.blocks.iter().map(block).collect_view();
                view! { <div class="frame-view">{blocks}</div> }.into_any()
            }
            None => ().into_any(),
        })
    })
}

fn block(block: &Block) -> AnyView {
    match block {
        Block::Passage { label, text } => view! {
            <div class="block">
                <p class="block-label">{inert(label)}</p>
                <div class="passage">
                    <FoldedText text=text.clone() />
                </div>
            </div>
        }
        .into_any(),
        Block::Verdict { tone, text } => view! {
            <p class=format!("verdict {}", tone_class(*tone)) dir="auto">
                {inert(text)}
            </p>
        }
        .into_any(),
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
        // A block that this page is too old for.
        _ => ().into_any(),
    }
}

fn results(label: &Text, rows: &[(Text, Text, Tone)]) -> AnyView {
    let rows = rows
        .iter()
        .map(|(input, result, tone)| {
            view! {
                <tr class=tone_class(*tone)>
                    <td dir="auto">{inert(input)}</td>
                    <td dir="auto">
                        {inert(result)}
                        {tone_word(*tone)
                            .map(|word| view! { <span class="visually-hidden">{format!(" ({word})")}</span> })}
                    </td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <table class="results">
            <caption class="block-label">{inert(label)}</caption>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// A number that SVG can draw.
fn drawable(number: f64) -> f64 {
    if number.is_finite() {
        number.clamp(-1e6, 1e6)
    } else {
        0.0
    }
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
        drawable(share).clamp(0.0, 1.0) * LENGTH
    };
    let target_words = target.map(|target| format!(", target {}", reward_text(target)));
    let words = format!("{}{}", reward_text(value), target_words.unwrap_or_default());
    view! {
        <div class="block gauge">
            <p class="block-label">{inert(label)}</p>
            <div
                role="meter"
                aria-label=label.to_string()
                aria-valuenow=value.to_string()
                aria-valuemin=low.to_string()
                aria-valuemax=high.to_string()
                aria-valuetext=words
            >
                <p class="gauge-value" aria-hidden="true">
                    {reward_text(value)}
                    {target
                        .map(|target| {
                            view! { <span class="faint">{format!(" / target {}", reward_text(target))}</span> }
                        })}
                </p>
                <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                    <rect class="gauge-scale" x="0" y="1" width="100" height="4" />
                    <rect class="gauge-fill" x="0" y="1" width=place(value).max(0.75).to_string() height="4" />
                    {target
                        .map(|target| {
                            let x = (place(target) - 0.5).clamp(0.0, LENGTH - 1.0).to_string();
                            view! { <rect class="gauge-target" x=x y="0" width="1" height="6" /> }
                        })}
                </svg>
                <p class="gauge-ends faint" aria-hidden="true">
                    <span>{reward_text(low)}</span>
                    <span>{reward_text(high)}</span>
                </p>
            </div>
        </div>
    }
    .into_any()
}

fn drawing(label: &Text, (width, height): (f64, f64), shapes: &[Shape]) -> AnyView {
    let (width, height) = (drawable(width).max(1.0), drawable(height).max(1.0));
    let shapes = shapes.iter().map(shape).collect_view();
    // Words fit drawings of any unit.
    let font_size = (width.min(height) / 20.0).to_string();
    view! {
        <figure class="drawing">
            <svg
                viewBox=format!("0 0 {width} {height}")
                role="img"
                aria-label=label.to_string()
                font-size=font_size
            >
                {shapes}
            </svg>
            <figcaption class="faint" dir="auto">{inert(label)}</figcaption>
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
        } => view! {
            <circle
                class=format!("shape {}", tone_class(*tone))
                cx=drawable(center.0).to_string()
                cy=drawable(center.1).to_string()
                r=drawable(*radius).max(0.0).to_string()
            />
        }
        .into_any(),
        Shape::Line {
            points,
            width,
            tone,
        } => {
            let mut path = String::new();
            for (x, y) in points {
                path.push_str(&format!("{},{} ", drawable(*x), drawable(*y)));
            }
            view! {
                <polyline
                    class=format!("shape-line {}", tone_class(*tone))
                    points=path
                    stroke-width=drawable(*width).max(0.0).to_string()
                />
            }
            .into_any()
        }
        Shape::Label { at, text, tone } => view! {
            <text
                class=format!("shape-label {}", tone_class(*tone))
                x=drawable(at.0).to_string()
                y=drawable(at.1).to_string()
            >
                {inert_words(text)}
            </text>
        }
        .into_any(),
        // A shape that this page is too old for.
        _ => ().into_any(),
    }
}

/// A text within a drawing, where no HTML may stand: hidden characters are left out.
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
