//! An episode or a task within a lesson: the transcript, navigation through its steps, and the tools.

use std::sync::Arc;
use std::time::Duration;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_agent::{Limits, Oracle, Student};
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_episode::Recipe;
use volary_lesson::{Play, Problem, Recording};

use super::player::EpisodePlayer;
use volary_browser::{self as browser, timers};
use volary_playground::entries;
use volary_playground::frame_pane::{EpisodeSignals, FrameAndTree};
use volary_playground::hidden_members::marked;
use volary_playground::state::{Playground, use_playground};
use volary_ui::text::inert;
use volary_ui::{DisclosureButton, EpisodeStatus, SchemaForm, Transcript};
use volary_view::hidden_answer::may_show_answer;
use volary_view::plain_words::{plain_fields, plain_tool};

/// The time that a transcript takes to measure its steps.
const SETTLING: Duration = Duration::from_millis(200);

/// An episode to read, or a task that the reader starts to play by a click.
#[component]
pub fn PlayView(
    play: Arc<Play>,
    player: EpisodePlayer,
    /// Actions that the reader took in a task before; they are repeated, and the reader continues after them.
    #[prop(optional)]
    resume: Vec<AnyMessage>,
) -> impl IntoView {
    let playground = use_playground();
    let title = match play.title.as_str() {
        "" => play.id.clone(),
        title => title.to_owned(),
    };
    let name = StoredValue::new(title.clone());
    let is_playable = play.is_playable;
    let is_fresh = is_playable && play.recorded().is_empty();
    // Whether the reader may act, and whether an episode is shown.
    let is_resumed = !resume.is_empty();
    let is_playing = RwSignal::new(is_resumed);
    let play = StoredValue::new(play);
    let open_with = move |actions| open(playground, &play.get_value(), player, actions);
    let open = move || open_with(play.with_value(|play| play.recorded()));
    let resume = StoredValue::new(resume);
    let is_opened = StoredValue::new(false);
    Effect::new(move |_| {
        // Show a recorded episode as soon as the environments are loaded.
        let is_awaited = !is_fresh || is_resumed;
        if playground.can_play() && is_awaited && !is_opened.get_value() {
            is_opened.set_value(true);
            if is_resumed {
                open_with(resume.get_value())
            } else {
                open()
            }
        }
    });
    let begin = move |_| {
        is_playing.set(true);
        if is_fresh {
            open();
        }
    };
    let has_begun = Memo::new(move |_| player.edition.get() > 0);
    let action = if is_fresh {
        "Start"
    } else {
        "Continue from here"
    };
    let is_offered = move || is_playable && !is_playing.get() && playground.can_play();
    view! {
        <section class="lesson-play" aria-label=title.clone()>
            <div class="lesson-play-head">
                <p class="lesson-play-title" dir="auto">
                    {inert(&title)}
                </p>
                <Show when=move || has_begun.get()>
                    <EpisodeStatus episode=player.episode edition=player.edition/>
                </Show>
            </div>
            <Show when=move || has_begun.get()>
                <Transcript
                    episode=player.episode
                    edition=player.edition
                    selected=player.selected
                />
                <Steps player/>
                <StateFold player may_undo=is_playing/>
            </Show>
            <Show when=move || is_fresh && !has_begun.get()>
                <p class="print-only">
                    {"A task to play: open the lesson in a browser, at the address above."}
                </p>
            </Show>
            <Show when=is_offered>
                <div class="button-row">
                    <button type="button" class="primary" on:click=begin>
                        {action}
                    </button>
                </div>
            </Show>
            <Show when=move || is_playing.get() && has_begun.get()>
                <Tools player title=name.get_value()/>
                <Controls player start_over=Callback::new(move |()| open())/>
            </Show>
            <p class="lesson-problem" role="status">
                {move || player.problem.get()}
            </p>
        </section>
    }
}

/// Opens a play and repeats actions.
fn open(playground: Playground, play: &Arc<Play>, player: EpisodePlayer, actions: Vec<AnyMessage>) {
    let play = Arc::clone(play);
    browser::spawn(async move {
        open_play(playground, &play, player, actions).await;
        // Repeat it after the transcript has measured the heights of its steps.
        timers::sleep(SETTLING).await;
        if !play.is_playable && player.selected.try_get_untracked() == Some(0) {
            player.selected.set(0);
        }
    });
}

/// Opens a play and repeats actions. Resolves when it is shown.
pub(super) async fn open_play(
    playground: Playground,
    play: &Play,
    player: EpisodePlayer,
    actions: Vec<AnyMessage>,
) {
    let recipe: Result<Recipe, Problem> = playground.registry().with_value(|registry| {
        let sources = playground.setup().sources;
        sources.with_untracked(|sources| play.recipe(registry, sources))
    });
    let recipe = match recipe {
        Ok(recipe) => recipe,
        Err(problem) => return player.problem.set(Some(problem.to_string())),
    };
    let oracle = untrack(|| entries::entry(playground, &recipe.environment));
    let oracle = oracle.and_then(|entry| Oracle::new(&entry).ok());
    let name = Text::from(play.id.as_str());
    player.open(recipe, actions, name).await;
    if player.episode.is_disposed() {
        return;
    }
    if let Recording::Student { fault, seed, steps } = play.recording {
        let student = Student::new(fault, seed, oracle);
        player.watch(student, Limits { max_steps: steps }).await;
    }
    // A recorded episode is read from its beginning.
    if !play.is_playable && !player.selected.is_disposed() {
        player.selected.set(0);
    }
}

