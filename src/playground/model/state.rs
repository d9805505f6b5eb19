//! The model's seat at the table: how it is asked, which is kept between visits, and what it is saying. There is
//! one, for as long as the page lives.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser::{self, timers};
use crate::models::Progress;
use crate::projection::form::Form;
use crate::projection::turn::{Stage, Turn};

/// How often a countdown is looked at.
const TICK: Duration = Duration::from_millis(200);

/// The seat.
#[derive(Clone, Copy)]
pub(super) struct Seat {
    /// Whom to ask, and for what.
    pub asking: RwSignal<Form>,
    /// How the model draws its words.
    pub sampling: RwSignal<Form>,
    /// When to stop.
    pub limits: RwSignal<Form>,
    /// What it is saying, or how its last turn came to nothing.
    pub turn: RwSignal<Option<Turn>>,
    /// The page's clock; ticks while something is waited for.
    pub clock: RwSignal<f64>,
    /// Whether the panes will be told of changes with the next frame.
    due: StoredValue<bool>,
}

thread_local! {
    // Under an owner of its own: whatever part of the page asked first may go, the seat stays.
    static SEAT: (Owner, Seat) = {
        let owner = Owner::new_root(None);
        let seat = owner.with(Seat::new);
        (owner, seat)
    };
}

/// The seat.
pub(super) fn seat() -> Seat {
    SEAT.with(|(_, seat)| *seat)
}

impl Seat {
    fn new() -> Self {
        let [asking, sampling, limits] = super::keeping::forms();
        let seat = Seat {
            asking: RwSignal::new(asking),
            sampling: RwSignal::new(sampling),
            limits: RwSignal::new(limits),
            turn: RwSignal::new(None),
            clock: RwSignal::new(0.0),
            due: StoredValue::new(false),
        };
        super::keeping::keep(seat);
        seat
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
