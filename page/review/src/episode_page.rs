//! An episode in Review: outline, transcript and side panels, with one shared step selection.

use std::sync::Arc;

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use volary_analysis::task::{says, task};
use volary_app::playground::replay_check::ReplayCheck;
use volary_app::review::episode_search::EpisodeSearch;
use volary_episode::Episode;

use super::actions::{LinkNote, can_go_on, check_python, fork};
use super::forks::Forks;
use super::lanes::{Related, StepLanes};
use super::library_page::BackLink;
use super::marks::keep_marks;
use super::notes::Notes;
use super::notes_panel::LabelLine;
use super::panels::Panels;
use super::progress::Progress;
use super::reading_bar::ReadingBar;
use super::sharing_check::CopyNote;
use super::spots::hit_position_text;
use super::tokens::bar::TokenBar;
use super::tokens::{Tokens, address};
use super::viewer::Viewer;
use volary_browser as browser;
use volary_library_client::LibraryClient;
use volary_playground::second_run::{Code, code_note};
use volary_playground::state::Playground;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::outline::{Badges, outline};
use volary_ui::step_bar::StepBar;
use volary_ui::term::Terms;
use volary_ui::text::inert;
use volary_ui::{EpisodeStatus, Timeline, Transcript};
use volary_view::review::episode_facts::{reason_text, verdict_class};
use volary_view::review::side_panels::RESULT;

#[component]
pub(super) fn EpisodePage(
    client: LibraryClient,
    viewer: Viewer,
    notes: Notes,
    playground: Playground,
    /// The control that opens the next trajectory.
    #[prop(into)]
    sequence: ViewFn,
    /// The action buttons.
    children: Children,
) -> impl IntoView {
    let episode: Signal<Arc<Episode>> = viewer.shown.episode;
    let edition = Memo::new(move |_| viewer.shown.edition.get());
    let selected = viewer.shown.selected;
    let can_fork = Signal::derive(move || episode.with(|episode| can_go_on(playground, episode)));
    keep_marks(viewer, notes);
    let tokens = Tokens::new(episode, viewer.reading, viewer.panel);
    address::keep(tokens, viewer);
    viewer
        .token_jump
        .set_value(Some(Callback::new(move |forward| tokens.jump(forward))));
    view! {
        <div class="review-episode">
            <Bar client viewer sequence>
                {children()}
            </Bar>
            <Rest client viewer/>
            <Forks client viewer/>
            <CheckVerdict viewer playground/>
            <LinkNote client viewer playground/>
            <CopyNote viewer/>
            <div class="review-panes">
                <section class="pane outline-pane" id="outline-pane" aria-label="Outline">
                    <FindBar viewer client/>
                    {outline(episode, edition.into(), selected, badges(viewer, notes))}
                </section>
                <section class="pane transcript-pane" id="transcript-pane" aria-label="Episode">
                    <ReadingBar reading=viewer.reading>
                        <LabelLine viewer notes/>
                    </ReadingBar>
                    <TokenBar tokens reading=viewer.reading/>
                    <Transcript
                        episode
                        edition
                        selected
                        can_rewind=can_fork
                        on_rewind=Callback::new(move |step| fork(viewer, playground, step))
                        reading=viewer.reading
                    />
                </section>
                <Panels viewer notes playground tokens/>
            </div>
        </div>
    }
}

/// The progress of an import, shown if only the beginning of the episode is available.
#[component]
fn Rest(client: LibraryClient, viewer: Viewer) -> impl IntoView {
    let has_begun = move || {
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        client.partial.with(|partial| partial.contains(&id))
    };
    view! {
        <Show when=has_begun>
            <section class="rest-of-episode" aria-label="Remaining steps">
                <p>{"Showing the beginning; the rest is loading."}</p>
                <Progress client/>
            </section>
        </Show>
    }
}

