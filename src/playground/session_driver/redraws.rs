//! Schedules notifications of the panes: at once where they can keep up, throttled during a run.

use std::task::Waker;
use std::time::Duration;
use volary_app::playground::run::Run;

use leptos::prelude::*;

use crate::browser::{self, timers};
use crate::playground::state::Playground;
use volary_app::playground::redraw::Redraw;
use volary_app::playground::session::Session;

/// A step that takes no longer than this is not shown as in progress.
const SHORT: Duration = Duration::from_millis(100);

/// Notifies the panes, now or in the next frame.
pub(in crate::playground) fn redraw(playground: Playground) {
    let running = playground.policy.run.get_untracked() != Run::Idle;
    let now = timers::now();
    let redraw = playground
        .driver
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
    if playground.policy.run.get_untracked() != Run::Idle {
        return redraw(playground);
    }
    let step = move || {
        let steps = playground
            .episode
            .with_untracked(|episode| episode.steps.len());
        (playground.edition.get_untracked(), steps)
    };
    let begun = step();
    let late = timers::alarm(SHORT, move || {
        if step() == begun && playground.session.with_untracked(Session::is_stepping) {
            redraw(playground);
        }
    });
    playground
        .driver
        .update_value(|driver| driver.late = Some(late));
}

/// Runs in the frame that [`redraw`] scheduled; it may still be too early to notify.
fn redraw_due(playground: Playground) {
    playground
        .driver
        .update_value(|driver| driver.redraws.frame_came());
    redraw(playground);
}

fn notify(playground: Playground) {
    let started = timers::now();
    playground
        .driver
        .update_value(|driver| driver.redraws.begin(started));
    playground.session.notify();
    playground.episode.notify();
    playground.selected.notify();
    if playground.policy.run.get_untracked() == Run::Idle {
        return;
    }
    browser::spawn(async move {
        // This resumes after the notified panes are drawn.
        timers::sleep(Duration::ZERO).await;
        playground
            .driver
            .update_value(|driver| driver.redraws.took(timers::now() - started));
    });
}

/// Wakes the tasks that wait for the current operation.
pub(super) fn wake(playground: Playground) {
    let waiting = playground
        .driver
        .try_update_value(|driver| std::mem::take(&mut driver.waiting));
    waiting.into_iter().flatten().for_each(Waker::wake);
}
