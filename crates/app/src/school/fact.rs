//! What a person achieved on the page of the school, as lessons ask for it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use volary_school::findings::IN_A_ROW;
use volary_school::{Finding, UpdateMetrics, findings};

/// Something that happened in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchoolFact {
    /// This percentage of the samples of the latest updates was right, on average.
    Success(u8),
    /// The checks found it.
    Found(Finding),
    /// The checks found it, the knobs were changed, and then they found it no more; a policy that
    /// cheated also solves tasks again.
    Repaired(Finding),
    Did(SchoolDeed),
}

/// Something that a person did with the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchoolDeed {
    /// Had an update explained.
    OneGroupSlowly,
    /// Tested it on new tasks like those that it was trained on.
    NewTasks,
    /// Tested it on tasks beyond its training.
    HarderTasks,
    /// Answered a task that the policy answered, too.
    PlayedAgainst,
    /// Gave it the work of a class as its warm start.
    ClassTaught,
}

impl SchoolDeed {
    pub const ALL: [SchoolDeed; 5] = [
        SchoolDeed::OneGroupSlowly,
        SchoolDeed::NewTasks,
        SchoolDeed::HarderTasks,
        SchoolDeed::PlayedAgainst,
        SchoolDeed::ClassTaught,
    ];

    /// The name in lessons.
    pub fn name(self) -> &'static str {
        match self {
            SchoolDeed::OneGroupSlowly => "one group slowly",
            SchoolDeed::NewTasks => "new tasks",
            SchoolDeed::HarderTasks => "harder tasks",
            SchoolDeed::PlayedAgainst => "play against it",
            SchoolDeed::ClassTaught => "the class teaches it",
        }
    }
}

impl SchoolFact {
    /// What has to be done for it.
    pub fn describe(self) -> String {
        match self {
            SchoolFact::Success(percent) => format!("train it until {percent} % are right"),
            SchoolFact::Found(finding) => {
                format!("let the checks find \"{}\"", finding.label())
            }
            SchoolFact::Repaired(finding) => format!("repair \"{}\"", finding.label()),
            SchoolFact::Did(SchoolDeed::OneGroupSlowly) => "make one update slowly".to_owned(),
            SchoolFact::Did(SchoolDeed::NewTasks) => "test it on new tasks".to_owned(),
            SchoolFact::Did(SchoolDeed::HarderTasks) => "test it on harder tasks".to_owned(),
            SchoolFact::Did(SchoolDeed::PlayedAgainst) => "play against it".to_owned(),
            SchoolFact::Did(SchoolDeed::ClassTaught) => {
                "let the work of a class teach it".to_owned()
            }
        }
    }
}

/// All that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FactSet {
    /// The best success, in percent.
    success: u8,
    facts: BTreeSet<SchoolFact>,
}

impl FactSet {
    /// Adds a fact. Returns whether it is new.
    pub fn add(&mut self, fact: SchoolFact) -> bool {
        match fact {
            SchoolFact::Success(percent) => {
                let is_new = percent > self.success;
                self.success = self.success.max(percent);
                is_new
            }
            fact => self.facts.insert(fact),
        }
    }

    pub fn has(&self, fact: SchoolFact) -> bool {
        match fact {
            SchoolFact::Success(percent) => self.success >= percent,
            fact => self.facts.contains(&fact),
        }
    }
}

/// The success from which a policy that cheated has learned something else.
const SOLVED_AGAIN: f64 = 0.2;

/// Derives facts from the figures of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactTracker {
    known: FactSet,
    /// Each finding, and the number of updates when it was first found.
    found: Vec<(Finding, usize)>,
}

