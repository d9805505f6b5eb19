//! When the panes hear of changes: at once where they can follow, less often in a run.

use std::task::Waker;
use std::time::Duration;

use leptos::prelude::*;

use crate::browser::{self, timers};
use crate::playground::policy_settings::Run;
use crate::playground::state::Playground;
use volary_app::playground::session::Session;

/// The least time between two notifications, in seconds.
const FRAME: f64 = 0.016;

/// A step that takes no longer is not shown to be under way.
const SHORT: Duration = Duration::from_millis(100);

/// When the panes are told of a change.
enum Told {
    Now,
    NextFrame,
    /// That was arranged before.
    Soon,
}

impl Playground {
    /// Lets the panes know, now or with the next frame.
    pub(in crate::playground) fn tell(self) {
        // In a run, drawing gets a third of the time at most: the rest is for the steps.
        let running = self.drive.run.get_untracked() != Run::Idle;
        let now = timers::now();
        let told = self.engine.try_update_value(|engine| {
            let pace = if running { 3.0 * engine.cost } else { 0.0 };
            if now - engine.notified >= FRAME.max(pace) {
                return Told::Now;
            }
            match std::mem::replace(&mut engine.due, true) {
                true => Told::Soon,
                false => Told::NextFrame,
            }
        });
        match told {
            Some(Told::Now) => self.notify(),
            Some(Told::NextFrame) => timers::next_frame(move || self.tell_due()),
            Some(Told::Soon) | None => {}
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
        self.engine.update_value(|engine| engine.due = false);
        self.tell();
    }

    fn notify(self) {
        let started = timers::now();
        self.engine.update_value(|engine| engine.notified = started);
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
                .update_value(|engine| engine.cost = timers::now() - started);
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
