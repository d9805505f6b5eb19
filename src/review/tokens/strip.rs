//! The token strip of a message: its tokens in lines. Only lines near the viewport are in the DOM.
//!
//! Trained tokens are underlined and tinted, special tokens are boxed, so neither depends on colour. A chosen stream
//! replaces the tint. The pointer or the
//! arrow keys select a token, and a line below describes it.

use std::ops::Range;
use std::sync::Arc;

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html;
use leptos::prelude::*;
use volary_trajectory::token_record::{Readout, TokenPart, TokenRecord};

use super::vocabulary::{TokenText, all_shown};
use super::{Tokens, Wish};
use crate::browser;
use crate::components::rows::Rows;
use crate::components::text::inert;
use crate::projection::text::count_text;
use crate::projection::token_lines::{go, line_of, lines};
use crate::projection::token_shades::Shade;
use crate::tokenizer;

/// The height of a line in pixels, as in the style sheet.
const LINE: f64 = 24.0;
/// The width of a character in pixels, rounded up.
const CHARACTER: f64 = 8.0;
/// The number of characters per line before the width is known.
const FIRST_COLUMNS: usize = 40;

/// The state of a strip.
#[derive(Clone, Copy)]
struct Strip {
    record: StoredValue<Arc<TokenRecord>>,
    part: StoredValue<TokenPart>,
    /// Whether the strip has all tokens of an episode whose messages have none.
    is_whole: bool,
    /// The signals that all strips share.
    shared: Tokens,
    tokens: Memo<Arc<Vec<Arc<TokenText>>>>,
    lines: Memo<Arc<Vec<Range<usize>>>>,
    /// The index of the described token, counted from the start of the strip.
    active: Memo<Option<usize>>,
    /// The line to scroll into view after a key press.
    seen: RwSignal<Option<usize>>,
}

/// Draws the strip of a message.
pub(super) fn strip_of(record: Arc<TokenRecord>, part: TokenPart, shared: Tokens) -> AnyView {
    view! { <StripView record part shared is_whole=false/> }.into_any()
}

/// Draws one strip for all tokens of an episode, none of which belongs to a message.
pub(super) fn whole_strip(record: Arc<TokenRecord>, shared: Tokens) -> AnyView {
    let part = TokenPart {
        step: 0,
        message: 0,
        range: 0..record.strip.len(),
    };
    view! { <StripView record part shared is_whole=true/> }.into_any()
}

#[component]
fn StripView(
    record: Arc<TokenRecord>,
    part: TokenPart,
    shared: Tokens,
    is_whole: bool,
) -> impl IntoView {
    let columns = RwSignal::new(FIRST_COLUMNS);
    let strip = Strip::new(record, part, shared, is_whole, columns);
    let holder = NodeRef::<html::Div>::new();
    let sizes = StoredValue::new_local(None);
    Effect::new(move |_| {
        let Some(element) = holder.get() else {
            return;
        };
        let measured = element.clone();
        let resized = move || {
            let fitting = browser::element::viewport_width(&measured) / CHARACTER;
            // Use a minimum of a few characters; the cast saturates.
            let fitting = (fitting as usize).max(12);
            if columns
                .try_get_untracked()
                .is_some_and(|known| known != fitting)
            {
                columns.set(fitting);
            }
        };
        sizes.set_value(browser::element::watch_size(&[&element], resized));
    });
    let rows = Rows {
        count: Signal::derive(move || strip.lines.with(|lines| lines.len())),
        edition: Memo::new(move |edition: Option<&u32>| {
            strip.lines.track();
            strip.tokens.track();
            strip.shared.scale.track();
            edition.map_or(0, |edition| edition.wrapping_add(1))
        })
        .into(),
        height: LINE,
        seen: strip.seen.into(),
        role: "rowgroup",
        class: "strip-lines",
        name: None,
    };
    let pressed = move |press: KeyboardEvent| {
        if press.ctrl_key() || press.meta_key() || press.alt_key() {
            return;
        }
        let from = strip.active.get_untracked();
        let to = strip.lines.with_untracked(|lines| {
            let to = go(lines, from, &press.key())?;
            Some((to, line_of(lines, to)))
        });
        if let Some((to, line)) = to {
            press.prevent_default();
            strip.select(to);
            strip.seen.set(line);
        }
    };
    let pointed = move |event: PointerEvent| {
        let token = browser::element::attribute_around(&event, "data-token");
        if let Some(token) = token.and_then(|token| token.parse().ok()) {
            strip.select(token);
        }
    };
    // Something asked for a token: it is scrolled into view and focused.
    Effect::new(move |_| {
        let wanted = strip.shared.wanted.get();
        let wanted = wanted.and_then(|(token, wish)| Some((strip.local(token)?, wish)));
        let Some((token, wish)) = wanted else {
            return;
        };
        let line = strip.lines.with(|lines| line_of(lines, token));
        strip.shared.wanted.set(None);
        // Notifies again if the line is the same, as the reader may have scrolled away.
        strip.seen.set(None);
        browser::timers::next_frame(move || {
            if strip.seen.try_set(line).is_some() {
                return;
            }
            let id = strip.grid_id();
            // By then the strip has its place, even if its message was just mounted.
            browser::timers::next_frame(move || {
                browser::timers::next_frame(move || match wish {
                    Wish::Focus => drop(browser::element::focus_id(&id)),
                    Wish::Sight => browser::element::show_id(&id),
                });
            });
        });
    });
    let active_id = move || strip.active.get().map(|token| strip.id(token));
    let count = move || strip.lines.with(|lines| lines.len()).to_string();
    view! {
        <div class="strip" node_ref=holder>
            <p class="strip-head">{strip.head()}</p>
            <Grid
                rows
                strip
                attr:role="grid"
                attr:id=strip.grid_id()
                attr:tabindex="0"
                attr:aria-label=strip.name()
                attr:aria-rowcount=count
                attr:aria-activedescendant=active_id
                on:keydown=pressed
                on:pointerover=pointed
            />
            <p class="strip-token">{move || inert(&strip.description())}</p>
        </div>
    }
}

