//! The token strip of a message: its tokens in lines. Only lines near the viewport are in the DOM.
//!
//! A chosen stream replaces the tint of the trained tokens. The pointer or the arrow keys select a token, and a line below
//! describes it.

use std::ops::Range;
use std::sync::Arc;

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html;
use leptos::prelude::*;
use volary_episode::token_record::{TokenPart, TokenRecord};
use volary_view::token_cell::TokenMarks;
use volary_view::token_lines::{go, line_of, lines};
use volary_view::token_text::TokenText;
use volary_view::token_words::{strip_counts, strip_head, strip_name, token_description};

use super::vocabulary::all_shown;
use super::{Reveal, Tokens};
use volary_browser as browser;
use volary_connections::tokenizer;
use volary_ui::rows::Rows;
use volary_ui::text::inert;
use volary_ui::transient_memo::transient_memo;

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
    let (head, name) = (strip_head(&record, &part), strip_name(&part));
    view! { <StripView record part shared head name/> }.into_any()
}

/// Draws one strip for all tokens of an episode, none of which belongs to a message.
pub(super) fn whole_strip(record: Arc<TokenRecord>, shared: Tokens) -> AnyView {
    let part = TokenPart {
        step: 0,
        message: 0,
        range: 0..record.strip.len(),
    };
    let (head, name) = (strip_counts(&record, &part), "Tokens of the episode");
    view! { <StripView record part shared head name/> }.into_any()
}

#[component]
fn StripView(
    record: Arc<TokenRecord>,
    part: TokenPart,
    shared: Tokens,
    /// The line above the tokens.
    head: String,
    /// The accessible name of the grid.
    #[prop(into)]
    name: String,
) -> impl IntoView {
    let columns = RwSignal::new(FIRST_COLUMNS);
    let strip = Strip::new(record, part, shared, columns);
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
        let Some(key) = browser::keys::plain_key(&press) else {
            return;
        };
        let from = strip.active.get_untracked();
        let to = strip.lines.with_untracked(|lines| {
            let to = go(lines, from, &key)?;
            Some((to, line_of(lines, to)))
        });
        if let Some((to, line)) = to {
            press.prevent_default();
            strip.select(to);
            strip.seen.set(line);
        }
    };
    // Not `pointerover`: tokens that are scrolled under the pointer, by the wheel or by a jump, are not pointed at.
    let pointed = move |event: PointerEvent| {
        let token = browser::element::attribute_around(&event, "data-token");
        if let Some(token) = token.and_then(|token| token.parse().ok()) {
            strip.select(token);
        }
    };
    // Something asked for a token: it is scrolled into view and focused.
    Effect::new(move |_| {
        let wanted = strip.shared.wanted.get();
        let wanted = wanted.and_then(|(token, how)| Some((strip.local(token)?, how)));
        let Some((token, how)) = wanted else {
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
                browser::timers::next_frame(move || match how {
                    Reveal::Focus => drop(browser::element::focus_id(&id)),
                    Reveal::Scroll => browser::element::show_id(&id),
                });
            });
        });
    });
    // Descriptions take different numbers of lines. The tokens must not move under the pointer, so the space stays.
    let words = NodeRef::<html::P>::new();
    let grown = StoredValue::new_local(None);
    Effect::new(move |_| {
        if let Some(words) = words.get() {
            let measured = words.clone();
            let keep = move || browser::element::keep_height(&measured);
            grown.set_value(browser::element::watch_size(&[&words], keep));
        }
    });
    let active_id = move || strip.active.get().map(|token| strip.id(token));
    let count = move || strip.lines.with(|lines| lines.len()).to_string();
    view! {
        <div class="strip" node_ref=holder>
            <p class="strip-head">{head}</p>
            <Grid
                rows
                strip
                attr:role="grid"
                attr:id=strip.grid_id()
                attr:tabindex="0"
                attr:aria-label=name
                attr:aria-rowcount=count
                attr:aria-activedescendant=active_id
                on:keydown=pressed
                on:pointermove=pointed
                on:pointerdown=pointed
            />
            <p class="strip-token" node_ref=words>{move || inert(&strip.description())}</p>
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
        // The line is drawn again only when the described token enters it, moves in it or leaves it.
        let active =
            transient_memo(move |_| self.active.get().filter(|token| within.contains(token)));
        let cells = move || self.cells(range.clone(), active.get());
        view! {
            <div class="strip-line" role="row" aria-rowindex=(line + 1).to_string()>
                {cells}
            </div>
        }
        .into_any()
    }

    fn cells(self, range: Range<usize>, active: Option<usize>) -> Vec<AnyView> {
        let start = self.part.with_value(|part| part.range.start);
        let record = self.record.get_value();
        let scale = self.shared.scale.get_untracked();
        let tokens = self.tokens.get_untracked();
        let cell = |token: usize| {
            let text = tokens.get(token)?;
            let place = start + token;
            let shade = scale
                .as_ref()
                .map(|scale| scale.shade(record.value(&scale.name, place)));
            let marks = TokenMarks {
                is_trained: record.is_trained(place),
                is_special: text.is_special,
                is_active: active == Some(token),
                shade,
            };
            Some(self.cell(token, text, marks))
        };
        range.filter_map(cell).collect()
    }

    /// A token. Only the described one has an id, which the grid refers to: there are thousands of tokens.
    fn cell(self, token: usize, text: &TokenText, marks: TokenMarks) -> AnyView {
        let described = marks.is_active.then(|| self.description());
        view! {
            <span
                class=marks.class()
                role="gridcell"
                data-token=token.to_string()
                id=marks.is_active.then(|| self.id(token))
                aria-selected=marks.is_active.then_some("true")
                aria-label=described
            >
                {inert(&text.text)}
            </span>
        }
        .into_any()
    }

    /// Describes the selected token.
    fn description(self) -> String {
        let Some(token) = self.active.get() else {
            return "Point at a token, or use the arrow keys.".to_owned();
        };
        let text = self.tokens.with(|tokens| tokens.get(token).cloned());
        let text = text.filter(|_| tokenizer::given().is_some());
        let epsilon = self.shared.epsilon.get();
        let record = self.record.get_value();
        self.part
            .with_value(|part| token_description(&record, part, token, text.as_deref(), epsilon))
    }
}
