//! The facts about an episode as a whole, for the panels **Details** and **Result**. Pure.

use crate::asking::cost_text;
use crate::library::date_text;
use crate::summary::{reward_text, seconds_text};
use volary_analysis::annotations::Target;
use volary_analysis::result::{EpisodeResult, PatchLine, TaskOutcome};
use volary_analysis::scores::{grades, is_grade};
use volary_core::json::{Json, Text};
use volary_core::quantity::{large_count_text, plural};
use volary_episode::{Ending, Episode, Score, Usage};

/// The facts, as names and values. What is unknown is left out.
pub fn facts(episode: &Episode) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut say = |name, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.push((name, value));
        }
    };
    let text = |text: Option<&Text>| text.map(|text| text.to_string());
    say("Id", Some(episode.id.to_string()));
    say("Environment", text(episode.environment()));
    say(
        "Task",
        episode
            .task()
            .map(|task| format!("{} {}", task.dataset, task.id)),
    );
    say("Policy", text(episode.policy.as_ref()));
    say("Model", text(episode.model.as_ref()));
    let recipe = episode.recipe.as_ref();
    say("Seed", recipe.map(|recipe| recipe.seed.to_string()));
    say("Length", Some(plural(episode.steps.len(), "step")));
    say("Reward", episode.reward().map(reward_text));
    say("Outcome", text(episode.outcome.as_ref()));
    for score in &episode.scores {
        let value = score_text(score);
        let why = score.explanation.as_ref();
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        // Flags, times and settings are no scores, whatever the source calls them.
        let kind = if is_grade(score) { "Score" } else { "Recorded" };
        say(kind, Some(format!("{} {value}{why}", score.name)));
    }
    say("Usage", usage_text(&episode.usage()));
    say("Started", episode.started.map(date_text));
    let steps: f64 = episode.steps.iter().filter_map(|step| step.seconds).sum();
    let seconds = episode.seconds.unwrap_or(steps);
    say("Time", (seconds > 0.0).then(|| seconds_text(seconds)));
    for error in &episode.errors {
        say("Error", Some(error.to_string()));
    }
    for link in &episode.links {
        let step = link.step.map(|step| format!(", from step {}", step + 1));
        let step = step.unwrap_or_default();
        let relation = link.relation.as_str();
        say(
            "Related",
            Some(format!("{relation} {}{step}", link.episode)),
        );
    }
    if let Some(source) = &episode.source {
        let version = source.version.as_deref().unwrap_or_default();
        let parts = [&*source.format, version, &*source.file];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        say("Source", Some(parts.collect::<Vec<_>>().join(", ")));
    }
    facts
}

/// Describes token usage and cost.
fn usage_text(usage: &Usage) -> Option<String> {
    let tokens = |count: Option<u64>, word: &str| {
        count.map(|count| format!("{} {word}", large_count_text(count)))
    };
    let parts = [
        tokens(usage.input, "input tokens"),
        tokens(usage.cached, "cached"),
        tokens(usage.output, "output tokens"),
        tokens(usage.reasoning, "reasoning"),
        usage.cost.map(cost_text),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The value of a score.
pub fn score_text(score: &Score) -> String {
    grade_text(&score.value)
}

/// A grade. The letters of Inspect's scorers are spelled out.
pub fn grade_text(value: &Json) -> String {
    let value = value_text(value);
    match &*value {
        "C" => "correct (C)".to_owned(),
        "P" => "partly correct (P)".to_owned(),
        "I" => "incorrect (I)".to_owned(),
        "N" => "no answer (N)".to_owned(),
        _ => value,
    }
}

/// The CSS class of the badge of a verdict.
pub fn verdict_class(verdict: TaskOutcome) -> &'static str {
    match verdict {
        TaskOutcome::Succeeded => "badge good",
        TaskOutcome::Partial => "badge notice",
        TaskOutcome::Failed => "badge bad",
    }
}

/// The reason of a verdict on one line, for screens that have no room for the panel **Result**: the last error, the limit
/// that was reached, the expected and the given answer, the scores, or what the agent said last.
pub fn reason_text(result: &EpisodeResult, episode: &Episode) -> Option<String> {
    const MOST_SCORES: usize = 3;
    let one_line = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().take(REASON).collect();
        let line = words.join(" ");
        let cut = line.char_indices().nth(REASON).map(|(end, _)| end);
        cut.map_or(line.clone(), |end| format!("{}…", &line[..end]))
    };
    let failed = result.verdict == Some(TaskOutcome::Failed);
    let error = result.last_error.as_ref().filter(|_| failed);
    let error = error.map(|error| match error.line() {
        Some(Target::Passage { quote, .. }) => one_line(&quote),
        _ => one_line(&error.message),
    });
    let why = match &episode.ending {
        Ending::Truncated { reason } => Some(one_line(reason)),
        Ending::Crashed { message } => Some(one_line(message)),
        Ending::Open | Ending::Done => None,
    };
    let compared = match (result.expected.as_slice(), result.given.as_slice()) {
        ([(_, expected)], [(_, given)]) => Some(format!(
            "Expected {}, answered {}",
            one_line(expected),
            one_line(given)
        )),
        _ => None,
    };
    let scores = || {
        let scores = grades(episode).take(MOST_SCORES).map(|score| {
            let why = score.explanation.as_deref().map(one_line);
            let why = why.filter(|why| !why.is_empty());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            format!("{} {}{why}", score.name, score_text(score))
        });
        let scores: Vec<String> = scores.collect();
        (!scores.is_empty()).then(|| scores.join(" · "))
    };
    let last = || {
        let last = result.last_words.as_ref()?;
        let what = if last.tool.is_some() {
            "Submitted"
        } else {
            "Last message"
        };
        Some(format!("{what}: {}", one_line(&last.text)))
    };
    why.or(error).or(compared).or_else(scores).or_else(last)
}

