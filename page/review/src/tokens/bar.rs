//! The toolbar above a transcript with tokens: counts, the stream that colours them, the tokenizer, and a switch for the
//! strips.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::tokens::is_of_other_model;
use volary_core::json::Text;
use volary_episode::token_record::TokenRecord;
use volary_view::token_shades::Scale;
use volary_view::token_words::{counts_in_words, is_apart, remarks};

use super::Tokens;
use super::pins::{pin, pins};
use super::strip::whole_strip;
use super::vocabulary::Texts;
use volary_browser as browser;
use volary_browser::files::pick;
use volary_browser::spawn;
use volary_connections::tokenizer;
use volary_ui::text::inert;
use volary_ui::transcript::reading::ReadingOptions;
use volary_view::review::side_panels::TOKENS;

/// The toolbar, or why the tokens can't be shown.
#[component]
pub(crate) fn TokenBar(tokens: Tokens, reading: ReadingOptions) -> impl IntoView {
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
    // Why a tokenizer file was rejected.
    let error = RwSignal::new(None::<String>);
    let counts = counts_in_words(record.counts());
    let names = record.stream_names();
    let colours = (!names.is_empty()).then(|| view! { <Colours tokens names/> });
    let is_shown = move || reading.strips.with(Option::is_some);
    let whole = {
        let record = Arc::clone(&record);
        let is_shown = is_apart(&record) && !record.strip.is_empty();
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
        let strips = (!untrack(is_shown)).then(|| tokens.strips());
        reading.strips.set(strips);
    };
    let remarks = remarks(&record).into_iter();
    let remarks = remarks.map(|remark| view! { <p class="help">{inert(&remark)}</p> });
    let remarks = remarks.collect_view();
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
            <TokenizerChoice tokens error/>
            {remarks}
            {move || {
                let reason = error.get()?;
                Some(view! {
                    <p class="error" role="alert">
                        {inert(&reason)}
                    </p>
                })
            }}
        </div>
        {whole}
    }
}

/// The tokenizer that gives tokens their texts. The user opens its file here.
#[component]
fn TokenizerChoice(
    tokens: Tokens,
    /// Set to the reason why a file was rejected.
    error: RwSignal<Option<String>>,
) -> impl IntoView {
    let is_other = Memo::new(move |_| {
        let (Some(given), Some(record)) = (tokenizer::given(), tokens.known()) else {
            return false;
        };
        tokens
            .episode
            .with_untracked(|episode| is_of_other_model(episode, &record, &Texts(given)))
    });
    let name = move || match tokenizer::given() {
        Some(given) if is_other.get() => format!(
            "Tokenizer: {}. It seems to be another model's: it does not spell the messages.",
            given.name
        ),
        Some(given) => format!("Tokenizer: {}.", given.name),
        None => "No tokenizer: ids only.".to_owned(),
    };
    let open = move |_| {
        pick("", move |files| {
            spawn(async move {
                for file in files {
                    let given = tokenizer::give(&file).await;
                    let given =
                        given.map_err(|reason| format!("{} was not taken. {reason}", file.name));
                    error.try_set(given.err());
                }
            });
        });
    };
    view! {
        <span role="status" class:faint=move || !is_other.get() class:error=move || is_other.get()>
            {move || inert(&name())}
        </span>
        <button type="button" class="quiet small" on:click=open>
            {"Open a tokenizer file"}
        </button>
        <Show when=move || tokenizer::given().is_some()>
            <button type="button" class="quiet small" on:click=move |_| spawn(tokenizer::forget())>
                {"Remove the tokenizer"}
            </button>
        </Show>
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
            class="quiet small switch setting"
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
    let swatches = shades.into_iter().map(|shade| {
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
