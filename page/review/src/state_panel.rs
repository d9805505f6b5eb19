//! The **State** panel: the frame of the selected step, the history of a selected value, and curves of reward and
//! usage.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::annotations::Target;
use volary_core::quantity::{count_text, plural};
use volary_episode::Episode;
use volary_episode::diff::DifferenceKind;
use volary_episode::history::{Change, StatePath, Walk};
use volary_view::measures::{COST, REWARD, StepMeasure, TOKENS};
use volary_view::state_path::{of_pointer, words as path_words};

use super::gradually::{Work, gradually};
use super::notes::Notes;
use super::viewer::Viewer;
use volary_playground::frame_pane::FrameAndTree;
use volary_playground::state::Playground;
use volary_ui::reward_curve::measure_curve;
use volary_ui::text::inert;
use volary_view::review::side_panels::{NOTES, STATE};

/// The maximum number of changes listed.
const MOST_CHANGES: usize = 60;
/// The number of frames searched per slice.
const WALKED: usize = 16;

#[component]
pub(super) fn StatePanel(viewer: Viewer, notes: Notes, playground: Playground) -> impl IntoView {
    let shown = viewer.shown;
    let part = Memo::new(move |_| {
        let pointer = shown.path.get();
        let step = shown.selected.get();
        if pointer.is_empty() {
            return None;
        }
        shown.episode.with(|episode| {
            let now = episode.frames.get(step);
            let before = step
                .checked_sub(1)
                .and_then(|step| episode.frames.get(step));
            let frames: Vec<_> = [&now, &before].into_iter().flatten().collect();
            of_pointer(&pointer, &frames).map(Part)
        })
    });
    // Computed only while the panel is open, because it searches all frames.
    let found = gradually(None, move || -> Work<Option<Changes>> {
        let wanted = part.get().filter(|_| viewer.panel.get() == STATE);
        let Some(part) = wanted else {
            return Box::new(|| Some(None));
        };
        let (episode, mut walk) = (shown.episode.get(), Walk::default());
        Box::new(move || {
            let is_done = walk.advance(&episode.frames, &part.0, WALKED);
            is_done.then(|| Some((part.clone(), Arc::new(std::mem::take(&mut walk.found)))))
        })
    });
    let has_frames = move || shown.episode.with(|episode| !episode.frames.is_empty());
    view! {
        <FrameAndTree
            playground
            shown
            hidden=Signal::stored(Vec::new())
            place="review-frame"
        />
        <Show when=has_frames>
            <History viewer notes part found/>
        </Show>
        <Curves viewer/>
    }
}

/// A path into the state, comparable so that signals can deduplicate it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part(StatePath);

/// A path and its changes.
type Changes = (Part, Arc<Vec<Change>>);

/// The list of changes of the selected value.
#[component]
fn History(
    viewer: Viewer,
    notes: Notes,
    part: Memo<Option<Part>>,
    found: RwSignal<Option<Changes>>,
) -> impl IntoView {
    let list = move || {
        let Some(wanted) = part.get() else {
            return view! { <p class="help">"Select a row of the tree to see when it changed."</p> }
                .into_any();
        };
        let known = found.get().filter(|(known, _)| *known == wanted);
        let Some((Part(path), changes)) = known else {
            return view! { <p class="help">"Searching the steps…"</p> }.into_any();
        };
        view! { <ChangeList viewer notes path changes/> }.into_any()
    };
    view! {
        <section class="state-history" aria-label="History">
            <h3>{"History"}</h3>
            {list}
        </section>
    }
}

#[component]
fn ChangeList(
    viewer: Viewer,
    notes: Notes,
    path: StatePath,
    changes: Arc<Vec<Change>>,
) -> impl IntoView {
    let summary = history_text(&changes);
    let steps = changes.iter().take(MOST_CHANGES);
    let steps = steps.map(|change| change_button(viewer, *change));
    let more = changes.len().saturating_sub(MOST_CHANGES);
    let more = (more > 0)
        .then(|| view! { <span class="faint">{format!("and {} more", count_text(more))}</span> });
    let words = path_words(&path);
    let note = move |_| {
        let frame = viewer.shown.selected.get_untracked();
        notes.begin(Target::State {
            frame,
            part: path.clone(),
        });
        viewer.panel.set(NOTES);
    };
    view! {
        <p class="history-path">
            <code dir="auto">{inert(&words)}</code>
            <span class="faint">{summary}</span>
        </p>
        <div class="button-row history-steps" role="group" aria-label="Steps with changes">
            {steps.collect_view()}
            {more}
        </div>
        <div class="button-row">
            {go(viewer, &changes, "Previous change", false)}
            {go(viewer, &changes, "Next change", true)}
            <button type="button" class="small" on:click=note>
                {"Annotate value"}
            </button>
        </div>
    }
}

