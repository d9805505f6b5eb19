//! The hint for a new user: a checklist of three first steps. It disappears when all are checked or when it is
//! dismissed, and does not come back.

use std::sync::Arc;

use leptos::prelude::*;
use volary_core::{AnyMessage, ToolCall};
use volary_episode::Episode;

use super::manual_action;
use super::state::use_playground;
use volary_browser::storage::{self, Keep};
use volary_ui::{Glyph, Icon};

const KEY: &str = "hint-seen";

#[component]
pub(super) fn Hint() -> impl IntoView {
    let playground = use_playground();
    let seen = RwSignal::new(storage::get(Keep::Always, KEY).is_some());
    let acted = Signal::derive(move || {
        playground
            .episode()
            .with(|episode| !episode.steps.is_empty())
    });
    let over = Signal::derive(move || playground.episode().with(|episode| episode.is_over()));
    let typed = Signal::derive(move || {
        let gathered = playground
            .manual()
            .composer
            .with(|composer| !composer.calls().is_empty());
        acted.get() || gathered || manual_action::form_is_touched(playground)
    });
    let dismiss = move |_| {
        storage::set(Keep::Always, KEY, "yes");
        seen.set(true);
    };
    let answers = move || {
        playground
            .setup()
            .environment
            .with(|name| &**name == "calculator")
    };
    let fell = move || over.get() && answers() && playground.episode().with(is_unanswered);
    let last = Signal::derive(move || match answers() {
        _ if fell() => "A failed step ended the episode. Press Undo and try again.",
        true => "Submit your answer to finish the episode and see the reward.",
        false => "Continue until the episode is done. The reward is shown above.",
    });
    Effect::new(move |_| {
        if over.get() && !fell() && !seen.get_untracked() {
            storage::set(Keep::Always, KEY, "yes");
            seen.set(true);
        }
    });
    // Remove the hint once all steps are done.
    let never = Signal::stored(false);
    view! {
        <Show when=move || !seen.get()>
            <aside class="first-steps" aria-label="First steps">
                <ol>
                    <Item
                        done=typed
                        text="Read the task below, choose a tool and fill in its form."
                    />
                    <Item done=acted text="Press Step and read the environment's answer."/>
                    <Item done=never text=last/>
                </ol>
                <button
                    type="button"
                    class="icon-button"
                    aria-label="Dismiss hint"
                    on:click=dismiss
                >
                    <Icon glyph=Glyph::Close/>
                </button>
            </aside>
        </Show>
    }
}

/// Returns whether the last action of a calculator episode submits no answer.
fn is_unanswered(episode: &Arc<Episode>) -> bool {
    let submits = |call: &ToolCall| &*call.function.name == "submit_answer";
    let last = episode.steps.last().map(|step| &step.action);
    !matches!(last, Some(AnyMessage::Request(request)) if request.tool_calls.iter().any(submits))
}

#[component]
fn Item(done: Signal<bool>, #[prop(into)] text: Signal<&'static str>) -> impl IntoView {
    view! {
        <li class=move || if done.get() { "done" } else { "" }>
            <Show when=move || done.get()>
                <Icon glyph=Glyph::Check/>
                <span class="visually-hidden">{"Done: "}</span>
            </Show>
            {text}
        </li>
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::ToolRequestMessage;
    use volary_core::tool::ToolCallFunction;
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    /// An episode whose steps call these tools.
    fn episode(steps: &[&[&str]]) -> Arc<Episode> {
        let step = |names: &&[&str]| {
            let calls = names.iter().map(|name| ToolCall {
                function: ToolCallFunction {
                    name: (*name).into(),
                    ..ToolCallFunction::default()
                },
                ..ToolCall::default()
            });
            let action = ToolRequestMessage {
                tool_calls: calls.collect(),
                ..ToolRequestMessage::default()
            };
            let outcome = Outcome::Observed {
                messages: Vec::new(),
                reward: 0.0,
                done: false,
                truncated: false,
            };
            StepRecord::new(action.into(), outcome)
        };
        Arc::new(Episode {
            steps: steps.iter().map(step).collect(),
            ..Episode::default()
        })
    }

    #[test]
    fn an_answer_must_be_submitted_in_the_last_step() {
        assert!(is_unanswered(&episode(&[])));
        assert!(is_unanswered(&episode(&[&["calculator"]])));
        assert!(is_unanswered(&episode(&[&[]])), "a step without a call");
        assert!(!is_unanswered(&episode(&[&["submit_answer"]])));
        assert!(!is_unanswered(&episode(&[&[
            "calculator",
            "submit_answer"
        ]])));
        assert!(is_unanswered(&episode(&[
            &["submit_answer"],
            &["calculator"]
        ])));
    }
}