/// The result of a check, shown until it is dismissed.
#[component]
fn CheckVerdict(viewer: Viewer, playground: Playground) -> impl IntoView {
    let on_last = Callback::new(move |()| check_python(playground, viewer, Code::LastVersion));
    move || {
        let checked = viewer.check.with(|check| check.verdict().cloned())?;
        let class = match checked.step {
            None => "check-verdict good",
            Some(_) => "check-verdict bad",
        };
        let go = checked.step.map(|step| {
            view! {
                <button type="button" class="small" on:click=move |_| viewer.select(step)>
                    {"Go there"}
                </button>
            }
        });
        Some(view! {
            <div class=class role="status" aria-label="Check">
                <p dir="auto">{inert(&checked.words)}</p>
                {go}
                {code_note(viewer.shown.episode, on_last)}
                <button
                    type="button"
                    class="quiet small icon-button"
                    on:click=move |_| viewer.check.update(ReplayCheck::dismiss)
                >
                    <NamedIcon glyph=Glyph::Close name="Dismiss check"/>
                </button>
            </div>
        })
    }
}

/// Additional marks of the outline: notes, and the first difference on replay.
fn badges(viewer: Viewer, notes: Notes) -> Signal<Badges> {
    let badges = Memo::new(move |_| {
        let mut badges = Badges::default();
        let id = viewer.shown.episode.with(|episode| episode.id.clone());
        notes.all.with(|all| {
            for note in all.of_episode(&id) {
                if let Some(step) = note.target.step() {
                    badges.noted.insert(step);
                }
            }
        });
        badges.differs = viewer.check.with(|check| check.verdict()?.step);
        badges
    });
    badges.into()
}

#[component]
fn Bar(
    client: LibraryClient,
    viewer: Viewer,
    /// The control that opens the next trajectory.
    sequence: ViewFn,
    /// The action buttons.
    children: Children,
) -> impl IntoView {
    let episode: Signal<Arc<Episode>> = viewer.shown.episode;
    let name = move || {
        episode.with(|episode| match episode.name.trim() {
            "" => inert("Episode"),
            name => inert(name),
        })
    };
    let facts = move || {
        episode.with(|episode| {
            let actor = episode.model.as_ref().or(episode.policy.as_ref());
            let known = [episode.environment(), actor];
            let known: Vec<&str> = known.into_iter().flatten().map(|text| &**text).collect();
            inert(&known.join(" · "))
        })
    };
    let jump = move |label: &'static str, forward: bool| {
        view! {
            <button
                type="button"
                class="quiet small"
                on:click=move |_| {
                    viewer.go_to_mark(forward);
                }
            >
                {label}
            </button>
        }
    };
    // More data of the same steps may arrive with the rest of their file.
    let reading = Memo::new(move |number: Option<&u32>| {
        episode.track();
        number.map_or(0, |number| number.wrapping_add(1))
    });
    view! {
        <section class="episode-bar review-bar" aria-label="Episode and timeline">
            <div class="episode-heading">
                <BackLink/>
                <h1 class="episode-title" dir="auto">
                    {name}
                </h1>
                <p class="episode-facts" dir="auto">
                    {facts}
                </p>
                {sequence.run()}
            </div>
            <div class="status-area">
                <VerdictBadge viewer/>
                <EpisodeStatus episode edition=reading/>
                <Terms place="review-status" terms=&["reward", "done", "truncated"]/>
            </div>
            <div class="play-head">
                <ReasonLine viewer/>
                // On a phone only this stays in sight.
                <div class="play-line">
                    <TaskLine viewer/>
                    <Timeline
                        length=viewer.last
                        selected=viewer.shown.selected
                        playing=viewer.player.playing
                        speed=viewer.player.speed
                    />
                </div>
                <div class="step-bar-row">
                    <div class="step-bars">
                        <StepBar episode selected=viewer.shown.selected/>
                        <StepLanes viewer/>
                    </div>
                    <div class="button-row">
                        {jump("Previous mark", false)}
                        {jump("Next mark", true)}
                    </div>
                </div>
                <Related client viewer/>
            </div>
            // After the task: on a phone, the order of the elements is that of the screen.
            <div class="episode-actions button-row">{children()}</div>
        </section>
    }
}