impl FactTracker {
    /// The new facts of a run. `changed` is the number of updates when its knobs were last changed.
    pub fn observe(
        &mut self,
        history: &[UpdateMetrics],
        changed: Option<usize>,
    ) -> Vec<SchoolFact> {
        let Some(before) = history.len().checked_sub(IN_A_ROW) else {
            return Vec::new();
        };
        let latest = &history[before..];
        let mean = latest.iter().map(|update| update.success).sum::<f64>() / IN_A_ROW as f64;
        let mut facts = vec![SchoolFact::Success((mean * 100.0) as u8)];
        let present = findings(history);
        for finding in &present {
            facts.push(SchoolFact::Found(*finding));
            if self.found.iter().all(|(found, _)| found != finding) {
                self.found.push((*finding, history.len()));
            }
        }
        // All updates that are looked at must be from after the change.
        if let Some(changed) = changed.filter(|changed| before >= *changed) {
            let repaired = self.found.iter().filter(|(finding, at)| {
                let helps = *finding != Finding::RewardWithoutSuccess || mean >= SOLVED_AGAIN;
                *at <= changed && helps && !present.contains(finding)
            });
            facts.extend(repaired.map(|(finding, _)| SchoolFact::Repaired(*finding)));
        }
        facts.retain(|fact| self.known.add(*fact));
        facts
    }

    /// Notes a deed. Returns the fact if it is new.
    pub fn note(&mut self, deed: SchoolDeed) -> Option<SchoolFact> {
        let fact = SchoolFact::Did(deed);
        self.known.add(fact).then_some(fact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(updates: usize, graded: f64, success: f64) -> Vec<UpdateMetrics> {
        let update = UpdateMetrics {
            samples: 128,
            groups: 16,
            graded,
            success,
            discouraged: 60,
            entropy: 0.5,
            length: 10.0,
            trained_tokens: 1280,
            ..UpdateMetrics::default()
        };
        vec![update; updates]
    }

    #[test]
    fn success_is_a_mean_of_several_updates_and_the_best_counts() {
        let mut tracker = FactTracker::default();
        assert_eq!(tracker.observe(&history(4, 0.9, 0.9), None), []);
        assert_eq!(
            tracker.observe(&history(5, 0.5, 0.5), None),
            [SchoolFact::Success(50)]
        );
        assert_eq!(tracker.observe(&history(6, 0.4, 0.4), None), []);
        assert!(tracker.known.has(SchoolFact::Success(50)));
        assert!(!tracker.known.has(SchoolFact::Success(51)));
    }

    #[test]
    fn a_repair_counts_if_it_was_made_after_the_finding_and_helps() {
        let leak = Finding::RewardWithoutSuccess;
        let mut tracker = FactTracker::default();
        let mut updates = history(5, 0.9, 0.1);
        let found = tracker.observe(&updates, None);
        assert!(found.contains(&SchoolFact::Found(leak)), "{found:?}");
        // The knobs were changed after 5 updates.
        for _ in 0..IN_A_ROW - 1 {
            updates.extend(history(1, 0.0, 0.0));
            let facts = tracker.observe(&updates, Some(5));
            assert!(!facts.contains(&SchoolFact::Repaired(leak)), "{facts:?}");
        }
        updates.extend(history(1, 0.0, 0.0));
        assert_eq!(tracker.observe(&updates, Some(5)), []);
        updates.extend(history(IN_A_ROW, 0.3, 0.3));
        let facts = tracker.observe(&updates, Some(5));
        assert!(facts.contains(&SchoolFact::Repaired(leak)), "{facts:?}");
        assert_eq!(tracker.observe(&updates, Some(5)), []);
    }

    #[test]
    fn what_goes_away_by_itself_is_not_repaired() {
        let leak = Finding::RewardWithoutSuccess;
        let mut tracker = FactTracker::default();
        let mut updates = history(5, 0.9, 0.1);
        tracker.observe(&updates, Some(2));
        updates.extend(history(9, 0.1, 0.1));
        tracker.observe(&updates, Some(2));
        assert!(!tracker.known.has(SchoolFact::Repaired(leak)));
    }
}
