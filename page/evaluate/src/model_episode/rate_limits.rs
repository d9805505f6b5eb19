//! Decides when a request may be sent: rate limits, budget, backoff between attempts, and leaving the page.

use std::rc::Rc;
use std::time::Duration;

use volary_agent::evaluation::Permit;
use volary_agent::evaluation::schedule::PauseReason;
use volary_agent::model::Usage;
use volary_app::evaluation::{Evaluation, Wait};

use super::{Halt, Playing};
use crate::run::OpenRun;
use volary_browser::timers;

/// Waits until a request may be sent.
pub(super) async fn permit(playing: &Playing<'_>) -> Result<Flight, Halt> {
    loop {
        let now = timers::now();
        let (number, policy) = (playing.cell.number, playing.cell.policy);
        let permit = playing
            .run
            .update(|evaluation| evaluation.permit(now, number, policy));
        match permit {
            Permit::Go => {
                return Ok(Flight {
                    run: Rc::clone(playing.run),
                    policy: playing.cell.policy,
                    is_up: true,
                });
            }
            Permit::Wait(seconds) => {
                let why = " to stay within the rate limits.";
                nap(playing, now + seconds, why).await?;
            }
            Permit::Hold if playing.run.with(Evaluation::is_left) => return Err(Halt::Suspended),
            Permit::Hold => {
                // The budget may just have paused the evaluation.
                playing.run.show_soon();
                playing.run.changed().await;
            }
        }
    }
}

/// Waits for a number of seconds and shows the remaining time.
pub(super) async fn wait(playing: &Playing<'_>, seconds: f64, why: &str) -> Result<(), Halt> {
    let until = timers::now() + seconds;
    while timers::now() < until {
        say_wait(playing, until, why);
        timers::sleep(at_most_a_second(until)).await;
        if playing.run.with(Evaluation::is_left) {
            return Err(Halt::Suspended);
        }
    }
    Ok(())
}

/// Waits until a time, but at most for a second, because the limits may change meanwhile.
async fn nap(playing: &Playing<'_>, until: f64, why: &str) -> Result<(), Halt> {
    say_wait(playing, until, why);
    timers::sleep(at_most_a_second(until)).await;
    if playing.run.with(Evaluation::is_left) {
        Err(Halt::Suspended)
    } else {
        Ok(())
    }
}

fn say_wait(playing: &Playing<'_>, until: f64, why: &str) {
    let wait = Wait {
        until,
        why: why.into(),
    };
    let number = playing.cell.number;
    playing
        .run
        .update(|evaluation| evaluation.wait(number, wait));
    playing.run.show_soon();
}

/// Pauses the evaluation. The cell waits until it continues.
pub(super) fn give_back(playing: &Playing<'_>, problem: String) -> Halt {
    playing.run.pause(PauseReason::Problem(problem.into()));
    Halt::Suspended
}

/// The remaining time, at most one second, so that the countdown is updated.
fn at_most_a_second(until: f64) -> Duration {
    let left = (until - timers::now()).clamp(0.001, 1.0);
    Duration::try_from_secs_f64(left).unwrap_or_default()
}

/// A permit for one request in flight. If it is dropped before `landed` is called, the request counts as given up.
pub(super) struct Flight {
    run: Rc<OpenRun>,
    policy: usize,
    is_up: bool,
}

impl Flight {
    /// Records the usage of a response.
    pub(super) fn landed(mut self, usage: Option<&Usage>, cost: Option<f64>) {
        self.is_up = false;
        let (now, policy) = (timers::now(), self.policy);
        self.run
            .update(|evaluation| evaluation.answered(now, policy, usage, cost));
        // Other episodes may have waited for the budget that was reserved for this request.
        self.run.request_ended();
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.is_up {
            let policy = self.policy;
            self.run.update(|evaluation| evaluation.given_up(policy));
            // Other episodes may have waited for the budget that was reserved for this request.
            self.run.request_ended();
        }
    }
}
