//! Schedules notifications of the panes: at once where they can keep up, throttled during a run.

use std::time::Duration;
use volary_app::playground::run::Run;

use leptos::prelude::*;

use super::state::Playground;
use volary_app::playground::redraw::Redraw;
use volary_browser::{self as browser, timers};

/// A step that takes no longer than this is not shown as in progress.
const SHORT: Duration = Duration::from_millis(100);

/// Notifies the panes, now or in the next frame.
pub(super) fn redraw(playground: Playground) {
    let running = is_running(playground);
    let now = timers::now();
    let redraw = playground
        .driver()
        .try_update_value(|driver| driver.redraws.request(now, running));
    match redraw {
        Some(Redraw::Now) => notify(playground),
        Some(Redraw::NextFrame) => timers::next_frame(move || redraw_due(playground)),
        Some(Redraw::Scheduled) | None => {}
    }
}

/// Notifies the panes that a step is in progress, if it takes longer than `SHORT`. For most steps they are notified
/// once, at the end: the panes are then drawn once, and the button that was pressed keeps the focus.
pub(super) fn redraw_for_step(playground: Playground) {
    if is_running(playground) {
        return redraw(playground);
    }
    let step = move || playground.with_untracked(|machine| (machine.edition(), machine.steps()));
    let begun = step();
    let late = timers::alarm(SHORT, move || {
        let is_stepping = playground.with_untracked(|machine| machine.session().is_stepping());
        if step() == begun && is_stepping {
            redraw(playground);
        }
    });
    playground
        .driver()
        .update_value(|driver| driver.late = Some(late));
}

/// Runs in the frame that [`redraw`] scheduled; it may still be too early to notify.
fn redraw_due(playground: Playground) {
    playground
        .driver()
        .update_value(|driver| driver.redraws.frame_came());
    redraw(playground);
}

fn notify(playground: Playground) {
    let started = timers::now();
    playground
        .driver()
        .update_value(|driver| driver.redraws.begin(started));
    playground.redrawn().notify();
    playground.selected().notify();
    if !is_running(playground) {
        return;
    }
    browser::spawn(async move {
        // This resumes after the notified panes are drawn.
        timers::sleep(Duration::ZERO).await;
        playground
            .driver()
            .update_value(|driver| driver.redraws.took(timers::now() - started));
    });
}

fn is_running(playground: Playground) -> bool {
    playground.with_untracked(|machine| machine.current_run() != Run::Idle)
}
