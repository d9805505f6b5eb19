//! Which of an episode's scores judge it. Some tools write flags, times and settings of a run next to its grades, and
//! readers keep all of them as scores.
//!
//! Invariants: only the name and the type of the value count, so a column of the table has one kind in all rows. A name with
//! a word for success is always a grade.

use volary_core::json::{Json, Text, float_from_text};
use volary_episode::episode::{Episode, Score};

/// Words for success in the names of grades.
const GRADES: [&str; 20] = [
    "accuracy",
    "completed",
    "correct",
    "correctness",
    "fail",
    "failed",
    "grade",
    "judge",
    "match",
    "pass",
    "passed",
    "quality",
    "rating",
    "resolved",
    "reward",
    "score",
    "solved",
    "success",
    "successful",
    "win",
];

/// Words in the names of times and amounts.
const AMOUNTS: [&str; 19] = [
    "cost",
    "duration",
    "elapsed",
    "index",
    "latency",
    "limit",
    "max",
    "min",
    "ms",
    "seconds",
    "secs",
    "seed",
    "temperature",
    "time",
    "timeout",
    "timestamp",
    "tokens",
    "turns",
    "usd",
];

/// Words in the names of flags and settings.
const FLAGS: [&str; 21] = [
    "audio",
    "auto",
    "cached",
    "debug",
    "disabled",
    "enable",
    "enabled",
    "error",
    "exists",
    "flag",
    "has",
    "invalid",
    "log",
    "logs",
    "masked",
    "retry",
    "skipped",
    "timed",
    "truncated",
    "use",
    "verbose",
];

/// The numeric value of a score: Inspect's letters mean correct, partly correct, incorrect, and no answer; the
/// usual words for true and false are accepted.
pub fn numeric(value: &Json) -> Option<f64> {
    let number = match value {
        Json::Bool(value) => Some(f64::from(u8::from(*value))),
        Json::Text(text) => match &**text {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            word if ["yes", "true"].contains(&&*word.to_lowercase()) => Some(1.0),
            word if ["no", "false"].contains(&&*word.to_lowercase()) => Some(0.0),
            text => float_from_text(text),
        },
        other => other.as_f64(),
    };
    // A sample that could not be scored has NaN.
    number.filter(|number| !number.is_nan())
}

/// The scores that judge an episode.
pub fn grades(episode: &Episode) -> impl Iterator<Item = &Score> {
    episode.scores.iter().filter(|score| is_grade(score))
}

/// Whether a score judges the episode, and is no flag, time or setting.
pub fn is_grade(score: &Score) -> bool {
    // An explanation is given for a judgement only.
    if score.explanation.is_some() {
        return true;
    }
    let words = words(&score.name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let is_other = match &score.value {
        Json::Bool(_) => has(&FLAGS) || has(&AMOUNTS),
        Json::Integer(_) | Json::Float(_) => has(&AMOUNTS),
        _ => false,
    };
    // A judge's answer that could not be read is no grade, although its name has a word for grades.
    !is_other || (has(&GRADES) && !words.iter().any(|word| word == "invalid" || word == "time"))
}

/// The words of a name in lower case: `agentTimedOut` and `agent_timed_out` have the same.
fn words(name: &Text) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(name: &str, value: Json) -> Score {
        Score {
            name: name.into(),
            value,
            ..Score::default()
        }
    }

    #[test]
    fn flags_times_and_settings_do_not_judge() {
        for (name, value) in [
            ("verbose_logs", false.into()),
            ("agent_timed_out", true.into()),
            ("agentTimedOut", true.into()),
            ("patch_exists", true.into()),
            ("auto_review", false.into()),
            ("invalid_judge_response", true.into()),
            ("agent_run_time", 102.5.into()),
            ("eval seconds", 3.into()),
            ("max_turns", 10.into()),
        ] {
            assert!(!is_grade(&score(name, value)), "{name}");
        }
    }

    #[test]
    fn grades_judge() {
        for (name, value) in [
            ("resolved", false.into()),
            ("accuracy", 0.5.into()),
            ("match", "C".into()),
            ("hallucination", true.into()),
            ("helpful", 4.into()),
            ("max_score", 1.0.into()),
            ("timeliness", 0.5.into()),
            ("time", "too slow".into()),
        ] {
            assert!(is_grade(&score(name, value)), "{name}");
        }
        let explained = Score {
            explanation: Some("It took too long.".into()),
            ..score("run_time", 90.into())
        };
        assert!(is_grade(&explained));
    }
}
