//! A block of the transcript: a step, or a part of a step with very many messages.

use leptos::prelude::*;
use volary_core::quantity::count_text;
use volary_episode::{Outcome, Rewards, StepRecord};
use volary_view::link::answered_calls;
use volary_view::summary::{reward_text, seconds_text};
use volary_view::transcript::{Block, estimated_height, message, observations, step_record};

use super::context::TranscriptContext;
use super::failure::failure;
use super::message::message_item;
use crate::transient_memo::transient_memo;

/// Steps with an estimated height above this, in pixels, get a sticky header. Sticky headers are composited layers,
/// which would be too expensive for all steps.
const LONG: f64 = 240.0;

/// Renders a block; empty if the episode has no block with this number.
#[component]
pub(super) fn StepBlock(context: TranscriptContext, number: usize) -> impl IntoView {
    let scroll = context.place.scroll;
    let block = scroll.with_value(|scroll| scroll.index().block(number).cloned())?;
    let step = block.step;
    let episode = context.episode;
    let height = episode.with_untracked(|episode| estimated_height(episode, &block));
    let is_selected = transient_memo(move |_| context.selected.get() == step);
    let class = if height > LONG { "step long" } else { "step" };
    let class = move || {
        if is_selected.get() {
            format!("{class} selected")
        } else {
            class.to_owned()
        }
    };
    let foot = block
        .last
        .then(|| episode.with_untracked(|episode| step_record(episode, step).and_then(foot_of)));
    Some(view! {
        <section class=class data-step=step.to_string()>
            {block.first.then(|| view! { <Head context step is_selected/> })}
            {messages(context, &block)}
            {foot}
        </section>
    })
}

fn messages(context: TranscriptContext, block: &Block) -> AnyView {
    let step = block.step;
    let items = context.episode.with_untracked(|episode| {
        let record = step_record(episode, step);
        let answered = record
            .map(|record| answered_calls(&record.action, observations(episode, step)))
            .unwrap_or_default();
        let mut items = Vec::with_capacity(block.messages.len());
        for place in block.messages.clone() {
            if let Some(message) = message(episode, step, place) {
                let record = record.filter(|_| place == 0);
                items.push(message_item(
                    context,
                    (step, place),
                    message,
                    record,
                    &answered,
                ));
            }
        }
        if let Some(record) = record.filter(|_| block.last) {
            items.extend(failure(context, step, record));
        }
        items
    });
    if step == 0 && items.is_empty() {
        return view! { <p class="help">"No opening message"</p> }.into_any();
    }
    view! { <ol class="messages">{items}</ol> }.into_any()
}

#[component]
fn Head(context: TranscriptContext, step: usize, is_selected: Memo<bool>) -> impl IntoView {
    let known = context.episode.with_untracked(|episode| {
        // If rewards are not recorded per step, a step's reward is meaningless.
        let is_own = episode.rewards == Rewards::Steps;
        let record = step_record(episode, step)?;
        let reward = record.reward().filter(|_| is_own);
        Some((reward_mark(reward), record.seconds))
    });
    let (reward, seconds) = known.unzip();
    let seconds = seconds.flatten();
    let seconds =
        seconds.map(|seconds| view! { <span class="faint">{seconds_text(seconds)}</span> });
    let (name, number) = match step {
        0 => (None, "Start".to_owned()),
        step => {
            let name = view! { <span class="step-name">"Step"</span> };
            (Some(name), count_text(step))
        }
    };
    view! {
        <div class="step-head">
            {name}
            <button
                type="button"
                class="step-number"
                aria-current=move || is_selected.get().then_some("step")
                data-choose=""
            >
                {number}
            </button>
            {context.on_rewind.map(|_| view! { <RewindButton context step/> })}
            <span class="step-facts">{seconds} {reward}</span>
        </div>
    }
}

/// Rewinds to a step. Rendered for every step except the last, which is the current one. The log hides it if rewinding
/// is impossible.
#[component]
fn RewindButton(context: TranscriptContext, step: usize) -> impl IntoView {
    let button = || {
        view! {
            <button type="button" class="quiet small rewind icon-rewind" data-rewind="">
                {"Continue from here"}
            </button>
        }
    };
    // New steps are only added after the last one.
    let is_last = step >= context.length.get_untracked();
    if is_last {
        let is_past = transient_memo(move |_| step < context.length.get());
        view! { <Show when=move || is_past.get()>{button()}</Show> }.into_any()
    } else {
        button().into_any()
    }
}

/// A reward: neutral if zero, otherwise marked as gain or loss. A step without a reward gets the same element, empty,
/// because adding and removing elements is expensive.
fn reward_mark(reward: Option<f64>) -> impl IntoView {
    let (class, sign) = match reward {
        Some(reward) if reward > 0.0 => ("reward good", "+"),
        Some(reward) if reward < 0.0 => ("reward bad", ""),
        _ => ("reward", ""),
    };
    let amount = reward.map(|reward| format!("reward {sign}{}", reward_text(reward)));
    view! { <span class=class>{amount.unwrap_or_default()}</span> }
}

/// The ending of the episode, shown at its last step.
fn foot_of(record: &StepRecord) -> Option<impl IntoView + use<>> {
    let Outcome::Observed {
        done, truncated, ..
    } = record.outcome
    else {
        return None;
    };
    let badge = |class: &'static str, word: &'static str| view! { <span class=class>{word}</span> };
    (done || truncated).then(|| {
        view! {
            <p class="step-foot">
                {done.then(|| badge("badge", "done"))}
                {truncated.then(|| badge("badge notice", "truncated"))}
            </p>
        }
    })
}