/// Buttons that move through the steps.
#[component]
pub(crate) fn Steps(player: EpisodePlayer) -> impl IntoView {
    let last = Memo::new(move |_| player.episode.with(|episode| episode.steps.len()));
    let go = move |step: usize| player.selected.set(step.min(last.get_untracked()));
    let place = move || match (player.selected.get(), last.get()) {
        (0, 0) => "Start, no step yet".to_owned(),
        (0, last) => format!("Start, before step 1 of {last}"),
        (step, last) => format!("Step {step} of {last}"),
    };
    // A button that cannot be pressed is marked as disabled and does nothing; a disabled one would lose the focus.
    view! {
        <div class="lesson-steps" role="group" aria-label="Steps">
            <button
                type="button"
                class="small"
                aria-disabled=move || (player.selected.get() == 0).to_string()
                on:click=move |_| go(player.selected.get_untracked().saturating_sub(1))
            >
                {"Previous step"}
            </button>
            <span aria-live="polite">{place}</span>
            <button
                type="button"
                class="small"
                aria-disabled=move || (player.selected.get() >= last.get()).to_string()
                on:click=move |_| go(player.selected.get_untracked() + 1)
            >
                {"Next step"}
            </button>
        </div>
    }
}

/// The state of the environment at the selected step, collapsed.
#[component]
pub(crate) fn StateFold(
    player: EpisodePlayer,
    /// Whether the reader may take steps back.
    #[prop(into)]
    may_undo: Signal<bool>,
) -> impl IntoView {
    let playground = use_playground();
    let is_open = RwSignal::new(false);
    // Members that the configuration hides stay hidden while the reader may still find them.
    let hidden = Signal::derive(move || {
        player.episode.with(|episode| {
            let environment = episode.recipe.as_ref().map(|recipe| &recipe.environment);
            let entry = environment.and_then(|name| entries::entry(playground, name));
            match entry.filter(|_| !may_show_answer(episode, may_undo.get())) {
                Some(entry) => marked(&(entry.configuration)()),
                None => Vec::new(),
            }
        })
    });
    let shown = EpisodeSignals {
        episode: player.episode.into(),
        edition: player.edition,
        selected: player.selected,
        path: RwSignal::default(),
    };
    view! {
        <div class="lesson-state">
            <DisclosureButton is_open name="State of the environment"/>
            <Show when=move || is_open.get()>
                <div class="lesson-frame">
                    <FrameAndTree playground shown hidden place="lesson-frame"/>
                </div>
            </Show>
        </div>
    }
}

/// The tools, and the form of the chosen one.
#[component]
pub(crate) fn Tools(
    player: EpisodePlayer,
    /// The title of the task.
    title: String,
) -> impl IntoView {
    let tools = Memo::new(move |_| {
        player.edition.track();
        player.episode.with(|episode| {
            let tools = episode.tools.iter();
            tools
                .map(|tool| (tool.info.name.clone(), tool.info.description.clone()))
                .collect::<Vec<_>>()
        })
    });
    let name = Memo::new(move |_| player.tool.get().map(|name| name.to_string()));
    let button = move |tool: &Text, description: &Text| {
        let (shown, choice, chosen) = (tool.to_string(), tool.clone(), tool.to_string());
        let is_chosen = move || name.with(|name| name.as_deref() == Some(&*chosen));
        view! {
            <button
                type="button"
                class="tool-button"
                aria-pressed=move || is_chosen().to_string()
                title=description.to_string()
                on:click=move |_| player.choose_tool(&choice)
            >
                {shown}
            </button>
        }
    };
    let buttons = move || {
        tools.with(|tools| {
            let tools = tools.iter();
            tools
                .map(|(name, description)| button(name, description))
                .collect_view()
        })
    };
    let help = move || {
        let name = name.get()?;
        tools.with(|tools| {
            let (tool, description) = tools.iter().find(|(tool, _)| **tool == *name)?;
            let plain = player.with_environment(|environment| plain_tool(environment, tool));
            let first_line = || description.lines().next().unwrap_or_default();
            Some(plain.unwrap_or_else(first_line).to_owned())
        })
    };
    let prefix = format!("lesson-{}", browser::random_number());
    let fields = move || {
        let Some(name) = name.get() else {
            return view! { <p class="help">{"Choose a tool."}</p> }.into_any();
        };
        let plain = player.with_environment(|environment| plain_fields(environment, &name));
        view! {
            <SchemaForm form=player.form id_prefix=prefix.clone() plain/>
            <div class="button-row">
                <button type="submit" class="primary">
                    {"Send"}
                </button>
            </div>
        }
        .into_any()
    };
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        if player.is_busy.get_untracked() {
            return;
        }
        if let Some(action) = player.made_action() {
            browser::spawn(async move {
                player.take_action(action).await;
                if !player.form.is_disposed() {
                    player.clear_form();
                }
            });
        }
    };
    view! {
        <form class="lesson-tools" aria-label=format!("Action in {title}") novalidate on:submit=send>
            <div class="button-row" role="group" aria-label="Tools">
                {buttons}
            </div>
            <p class="help">{help}</p>
            {fields}
        </form>
    }
}

#[component]
pub(crate) fn Controls(player: EpisodePlayer, start_over: Callback<()>) -> impl IntoView {
    let undo = move |_| {
        let steps = player.episode.with_untracked(|episode| episode.steps.len());
        if let Some(before) = steps.checked_sub(1) {
            browser::spawn(player.go_back(before));
        }
    };
    view! {
        <div class="button-row">
            <button type="button" class="quiet small" on:click=undo>
                {"Undo"}
            </button>
            <button type="button" class="quiet small" on:click=move |_| start_over.run(())>
                {"Start over"}
            </button>
        </div>
    }
}
