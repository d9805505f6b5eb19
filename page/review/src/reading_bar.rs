//! Display options of the transcript: which messages are collapsed, and whether Markdown is rendered.

use leptos::prelude::*;

use volary_ui::transcript::reading::{ContentKind, ReadingOptions};

/// The toolbar above the transcript.
#[component]
pub(super) fn ReadingBar(
    reading: ReadingOptions,
    /// Content between the switches of messages and the switch of Markdown.
    children: Children,
) -> impl IntoView {
    let switch = move |label: &'static str, title: &'static str, kind: ContentKind| {
        let is_open = move || (!reading.folded.get().has(kind)).to_string();
        let toggle = move |_| {
            let folded = reading.folded.get_untracked().has(kind);
            reading.fold(kind, !folded);
        };
        view! {
            <button
                type="button"
                class="quiet small switch"
                aria-pressed=is_open
                title=title
                on:click=toggle
            >
                {label}
            </button>
        }
    };
    let formatted = reading.formatted;
    view! {
        <div class="reading-bar" role="group" aria-label="Show">
            <span class="faint" aria-hidden="true">
                {"Show"}
            </span>
            {switch(
                "Messages",
                "Show full messages or collapse them to one line each",
                ContentKind::Messages,
            )}
            {switch(
                "Tools",
                "Show full calls and results or collapse them to one line each",
                ContentKind::Tools,
            )}
            {switch("Reasoning", "Show or hide the model's reasoning", ContentKind::Reasoning)}
            {children()}
            <button
                type="button"
                class="quiet small switch setting formatted"
                aria-pressed=move || formatted.get().to_string()
                title="Render Markdown or show plain text"
                on:click=move |_| formatted.update(|formatted| *formatted = !*formatted)
            >
                {"Markdown"}
            </button>
        </div>
    }
}
