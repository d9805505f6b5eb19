//! A block of the transcript: a step, or a part of a step with very many messages.

use leptos::prelude::*;
use volary_trajectory::{Outcome, Rewards, StepRecord};

use super::message::{FAILURE, message_item};
use super::reader::{CHOOSE, REWIND, Reader, STEP};
use crate::components::erased::{maybe_words, shown, words};
use crate::components::markup::{El, button, el, nothing};
use crate::projection::link::answered_calls;
use crate::projection::summary::{reward_text, seconds_text};
use crate::projection::text::count_text;
use crate::projection::transcript::{Block, estimated_height, message, observations, step_record};

/// Steps estimated to be taller than this, in pixels, get a sticky header. Sticky headers are composited
/// layers, which would be too expensive for all steps.
const LONG: f64 = 240.0;

impl Reader {
    /// Renders a block.
    pub(super) fn block(self, number: usize) -> AnyView {
        let scroll = self.place.scroll;
        let block = scroll.with_value(|scroll| scroll.index().block(number).cloned());
        let Some(block) = block else {
            return nothing();
        };
        let step = block.step;
        let episode = self.episode;
        let height = episode.with_untracked(|episode| estimated_height(episode, &block));
        let long = if height > LONG { " long" } else { "" };
        let is_selected = Memo::new(move |_| self.selected.get() == step);
        let class = words(move || match is_selected.get() {
            true => format!("step selected{long}"),
            false => format!("step{long}"),
        });
        el("section")
            .class(class)
            .attr(STEP, step.to_string())
            .child(block.first.then(|| self.head(step, is_selected)))
            .child(self.messages(&block))
            .child(block.last.then(|| self.foot(step)))
            .view()
    }

    fn messages(self, block: &Block) -> El {
        let step = block.step;
        let items = self.episode.with_untracked(|episode| {
            let record = step_record(episode, step);
            let answered = record
                .map(|record| answered_calls(&record.action, observations(episode, step)))
                .unwrap_or_default();
            let mut items = Vec::with_capacity(block.messages.len());
            for place in block.messages.clone() {
                if let Some(message) = message(episode, step, place) {
                    let record = record.filter(|_| place == 0);
                    items.push(message_item(
                        self,
                        (step, place),
                        message,
                        record,
                        &answered,
                    ));
                }
            }
            if let (true, Some(record), Some(draw)) = (block.last, record, FAILURE.get()) {
                items.extend(draw(self, step, record));
            }
            items
        });
        if step == 0 && items.is_empty() {
            return el("p").class("help").child("No opening message");
        }
        el("ol").class("messages").child(items)
    }

    fn head(self, step: usize, is_selected: Memo<bool>) -> El {
        let known = self.episode.with_untracked(|episode| {
            // If steps have no rewards of their own, theirs is meaningless.
            let is_own = episode.rewards == Rewards::Steps;
            let record = step_record(episode, step)?;
            let reward = record.reward().filter(|_| is_own);
            Some((reward_mark(reward), record.seconds))
        });
        let (reward, seconds) = known.unzip();
        let current = maybe_words(move || is_selected.get().then(|| "step".to_owned()));
        let number = button("step-number")
            .attr("aria-current", current)
            .attr(CHOOSE, true);
        let (name, number) = match step {
            0 => (None, number.child("Start")),
            step => {
                let name = el("span").class("step-name").child("Step");
                (Some(name), number.child(count_text(step)))
            }
        };
        let seconds = seconds.flatten();
        let seconds = seconds.map(|seconds| el("span").class("faint").child(seconds_text(seconds)));
        let facts = el("span").class("step-facts").child(seconds).child(reward);
        el("div")
            .class("step-head")
            .child(name)
            .child(number)
            .child(self.rewind_button(step))
            .child(facts)
    }

    /// Shown at every step except the last, which is the current one. The log hides it if rewinding is
    /// impossible.
    fn rewind_button(self, step: usize) -> Option<AnyView> {
        self.on_rewind?;
        let rewind = move || {
            button("quiet small rewind icon-rewind")
                .attr(REWIND, true)
                .child("Continue from here")
                .view()
        };
        // Steps can only follow the last one.
        let is_last = step >= self.length.get_untracked();
        Some(match is_last {
            true => shown(move || step < self.length.get(), rewind),
            false => rewind(),
        })
    }

    fn foot(self, step: usize) -> Option<El> {
        self.episode
            .with_untracked(|episode| step_record(episode, step).and_then(foot_of))
    }
}

/// A reward: plain if zero, otherwise marked as gain or loss. A step without one gets the same empty element,
/// because adding and removing elements is expensive.
fn reward_mark(reward: Option<f64>) -> El {
    let (class, sign) = match reward {
        Some(reward) if reward > 0.0 => ("reward good", "+"),
        Some(reward) if reward < 0.0 => ("reward bad", ""),
        _ => ("reward", ""),
    };
    let amount = reward.map(|reward| format!("reward {sign}{}", reward_text(reward)));
    el("span").class(class).child(amount.unwrap_or_default())
}

/// How the episode ended, at its last step.
fn foot_of(record: &StepRecord) -> Option<El> {
    let Outcome::Observed {
        done, truncated, ..
    } = record.outcome
    else {
        return None;
    };
    let badge = |class, word| el("span").class(class).child(word);
    (done || truncated).then(|| {
        el("p")
            .class("step-foot")
            .child(done.then(|| badge("badge", "done")))
            .child(truncated.then(|| badge("badge notice", "truncated")))
    })
}