/// The maximum length of a part of a reason, in characters.
const REASON: usize = 160;

/// A value without quotation marks.
pub fn value_text(value: &Json) -> String {
    match value.as_text() {
        Some(text) => text.to_string(),
        None => value.to_python_text(),
    }
}

/// What the file says about the end: its outcome, and why the episode was truncated or crashed.
pub fn ending_texts(episode: &Episode) -> Vec<String> {
    let why = match &episode.ending {
        Ending::Truncated { reason } => Some(reason.to_string()),
        Ending::Crashed { message } => Some(message.to_string()),
        Ending::Open | Ending::Done => None,
    };
    let outcome = episode.outcome.as_ref().map(|outcome| outcome.to_string());
    let mut texts: Vec<String> = [outcome, why].into_iter().flatten().collect();
    texts.retain(|text| !text.is_empty());
    texts.dedup();
    texts
}

/// The number of lines of a patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchCounts {
    pub added: usize,
    pub removed: usize,
    pub all: usize,
}

impl PatchCounts {
    pub fn of(patch: &str) -> PatchCounts {
        let mut counts = PatchCounts::default();
        for (kind, _) in PatchLine::of(patch) {
            counts.all += 1;
            counts.added += usize::from(kind == PatchLine::Added);
            counts.removed += usize::from(kind == PatchLine::Removed);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, Role};
    use volary_episode::{Link, Outcome, Relation, Rewards, Source, StepRecord};

    use super::*;

    fn step(reward: f64, seconds: Option<f64>) -> StepRecord {
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward,
            done: false,
            truncated: false,
        };
        StepRecord {
            seconds,
            ..StepRecord::new(Message::new(Role::Assistant, "go").into(), outcome)
        }
    }

    fn value(episode: &Episode, name: &str) -> Vec<String> {
        let facts = facts(episode).into_iter();
        let facts = facts.filter(|(known, _)| *known == name);
        facts.map(|(_, value)| value).collect()
    }

    #[test]
    fn little_is_said_about_an_episode_of_which_little_is_known() {
        let episode = Episode {
            id: "e".into(),
            model: Some("".into()),
            rewards: Rewards::Unknown,
            ..Episode::default()
        };
        let names: Vec<&str> = facts(&episode).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Id", "Length"]);
        assert_eq!(value(&episode, "Length"), ["0 steps"]);
    }

    #[test]
    fn usage_lists_what_was_counted() {
        assert_eq!(usage_text(&Usage::default()), None);
        let usage = Usage {
            input: Some(12_000),
            output: Some(0),
            cost: Some(0.5),
            ..Usage::default()
        };
        let expected = "12,000 input tokens, 0 output tokens, $0.50";
        assert_eq!(usage_text(&usage).as_deref(), Some(expected));
        let cached = Usage {
            cached: Some(3),
            reasoning: Some(4),
            ..Usage::default()
        };
        assert_eq!(
            usage_text(&cached).as_deref(),
            Some("3 cached, 4 reasoning")
        );
    }

    #[test]
    fn the_time_of_the_file_precedes_the_sum_of_the_steps() {
        let mut episode = Episode {
            steps: vec![step(0.0, Some(1.5)), step(0.0, None), step(0.0, Some(2.0))],
            ..Episode::default()
        };
        assert_eq!(value(&episode, "Time"), [seconds_text(3.5)]);
        episode.seconds = Some(60.0);
        assert_eq!(value(&episode, "Time"), [seconds_text(60.0)]);
        let untimed = Episode {
            steps: vec![step(0.0, None)],
            ..Episode::default()
        };
        assert_eq!(value(&untimed, "Time"), [] as [&str; 0]);
    }

