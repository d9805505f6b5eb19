//! Lessons, and sequences of shared links, as presentations.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::embed::content::OpenedKind;
use volary_app::embed::message::Load;
use volary_app::playground::address::last_step;
use volary_lesson::slides::{Content, Slide, slides};
use volary_lesson::{Lesson, Play};
use volary_view::route::LearnPlace;

use super::check_view::{CheckView, QuestionView};
use super::lesson_progress::LessonProgress;
use super::lesson_view::{Course, prose, token_strip};
use super::opening;
use super::player::{EpisodePlayer, Workbench};
use super::player_view::{Controls, Tools, open_play};
use super::school_view::SchoolBlockView;
use super::sequence::{PastedLinks, begin_words};
use volary_browser::keys::KeyPress;
use volary_browser::{self as browser, location};
use volary_playground::state::{Playground, use_playground};
use volary_ui::CopyButton;
use volary_ui::present::presenter::Presenter;
use volary_ui::present::revealed::Revealed;
use volary_ui::present::{Deck, ShownSlide, SlideSteps};
use volary_ui::text::inert;

/// Whether the lesson is read or presented, as the address says.
#[derive(Clone, Copy)]
pub(super) struct Presentation {
    /// The path of the address.
    path: Memo<String>,
    is_on: Memo<bool>,
    deck: StoredValue<Option<Deck>, LocalStorage>,
}

impl Presentation {
    pub fn new(path: Memo<String>) -> Presentation {
        Presentation {
            path,
            is_on: Memo::new(move |_| path.with(|path| LearnPlace::slide(path).is_some())),
            deck: StoredValue::new_local(None),
        }
    }

    /// Handles a key. Returns `false` if it has no function here.
    pub fn press(self, press: &KeyPress) -> bool {
        let deck = self.deck.get_value().filter(|_| self.is_on.get_untracked());
        // While another lesson is loading, the slides are those of the former one, which are gone.
        let deck = deck.filter(|deck| !deck.at.is_disposed());
        deck.is_some_and(|deck| deck.press(press))
    }

    /// Draws the text to read, or the slides that are made at a position.
    pub fn draw(
        self,
        title: String,
        read: impl Fn(Callback<()>) -> AnyView + Send + 'static,
        make: impl Fn(usize, Callback<()>) -> Deck + Send + 'static,
    ) -> AnyView {
        (move || {
            if !self.is_on.get() {
                self.deck.set_value(None);
                return read(Callback::new(move |()| self.go(Some(1))));
            }
            let slide = self.path.with_untracked(|path| LearnPlace::slide(path));
            let at = slide.unwrap_or(1).saturating_sub(1);
            let deck = make(at, Callback::new(move |()| self.go(None)));
            self.deck.set_value(Some(deck));
            Effect::new(move |_| location::replace(&self.hash(Some(deck.at.get() + 1))));
            view! { <Presenter deck title=title.clone()/> }.into_any()
        })
        .into_any()
    }

    fn go(self, slide: Option<usize>) {
        location::go(&self.hash(slide));
    }

    fn hash(self, slide: Option<usize>) -> String {
        let path = self
            .path
            .with_untracked(|path| LearnPlace::with_slide(path, slide));
        format!("#/learn{path}")
    }
}

/// A form for the links of a sequence.
#[component]
pub(super) fn SequenceForm() -> impl IntoView {
    let text = RwSignal::new(String::new());
    let pasted = Memo::new(move |_| text.with(|text| PastedLinks::read(text)));
    let present = move |event: SubmitEvent| {
        event.prevent_default();
        pasted.with_untracked(|PastedLinks { links, .. }| {
            if !links.is_empty() {
                location::go(&LearnPlace::presenting(links));
            }
        });
    };
    // A link to no slides would present nothing.
    let copied = move || {
        pasted.with_untracked(|PastedLinks { links, .. }| {
            if links.is_empty() {
                String::new()
            } else {
                location::address_with(&LearnPlace::presenting(links))
            }
        })
    };
    view! {
        <form class="lesson" aria-label="Present a sequence" on:submit=present>
            <p>
                <a href="#/learn">{"All lessons"}</a>
            </p>
            <h1>{"Present a sequence"}</h1>
            <p>
                {"Paste links to episodes and tasks, one in each line, as Share in the playground makes them. Each becomes a slide."}
            </p>
            <label for="sequence">{"Links"}</label>
            <textarea
                id="sequence"
                rows="6"
                spellcheck="false"
                placeholder="#/run/calculator?task=easy-02"
                on:input=move |event| text.set(event_target_value(&event))
            ></textarea>
            <p class="help" role="status">
                {move || pasted.with(PastedLinks::count_words)}
            </p>
            <div class="button-row">
                <button type="submit" class="primary">
                    {"Present"}
                </button>
                <CopyButton text=copied label="Copy link"/>
            </div>
        </form>
    }
}

