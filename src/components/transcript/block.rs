//! A block of the transcript: a step, or a part of one that has very many messages.

use leptos::prelude::*;
use volary_trace::{Outcome, StepRecord};

use super::message::message_item;
use super::reader::Reader;
use crate::components::erased::{flag, maybe, pressed, shown};
use crate::components::icon::{Glyph, Icon};
use crate::components::text::inert;
use crate::projection::link::answered_calls;
use crate::projection::summary::{reward_text, seconds_text};
use crate::projection::text::count_text;
use crate::projection::transcript::{Block, message, observations, step_record};
use crate::shell;

impl Reader {
    /// Draws a block.
    pub(super) fn block(self, number: usize) -> AnyView {
        let place = self.place;
        let block = place
            .scroll
            .with_value(|scroll| scroll.index().block(number).cloned());
        let Some(block) = block else {
            return ().into_any();
        };
        let step = block.step;
        let selects = pressed(move |click| {
            if shell::element::plain_click_on(&click, "data-step").is_some() {
                self.choose(step);
            }
        });
        view! {
            <section
                class="step"
                class:selected=flag(move || self.selected.get() == step)
                data-step=step.to_string()
                on:click=selects
            >
                {block.first.then(|| self.head(step))}
                {self.messages(&block)}
                {block.last.then(|| self.foot(step))}
            </section>
        }
        .into_any()
    }

    fn messages(self, block: &Block) -> AnyView {
        let step = block.step;
        self.episode.with_untracked(|episode| {
            let action = step_record(episode, step).map(|record| &record.action);
            let answered = action
                .map(|action| answered_calls(action, observations(episode, step)))
                .unwrap_or_default();
            let items = block
                .messages
                .clone()
                .filter_map(|place| {
                    let message = message(episode, step, place)?;
                    Some(message_item(self, (step, place), message, &answered))
                })
                .collect_view();
            view! { <ol class="messages">{items}</ol> }.into_any()
        })
    }

    fn head(self, step: usize) -> AnyView {
        let known = self.episode.with_untracked(|episode| {
            step_record(episode, step).map(|record| (record.reward(), record.seconds))
        });
        let choose = pressed(move |_| self.choose(step));
        let current = maybe(move || (self.selected.get() == step).then_some("step"));
        let name = match step {
            0 => view! {
                <button type="button" class="step-number" aria-current=current on:click=choose>
                    "Start"
                </button>
            }
            .into_any(),
            step => view! {
                <span class="step-name">"Step"</span>
                <button type="button" class="step-number" aria-current=current on:click=choose>
                    {count_text(step)}
                </button>
            }
            .into_any(),
        };
        let (reward, seconds) = known.unwrap_or_default();
        view! {
            <div class="step-head">
                {name}
                {self.rewind_button(step)}
                <span class="step-facts">
                    {seconds.map(|seconds| view! { <span class="faint">{seconds_text(seconds)}</span> })}
                    {reward.map(reward_mark)}
                </span>
            </div>
        }
        .into_any()
    }

    /// Offered at every step but the last, at which one is already.
    fn rewind_button(self, step: usize) -> AnyView {
        let possible = move || self.can_rewind.get() && step < self.length.get();
        shown(possible, move || {
            let rewind = pressed(move |_| {
                if let Some(on_rewind) = self.on_rewind {
                    on_rewind.run(step);
                }
            });
            view! {
                <button type="button" class="quiet small rewind" on:click=rewind>
                    <Icon glyph=Glyph::Rewind />
                    "Go on from here"
                </button>
            }
            .into_any()
        })
    }

    fn foot(self, step: usize) -> Option<AnyView> {
        self.episode
            .with_untracked(|episode| step_record(episode, step).and_then(foot_of))
    }
}

/// A reward: plain if there is none to speak of, else as a gain or a loss.
fn reward_mark(reward: f64) -> AnyView {
    let (class, sign) = if reward > 0.0 {
        ("reward good", "+")
    } else if reward < 0.0 {
        ("reward bad", "")
    } else {
        ("reward", "")
    };
    view! {
        <span class=class>
            <span class="reward-word">"reward "</span>
            {format!("{sign}{}", reward_text(reward))}
        </span>
    }
    .into_any()
}

fn foot_of(record: &StepRecord) -> Option<AnyView> {
    match &record.outcome {
        Outcome::Observed {
            done, truncated, ..
        } => (*done || *truncated).then(|| {
            view! {
                <p class="step-foot">
                    {done.then(|| view! { <span class="badge good">"done"</span> })}
                    {truncated.then(|| view! { <span class="badge notice">"truncated"</span> })}
                </p>
            }
            .into_any()
        }),
        Outcome::Failed { message } => Some(
            view! {
                <p class="step-foot step-failed">
                    <Icon glyph=Glyph::Warning />
                    <span>
                        <strong>"This step failed. "</strong>
                        <span dir="auto">{inert(message)}</span>
                    </span>
                </p>
            }
            .into_any(),
        ),
    }
}
