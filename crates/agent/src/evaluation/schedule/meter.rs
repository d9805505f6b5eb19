//! Rate limiter of one model: requests and tokens within the last 60 seconds.

use std::collections::VecDeque;

use super::Permit;
use crate::evaluation::plan::Pace;
use crate::model::limits::Spent;

/// The length of the sliding window, in seconds.
const WINDOW: f64 = 60.0;

/// The meter of one model.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    /// Times at which requests were permitted.
    requests: VecDeque<f64>,
    /// Times and token counts of answers.
    tokens: VecDeque<(f64, u64)>,
    in_flight: u64,
    answers: u64,
    /// The total cost of all answers.
    spent: Spent,
}

impl Meter {
    /// Permits a request, or returns when to ask again.
    pub(super) fn permit(&mut self, now: f64, pace: &Pace) -> Permit {
        let old = |time: f64| now - time >= WINDOW;
        while self.requests.front().is_some_and(|time| old(*time)) {
            self.requests.pop_front();
        }
        while self.tokens.front().is_some_and(|(time, _)| old(*time)) {
            self.tokens.pop_front();
        }
        let until = |time: f64| Permit::Wait((WINDOW - (now - time)).clamp(0.001, WINDOW));
        if let Some(limit) = pace.requests_per_minute
            && self.requests.len() as u64 >= limit.max(1)
            && let Some(first) = self.requests.front()
        {
            return until(*first);
        }
        if let Some(limit) = pace.tokens_per_minute {
            let counted: u64 = self.tokens.iter().map(|(_, tokens)| tokens).sum();
            let expected = self.expected().tokens;
            if counted.saturating_add(expected) >= limit.max(1) {
                // With no tokens in the window a single request is permitted, however low the limit: else none ever
                // would be.
                match self.tokens.front() {
                    Some((first, _)) => return until(*first),
                    None if self.in_flight > 0 => return Permit::Hold,
                    None => {}
                }
            }
        }
        self.requests.push_back(now);
        self.in_flight += 1;
        Permit::Go
    }

    /// Records that a request was answered.
    pub(super) fn answered(&mut self, now: f64, spent: &Spent) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.answers += 1;
        self.spent.add(spent);
        self.tokens.push_back((now, spent.tokens));
    }

    /// Records that a request failed.
    pub(super) fn given_up(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The expected cost of the requests in flight, by the average of answered ones; `steps` is their number.
    pub(super) fn expected(&self) -> Spent {
        let each = |total: f64| match self.answers {
            0 => 0.0,
            answers => total / answers as f64 * self.in_flight as f64,
        };
        Spent {
            steps: self.in_flight,
            seconds: 0.0,
            // Rounded up; far below what a float holds exactly.
            tokens: each(self.spent.tokens as f64).ceil() as u64,
            cost: self.spent.cost.map(each),
        }
    }
}
