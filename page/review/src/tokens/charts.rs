//! The histogram of the chosen stream, and all streams as curves over the tokens. A click goes to a token.

use std::sync::Arc;

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use volary_core::json::Text;
use volary_core::quantity::{count_text, plural};
use volary_episode::token_record::TokenRecord;
use volary_view::point_keys::{PointKey, PointStart, point_key};
use volary_view::token_curves::{BAND, HEIGHT, WIDTH, curve, token_at, trained_band, x_of};
use volary_view::token_histogram::{Bin, Histogram};
use volary_view::token_shades::{Scale, short};
use volary_view::token_words::digits;

use super::Tokens;
use volary_browser as browser;
use volary_ui::text::inert;

/// The height of the box of a bar.
const BAR: f64 = 60.0;

/// The histogram of the stream that colours the tokens.
#[component]
pub(super) fn HistogramView(tokens: Tokens) -> impl IntoView {
    let histogram = Memo::new(move |_| {
        let scale = tokens.scale.get()?;
        let record = tokens.known()?;
        let stream = record.stream(&scale.name)?;
        Some((
            Arc::new(Histogram::of(&record, &stream, &scale)),
            scale.clone(),
        ))
    });
    let body = move || match histogram.get() {
        None => view! { <p class="help">{"Choose a stream to see its values."}</p> }.into_any(),
        Some((histogram, scale)) => bars(tokens, histogram, &scale),
    };
    view! {
        <section aria-labelledby="token-histogram">
            <div class="pane-head">
                <h2 id="token-histogram">{"Distribution"}</h2>
                <StreamChoice tokens/>
            </div>
            {body}
        </section>
    }
}

/// The same choice as above the transcript.
#[component]
fn StreamChoice(tokens: Tokens) -> impl IntoView {
    let options = move || {
        let names = tokens.known().map(|record| record.stream_names());
        let options = names.unwrap_or_default().into_iter().map(|name: Text| {
            let value = name.to_string();
            let own = value.clone();
            let is_chosen = move || tokens.stream.with(|chosen| *chosen == own);
            view! {
                <option value=value.clone() selected=is_chosen>
                    {inert(&value)}
                </option>
            }
        });
        options.collect_view()
    };
    view! {
        <select
            aria-label="Stream"
            on:change=move |event| tokens.stream.set(event_target_value(&event))
        >
            <option value="" selected=move || tokens.stream.with(String::is_empty)>
                {"no stream"}
            </option>
            {options}
        </select>
    }
}

fn bars(tokens: Tokens, histogram: Arc<Histogram>, scale: &Scale) -> AnyView {
    let count = histogram.bins.len();
    let name = format!("Trained tokens by {}", scale.name);
    let words = format!(
        "Scale {} to {} · {}",
        short(scale.low),
        short(scale.high),
        scale.words
    );
    // One bar is in the order of the Tab key; arrow keys move among them.
    let current = RwSignal::new(0_usize);
    let described = {
        let histogram = Arc::clone(&histogram);
        move || {
            let bin = histogram.bins.get(current.get());
            bin.map(bin_words).unwrap_or_default()
        }
    };
    let highest = histogram.highest.max(1);
    let cells = histogram.bins.iter().enumerate().map(|(place, bin)| {
        let histogram = Arc::clone(&histogram);
        let go = move |_| {
            current.set(place);
            go_to_bin(tokens, &histogram, place);
        };
        #[allow(
            clippy::cast_precision_loss,
            reason = "numbers of tokens are far below 2^53"
        )]
        let height = bin.count as f64 / highest as f64 * BAR;
        let height = if bin.count > 0 { height.max(2.0) } else { 0.0 };
        let path = format!("M0 {BAR}v-{height:.1}h10v{height:.1}z");
        view! {
            <button
                type="button"
                class=format!("histogram-bar {}", bin.shade.class())
                id=bar_id(place)
                tabindex=move || if current.get() == place { "0" } else { "-1" }
                aria-label=bin_words(bin)
                on:click=go
                on:focus=move |_| current.set(place)
                on:pointerenter=move |_| current.set(place)
            >
                <svg viewBox=format!("0 0 10 {BAR}") preserveAspectRatio="none" aria-hidden="true">
                    <path d=path></path>
                </svg>
            </button>
        }
    });
    let cells = cells.collect_view();
    let pressed = move |press: KeyboardEvent| {
        let Some(pressed) = browser::keys::plain_key(&press) else {
            return;
        };
        let at = Some(current.get_untracked());
        // Enter presses the bar, which is a button.
        let key = point_key(&pressed, at, count, PointStart::First);
        let Some(PointKey::GoTo(to)) = key else {
            return;
        };
        press.prevent_default();
        press.stop_propagation();
        current.set(to);
        browser::element::focus_id(&bar_id(to));
    };
    view! {
        <div class="histogram" role="group" aria-label=name on:keydown=pressed>
            {cells}
        </div>
        <p class="chart-words">{inert(&words)}</p>
        <p class="chart-words">{move || inert(&described())}</p>
    }
    .into_any()
}