/// Whether the episode succeeded, if that is known.
#[component]
fn VerdictBadge(viewer: Viewer) -> impl IntoView {
    let verdict = Memo::new(move |_| viewer.result.with(|result| result.verdict));
    move || {
        let verdict = verdict.get()?;
        Some(view! { <span class=verdict_class(verdict)>{verdict.label()}</span> })
    }
}

/// Why it ended so, where the panel **Result** is below the transcript. Opens the panel.
#[component]
fn ReasonLine(viewer: Viewer) -> impl IntoView {
    let reason = Memo::new(move |_| {
        let result = viewer.result.get();
        viewer
            .shown
            .episode
            .with(|episode| reason_text(&result, episode))
    });
    let open = move |_| {
        viewer.panel.set(RESULT);
        browser::element::scroll_to_id("frame-pane");
    };
    move || {
        let reason = reason.get()?;
        Some(view! {
            <button type="button" class="quiet small episode-reason" title="Show the result" on:click=open>
                <span class="task-text" dir="auto">
                    <span class="faint">{"Result: "}</span>
                    {inert(&reason)}
                </span>
            </button>
        })
    }
}

/// What the agent was asked to do, unless the name says all of it. A system prompt often fills the first screen of the transcript.
#[component]
fn TaskLine(viewer: Viewer) -> impl IntoView {
    let task = Memo::new(move |_| {
        viewer.shown.episode.with(|episode| {
            let task = task(episode)?;
            (!says(&episode.name, &task)).then_some(task)
        })
    });
    move || {
        let task = task.get()?;
        let target = task.target();
        let go = move |_| {
            viewer.go_to(&target);
            viewer.linked.set(Some(target.clone()));
        };
        Some(view! {
            <button type="button" class="quiet small episode-task" title="Show in the transcript" on:click=go>
                <span class="task-text" dir="auto">
                    <span class="faint">{"Task: "}</span>
                    {inert(&task.text)}
                </span>
            </button>
        })
    }
}

/// The search field of the episode; Enter goes to the next hit.
#[component]
fn FindBar(viewer: Viewer, client: LibraryClient) -> impl IntoView {
    let pressed = move |event: KeyboardEvent| match &*event.key() {
        "Enter" => {
            event.prevent_default();
            viewer.go_to_hit(!event.shift_key());
        }
        // Some browsers clear the field without an event. Blur it so that the page's shortcuts work next.
        "Escape" if !event.is_composing() => {
            viewer.find(client, String::new());
            browser::element::let_go();
        }
        _ => {}
    };
    let is_wanted = Memo::new(move |_| viewer.search.with(EpisodeSearch::is_wanted));
    let count = move || hit_position_text(viewer.search.with(EpisodeSearch::position));
    let go = move |label: &'static str, forward: bool| {
        view! {
            <button
                type="button"
                class="quiet small"
                disabled=move || viewer.search.with(|search| search.hits().is_empty())
                on:click=move |_| viewer.go_to_hit(forward)
            >
                {label}
            </button>
        }
    };
    view! {
        <div class="find-bar" role="search">
            <input
                type="search"
                id="find-in-episode"
                aria-label="Find in episode"
                placeholder="Find in episode"
                prop:value=move || viewer.search.with(|search| search.words().to_owned())
                on:keydown=pressed
                on:input=move |event| viewer.find(client, event_target_value(&event))
            />
            <Show when=move || is_wanted.get()>
                <div class="find-controls">
                    <span class="faint" role="status">
                        {count}
                    </span>
                    <div class="button-row">{go("Up", false)} {go("Down", true)}</div>
                </div>
            </Show>
        </div>
    }
}

/// Focuses the search field.
pub fn focus_find() {
    browser::element::focus_id("find-in-episode");
}
