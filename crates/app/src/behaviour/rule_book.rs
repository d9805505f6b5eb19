//! Rules: those that a labelled step suggests, and the user's, with how well each tells the labelled rows apart.
//!
//! Invariants: what was found for a rule is shown for that rule only, as long as it is not changed. Ids of the user's rules are
//! unique unless the user makes them equal, which [`RuleBook::problem`] says.

use std::sync::Arc;

use volary_analysis::behaviour::rules::{Rule, RuleError, RuleFile, RuleFit, to_toml};
use volary_core::json::Text;
use volary_protocol::behaviour::RuleHit;
use volary_protocol::library::Request;

use super::labelled::LabelledStep;
use super::rule_edit::RuleChange;
use super::work::BehaviourWork;

/// What was found for a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleOutcome {
    pub rule: Rule,
    pub fit: RuleFit,
    /// The ids of the episodes in which it holds, each with the first step.
    pub hits: Vec<(Text, usize)>,
}

/// A proposed rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedRule {
    /// Its index among the proposals.
    pub place: usize,
    pub rule: Rule,
    /// How well it fits, once that is known.
    pub fit: Option<RuleFit>,
    /// Whether the user has such a rule.
    pub is_taken: bool,
}

/// Proposals and the user's rules, with the last check.
#[derive(Clone, Debug, Default)]
pub struct RuleBook {
    /// The labelled step from which rules are proposed.
    pub labelled: Option<LabelledStep>,
    /// Proposed rules, the most specific first.
    pub proposals: BehaviourWork<Vec<Rule>>,
    /// The user's rules.
    pub own: Vec<Rule>,
    /// What was found at the last check.
    pub checked: BehaviourWork<Vec<RuleOutcome>>,
    /// The rows against which proposals will be checked.
    awaiting: Vec<(Text, Option<bool>)>,
    /// What is being checked: the rules, and the rows with what their labels say.
    checking: (Vec<Rule>, Vec<(Text, Option<bool>)>),
}

impl RuleBook {
    /// What was found for a rule as it is now.
    pub fn outcome(&self, rule: &Rule) -> Option<&RuleOutcome> {
        let outcomes = self.checked.ready()?;
        outcomes
            .iter()
            .find(|outcome| has_same_condition(&outcome.rule, rule))
    }

    /// The proposed rules, those that fit the labels best first, once they are checked.
    pub fn ranked(&self) -> Vec<RankedRule> {
        let proposed = self.proposals.ready();
        let proposed = proposed.iter().flat_map(|rules| rules.iter()).enumerate();
        let mut ranked: Vec<RankedRule> = proposed
            .map(|(place, rule)| RankedRule {
                place,
                rule: rule.clone(),
                fit: self.outcome(rule).map(|outcome| outcome.fit),
                is_taken: self.own.iter().any(|own| has_same_condition(own, rule)),
            })
            .collect();
        let fit = |ranked: &RankedRule| ranked.fit.map_or(0.0, |fit| fit.f1());
        ranked.sort_by(|one, other| fit(other).total_cmp(&fit(one)));
        ranked
    }

    /// Why the user's rules cannot be saved.
    pub fn problem(&self) -> Option<RuleError> {
        let file = RuleFile {
            rule: self.own.clone(),
        };
        file.check().err()
    }

    /// The user's rules as `rules.toml`.
    pub fn to_toml(&self) -> String {
        let rules: Vec<String> = self.own.iter().map(to_toml).collect();
        rules.join("\n")
    }

    /// Rules are proposed for a step, and will be checked against rows.
    pub(super) fn propose(&mut self, step: LabelledStep, rows: Vec<(Text, Option<bool>)>) {
        self.labelled = Some(step);
        self.proposals = BehaviourWork::begin(1);
        self.awaiting = rows;
    }

    /// Rules were proposed. Returns the rows to check them against.
    pub(super) fn proposed(&mut self, rules: Vec<Rule>) -> Vec<(Text, Option<bool>)> {
        self.proposals = BehaviourWork::Ready(Arc::new(rules));
        std::mem::take(&mut self.awaiting)
    }

    /// The request that checks all rules; `None` without any. Rules without a condition are left out.
    pub(super) fn check(&mut self, rows: Vec<(Text, Option<bool>)>) -> Option<Request> {
        let proposed = self.proposals.ready();
        let proposed = proposed.iter().flat_map(|rules| rules.iter());
        let rules = proposed.chain(&self.own);
        let rules = rules.filter(|rule| rule.when.is_some() || rule.changes.is_some());
        let rules: Vec<Rule> = rules.cloned().collect();
        if rules.is_empty() {
            return None;
        }
        self.checked = BehaviourWork::begin(rows.len());
        let request = Request::MatchRules {
            rules: rules.clone(),
            ids: rows.iter().map(|(id, _)| id.clone()).collect(),
        };
        self.checking = (rules, rows);
        Some(request)
    }

    pub(super) fn matched(&mut self, matches: Vec<Vec<RuleHit>>) {
        let (rules, rows) = std::mem::take(&mut self.checking);
        let outcomes = rules.into_iter().zip(matches).map(|(rule, found)| {
            let mut fit = RuleFit::default();
            let mut hits = Vec::with_capacity(found.len());
            let mut found = found.into_iter().peekable();
            for (place, (id, is_bad)) in rows.iter().enumerate() {
                let hit = found.next_if(|hit| hit.row as usize == place);
                fit.add(hit.is_some(), *is_bad);
                hits.extend(hit.map(|hit| (id.clone(), hit.step as usize)));
            }
            RuleOutcome { rule, fit, hits }
        });
        self.checked = BehaviourWork::Ready(Arc::new(outcomes.collect()));
    }

    /// Takes a proposed rule over.
    pub(super) fn take(&mut self, place: usize) {
        let rule = self
            .proposals
            .ready()
            .and_then(|proposed| proposed.get(place))
            .cloned();
        self.own.extend(rule.map(|rule| self.with_free_id(rule)));
    }

    pub(super) fn add_empty(&mut self) {
        let rule = Rule {
            id: "rule".into(),
            ..Rule::default()
        };
        let rule = self.with_free_id(rule);
        self.own.push(rule);
    }

    pub(super) fn change(&mut self, place: usize, change: RuleChange) {
        if let Some(rule) = self.own.get_mut(place) {
            change.apply(rule);
        }
    }

    pub(super) fn remove(&mut self, place: usize) {
        if place < self.own.len() {
            self.own.remove(place);
        }
    }

    /// Adds the rules of a file. A rule that is there already is not added twice.
    pub(super) fn load(&mut self, rules: Vec<Rule>) {
        for rule in rules {
            if !self.own.contains(&rule) {
                let rule = self.with_free_id(rule);
                self.own.push(rule);
            }
        }
    }

    fn with_free_id(&self, rule: Rule) -> Rule {
        let is_taken = |id: &str| self.own.iter().any(|known| *known.id == *id);
        let mut id = rule.id.clone();
        let mut number = 2;
        while is_taken(&id) {
            id = format!("{}-{number}", rule.id).into();
            number += 1;
        }
        Rule { id, ..rule }
    }
}

/// Whether two rules match the same. What they are called and how bad a match is change no match.
fn has_same_condition(one: &Rule, other: &Rule) -> bool {
    let named = Rule {
        id: other.id.clone(),
        title: other.title.clone(),
        level: other.level,
        ..one.clone()
    };
    named == *other
}
