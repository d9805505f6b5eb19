//! The state of the model policy: its settings, which are stored between visits, and its current turn. Each playground
//! has one.

use std::time::Duration;

use leptos::prelude::*;
use volary_view::form::Form;
use volary_view::turn::{Stage, StreamingTurn};

use volary_browser::{self as browser, timers};
use volary_connections::models::RequestProgress;

/// Interval at which a countdown is updated.
const TICK: Duration = Duration::from_millis(200);

/// The settings of the model policy, and its turn.
#[derive(Clone, Copy)]
pub struct ModelState {
    /// The connection and the request options.
    pub asking: RwSignal<Form>,
    /// Temperature and other sampling options.
    pub sampling: RwSignal<Form>,
    /// The limits of a run.
    pub limits: RwSignal<Form>,
    /// The current turn, or the last one that failed.
    pub turn: RwSignal<Option<StreamingTurn>>,
    /// The page's clock in seconds; it ticks only during a turn.
    pub clock: RwSignal<f64>,
    /// Whether an update of the panes is already scheduled for the next frame.
    due: StoredValue<bool>,
}

impl ModelState {
    /// The stored settings, without a turn. The current owner owns it.
    pub(super) fn new() -> Self {
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

    /// Shows a turn that begins after `steps` steps. Exchanges of a failed turn at the same step are carried over.
    pub fn begin(self, edition: u32, steps: usize, model: &str) {
        let mut turn = StreamingTurn::new(edition, steps + 1, model);
        self.turn.update(|shown| {
            if let Some(failed) = shown.take().filter(|failed| failed.is_at(edition, steps)) {
                turn.exchanges = failed.exchanges;
            }
            *shown = Some(turn);
        });
    }

    /// Handles progress of a request.
    pub fn handle(self, progress: RequestProgress<'_>) {
        match progress {
            RequestProgress::Sending { exchange, .. } => self.change(|turn| {
                turn.begin_try();
                turn.exchanges.push(exchange.clone());
            }),
            RequestProgress::Deltas(deltas) => self.change(|turn| {
                for delta in deltas {
                    turn.take(delta.clone());
                }
            }),
            RequestProgress::FellBack { fallback, exchange } => self.change(|turn| {
                turn.keep(exchange);
                turn.notes.push(fallback.explanation().to_owned());
            }),
            RequestProgress::Waiting {
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

    /// Changes the turn; the panes are notified in the next frame.
    pub fn change(self, act: impl FnOnce(&mut StreamingTurn)) {
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
