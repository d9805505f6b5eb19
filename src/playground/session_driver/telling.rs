//! When the panes hear of changes: at once where they can follow, less often in a run.

use std::task::Waker;
use std::time::Duration;
use volary_app::playground::run::Run;

use leptos::prelude::*;

use crate::browser::{self, timers};
use crate::playground::state::Playground;
use volary_app::playground::redraw::Redraw;
use volary_app::playground::session::Session;

/// A step that takes no longer is not shown to be under way.
const SHORT: Duration = Duration::from_millis(100);

impl Playground {
    /// Lets the panes know, now or with the next frame.
    pub(in crate::playground) fn tell(self) {
        let running = self.drive.run.get_untracked() != Run::Idle;
        let now = timers::now();
        let redraw = self
            .engine
            .try_update_value(|engine| engine.redraws.request(now, running));
        match redraw {
            Some(Redraw::Now) => self.notify(),
            Some(Redraw::NextFrame) => timers::next_frame(move || self.tell_due()),
            Some(Redraw::Scheduled) | None => {}
        }
    }

    /// Lets the panes know that a step is under way, if it takes its time. Of most steps they hear once, when
    /// they are done: so the panes are drawn once, and the button that was pressed keeps the focus.
    pub(super) fn tell_of_step(self) {
        if self.drive.run.get_untracked() != Run::Idle {
            return self.tell();
        }
        let step = move || {
            let steps = self.episode.with_untracked(|episode| episode.steps.len());
            (self.edition.get_untracked(), steps)
        };
        let begun = step();
        let late = timers::alarm(SHORT, move || {
            if step() == begun && self.session.with_untracked(Session::is_stepping) {
                self.tell();
            }
        });
        self.engine.update_value(|engine| engine.late = Some(late));
    }

    /// The frame has come for which [`Playground::tell`] waited; it may still be too early.
    fn tell_due(self) {
        self.engine
            .update_value(|engine| engine.redraws.frame_came());
        self.tell();
    }

    fn notify(self) {
        let started = timers::now();
        self.engine
            .update_value(|engine| engine.redraws.begin(started));
        self.session.notify();
        self.episode.notify();
        self.selected.notify();
        if self.drive.run.get_untracked() == Run::Idle {
            return;
        }
        browser::spawn(async move {
            // What was notified is drawn before this comes back.
            timers::sleep(Duration::ZERO).await;
            self.engine
                .update_value(|engine| engine.redraws.took(timers::now() - started));
        });
    }

    /// Whoever waits for the end of what was under way goes on.
    pub(super) fn wake(self) {
        let waiting = self
            .engine
            .try_update_value(|engine| std::mem::take(&mut engine.waiting));
        waiting.into_iter().flatten().for_each(Waker::wake);
    }
}
