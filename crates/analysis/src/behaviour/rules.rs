//! Rules about behaviour: a condition on the acts of an episode, such as "cancels without having looked before".
//!
//! - [`Rule`]: the condition, as in `rules.toml`. [`matches`]: the steps of an episode at which it holds.
//! - [`proposals`]: rules that a labelled step suggests. [`RuleFit`]: how well a rule tells labelled rows apart.
//!
//! Invariants: all parts of a rule must hold for a match; a rule without a condition is refused, not true everywhere.

use serde::{Deserialize, Serialize};
use volary_core::json::{Json, Text};
use volary_episode::diff::{Segment, differences};
use volary_episode::episode::Episode;

use super::acts::{Act, ActEffect, acts};

/// What a file `rules.toml` contains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    #[serde(default)]
    pub rule: Vec<Rule>,
}

/// How bad a match is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleLevel {
    /// A match is forbidden.
    #[default]
    Error,
    /// A match is reported.
    Warning,
    Note,
}

/// A condition on an act.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActPattern {
    /// The name of the tool, with `*` for any characters; for shells with the program: `bash rm`.
    #[serde(default)]
    pub tool: Option<Text>,
    /// Texts that arguments contain: the name of the argument, or `*` for any, and the text.
    #[serde(default)]
    pub arguments: Vec<(Text, Text)>,
    /// Whether it failed.
    #[serde(default)]
    pub failed: Option<bool>,
    /// Arguments with the same value as in the act of the rule.
    #[serde(default)]
    pub same: Vec<Text>,
}

/// What agents must do, or must not do: a pattern of steps in one trajectory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A short name, unique in its file.
    pub id: Text,
    /// What it forbids, for people.
    #[serde(default)]
    pub title: Text,
    #[serde(default)]
    pub level: RuleLevel,
    /// The act at which the rule matches.
    #[serde(default)]
    pub when: Option<ActPattern>,
    /// No earlier act is of this kind.
    #[serde(default)]
    pub without_before: Option<ActPattern>,
    /// An earlier act is of this kind.
    #[serde(default)]
    pub after: Option<ActPattern>,
    /// The act is at least the n-th of its kind in the episode.
    #[serde(default)]
    pub at_least: Option<usize>,
    /// The beginning of a path in the state that the step changes: `orders.1.status`.
    #[serde(default)]
    pub changes: Option<Text>,
}

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    #[error("A rule has no id.")]
    NoId,
    #[error("The rule {id} has no condition. Give `when`, or `changes`.")]
    NoCondition { id: Text },
    #[error("The id {id} occurs twice.")]
    IdTwice { id: Text },
    #[error("There are no rules.")]
    Empty,
}

/// Where a rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatch {
    /// The step, from 1.
    pub step: usize,
    /// What is there, for display.
    pub what: String,
}

impl RuleFile {
    /// Validates the rules.
    pub fn check(&self) -> Result<(), RuleError> {
        if self.rule.is_empty() {
            return Err(RuleError::Empty);
        }
        for (index, rule) in self.rule.iter().enumerate() {
            if rule.id.trim().is_empty() {
                return Err(RuleError::NoId);
            }
            if rule.when.is_none() && rule.changes.is_none() {
                return Err(RuleError::NoCondition {
                    id: rule.id.clone(),
                });
            }
            if self
                .rule
                .iter()
                .take(index)
                .any(|known| known.id == rule.id)
            {
                return Err(RuleError::IdTwice {
                    id: rule.id.clone(),
                });
            }
        }
        Ok(())
    }
}

impl ActPattern {
    /// Whether an act is of this kind; `of` is the act of the rule.
    fn holds(&self, act: &Act<'_>, of: Option<&Act<'_>>) -> bool {
        let tool = self.tool.as_ref();
        tool.is_none_or(|tool| is_like(tool, &act.name) || is_like(tool, act.tool))
            && self
                .failed
                .is_none_or(|failed| failed == act.error.is_some())
            && self
                .arguments
                .iter()
                .all(|(name, text)| has_argument(act, name, text))
            && self.same.iter().all(|name| {
                of.is_some_and(|of| {
                    let value = of.arguments.get(name);
                    value.is_some() && act.arguments.get(name) == value
                })
            })
    }
}

/// Whether a name matches a pattern with `*`.
fn is_like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else {
        return false;
    };
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

fn has_argument(act: &Act<'_>, name: &str, text: &str) -> bool {
    let has = |value: &Json| match value {
        Json::Text(value) => value.contains(text),
        value => value.to_compact_text().contains(text),
    };
    if name == "*" {
        act.arguments.values().any(has)
    } else {
        act.arguments.get(name).is_some_and(has)
    }
}

/// The steps at which a rule holds, in order.
pub fn matches(rule: &Rule, episode: &Episode) -> Vec<RuleMatch> {
    matches_of(rule, episode, &acts(episode))
}

