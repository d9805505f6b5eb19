//! The state of the model policy: its settings, which are stored between visits, and the turn that it is taking.
//! There is one for the life of the page.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser::{self, timers};
use crate::models::Progress;
use crate::projection::form::Form;
use crate::projection::turn::{Stage, Turn};

/// How often a countdown is looked at.
const TICK: Duration = Duration::from_millis(200);

/// Signals of the settings and the current turn.
#[derive(Clone, Copy)]
pub(super) struct ModelState {
    /// The connection, and what it is asked for.
    pub asking: RwSignal<Form>,
    /// Temperature and other sampling options.
    pub sampling: RwSignal<Form>,
    /// When to stop.
    pub limits: RwSignal<Form>,
    /// The turn being taken, or the one that failed last.
    pub turn: RwSignal<Option<Turn>>,
    /// The page's clock in milliseconds; it ticks only during a turn.
    pub clock: RwSignal<f64>,
    /// Whether an update of the panes is already scheduled for the next frame.
    due: StoredValue<bool>,
}

thread_local! {
    // It has its own owner, because the component that asks first may be unmounted.
    static STATE: (Owner, ModelState) = {
        let owner = Owner::new_root(None);
        let state = owner.with(ModelState::new);
        (owner, state)
    };
}

/// The one state of the model policy.
pub(super) fn state() -> ModelState {
    STATE.with(|(_, state)| *state)
}

impl ModelState {
    fn new() -> Self {
        let [asking, sampling, limits] = super::keeping::forms();
        let state = ModelState {
            asking: RwSignal::new(asking),
            sampling: RwSignal::new(sampling),
            limits: RwSignal::new(limits),
            turn: RwSignal::new(None),
            clock: RwSignal::new(0.0),
            due: StoredValue::new(false),
        };
        super::keeping::keep(state);
        state
    }

    /// Shows a turn that begins after `steps` steps. It takes over the exchanges of a failed turn at the same place.
    pub fn begin(self, edition: u32, steps: usize, model: &str) {
        let mut turn = Turn::new(edition, steps + 1, model);
        self.turn.update(|shown| {
            if let Some(failed) = shown.take().filter(|failed| failed.is_at(edition, steps)) {
                turn.exchanges = failed.exchanges;
            }
            *shown = Some(turn);
        });
    }

    /// Something happened on the way to an answer.
    pub fn hear(self, progress: Progress<'_>) {
        match progress {
            Progress::Sending { exchange, .. } => self.change(|turn| {
                turn.begin_try();
                turn.exchanges.push(exchange.clone());
            }),
            Progress::Deltas(deltas) => self.change(|turn| {
                for delta in deltas {
                    turn.take(delta.clone());
                }
            }),
            Progress::Conceded {
                concession,
                exchange,
            } => self.change(|turn| {
                turn.keep(exchange);
                turn.notes.push(concession.explanation().to_owned());
            }),
            Progress::Waiting {
                seconds,
                error,
                exchange,
            } => {
                let until = timers::now() + seconds;
                self.clock.set(timers::now());
                self.change(|turn| {
                    turn.keep(exchange);
                    turn.stage = Stage::Waiting {
                        why: error.to_string(),
                        until,
                    };
                });
                self.count_down(until);
            }
        }
    }

    /// Changes the turn; the panes are told with the next frame.
    pub fn change(self, act: impl FnOnce(&mut Turn)) {
        self.turn.update_untracked(|turn| {
            if let Some(turn) = turn {
                act(turn);
            }
        });
        if !self.due.get_value() {
            self.due.set_value(true);
            timers::next_frame(move || {
                self.due.set_value(false);
                self.turn.notify();
            });
        }
    }

    fn count_down(self, until: f64) {
        browser::spawn(async move {
            let waits = move || {
                self.turn.with_untracked(|turn| {
                    let stage = turn.as_ref().map(|turn| &turn.stage);
                    matches!(stage, Some(Stage::Waiting { until: end, .. }) if *end == until)
                })
            };
            while waits() && timers::now() < until {
                timers::sleep(TICK).await;
                self.clock.set(timers::now());
            }
        });
    }
}