fn change_button(viewer: Viewer, change: Change) -> impl IntoView {
    let (class, word, sign) = match change.kind {
        DifferenceKind::Added => ("small added", "added", "+"),
        DifferenceKind::Removed => ("small removed", "removed", "−"),
        DifferenceKind::Changed => ("small", "changed", ""),
    };
    let step = change.frame;
    let label = match step {
        0 => "Start".to_owned(),
        step => count_text(step),
    };
    let is_current = move || viewer.shown.selected.get() == step;
    view! {
        <button
            type="button"
            class=class
            title=word
            aria-current=move || is_current().then_some("step")
            on:click=move |_| viewer.select(step)
        >
            {format!("{sign}{label}")}
        </button>
    }
}

/// Describes how often a value changed.
fn history_text(changes: &[Change]) -> String {
    match changes {
        [] => "never present".to_owned(),
        [_] => "set once, not changed since".to_owned(),
        [_, later @ ..] => format!("changed at {}", plural(later.len(), "step")),
    }
}

/// The next or previous step with a change.
fn next_change(changes: &[Change], from: usize, forward: bool) -> Option<usize> {
    let mut frames = changes.iter().map(|change| change.frame);
    if forward {
        frames.find(|frame| *frame > from)
    } else {
        frames.rfind(|frame| *frame < from)
    }
}

/// Selects the next or previous change.
fn go(
    viewer: Viewer,
    changes: &Arc<Vec<Change>>,
    label: &'static str,
    forward: bool,
) -> impl IntoView + use<> {
    let changes = Arc::clone(changes);
    let next = move |from: usize| next_change(&changes, from, forward);
    let none = next.clone();
    view! {
        <button
            type="button"
            class="small"
            disabled=move || none(viewer.shown.selected.get()).is_none()
            on:click=move |_| {
                if let Some(step) = next(viewer.shown.selected.get_untracked()) {
                    viewer.select(step);
                }
            }
        >
            {label}
        </button>
    }
}

#[component]
fn Curves(viewer: Viewer) -> impl IntoView {
    let (episode, selected) = (viewer.shown.episode, viewer.shown.selected);
    let curve = move |measure: &'static StepMeasure| {
        move || {
            let is_known = episode.with(|episode: &Arc<Episode>| (measure.is_known)(episode));
            is_known.then(|| measure_curve(measure, episode, selected))
        }
    };
    view! {
        {curve(&REWARD)}
        {curve(&TOKENS)}
        {curve(&COST)}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(frames: &[usize]) -> Vec<Change> {
        let changes = frames.iter().map(|frame| Change {
            frame: *frame,
            kind: DifferenceKind::Changed,
        });
        changes.collect()
    }

    #[test]
    fn the_first_appearance_is_no_change() {
        assert_eq!(history_text(&[]), "never present");
        assert_eq!(history_text(&changes(&[3])), "set once, not changed since");
        assert_eq!(history_text(&changes(&[0, 3])), "changed at 1 step");
        assert_eq!(history_text(&changes(&[0, 3, 4])), "changed at 2 steps");
    }

    #[test]
    fn changes_are_visited_from_any_step() {
        let changes = changes(&[0, 3, 8]);
        let next = |from| next_change(&changes, from, true);
        let previous = |from| next_change(&changes, from, false);
        assert_eq!(
            [next(0), next(1), next(3), next(8)],
            [Some(3), Some(3), Some(8), None]
        );
        assert_eq!(
            [previous(9), previous(8), previous(2), previous(0)],
            [Some(8), Some(3), Some(0), None]
        );
        assert_eq!(next_change(&[], 0, true), None);
    }
}
