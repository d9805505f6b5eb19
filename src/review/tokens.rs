//! Tokens in Review: a strip below each message of an episode whose tokens were recorded, and a panel about all of them.
//!
//! - [`strip`]: the strip of a message. [`vocabulary`]: the texts of tokens, which need a tokenizer; without one, ids
//!   are shown.
//! - [`address`]: the place in the address. [`panel`]: the selected token, jumps, checks, charts and the trained text. [`pins`]: scales that are kept.

pub(super) mod address;
mod charts;
mod checks;
pub(super) mod panel;
mod pins;
mod strip;
mod trained;
mod vocabulary;

use std::cell::RefCell;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::Episode;
use volary_trajectory::token_record::{Extreme, TokenRecord, TokenRecordError};

use super::panels::TOKENS;
use crate::browser;
use crate::browser::files::pick;
use crate::browser::spawn;
use crate::components::text::inert;
use crate::components::transcript::reading::ReadingOptions;
use crate::projection::text::count_text;
use crate::projection::token_shades::{Scale, Shade};
use crate::tokenizer;

use pins::{pin, pins};
use strip::{strip_of, whole_strip};

/// The clipping range of PPO that most trainers use.
const EPSILON: f64 = 0.2;
/// The difference of log-probabilities from which a token is a mismatch.
const TOLERANCE: f64 = 0.5;

thread_local! {
    /// The stream that was chosen last: the next episode is coloured by it, too.
    static CHOSEN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The token record of an episode; `None` if it has no tokens.
type Known = Option<Result<Arc<TokenRecord>, TokenRecordError>>;

/// How to go to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// Scroll to it and focus it.
    Focus,
    /// Scroll to it only.
    Sight,
}

/// Signals of the tokens of the shown episode.
#[derive(Clone, Copy)]
pub struct Tokens {
    episode: Signal<Arc<Episode>>,
    reading: ReadingOptions,
    /// The open side panel.
    panel: RwSignal<usize>,
    record: Memo<Known>,
    /// Whether the episode has tokens.
    pub has_tokens: Memo<bool>,
    /// The name of the stream that colours the tokens; empty for the loss mask.
    stream: RwSignal<String>,
    /// Its scale, if the episode has the stream; the range may be pinned.
    scale: Memo<Option<Arc<Scale>>>,
    /// The described token, counted from the start of the episode: the play-head of all views.
    head: RwSignal<Option<usize>>,
    /// A token to scroll to.
    wanted: RwSignal<Option<(usize, Wish)>>,
    /// What the jumps go to.
    extreme: RwSignal<Extreme>,
    ranking: Memo<Arc<Vec<usize>>>,
    /// The index in the ranking of the last jump.
    at: RwSignal<Option<usize>>,
    /// The clipping range ε.
    epsilon: RwSignal<f64>,
    /// The largest difference of log-probabilities that is no mismatch.
    tolerance: RwSignal<f64>,
    /// Why a tokenizer file was rejected.
    error: RwSignal<Option<String>>,
}

impl Tokens {
    /// Adds the token strips of an episode to its transcript.
    pub fn new(
        episode: Signal<Arc<Episode>>,
        reading: ReadingOptions,
        panel: RwSignal<usize>,
    ) -> Tokens {
        let record = Memo::new(move |_| episode.with(|episode| TokenRecord::of(episode)));
        let stream = RwSignal::new(CHOSEN.with_borrow(String::clone));
        Effect::new(move |_| {
            let chosen = stream.get();
            CHOSEN.with_borrow_mut(|known| *known = chosen);
        });
        let own_scale = Memo::new(move |_| {
            let name = stream.get();
            record.with(|record| {
                let record = record.as_ref()?.as_ref().ok()?;
                let stream = record.stream(&name)?;
                Scale::of(record, &name, &stream)
            })
        });
        let scale = Memo::new(move |_| {
            let scale = own_scale.get()?;
            Some(Arc::new(match pins().range(&scale.name) {
                Some((low, high)) => scale.with_range(low, high),
                None => scale,
            }))
        });
        let extreme = RwSignal::new(Extreme::LargestAdvantage);
        let ranking = Memo::new(move |_| {
            record.with(|record| {
                let tokens = record.as_ref().and_then(|record| record.as_ref().ok());
                let tokens = tokens.map(|record| {
                    episode.with_untracked(|episode| extreme.get().tokens(episode, record))
                });
                Arc::new(tokens.unwrap_or_default())
            })
        });
        let has_tokens = Memo::new(move |_| record.with(|record| matches!(record, Some(Ok(_)))));
        let tokens = Tokens {
            episode,
            reading,
            panel,
            record,
            has_tokens,
            stream,
            scale,
            head: RwSignal::new(None),
            wanted: RwSignal::new(None),
            extreme,
            ranking,
            at: RwSignal::new(None),
            epsilon: RwSignal::new(EPSILON),
            tolerance: RwSignal::new(TOLERANCE),
            error: RwSignal::new(None),
        };
        Effect::new(move |_| {
            record.track();
            tokens.head.set(None);
            tokens.wanted.set(None);
            tokens.at.set(None);
        });
        Effect::new(move |_| {
            let has_tokens = has_tokens.get();
            reading.strips.set(has_tokens.then_some(tokens.strips()));
            if has_tokens {
                spawn(tokenizer::restore());
            }
        });
        tokens
    }

