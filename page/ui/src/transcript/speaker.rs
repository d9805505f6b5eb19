//! The speaker of a message: a role, or the name of a tool.

use leptos::prelude::*;
use volary_core::AnyMessage;
use volary_core::message::ToolResponseMessage;
use volary_view::plain_words::plain_speaker;

use super::context::TranscriptContext;
use crate::text::inert_name;

/// The speaker of a message: its role, or the name of the tool. The task of an environment is called that.
pub(super) fn speaker(context: TranscriptContext, step: usize, message: &AnyMessage) -> AnyView {
    let plain = context
        .episode
        .with_untracked(|episode| plain_speaker(episode, step, message));
    match message {
        AnyMessage::Response(ToolResponseMessage { name, .. }) => view! {
            <MarkedSpeaker class="speaker tool-name" before="tool " name=name.to_string()/>
        }
        .into_any(),
        other => {
            let role = other.role().as_str();
            let term = plain.map(|plain| view! { {plain} " " });
            let class = if plain.is_some() { "term" } else { "" };
            view! {
                <span class="speaker">
                    {term} <span class=class>{role}</span>
                </span>
            }
            .into_any()
        }
    }
}

/// A speaker with a prefix for users who cannot see the styling.
#[component]
pub(super) fn MarkedSpeaker(
    /// The CSS classes.
    class: &'static str,
    /// What a screen reader says before the name.
    before: &'static str,
    #[prop(into)] name: String,
) -> impl IntoView {
    view! {
        <span class=class>
            <span class="visually-hidden">{before}</span>
            <bdi>{inert_name(&name)}</bdi>
        </span>
    }
}
