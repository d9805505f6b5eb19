//! The embedded view, and its conversation with the surrounding page.

use std::time::Duration;

use leptos::prelude::*;
use volary_app::embed::content::{self, ContentEffect, ContentEvent, EmbedContent, LoadNumber};
use volary_app::embed::message::{EmbedTheme, Load};
use volary_app::embed::notes::{EmbedNotes, Note};
use volary_app::embed::{Arrived, Effect as Then, EmbedConversation, EpisodePosition};
use volary_app::playground::address::last_step;
use volary_core::json::{Json, to_json};

use super::notes::NotesFold;
use crate::learn::opening::{self, linked_step};
use crate::learn::player::{EpisodePlayer, Workbench};
use crate::learn::player_view::{Controls, StateFold, Steps, Tools};
use volary_browser::parent_window::{self, ParentMessage};
use volary_browser::{self as browser, appearance, element, keys, location, timers};
use volary_playground::state::{Playground, use_playground};
use volary_ui::text::inert;
use volary_ui::{EpisodeStatus, Transcript};

/// The time that a transcript takes to measure its steps.
const SETTLING: Duration = Duration::from_millis(200);

/// The maximum length of a reported selection, in characters.
const MOST_SELECTED: usize = 4_000;

/// Signals of the view.
#[derive(Clone, Copy)]
struct Frame {
    playground: Playground,
    player: EpisodePlayer,
    conversation: StoredValue<EmbedConversation>,
    content: RwSignal<EmbedContent>,
    /// The notes on the episode; `None` if the surrounding page keeps none.
    notes: RwSignal<Option<EmbedNotes>>,
}

/// Draws the episode or the task, and starts the conversation with the parent window.
pub fn page() -> AnyView {
    let playground = use_playground();
    let frame = Frame {
        playground,
        player: EpisodePlayer::new(Workbench::new(playground)),
        conversation: StoredValue::new(EmbedConversation::default()),
        content: RwSignal::default(),
        notes: RwSignal::new(None),
    };
    frame.report_moves();
    parent_window::on_message(move |message| frame.handle(message));
    frame.carry_out(frame.conversation.with_value(EmbedConversation::begin));
    let hash = location::hash();
    if hash.len() > 1 {
        frame.load(Load {
            step: linked_step(&hash),
            link: Some(hash.into()),
            ..Load::default()
        });
    }
    keys::on_press(move |press| !press.typing && !press.command && frame.press(&press.key));
    view(frame)
}

impl Frame {
    /// Reports the selected step and the end to the surrounding page.
    fn report_moves(self) {
        let EpisodePlayer {
            episode, selected, ..
        } = self.player;
        let content = self.content;
        let moves = Memo::new(move |_| {
            content.with(|content| (content.is_playing(), content.reports_moves()))
        });
        Effect::new(move |_| {
            let step = selected.get();
            let (is_growing, reports_moves) = moves.get();
            let position = episode.with(|episode| EpisodePosition {
                step,
                steps: episode.steps.len(),
                // JSON has no other numbers.
                reward: episode.reward().filter(|reward| reward.is_finite()),
                ending: episode.ending.clone(),
                is_growing,
            });
            if reports_moves {
                self.converse(|conversation| conversation.moved(&position));
            }
        });
    }

    fn handle(self, message: ParentMessage) {
        let arrived = Arrived {
            is_from_parent: message.is_from_parent,
            origin: message.origin.into(),
            data: message.text.and_then(|text| Json::parse(&text).ok()),
        };
        self.converse(|conversation| conversation.handle(arrived));
    }

    fn converse(self, act: impl FnOnce(&mut EmbedConversation) -> Vec<Then>) {
        let effects = self.conversation.try_update_value(act);
        for effect in effects.into_iter().flatten() {
            self.carry_out(effect);
        }
    }