    #[test]
    fn each_score_error_and_link_has_a_line() {
        let score = |name: &str, value: Json, explanation: Option<&str>| Score {
            name: name.into(),
            value,
            explanation: explanation.map(Into::into),
            extras: Default::default(),
        };
        let link = |step| Link {
            relation: Relation::Branch,
            episode: "origin".into(),
            step,
        };
        let episode = Episode {
            scores: vec![
                score("accuracy", "C".into(), Some("as expected")),
                score("f1", 0.5.into(), None),
                score("passed", true.into(), None),
                score("verbose_logs", false.into(), None),
            ],
            errors: vec!["one".into(), "two".into()],
            links: vec![link(Some(2)), link(None)],
            ..Episode::default()
        };
        assert_eq!(
            value(&episode, "Score"),
            ["accuracy correct (C): as expected", "f1 0.5", "passed true"]
        );
        assert_eq!(value(&episode, "Recorded"), ["verbose_logs false"]);
        assert_eq!(value(&episode, "Error"), ["one", "two"]);
        // Steps of links count from 0, those on screen from 1.
        let relation = Relation::Branch.as_str();
        assert_eq!(
            value(&episode, "Related"),
            [
                format!("{relation} origin, from step 3"),
                format!("{relation} origin")
            ]
        );
    }

    #[test]
    fn a_reason_is_one_line() {
        let score = |name: &str, value: Json, explanation: Option<&str>| Score {
            name: name.into(),
            value,
            explanation: explanation.map(Into::into),
            extras: Default::default(),
        };
        let reason = |episode: &Episode| reason_text(&EpisodeResult::of(episode), episode);
        assert_eq!(reason(&Episode::default()), None);
        let silent = Episode {
            steps: vec![step(0.0, None)],
            ..Episode::default()
        };
        assert_eq!(reason(&silent).as_deref(), Some("Last message: go"));
        let mut episode = Episode {
            rewards: Rewards::Whole(0.0),
            ending: Ending::Done,
            scores: vec![
                score("match", "I".into(), Some("It says\n41.")),
                score("f1", 0.5.into(), Some(" ")),
            ],
            ..Episode::default()
        };
        let scores = "match incorrect (I): It says 41. · f1 0.5";
        assert_eq!(reason(&episode).as_deref(), Some(scores));
        episode.metadata = volary_core::object!({"target": "42", "final_answer": " 41\n"});
        let answers = "Expected 42, answered 41";
        assert_eq!(reason(&episode).as_deref(), Some(answers));
        episode.errors = vec!["The disk\nis full".into()];
        assert_eq!(reason(&episode).as_deref(), Some("The disk is full"));
        episode.ending = Ending::Truncated {
            reason: "The time was up.".into(),
        };
        assert_eq!(reason(&episode).as_deref(), Some("The time was up."));
    }

    #[test]
    fn the_source_leaves_out_what_is_unknown() {
        let of = |version: Option<&str>, file: &str| {
            let episode = Episode {
                source: Some(Source {
                    format: "inspect".into(),
                    version: version.map(Into::into),
                    file: file.into(),
                }),
                ..Episode::default()
            };
            value(&episode, "Source")
        };
        assert_eq!(of(Some("2"), "log.json"), ["inspect, 2, log.json"]);
        assert_eq!(of(None, "log.json"), ["inspect, log.json"]);
        assert_eq!(of(None, ""), ["inspect"]);
    }

    #[test]
    fn the_end_is_said_once() {
        let of = |outcome: Option<&str>, ending| {
            ending_texts(&Episode {
                outcome: outcome.map(Into::into),
                ending,
                ..Episode::default()
            })
        };
        let truncated = |reason: &str| Ending::Truncated {
            reason: reason.into(),
        };
        assert_eq!(of(None, Ending::Done), [] as [&str; 0]);
        assert_eq!(of(Some("done"), Ending::Done), ["done"]);
        assert_eq!(
            of(Some("stopped"), truncated("too long")),
            ["stopped", "too long"]
        );
        assert_eq!(of(Some("too long"), truncated("too long")), ["too long"]);
        let crashed = Ending::Crashed {
            message: "index out of bounds".into(),
        };
        assert_eq!(of(Some(""), crashed), ["index out of bounds"]);
    }

    #[test]
    fn lines_of_a_patch_are_counted_without_its_head() {
        let patch = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n same\n-old\n+new\n+more\n";
        let counts = PatchCounts {
            added: 2,
            removed: 1,
            all: 7,
        };
        assert_eq!(PatchCounts::of(patch), counts);
        assert_eq!(PatchCounts::of(""), PatchCounts::default());
    }
}