/// Like [`matches`], for known acts.
pub fn matches_of(rule: &Rule, episode: &Episode, acts: &[Act<'_>]) -> Vec<RuleMatch> {
    let mut found = Vec::new();
    let changed = |step: usize| match &rule.changes {
        None => true,
        Some(path) => changed_paths(episode, step)
            .iter()
            .any(|changed| is_below(changed, path)),
    };
    let Some(when) = &rule.when else {
        if rule.changes.is_some() {
            let steps = (1..=episode.steps.len()).filter(|step| changed(*step));
            found.extend(steps.map(|step| RuleMatch {
                step,
                what: format!("changes {}", rule.changes.as_deref().unwrap_or_default()),
            }));
        }
        return found;
    };
    let mut count = 0;
    for (index, act) in acts.iter().enumerate() {
        if !when.holds(act, Some(act)) {
            continue;
        }
        count += 1;
        let earlier = acts.get(..index).unwrap_or_default();
        let has = |pattern: &ActPattern| {
            earlier
                .iter()
                .any(|earlier| pattern.holds(earlier, Some(act)))
        };
        let holds = rule
            .without_before
            .as_ref()
            .is_none_or(|pattern| !has(pattern))
            && rule.after.as_ref().is_none_or(has)
            && rule.at_least.is_none_or(|least| count >= least)
            && changed(act.step);
        if holds {
            let error = act.error.as_ref().map(|error| format!(" ({error})"));
            found.push(RuleMatch {
                step: act.step,
                what: format!("{}{}", act.name, error.unwrap_or_default()),
            });
        }
    }
    found
}

/// The maximum number of changes of a step that are compared.
const MOST_CHANGES: usize = 1_000;

/// The paths that a step changes in the state.
fn changed_paths(episode: &Episode, step: usize) -> Vec<String> {
    let (Some(before), Some(after)) = (
        step.checked_sub(1)
            .and_then(|before| episode.frames.get(before)),
        episode.frames.get(step),
    ) else {
        return Vec::new();
    };
    let found = differences(&before.state, &after.state, MOST_CHANGES);
    let path = |path: &[Segment]| {
        let segments = path.iter().map(|segment| match segment {
            Segment::Key(key) => key.to_string(),
            Segment::Index(index) => index.to_string(),
        });
        segments.collect::<Vec<_>>().join(".")
    };
    found.iter().map(|change| path(&change.path)).collect()
}

fn is_below(path: &str, start: &str) -> bool {
    path.strip_prefix(start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The rules that a step suggests, the most specific first: its tool and arguments, what is missing before it, its number, its
/// failure, and what it changes.
pub fn proposals(episode: &Episode, step: usize) -> Vec<Rule> {
    let all = acts(episode);
    let mut rules = Vec::new();
    let of_step = all.iter().enumerate().filter(|(_, act)| act.step == step);
    for (index, act) in of_step {
        let tool: Text = (&*act.name).into();
        let base = ActPattern {
            tool: Some(tool.clone()),
            ..ActPattern::default()
        };
        let earlier = all.get(..index).unwrap_or_default();
        let same = earlier
            .iter()
            .filter(|known| known.name == act.name)
            .count();
        let mut add = |id: &str, title: String, rule: Rule| {
            rules.push(Rule {
                id: format!("{}-{id}", slug(&tool)).into(),
                title: title.into(),
                ..rule
            });
        };
        if let Some(error) = &act.error {
            add(
                "failed",
                format!("{tool} fails ({error})"),
                Rule {
                    when: Some(ActPattern {
                        failed: Some(true),
                        ..base.clone()
                    }),
                    ..Rule::default()
                },
            );
        }
        // Short arguments, which other episodes may share.
        let short = act.arguments.iter().filter_map(|(name, value)| {
            let text = value
                .as_text()
                .map_or_else(|| value.to_compact_text(), |text| text.to_string());
            (!text.is_empty() && text.chars().count() <= 40)
                .then(|| ((&**name).into(), text.into()))
        });
        let short: Vec<(Text, Text)> = short.take(3).collect();
        for (name, text) in &short {
            add(
                &format!("with-{}", slug(name)),
                format!("{tool} with {name} {text}"),
                Rule {
                    when: Some(ActPattern {
                        arguments: vec![(name.clone(), text.clone())],
                        ..base.clone()
                    }),
                    ..Rule::default()
                },
            );
        }
        if act.effect.writes() {
            // A reading tool that takes one of its arguments, as others use it, or any earlier reading.
            let reader = all.iter().find(|other| {
                other.effect == ActEffect::Read
                    && other
                        .arguments
                        .keys()
                        .any(|name| act.arguments.contains_key(name))
            });
            let shared = reader.and_then(|reader| {
                let name = reader
                    .arguments
                    .keys()
                    .find(|name| act.arguments.contains_key(name))?;
                Some((Text::from(&*reader.name), Text::from(&**name)))
            });
            if let Some((reader, name)) = shared {
                add(
                    "unread",
                    format!("{tool} without {reader} of the same {name} before"),
                    Rule {
                        when: Some(base.clone()),
                        without_before: Some(ActPattern {
                            tool: Some(reader),
                            same: vec![name],
                            ..ActPattern::default()
                        }),
                        ..Rule::default()
                    },
                );
            }
        }
        if let Some(before) = earlier.last() {
            add(
                "after",
                format!("{tool} after {}", before.name),
                Rule {
                    when: Some(base.clone()),
                    after: Some(ActPattern {
                        tool: Some((&*before.name).into()),
                        ..ActPattern::default()
                    }),
                    ..Rule::default()
                },
            );
        }
        if same > 0 {
            add(
                "again",
                format!("{tool} for the {}th time", same + 1),
                Rule {
                    when: Some(base.clone()),
                    at_least: Some(same + 1),
                    ..Rule::default()
                },
            );
        }
        add(
            "called",
            format!("{tool} is called"),
            Rule {
                when: Some(base),
                ..Rule::default()
            },
        );
    }
    for path in changed_paths(episode, step).into_iter().take(3) {
        rules.push(Rule {
            id: format!("changes-{}", slug(&path)).into(),
            title: format!("{path} changes").into(),
            changes: Some(path.into()),
            ..Rule::default()
        });
    }
    rules
}

/// A name of small letters, digits and dashes.
fn slug(name: &str) -> String {
    let letters = name.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '-'
        }
    });
    let slug: String = letters.take(40).collect();
    slug.trim_matches('-').to_owned()
}

