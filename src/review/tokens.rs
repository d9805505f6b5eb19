//! Tokens in Review: a strip below each message of an episode whose tokens were recorded.
//!
//! [`strip`] draws the strip of a message. The text of a token needs a tokenizer; without one, ids are shown.

mod strip;

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::Episode;
use volary_trajectory::token_record::{TokenRecord, TokenRecordError};

use crate::browser::files::pick;
use crate::browser::spawn;
use crate::components::text::inert;
use crate::components::transcript::reading::Reading;
use crate::projection::text::count_text;
use crate::projection::token_shades::{Scale, Shade};
use crate::tokenizer;
use strip::strip_of;

/// The token record of an episode; `None` if it has no tokens.
type Known = Option<Result<Arc<TokenRecord>, TokenRecordError>>;

/// Signals of the tokens of the shown episode.
#[derive(Clone, Copy)]
pub struct Tokens {
    record: Memo<Known>,
    /// The name of the stream that colours the tokens; empty for the loss mask.
    stream: RwSignal<String>,
    /// Its scale, if the episode has the stream.
    scale: Memo<Option<Arc<Scale>>>,
    /// Why a tokenizer file was rejected.
    error: RwSignal<Option<String>>,
}

impl Tokens {
    /// Adds the token strips of an episode to its transcript.
    pub fn new(episode: Signal<Arc<Episode>>, reading: Reading) -> Tokens {
        let record = Memo::new(move |_| episode.with(|episode| TokenRecord::of(episode)));
        let stream = RwSignal::new(String::new());
        let scale = Memo::new(move |_| {
            let name = stream.get();
            record.with(|record| {
                let record = record.as_ref()?.as_ref().ok()?;
                let stream = record.stream(&name)?;
                Scale::of(record, &name, &stream).map(Arc::new)
            })
        });
        let tokens = Tokens {
            record,
            stream,
            scale,
            error: RwSignal::new(None),
        };
        let has_tokens = Memo::new(move |_| record.with(|record| matches!(record, Some(Ok(_)))));
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
            Some(strip_of(record, part, self.scale))
        })
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
pub(super) fn TokenBar(tokens: Tokens, reading: Reading) -> impl IntoView {
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
fn Bar(tokens: Tokens, reading: Reading, record: Arc<TokenRecord>) -> impl IntoView {
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
    let toggle = move |_| {
        let strips = (!reading.strips.with_untracked(Option::is_some)).then(|| tokens.strips());
        reading.strips.set(strips);
    };
    let name = move || match tokenizer::given() {
        Some(given) => format!("Tokenizer: {}.", given.name),
        None => "No tokenizer: ids only.".to_owned(),
    };
    let has_tokenizer = move || tokenizer::given().is_some();
    let undivided = (!record.is_divided).then(|| {
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