    /// Returns the function that draws the strip of a message.
    fn strips(self) -> crate::components::transcript::reading::Strips {
        Arc::new(move |step, message| {
            let record = self.record.get()?.ok()?;
            let part = record.part(step, message)?.clone();
            Some(strip_of(record, part, self))
        })
    }

    /// The tokens, if they can be shown.
    fn known(self) -> Option<Arc<TokenRecord>> {
        self.record.get()?.ok()
    }

    /// Scrolls to a token and focuses it.
    fn go(self, token: usize) {
        self.reveal(token, Wish::Focus);
    }

    /// Scrolls to a token and leaves the focus where it is.
    fn show(self, token: usize) {
        self.reveal(token, Wish::Sight);
    }

    fn reveal(self, token: usize, wish: Wish) {
        let Some(record) = untrack(|| self.known()) else {
            return;
        };
        if self.reading.strips.with_untracked(Option::is_none) {
            self.reading.strips.set(Some(self.strips()));
        }
        self.head.set(Some(token));
        self.wanted.set(Some((token, wish)));
        let part = record.part_of(token);
        if let (Some(part), Some(context)) = (part, self.reading.context.get_untracked()) {
            context.choose(part.step);
            context.mount(part.step, part.message);
        }
    }

    /// Goes to the next or previous token of the chosen ranking. Returns `false` if there is none.
    pub fn jump(self, forward: bool) -> bool {
        let ranking = self.ranking.get_untracked();
        let count = ranking.len();
        let at = match (self.at.get_untracked(), forward) {
            _ if count == 0 => return false,
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        self.at.set(Some(at));
        if let Some(token) = ranking.get(at) {
            self.go(*token);
        }
        true
    }

    fn take_file(self) {
        pick("", move |files| {
            spawn(async move {
                for file in files {
                    let given = tokenizer::give(&file).await;
                    let error =
                        given.map_err(|reason| format!("{} was not taken. {reason}", file.name));
                    self.error.set(error.err());
                }
            });
        });
    }
}

/// The toolbar above a transcript with tokens: counts, tokenizer, and a switch for the strips.
#[component]
pub(super) fn TokenBar(tokens: Tokens, reading: ReadingOptions) -> impl IntoView {
    move || match tokens.record.get()? {
        Ok(record) => Some(view! { <Bar tokens reading record/> }.into_any()),
        Err(error) => {
            let words = format!("The recorded tokens can't be shown: {error}.");
            Some(
                view! {
                    <p class="token-bar error" role="note">
                        {inert(&words)}
                    </p>
                }
                .into_any(),
            )
        }
    }
}

#[component]
fn Bar(tokens: Tokens, reading: ReadingOptions, record: Arc<TokenRecord>) -> impl IntoView {
    let counts = match record.counts().trained {
        Some(trained) => format!(
            "{} tokens, {} trained",
            count_text(record.strip.len()),
            count_text(trained)
        ),
        None => format!("{} tokens", count_text(record.strip.len())),
    };
    let unknown = (!record.is_mask_known).then(|| {
        view! {
            <p class="help">{"The file does not say which of these tokens are trained."}</p>
        }
    });
    let misfits = (!record.misfits.is_empty()).then(|| {
        let misfits = record.misfits.iter().map(ToString::to_string);
        let words = format!("Left out: {}.", misfits.collect::<Vec<_>>().join("; "));
        view! { <p class="help">{inert(&words)}</p> }
    });
    let names = record.stream_names();
    let colours = (!names.is_empty()).then(|| view! { <Colours tokens names/> });
    let is_shown = move || reading.strips.with(Option::is_some);
    // No message has these tokens, as with batches of a trainer.
    let is_apart = record.parts.iter().all(|part| part.range.is_empty());
    let whole = {
        let record = Arc::clone(&record);
        let is_shown = is_apart && !record.strip.is_empty();
        move || {
            let is_shown = is_shown && reading.strips.with(Option::is_some);
            is_shown.then(|| {
                view! { <div class="whole-strip">{whole_strip(Arc::clone(&record), tokens)}</div> }
            })
        }
    };
    let open_panel = move |_| {
        tokens.panel.set(TOKENS);
        browser::element::scroll_to_id("frame-pane");
    };
    let toggle = move |_| {
        let strips = (!reading.strips.with_untracked(Option::is_some)).then(|| tokens.strips());
        reading.strips.set(strips);
    };
    let name = move || match tokenizer::given() {
        Some(given) => format!("Tokenizer: {}.", given.name),
        None => "No tokenizer: ids only.".to_owned(),
    };
    let has_tokenizer = move || tokenizer::given().is_some();
    let undivided = (!record.is_divided && !is_apart).then(|| {
        view! {
            <p class="help">
                {"The loss mask has not one run for each turn, so the tokens are not divided \
                  among the messages."}
            </p>
        }
    });
    let reconstructed = record.is_reconstructed.then(|| {
        view! {
            <p class="help">
                {"These tokens were made from the text, with another tokenizer than the model's."}
            </p>
        }
    });
    let error = move || {
        let reason = tokens.error.get()?;
        Some(view! {
            <p class="error" role="alert">
                {inert(&reason)}
            </p>
        })
    };
    view! {
        <div class="token-bar" role="group" aria-label="Tokens">
            <button
                type="button"
                class="quiet small switch"
                aria-pressed=move || is_shown().to_string()
                title="Show or hide the tokens of each message"
                on:click=toggle
            >
                {"Tokens"}
            </button>
            <span class="token-counts">{counts}</span>
            {colours}
            <button type="button" class="quiet small" on:click=open_panel>
                {"Checks and charts"}
            </button>
            <span class="faint" role="status">
                {move || inert(&name())}
            </span>
            <button type="button" class="quiet small" on:click=move |_| tokens.take_file()>
                {"Open a tokenizer file"}
            </button>
            <Show when=has_tokenizer>
                <button
                    type="button"
                    class="quiet small"
                    on:click=move |_| spawn(tokenizer::forget())
                >
                    {"Remove the tokenizer"}
                </button>
            </Show>
            {unknown}
            {misfits}
            {undivided}
            {reconstructed}
            {error}
        </div>
        {whole}
    }
}

/// The choice of the stream that colours the tokens, with its legend.
#[component]
fn Colours(tokens: Tokens, names: Vec<Text>) -> impl IntoView {
    let options = names.into_iter().map(|name| {
        let value = name.to_string();
        let is_chosen = {
            let value = value.clone();
            move || tokens.stream.with(|chosen| *chosen == value)
        };
        view! {
            <option value=value.clone() selected=is_chosen>
                {inert(&value)}
            </option>
        }
    });
    let options = options.collect_view();
    let is_mask = move || tokens.stream.with(String::is_empty);
    let chosen = move |event| tokens.stream.set(event_target_value(&event));
    view! {
        <label class="token-colours">
            {"Colour by"}
            <select on:change=chosen>
                <option value="" selected=is_mask>
                    {"loss mask"}
                </option>
                {options}
            </select>
        </label>
        {move || tokens.scale.get().map(|scale| legend(&scale))}
        <Show when=move || tokens.scale.with(Option::is_some)>
            <PinButton tokens/>
        </Show>
    }
}

/// Keeps the range of the scale for other episodes.
#[component]
fn PinButton(tokens: Tokens) -> impl IntoView {
    let is_pinned = move || {
        let name = tokens.stream.get();
        pins().range(&name).is_some()
    };
    let toggle = move |_| {
        let scale = tokens.scale.get_untracked();
        if let Some(scale) = scale {
            let range = (!untrack(is_pinned)).then_some((scale.low, scale.high));
            pin(&scale.name, range);
        }
    };
    view! {
        <button
            type="button"
            class="quiet small switch"
            aria-pressed=move || is_pinned().to_string()
            title="Use this scale for other episodes, too"
            on:click=toggle
        >
            {"Pin scale"}
        </button>
    }
}

fn legend(scale: &Scale) -> AnyView {
    let (shades, low, high) = scale.legend();
    let swatches = shades.into_iter().map(|shade: Shade| {
        view! { <span class=format!("swatch {}", shade.class())></span> }
    });
    let swatches = swatches.collect_view();
    let name = format!("Scale of {}: {low} to {high}", scale.name);
    view! {
        <span class="token-legend" role="img" aria-label=name>
            <span class="end">{inert(&low)}</span>
            {swatches}
            <span class="end">{inert(&high)}</span>
        </span>
        <span class="faint">{inert(&scale.words)}</span>
    }
    .into_any()
}