/// How well a rule tells rows apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleFit {
    /// Rows that match, of all rows.
    pub rows: usize,
    pub matching: usize,
    /// Of the labelled rows: bad ones that match, good ones that match, bad ones that do not.
    pub hits: usize,
    pub false_alarms: usize,
    pub missed: usize,
}

impl RuleFit {
    /// Counts a row: whether it matches, and whether a person labelled it as bad, if they did.
    pub fn add(&mut self, is_match: bool, is_bad: Option<bool>) {
        self.rows += 1;
        self.matching += usize::from(is_match);
        match (is_match, is_bad) {
            (true, Some(true)) => self.hits += 1,
            (true, Some(false)) => self.false_alarms += 1,
            (false, Some(true)) => self.missed += 1,
            _ => {}
        }
    }

    /// The share of matching labelled rows that are bad; `None` without any.
    pub fn precision(&self) -> Option<f64> {
        share(self.hits, self.hits + self.false_alarms)
    }

    /// The share of bad rows that match; `None` without any.
    pub fn recall(&self) -> Option<f64> {
        share(self.hits, self.hits + self.missed)
    }

    /// The harmonic mean of precision and recall, by which proposals are ordered.
    pub fn f1(&self) -> f64 {
        let wrong = self.false_alarms + self.missed;
        share(2 * self.hits, 2 * self.hits + wrong).unwrap_or_default()
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A rule as a section of `rules.toml`.
pub fn to_toml(rule: &Rule) -> String {
    let quoted = |text: &str| Json::from(text).to_compact_text();
    let pattern = |pattern: &ActPattern| {
        let mut parts = Vec::new();
        parts.extend(
            pattern
                .tool
                .as_ref()
                .map(|tool| format!("tool = {}", quoted(tool))),
        );
        if !pattern.arguments.is_empty() {
            let pairs = pattern
                .arguments
                .iter()
                .map(|(name, text)| format!("[{}, {}]", quoted(name), quoted(text)));
            parts.push(format!(
                "arguments = [{}]",
                pairs.collect::<Vec<_>>().join(", ")
            ));
        }
        parts.extend(pattern.failed.map(|failed| format!("failed = {failed}")));
        if !pattern.same.is_empty() {
            let names = pattern.same.iter().map(|name| quoted(name));
            parts.push(format!("same = [{}]", names.collect::<Vec<_>>().join(", ")));
        }
        format!("{{ {} }}", parts.join(", "))
    };
    let level = match rule.level {
        RuleLevel::Error => "error",
        RuleLevel::Warning => "warning",
        RuleLevel::Note => "note",
    };
    let mut text = format!(
        "[[rule]]\nid = {}\ntitle = {}\nlevel = \"{level}\"\n",
        quoted(&rule.id),
        quoted(&rule.title)
    );
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text.push_str(&format!("{name} = {value}\n"));
        }
    };
    line("when", rule.when.as_ref().map(pattern));
    line("without_before", rule.without_before.as_ref().map(pattern));
    line("after", rule.after.as_ref().map(pattern));
    line("at_least", rule.at_least.map(|least| least.to_string()));
    line("changes", rule.changes.as_deref().map(quoted));
    text
}

#[cfg(test)]
mod tests;