fn bar_id(place: usize) -> String {
    format!("histogram-{place}")
}

fn bin_words(bin: &Bin) -> String {
    format!("{}: {}", bin.words, plural(bin.count, "token"))
}

/// Goes to the first token of a bin, and then to the next one.
fn go_to_bin(tokens: Tokens, histogram: &Histogram, bin: usize) {
    let token = untrack(|| {
        let record = tokens.known()?;
        let scale = tokens.scale.get()?;
        let stream = record.stream(&scale.name)?;
        let head = tokens.head.get();
        // From another bin to the first token of this one.
        let is_here = |head: &usize| histogram.holds(&record, &stream, bin, *head);
        histogram.next(&record, &stream, bin, head.filter(is_here))
    });
    if let Some(token) = token {
        tokens.go(token);
    }
}

/// A stream as a curve.
#[derive(Clone, PartialEq)]
struct Drawn {
    name: String,
    path: String,
    words: String,
}

fn drawn(record: &TokenRecord) -> Vec<Drawn> {
    let names = record.stream_names().into_iter();
    let curves = names.filter_map(|name| {
        let stream = record.stream(&name)?;
        let scale = Scale::of(record, &name, &stream)?;
        Some(Drawn {
            path: curve(&stream, &scale),
            words: format!(
                "Scale {} to {} · {}",
                short(scale.low),
                short(scale.high),
                scale.words
            ),
            name: name.to_string(),
        })
    });
    curves.collect()
}

/// All streams, with the selected token as a common line.
#[component]
pub(super) fn Curves(tokens: Tokens) -> impl IntoView {
    let curves = Memo::new(move |_| tokens.known().map(|record| drawn(&record)));
    let band = Memo::new(move |_| tokens.known().map(|record| trained_band(&record)));
    let count = Memo::new(move |_| tokens.known().map_or(0, |record| record.strip.len()));
    let go = move |click: MouseEvent| {
        let place = browser::element::click_place(&click);
        if let Some(token) = place.and_then(|place| token_at(place, count.get_untracked())) {
            tokens.go(token);
        }
    };
    let here = move |height: f64| {
        let head = tokens.head.get();
        head.map_or(String::new(), |head| {
            format!("M{:.1} 0v{height}", x_of(head, count.get()))
        })
    };
    let figures = move || {
        let curves = curves.get().unwrap_or_default().into_iter().map(|drawn| {
            let name = drawn.name.clone();
            let value = move || {
                let record = tokens.known()?;
                let value = record.value(&name, tokens.head.get()?)?;
                Some(digits(value))
            };
            let label = format!("{}: {}", drawn.name, drawn.words);
            view! {
                <figure class="token-curve">
                    <figcaption>
                        <span class="figure-title">{inert(&drawn.name)}</span>
                        <span class="faint">{value}</span>
                    </figcaption>
                    <svg
                        role="img"
                        aria-label=label
                        viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                        preserveAspectRatio="none"
                        on:click=go
                    >
                        <path class="token-line" d=drawn.path.clone()></path>
                        <path class="curve-here" d=move || here(HEIGHT)></path>
                    </svg>
                    <p class="chart-words">{inert(&drawn.words)}</p>
                </figure>
            }
        });
        curves.collect_view()
    };
    let moved = move |event| {
        let token = event_target_value(&event).parse::<usize>().ok();
        token.and_then(|token| token.checked_sub(1))
    };
    view! {
        <section aria-labelledby="token-curves">
            <h2 id="token-curves">{"Streams over tokens"}</h2>
            <label class="token-slider">
                <span>{"Token"}</span>
                <input
                    type="range"
                    min="1"
                    max=move || count.get().to_string()
                    prop:value=move || (tokens.head.get().unwrap_or(0) + 1).to_string()
                    on:input=move |event| {
                        if let Some(token) = moved(event) {
                            tokens.head.set(Some(token));
                        }
                    }
                    on:change=move |event| {
                        if let Some(token) = moved(event) {
                            tokens.show(token);
                        }
                    }
                />
            </label>
            <svg
                class="token-band"
                role="img"
                aria-label="Trained tokens"
                viewBox=format!("0 0 {WIDTH} {BAND}")
                preserveAspectRatio="none"
                on:click=go
            >
                <path class="trained-band" d=move || band.get().unwrap_or_default()></path>
                <path class="curve-here" d=move || here(BAND)></path>
            </svg>
            {figures}
            <p class="help">
                {move || format!("{}, from left to right.", count_words(count.get()))}
            </p>
        </section>
    }
}

fn count_words(count: usize) -> String {
    match count {
        1 => "1 token".to_owned(),
        count => format!("{} tokens", count_text(count)),
    }
}