    fn carry_out(self, effect: Then) {
        match effect {
            Then::Send { origin, message } => {
                // Texts and finite numbers always serialize.
                let message = to_json(&message).unwrap_or_default();
                parent_window::post(&message.to_compact_text(), &origin);
            }
            Then::Load(load) => self.load(load),
            Then::Select(step) => self.select(step),
            Then::Use(theme) => appearance::set_theme(match theme {
                EmbedTheme::Light => Some("light"),
                EmbedTheme::Dark => Some("dark"),
                EmbedTheme::System => None,
            }),
            Then::Annotate(notes) => self.notes.set(Some(notes)),
        }
    }

    fn load(self, load: Load) {
        self.change(ContentEvent::Load(load));
    }

    fn change(self, event: ContentEvent) {
        let effects = self.content.try_update(|content| content.update(event));
        for effect in effects.into_iter().flatten() {
            self.show(effect);
        }
    }

    fn show(self, effect: ContentEffect) {
        let player = self.player;
        match effect {
            ContentEffect::Open { number, load } => browser::spawn(async move {
                if let Err(error) = self.playground.ready().await {
                    let result = Err(error.to_string());
                    return self.change(ContentEvent::Opened { number, result });
                }
                let is_wanted = || self.is_current(number);
                let result = opening::open(self.playground, player, &load, is_wanted).await;
                self.change(ContentEvent::Opened { number, result });
            }),
            ContentEffect::ClearNotes => {
                self.notes
                    .update(|notes| *notes = content::cleared_notes(notes.as_ref()));
            }
            ContentEffect::SelectFirst { number, step } => {
                self.select(step);
                browser::spawn(async move {
                    timers::sleep(SETTLING).await;
                    if self.is_current(number) {
                        self.select(player.selected.get_untracked());
                    }
                });
            }
            ContentEffect::SelectLast => self.select(usize::MAX),
            ContentEffect::ShowProblem(problem) => player.problem.set(problem),
            ContentEffect::ReportLoaded => self.converse(|conversation| {
                let episode = player.episode;
                episode.with_untracked(|episode| conversation.loaded(episode))
            }),
            ContentEffect::ReportFailed(reason) => {
                self.converse(|conversation| conversation.failed(reason));
            }
        }
    }

    fn is_current(self, number: LoadNumber) -> bool {
        self.content
            .with_untracked(|content| content.is_current(number))
    }

    fn select(self, step: usize) {
        let EpisodePlayer {
            episode, selected, ..
        } = self.player;
        let last = episode.with_untracked(|episode| last_step(episode));
        selected.set(step.min(last));
    }

    /// Handles a key. Returns `false` if it has no function here.
    fn press(self, key: &str) -> bool {
        let step = self.player.selected.get_untracked();
        match key {
            "j" | "ArrowRight" => self.select(step + 1),
            "k" | "ArrowLeft" => self.select(step.saturating_sub(1)),
            "g" => self.select(0),
            "G" => self.select(usize::MAX),
            _ => return false,
        }
        true
    }

    /// Reports that the reader wrote a note, or deleted it.
    fn report_note(self, note: Note, deleted: bool) {
        self.converse(|conversation| conversation.noted(note, deleted));
    }

    /// Reports the text that the reader has selected.
    fn report_selection(self) {
        if let Some(text) = element::selected_text() {
            let text: String = text.chars().take(MOST_SELECTED).collect();
            let step = self.player.selected.get_untracked();
            self.converse(|conversation| conversation.selected(step, text.into()));
        }
    }
}

/// The address of the whole page, without the frame's own query, at a place.
fn address_of(here: &str, hash: &str) -> String {
    let page = here.split(['?', '#']).next().unwrap_or_default();
    format!("{page}#{hash}")
}

