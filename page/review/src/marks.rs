//! Highlights in the transcript: search hits, annotated passages, and the passage of a link. Their names match
//! `::highlight()` in the style sheet.

use leptos::prelude::*;

use super::notes::Notes;
use super::spots::{hit_marks, note_marks, target_mark};
use super::viewer::Viewer;
use volary_browser::{text_selection, timers};
use volary_ui::transcript::passage;

/// Keeps the highlights up to date.
pub fn keep_marks(viewer: Viewer, notes: Notes) {
    let apply = move || mark(viewer, notes);
    let waits = StoredValue::new(false);
    let soon = move || {
        if !waits.get_value() {
            waits.set_value(true);
            // The changed content is rendered after two frames.
            timers::next_frame(move || {
                timers::next_frame(move || {
                    waits.try_set_value(false);
                    untrack(apply);
                });
            });
        }
    };
    Effect::new(move |_| {
        if let Some(context) = viewer.reading.context.get() {
            let _ = passage::steps_on_page(context);
        }
        viewer.search.track();
        viewer.linked.track();
        viewer.reading.formatted.track();
        viewer.shown.edition.track();
        notes.all.track();
        soon();
    });
    Effect::new(move |_| {
        if let Some(context) = viewer.reading.context.get() {
            passage::on_layout(context, soon);
        }
    });
}

fn mark(viewer: Viewer, notes: Notes) {
    let Some(context) = viewer.reading.context.get() else {
        return;
    };
    let steps = passage::steps_on_page(context);
    let search = viewer.search;
    let (here, found) = search.with(|search| hit_marks(search.hits(), search.at(), &steps));
    let (noted, linked) = viewer.shown.episode.with(|episode| {
        let noted = notes.all.with(|all| note_marks(all, episode, &steps));
        let linked = viewer.linked.with(|target| {
            let target = target.as_ref()?;
            target_mark(target, episode, &steps)
        });
        (noted, Vec::from_iter(linked))
    });
    for (name, spots) in [
        ("found", found),
        ("found-here", here),
        ("noted", noted),
        ("linked", linked),
    ] {
        text_selection::mark(name, &spots);
    }
}