/// An episode or a task on a slide.
#[derive(Clone, Copy)]
struct Stage {
    playground: Playground,
    player: EpisodePlayer,
    /// `None` until it is shown.
    opened: RwSignal<Option<OpenedKind>>,
    /// Whether the presenter acts.
    is_playing: RwSignal<bool>,
    source: StoredValue<Source>,
}

/// Where the episode of a stage comes from.
#[derive(Clone)]
enum Source {
    Play(Arc<Play>),
    Link(Load),
}

impl Stage {
    fn new(playground: Playground, workbench: Workbench, source: Source) -> Stage {
        let stage = Stage {
            playground,
            player: EpisodePlayer::new(workbench),
            opened: RwSignal::new(None),
            is_playing: RwSignal::new(false),
            source: StoredValue::new(source),
        };
        let is_begun = StoredValue::new(false);
        Effect::new(move |_| {
            if playground.can_play() && !is_begun.get_value() {
                is_begun.set_value(true);
                browser::spawn(stage.open());
            }
        });
        stage
    }

    /// Opens the episode at its start.
    async fn open(self) {
        let Stage {
            playground, player, ..
        } = self;
        let opened = match self.source.get_value() {
            Source::Play(play) => {
                open_play(playground, &play, player, play.recorded()).await;
                match (play.is_playable, play.recorded().is_empty()) {
                    (true, true) => OpenedKind::Task,
                    (true, false) => OpenedKind::Replayed,
                    (false, _) => OpenedKind::Recording,
                }
            }
            Source::Link(load) => {
                let is_wanted = || !player.episode.is_disposed();
                match opening::open(playground, player, &load, is_wanted).await {
                    Ok(opened) => opened,
                    Err(reason) => {
                        player.problem.try_set(Some(reason));
                        return;
                    }
                }
            }
        };
        // The presentation may have been left meanwhile.
        if self.opened.try_set(Some(opened)).is_none() {
            player.selected.set(0);
        }
    }

    fn steps(self) -> SlideSteps {
        let EpisodePlayer {
            episode, selected, ..
        } = self.player;
        SlideSteps {
            selected,
            last: Signal::derive(move || episode.with(|episode| last_step(episode))),
        }
    }
}

/// The presentation of a lesson.
pub(super) fn of_lesson(
    lesson: &Lesson,
    key: &str,
    progress: LessonProgress,
    at: usize,
    leave: Callback<()>,
) -> Deck {
    let course = Course::new(key.to_owned(), progress);
    let playground = use_playground();
    let workbench = Workbench::new(playground);
    let stages: HashMap<String, Stage> = lesson
        .plays()
        .map(|play| {
            let source = Source::Play(Arc::new(play.clone()));
            (play.id.clone(), Stage::new(playground, workbench, source))
        })
        .collect();
    let slides = slides(lesson);
    let slides = slides.into_iter().map(|slide| {
        let stage = match &slide.content {
            Content::Play { play, .. } => stages.get(&play.id).copied(),
            Content::Check(check) => stages.get(&check.of).copied(),
            _ => None,
        };
        ShownSlide {
            steps: stage
                .filter(|_| matches!(slide.content, Content::Play { .. }))
                .map(Stage::steps),
            draw: Box::new(move || draw(&slide, course, stage)),
        }
    });
    Deck::new(slides.collect(), at, leave)
}

