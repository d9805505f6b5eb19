//! The panel **State**: the frame of the selected step, the history of a selected value, and curves of reward
//! and usage.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trajectory::Episode;
use volary_trajectory::annotations::Target;
use volary_trajectory::diff::DifferenceKind;
use volary_trajectory::history::{Change, StatePath, Walk};

use super::gradually::{Work, gradually};
use super::notes::Notes;
use super::panels::{NOTES, STATE};
use super::viewer::Viewer;
use crate::components::erased::{dynamic, flag, maybe_words, shown as when};
use crate::components::markup::{El, all, button, el, nothing};
use crate::components::reward_curve::measure_curve;
use crate::components::text::inert_in;
use crate::playground::controls::{buttons, help};
use crate::playground::frame_pane::frame_and_tree;
use crate::playground::state::Playground;
use crate::projection::measures::{COST, Measure, REWARD, TOKENS};
use crate::projection::state_path::{of_pointer, words as path_words};
use crate::projection::text::{count_text, plural};

/// The maximum number of changes listed.
const MOST_CHANGES: usize = 60;
/// The number of frames searched per slice.
const WALKED: usize = 16;

/// The panel.
pub fn state_panel(viewer: Viewer, notes: Notes, playground: Playground) -> AnyView {
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
    // Only while the panel is open, because it searches all frames.
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
    all(vec![
        frame_and_tree(playground, shown),
        when(has_frames, move || history(viewer, notes, part, found)),
        curves(viewer),
    ])
}

/// A path into the state, comparable for signals.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part(StatePath);

/// A path and its changes.
type Changes = (Part, Arc<Vec<Change>>);

fn history(
    viewer: Viewer,
    notes: Notes,
    part: Memo<Option<Part>>,
    found: RwSignal<Option<Changes>>,
) -> AnyView {
    let list = dynamic(move || {
        let Some(wanted) = part.get() else {
            return help("Select a row of the tree to see when it changed.").view();
        };
        let known = found.get().filter(|(known, _)| *known == wanted);
        let Some((Part(part), found)) = known else {
            return help("Searching the steps…").view();
        };
        let said = match found.len() {
            0 => "never present".to_owned(),
            1 => "set once, not changed since".to_owned(),
            count => format!("changed at {}", plural(count - 1, "step")),
        };
        let steps = found
            .iter()
            .take(MOST_CHANGES)
            .map(|change| change_button(viewer, *change).view());
        let more = found.len().saturating_sub(MOST_CHANGES);
        let more = (more > 0).then(|| {
            el("span")
                .class("faint")
                .child(format!("and {} more", count_text(more)))
        });
        let about = part.clone();
        let note = move || {
            let frame = viewer.shown.selected.get_untracked();
            notes.begin(Target::State {
                frame,
                part: about.clone(),
            });
            viewer.panel.set(NOTES);
        };
        all(vec![
            el("p")
                .class("history-path")
                .child(inert_in("code", "", &path_words(&part)))
                .child(el("span").class("faint").child(said))
                .view(),
            el("div")
                .class("button-row history-steps")
                .attr("role", "group")
                .attr("aria-label", "Steps with changes")
                .child(steps.collect::<Vec<_>>())
                .child(more)
                .view(),
            buttons([
                go(viewer, found.clone(), "Previous change", false),
                go(viewer, found, "Next change", true),
                button("small").on_click(note).child("Annotate value"),
            ])
            .view(),
        ])
    });
    el("section")
        .class("state-history")
        .attr("aria-label", "History")
        .child(el("h3").child("History"))
        .child(list)
        .view()
}

fn change_button(viewer: Viewer, change: Change) -> El {
    let (class, word) = match change.kind {
        DifferenceKind::Added => ("small added", "added"),
        DifferenceKind::Removed => ("small removed", "removed"),
        DifferenceKind::Changed => ("small", "changed"),
    };
    let step = change.frame;
    let current =
        maybe_words(move || (viewer.shown.selected.get() == step).then(|| "step".to_owned()));
    let label = match step {
        0 => "Start".to_owned(),
        step => count_text(step),
    };
    let sign = match change.kind {
        DifferenceKind::Added => "+",
        DifferenceKind::Removed => "−",
        DifferenceKind::Changed => "",
    };
    button(class)
        .attr("title", word)
        .attr("aria-current", current)
        .on_click(move || viewer.select(step))
        .child(format!("{sign}{label}"))
}

/// Selects the next or previous change.
fn go(viewer: Viewer, found: Arc<Vec<Change>>, label: &'static str, forward: bool) -> El {
    let next = move |from: usize| match forward {
        true => found
            .iter()
            .map(|change| change.frame)
            .find(|frame| *frame > from),
        false => found
            .iter()
            .rev()
            .map(|change| change.frame)
            .find(|frame| *frame < from),
    };
    let none = next.clone();
    button("small")
        .attr(
            "disabled",
            flag(move || none(viewer.shown.selected.get()).is_none()),
        )
        .on_click(move || {
            if let Some(step) = next(viewer.shown.selected.get_untracked()) {
                viewer.select(step);
            }
        })
        .child(label)
}

fn curves(viewer: Viewer) -> AnyView {
    let (episode, selected) = (viewer.shown.episode, viewer.shown.selected);
    let known = |measure: &'static Measure| {
        dynamic(move || {
            let is_known = episode.with(|episode: &Arc<Episode>| (measure.is_known)(episode));
            match is_known {
                true => measure_curve(measure, episode.into(), selected),
                false => nothing(),
            }
        })
    };
    all(vec![known(&REWARD), known(&TOKENS), known(&COST)])
}
