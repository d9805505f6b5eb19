//! The summary of an episode.

use volary_core::json::number::float_text;
use volary_core::quantity::plural;
use volary_episode::{Ending, Episode};

use super::tally::Tally;

#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeSummary {
    /// The sum of the rewards.
    pub reward: String,
    /// The number of steps with its noun.
    pub steps: String,
    /// The cost of its models; `None` if no step reports any usage.
    pub spent: Option<String>,
    /// The state of its ending.
    pub state: EndingState,
}

/// The ending of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndingState {
    /// The episode can continue.
    Open,
    /// The recording has no end. Those of coding agents never have one.
    Unknown,
    /// The environment reported that it is done.
    Done,
    /// The episode was truncated.
    Truncated,
    /// The environment crashed.
    Crashed,
}

impl EndingState {
    /// The CSS class and the word of its badge. An end says nothing about success, so it is neither good nor bad.
    pub fn badge(self) -> (&'static str, &'static str) {
        match self {
            EndingState::Open => ("badge", "in progress"),
            EndingState::Unknown => ("badge", "no end recorded"),
            EndingState::Done => ("badge", "done"),
            EndingState::Truncated => ("badge notice", "truncated"),
            EndingState::Crashed => ("badge bad", "crashed"),
        }
    }
}

/// The CSS class of the badge of an outcome, which a file may name in any way.
pub fn outcome_class(outcome: &str) -> &'static str {
    match outcome {
        // "done" and "submitted" only mean that the episode ended, not how well.
        "success" | "resolved" => "badge good",
        "truncated" => "badge notice",
        "crashed" | "error" => "badge bad",
        _ => "badge",
    }
}

/// Summarizes an episode from its tally, which must include all steps.
pub fn summarize(episode: &Episode, tally: &Tally) -> EpisodeSummary {
    EpisodeSummary {
        reward: tally
            .reward(episode)
            .map_or_else(|| "unknown".to_owned(), reward_text),
        steps: plural(episode.steps.len(), "step"),
        spent: super::asking::total(tally.usage(episode)),
        state: match &episode.ending {
            Ending::Open if episode.source.is_some() => EndingState::Unknown,
            Ending::Open => EndingState::Open,
            Ending::Done => EndingState::Done,
            Ending::Truncated { .. } => EndingState::Truncated,
            Ending::Crashed { .. } => EndingState::Crashed,
        },
    }
}

/// Formats a reward with at most six decimals, which hides rounding errors of sums such as `0.1 + 0.2`.
pub fn reward_text(reward: f64) -> String {
    if !reward.is_finite() || reward.abs() >= 1e15 {
        return float_text(reward);
    }
    let rounded = (reward * 1e6).round() / 1e6;
    if rounded == 0.0 && reward != 0.0 {
        return float_text(reward);
    }
    // Adding zero turns `-0.0` into `0.0`.
    float_text(rounded + 0.0)
}

/// Formats a duration: `under 0.1 ms`, `0.4 ms`, `12 ms`, `1.5 s`, `2 min 5 s`, `3 h 7 min`.
pub fn seconds_text(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return String::new();
    }
    if seconds < 0.000_05 {
        return "under 0.1 ms".to_owned();
    }
    if seconds < 0.001 {
        return format!("{:.1} ms", seconds * 1e3);
    }
    // Each limit is where the number would be rounded up to one of the next unit.
    if seconds < 0.999_5 {
        return format!("{:.0} ms", seconds * 1e3);
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    if whole < 3_600 {
        return format!("{} min {} s", whole / 60, whole % 60);
    }
    let minutes = (seconds / 60.0).round() as u64;
    format!("{} h {} min", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_readable() {
        for (reward, expected) in [
            (0.0, "0.0"),
            (-0.0, "0.0"),
            (1.0, "1.0"),
            (0.1 + 0.2, "0.3"),
            (-0.1, "-0.1"),
            (1e-9, "1e-09"),
            (1e300, "1e+300"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(reward_text(reward), expected);
        }
    }

    #[test]
    fn an_end_is_no_success() {
        let ended = |ending| {
            let episode = Episode {
                ending,
                ..Episode::default()
            };
            summarize(&episode, &Tally::default()).state.badge()
        };
        assert_eq!(ended(Ending::Open), ("badge", "in progress"));
        let imported = Episode {
            source: Some(volary_episode::Source::default()),
            ..Episode::default()
        };
        let badge = summarize(&imported, &Tally::default()).state.badge();
        assert_eq!(badge, ("badge", "no end recorded"));
        assert_eq!(ended(Ending::Done), ("badge", "done"));
        let reason = "A limit.".into();
        assert_eq!(
            ended(Ending::Truncated { reason }),
            ("badge notice", "truncated")
        );
        let message = "It panicked.".into();
        assert_eq!(ended(Ending::Crashed { message }), ("badge bad", "crashed"));
        for outcome in ["done", "submitted", "stop", ""] {
            assert_eq!(outcome_class(outcome), "badge", "{outcome}");
        }
        assert_eq!(outcome_class("resolved"), "badge good");
        assert_eq!(outcome_class("error"), "badge bad");
    }

    #[test]
    fn times_are_readable() {
        for (seconds, expected) in [
            (0.0, "under 0.1 ms"),
            (0.0004, "0.4 ms"),
            (0.012, "12 ms"),
            (0.999_4, "999 ms"),
            (0.999_6, "1.0 s"),
            (1.52, "1.5 s"),
            (59.94, "59.9 s"),
            (59.96, "1 min 0 s"),
            (119.7, "2 min 0 s"),
            (125.0, "2 min 5 s"),
            (3_599.4, "59 min 59 s"),
            (3_600.0, "1 h 0 min"),
            (86_220.0, "23 h 57 min"),
            (-1.0, ""),
            (f64::INFINITY, ""),
            (f64::NAN, ""),
        ] {
            assert_eq!(seconds_text(seconds), expected);
        }
    }

    #[test]
    fn the_state_follows_the_ending() {
        let mut episode = Episode::default();
        let summarize = |episode: &Episode| summarize(episode, &Tally::default());
        assert_eq!(summarize(&episode).state, EndingState::Open);
        assert_eq!(summarize(&episode).steps, "0 steps");
        episode.ending = Ending::Truncated {
            reason: "the limit of 3 steps".into(),
        };
        assert_eq!(summarize(&episode).state, EndingState::Truncated);
    }
}