/// The presentation of episodes and tasks, each named by a shared link.
pub(super) fn of_links(links: &[String], at: usize, leave: Callback<()>) -> Deck {
    let playground = use_playground();
    let workbench = Workbench::new(playground);
    let slides = links.iter().map(|link| {
        let load = Load {
            link: Some(link.as_str().into()),
            ..Load::default()
        };
        let stage = Stage::new(playground, workbench, Source::Link(load));
        let name = stage.player.episode;
        let title = Signal::derive(move || name.with(|episode| episode.name.to_string()));
        ShownSlide {
            steps: Some(stage.steps()),
            draw: Box::new(move || view! { <StageView stage title/> }.into_any()),
        }
    });
    Deck::new(slides.collect(), at, leave)
}

fn draw(slide: &Slide, course: Course, stage: Option<Stage>) -> AnyView {
    let heading = match slide.heading.as_str() {
        "" => None,
        heading => Some(view! {
            <h2 class="presenter-heading" dir="auto">
                {inert(heading)}
            </h2>
        }),
    };
    let player = stage.map(|stage| stage.player);
    let content = match &slide.content {
        Content::Title { title, summary } => view! {
            <div class="presenter-title">
                <h1 dir="auto">{inert(title)}</h1>
                <p dir="auto">{inert(summary)}</p>
            </div>
        }
        .into_any(),
        Content::Text(text) => prose(text),
        Content::Play { play, checks } => {
            let title = Signal::stored(match play.title.as_str() {
                "" => play.id.clone(),
                title => title.to_owned(),
            });
            let checks = checks.iter().cloned();
            let checks = checks.map(|check| view! { <CheckView course check player/> });
            view! {
                {stage.map(|stage| view! { <StageView stage title/> })}
                {checks.collect_view()}
            }
            .into_any()
        }
        Content::Question(question) => {
            view! { <QuestionView course question=question.clone()/> }.into_any()
        }
        Content::Check(check) => {
            view! { <CheckView course check=check.clone() player/> }.into_any()
        }
        Content::Tokens(tokens) => token_strip(tokens),
        Content::School { block, checks } => {
            let shown = checks.iter().cloned();
            let shown = shown.map(|check| view! { <CheckView course check player=None/> });
            view! {
                <SchoolBlockView course block=block.clone() checks=checks.clone()/>
                {shown.collect_view()}
            }
            .into_any()
        }
    };
    view! {
        {heading}
        {content}
    }
    .into_any()
}

/// An episode up to the selected step, and the tools once the presenter acts.
#[component]
fn StageView(stage: Stage, #[prop(into)] title: Signal<String>) -> impl IntoView {
    let player = stage.player;
    let has_begun = Memo::new(move |_| stage.opened.get().is_some());
    let is_at_end = Memo::new(move |_| {
        let last = player.episode.with(|episode| last_step(episode));
        player.selected.get() >= last
    });
    let begin = move || {
        let is_over = player.episode.with(|episode| episode.is_over());
        let (opened, is_playing) = (stage.opened.get(), stage.is_playing.get());
        let words = begin_words(opened, is_playing, is_at_end.get(), is_over)?;
        Some(view! {
            <button type="button" class="primary" on:click=move |_| stage.is_playing.set(true)>
                {words}
            </button>
        })
    };
    let start_over = Callback::new(move |()| browser::spawn(stage.open()));
    view! {
        <section class="presenter-stage" aria-label=title>
            <p class="presenter-name" dir="auto">
                {move || inert(&title.get())}
            </p>
            <Show when=move || has_begun.get()>
                <Revealed
                    episode=player.episode
                    edition=player.edition
                    selected=player.selected
                />
                <div class="button-row">{begin}</div>
            </Show>
            <Show when=move || stage.is_playing.get() && has_begun.get()>
                <Tools player title=title.get_untracked()/>
                <Controls player start_over/>
            </Show>
            <p class="lesson-problem" role="status">
                {move || player.problem.get().map(|problem| inert(&problem))}
            </p>
        </section>
    }
}