/// The scrolling element; the caller supplies its attributes.
#[component]
fn Grid(rows: Rows, strip: Strip) -> impl IntoView {
    rows.view(move |line| strip.line(line))
}

impl Strip {
    fn new(
        record: Arc<TokenRecord>,
        part: TokenPart,
        shared: Tokens,
        is_whole: bool,
        columns: RwSignal<usize>,
    ) -> Strip {
        let range = part.range.clone();
        let record = StoredValue::new(record);
        let within = range.clone();
        let tokens = Memo::new(move |_| {
            let tokenizer = tokenizer::given();
            record.with_value(|record| {
                let ids = record.strip.ids().get(range.clone()).unwrap_or_default();
                Arc::new(all_shown(ids, tokenizer.as_ref()))
            })
        });
        let lines = Memo::new(move |_| {
            let columns = columns.get();
            tokens.with(|tokens| {
                let tokens = tokens.iter().map(|token| (token.width, token.breaks));
                Arc::new(lines(tokens, columns))
            })
        });
        Strip {
            record,
            part: StoredValue::new(part),
            is_whole,
            shared,
            tokens,
            lines,
            active: Memo::new(move |_| {
                let head = shared.head.get().filter(|head| within.contains(head));
                head.map(|head| head - within.start)
            }),
            seen: RwSignal::new(None),
        }
    }

    /// The index in the strip of a token of the episode.
    fn local(self, token: usize) -> Option<usize> {
        let range = self.part.with_value(|part| part.range.clone());
        range.contains(&token).then(|| token - range.start)
    }

    /// Makes a token of the strip the described one.
    fn select(self, token: usize) {
        let token = self.part.with_value(|part| part.range.start) + token;
        if self.shared.head.get_untracked() != Some(token) {
            self.shared.head.set(Some(token));
        }
    }

    fn count(self) -> usize {
        self.part.with_value(|part| part.range.len())
    }

    /// Returns whether a token of the strip is trained.
    fn is_trained(self, token: usize) -> bool {
        let place = self.part.with_value(|part| part.range.start) + token;
        let trained = |record: &Arc<TokenRecord>| record.strip.mask().get(place).copied();
        self.record.with_value(trained).unwrap_or_default()
    }

    /// The shade of a token of the strip; `None` if the loss mask colours the tokens.
    fn shade(self, token: usize) -> Option<Shade> {
        let place = self.part.with_value(|part| part.range.start) + token;
        self.shared.scale.with_untracked(|scale| {
            let scale = scale.as_ref()?;
            let value = self
                .record
                .with_value(|record| record.value(&scale.name, place));
            Some(scale.shade(value))
        })
    }

