//! Highlights in the transcript: search hits, annotated passages, and the passage of a link. Their names match
//! `::highlight()` in the style sheet.

use leptos::prelude::*;
use volary_trajectory::annotations::Target;

use super::notes::Notes;
use super::viewer::{Viewer, spot_of, spot_of_finding};
use crate::browser::{text_selection, timers};
use crate::components::transcript::passage;
use crate::projection::highlight::{Spot, holder_id};

/// The maximum number of highlights of one kind: the browser measures each again when the page changes.
const MOST: usize = 400;

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
        viewer.findings.track();
        viewer.at_finding.track();
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
    let at = viewer.at_finding.get();
    let (mut found, mut here) = (Vec::new(), Vec::new());
    viewer.findings.with(|findings| {
        // The findings are sorted.
        let from = findings.partition_point(|finding| finding.place.step < *steps.start());
        let near = findings.iter().enumerate().skip(from);
        let near = near.take_while(|(_, finding)| steps.contains(&finding.place.step));
        for (number, finding) in near.take(MOST) {
            let list = if number == at { &mut here } else { &mut found };
            push(list, spot_of_finding(finding));
        }
    });
    let (mut noted, mut linked) = (Vec::new(), Vec::new());
    viewer.shown.episode.with(|episode| {
        let near = |target: &Target| target.step().is_some_and(|step| steps.contains(&step));
        notes.all.with(|all| {
            let of_episode = all.of_episode(&episode.id);
            let targets = of_episode.iter().map(|note| &note.target);
            for target in targets.filter(|target| near(target)).take(MOST) {
                if let Some(spot) = spot_of(target, episode) {
                    push(&mut noted, spot);
                }
            }
        });
        viewer.linked.with(|target| {
            let spot = target.as_ref().filter(|target| near(target));
            if let Some(spot) = spot.and_then(|target| spot_of(target, episode)) {
                push(&mut linked, spot);
            }
        });
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

fn push(spots: &mut Vec<(String, Spot)>, spot: Spot) {
    if let Some(id) = holder_id(spot.place) {
        spots.push((id, spot));
    }
}
