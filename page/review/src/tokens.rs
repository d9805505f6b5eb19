//! Tokens in Review: a strip below each message of an episode whose tokens were recorded, and a panel about all of them.
//!
//! - [`strip`]: the strip of a message. [`vocabulary`]: the texts of tokens, which need a tokenizer; without one, ids
//!   are shown.
//! - [`bar`]: the toolbar above the transcript. [`panel`]: the selected token, jumps, checks, charts and the trained
//!   text. [`address`]: the place in the address. [`pins`]: scales that are kept.

pub(super) mod address;
pub(super) mod bar;
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
use volary_analysis::tokens::Extreme;
use volary_episode::Episode;
use volary_episode::token_record::{TokenRecord, TokenRecordError};
use volary_view::token_lines::next_in_ranking;
use volary_view::token_shades::Scale;

use volary_browser::spawn;
use volary_connections::tokenizer;
use volary_ui::transcript::reading::{ReadingOptions, Strips};

use pins::pins;
use strip::strip_of;

/// The clipping range of PPO that most trainers use.
const EPSILON: f64 = 0.2;
/// The difference of log-probabilities from which a token is a mismatch.
const TOLERANCE: f64 = 0.5;

thread_local! {
    /// The stream that was chosen last: the next episode is coloured by it, too.
    static CHOSEN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Whether a limit can be used.
fn is_positive(limit: f64) -> bool {
    limit.is_finite() && limit > 0.0
}

/// The token record of an episode; `None` if it has no tokens.
type Known = Option<Result<Arc<TokenRecord>, TokenRecordError>>;

/// How to go to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reveal {
    /// Scroll to it and focus it.
    Focus,
    /// Scroll to it only.
    Scroll,
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
    wanted: RwSignal<Option<(usize, Reveal)>>,
    /// What the jumps go to.
    extreme: RwSignal<Extreme>,
    ranking: Memo<Arc<Vec<usize>>>,
    /// The index in the ranking of the last jump.
    at: RwSignal<Option<usize>>,
    /// The clipping range ε.
    epsilon: RwSignal<f64>,
    /// The largest difference of log-probabilities that is no mismatch.
    tolerance: RwSignal<f64>,
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
    fn strips(self) -> Strips {
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
        self.reveal(token, Reveal::Focus);
    }

    /// Scrolls to a token and leaves the focus where it is.
    fn show(self, token: usize) {
        self.reveal(token, Reveal::Scroll);
    }

    fn reveal(self, token: usize, how: Reveal) {
        let Some(record) = untrack(|| self.known()) else {
            return;
        };
        if self.reading.strips.with_untracked(Option::is_none) {
            self.reading.strips.set(Some(self.strips()));
        }
        self.head.set(Some(token));
        self.wanted.set(Some((token, how)));
        let part = record.part_of(token);
        if let (Some(part), Some(context)) = (part, self.reading.context.get_untracked()) {
            context.choose(part.step);
            context.mount(part.step, part.message);
        }
    }

    /// Goes to the next or previous token of the chosen ranking. Returns `false` if there is none.
    pub fn jump(self, forward: bool) -> bool {
        let ranking = self.ranking.get_untracked();
        let Some(at) = next_in_ranking(self.at.get_untracked(), ranking.len(), forward) else {
            return false;
        };
        self.at.set(Some(at));
        if let Some(token) = ranking.get(at) {
            self.go(*token);
        }
        true
    }
}