    fn head(self) -> String {
        let count = self.count();
        let range = self.part.with_value(|part| part.range.clone());
        let trained = self.record.with_value(|record| {
            let mask = record.strip.mask().get(range).unwrap_or_default();
            mask.iter().filter(|is_trained| **is_trained).count()
        });
        let is_prompt = !self.is_whole && self.part.with_value(|part| part.step) == 0;
        let what = if is_prompt { "Prompt: " } else { "" };
        if !self.record.with_value(|record| record.is_mask_known) {
            return format!("{what}{} tokens", count_text(count));
        }
        format!(
            "{what}{} tokens, {} trained",
            count_text(count),
            count_text(trained)
        )
    }

    /// The accessible name of the grid.
    fn name(self) -> String {
        self.part.with_value(|part| match part.step {
            _ if self.is_whole => "Tokens of the episode".to_owned(),
            0 => "Tokens of the prompt".to_owned(),
            step => format!("Tokens of step {step}, message {}", part.message + 1),
        })
    }

    fn grid_id(self) -> String {
        let (step, message) = self.part.with_value(|part| (part.step, part.message));
        format!("strip-{step}-{message}")
    }

    fn id(self, token: usize) -> String {
        let (step, message) = self.part.with_value(|part| (part.step, part.message));
        format!("token-{step}-{message}-{token}")
    }

    fn line(self, line: usize) -> AnyView {
        let range = self.lines.with_untracked(|lines| lines.get(line).cloned());
        let range = range.unwrap_or_default();
        let within = range.clone();
        let active = Memo::new(move |_| self.active.get().filter(|token| within.contains(token)));
        let cells = move || {
            let active = active.get();
            let cells = range
                .clone()
                .map(|token| self.cell(token, active == Some(token)));
            cells.collect_view()
        };
        view! {
            <div class="strip-line" role="row" aria-rowindex=(line + 1).to_string()>
                {cells}
            </div>
        }
        .into_any()
    }

    fn cell(self, token: usize, is_active: bool) -> AnyView {
        let shown = self
            .tokens
            .with_untracked(|tokens| tokens.get(token).cloned());
        let Some(shown) = shown else {
            return ().into_any();
        };
        let mut class = "token".to_owned();
        let marks = [
            (self.is_trained(token), " trained"),
            (shown.is_special, " special"),
            (is_active, " active"),
        ];
        for (is_on, mark) in marks {
            if is_on {
                class.push_str(mark);
            }
        }
        if let Some(shade) = self.shade(token) {
            class.push_str(" shaded ");
            class.push_str(&shade.class());
        }
        view! {
            <span
                class=class
                role="gridcell"
                id=self.id(token)
                data-token=token.to_string()
                aria-selected=is_active.to_string()
                aria-label=is_active.then(|| self.description())
                dir="ltr"
            >
                {inert(&shown.text)}
            </span>
        }
        .into_any()
    }

    /// Describes the selected token.
    fn description(self) -> String {
        let Some(token) = self.active.get() else {
            return "Point at a token, or use the arrow keys.".to_owned();
        };
        let (start, count) = self
            .part
            .with_value(|part| (part.range.start, part.range.len()));
        let place = start + token;
        let tokenizer = tokenizer::given();
        let shown = self.tokens.with(|tokens| tokens.get(token).cloned());
        self.record.with_value(|record| {
            let Some(id) = record.strip.ids().get(place) else {
                return String::new();
            };
            let mut words = vec![format!("Token {} of {}", token + 1, count_text(count))];
            words.push(format!("id {id}"));
            if let Some(shown) = shown.filter(|_| tokenizer.is_some()) {
                words.push(format!("text {}", shown.text));
                if shown.is_special {
                    words.push("special".to_owned());
                }
            }
            let trained = match (record.is_mask_known, self.is_trained(token)) {
                (false, _) => "mask unknown",
                (true, true) => "trained",
                (true, false) => "not trained",
            };
            words.push(trained.to_owned());
            for name in record.stream_names() {
                if let Some(value) = record.value(&name, place) {
                    words.push(format!("{name} {}", digits(value)));
                }
            }
            let epsilon = self.shared.epsilon.get();
            if let Some(readout) = Readout::of(record, place, epsilon) {
                words.push(format!("ratio {}", digits(readout.ratio)));
                words.push(readout.clip.words().to_owned());
            }
            words.join(" · ")
        })
    }
}

/// A value with at most six decimals, or with an exponent.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        size if (1e-3..1e9).contains(&size) => ((value * 1e6).round() / 1e6).to_string(),
        size if size > 0.0 && size.is_finite() => format!("{value:.3e}"),
        _ => value.to_string(),
    }
}