fn view(frame: Frame) -> AnyView {
    let player = frame.player;
    let content = frame.content;
    let has_begun = Memo::new(move |_| content.with(|content| content.kind().is_some()));
    let is_playing = Memo::new(move |_| content.with(EmbedContent::is_playing));
    let title = Memo::new(move |_| {
        if has_begun.get() {
            player.episode.with(|episode| episode.name.to_string())
        } else {
            "Volary".to_owned()
        }
    });
    let begin = Memo::new(move |_| {
        let is_over = player.episode.with(|episode| episode.is_over());
        content.with(|content| content.begin_label(is_over))
    });
    let has_frames = Memo::new(move |_| player.episode.with(|episode| !episode.frames.is_empty()));
    let keeps_notes = Memo::new(move |_| frame.notes.with(Option::is_some));
    let report = Callback::new(move |(note, deleted)| frame.report_note(note, deleted));
    let hash = Memo::new(move |_| content.with(|content| content.link().map(str::to_owned)));
    let link = move || {
        let address = address_of(&location::address_with(""), &hash.get()?);
        Some(view! {
            <a class="button quiet small" href=address target="_blank" rel="noopener">
                {"Open in Volary"}
            </a>
        })
    };
    view! {
        <main class="embed" aria-label="Episode in Volary">
            <header class="embed-head">
                <h1 dir="auto">{move || inert(&title.get())}</h1>
                <Show when=move || has_begun.get()>
                    <EpisodeStatus episode=player.episode edition=player.edition/>
                </Show>
                {link}
            </header>
            <Show when=move || has_begun.get() fallback=move || waiting(frame)>
                <div class="embed-text" on:pointerup=move |_| frame.report_selection()>
                    <Transcript
                        episode=player.episode
                        edition=player.edition
                        selected=player.selected
                    />
                </div>
                <div class="embed-foot">
                    <Steps player/>
                    <Show when=move || has_frames.get()>
                        <StateFold player may_undo=is_playing/>
                    </Show>
                    <Show when=move || keeps_notes.get()>
                        <NotesFold notes=frame.notes selected=player.selected report/>
                    </Show>
                    {move || {
                        begin
                            .get()
                            .map(|words| {
                                view! {
                                    <button type="button" class="primary" on:click=move |_| frame.change(ContentEvent::Play)>
                                        {words}
                                    </button>
                                }
                            })
                    }}
                </div>
                <Show when=move || is_playing.get()>
                    <div class="embed-tools">
                        <Tools player title=title.get_untracked()/>
                        <Controls player start_over=Callback::new(move |()| frame.change(ContentEvent::StartOver))/>
                    </div>
                </Show>
            </Show>
            <p class="lesson-problem" role="status">
                {move || player.problem.get().map(|problem| inert(&problem))}
            </p>
        </main>
    }
    .into_any()
}

/// What is shown while there is no episode.
fn waiting(frame: Frame) -> AnyView {
    let is_opening = Memo::new(move |_| frame.content.with(EmbedContent::is_opening));
    let words = move || match (is_opening.get(), parent_window::is_framed()) {
        (true, _) => "Opening…",
        (false, _) if frame.player.problem.with(Option::is_some) => "",
        (false, true) => "The surrounding page has not sent an episode yet.",
        (false, false) => {
            "This view is made for frames in other pages. Name an episode after #, or send one as a message."
        }
    };
    view! {
        <div class="embed-text">
            <p class="help">{words}</p>
            <Show when=move || !is_opening.get() && !parent_window::is_framed()>
                <p>
                    <a href="docs/embed.md" target="_blank">
                        {"How to embed an episode"}
                    </a>
                </p>
            </Show>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_page_is_opened_without_the_query_of_the_frame() {
        for here in [
            "https://volary.example/app/?embed=1",
            "https://volary.example/app/?embed=1&theme=dark#/run/counter",
            "https://volary.example/app/#/run/counter?step=1",
            "https://volary.example/app/",
        ] {
            assert_eq!(
                address_of(here, "/run/calculator?step=2"),
                "https://volary.example/app/#/run/calculator?step=2"
            );
        }
    }
}
