//! A change of a rule that a person types.

use volary_analysis::behaviour::rules::{ActPattern, Rule, RuleLevel};
use volary_core::json::Text;

/// A pattern of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulePart {
    /// The act at which the rule matches.
    When,
    /// No earlier act is of this kind.
    WithoutBefore,
    /// An earlier act is of this kind.
    After,
}

/// A change of a rule. An empty text removes what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleChange {
    Id(String),
    Title(String),
    Level(RuleLevel),
    Tool(RulePart, String),
    /// One argument a line: `name: text`.
    Arguments(RulePart, String),
    Failed(RulePart, Option<bool>),
    /// The names of arguments, with commas between them.
    Same(RulePart, String),
    AtLeast(String),
    Changes(String),
}

impl RuleChange {
    /// Carries out the change.
    pub(super) fn apply(self, rule: &mut Rule) {
        match self {
            RuleChange::Id(id) => rule.id = id.trim().into(),
            RuleChange::Title(title) => rule.title = title.trim().into(),
            RuleChange::Level(level) => rule.level = level,
            RuleChange::Tool(part, tool) => pattern(rule, part, |pattern| {
                pattern.tool = written(&tool);
            }),
            RuleChange::Arguments(part, lines) => pattern(rule, part, |pattern| {
                let lines = lines.lines().filter_map(|line| line.split_once(':'));
                let lines = lines.map(|(name, text)| (name.trim().into(), text.trim().into()));
                pattern.arguments = lines.collect();
            }),
            RuleChange::Failed(part, failed) => {
                pattern(rule, part, |pattern| pattern.failed = failed);
            }
            RuleChange::Same(part, names) => pattern(rule, part, |pattern| {
                pattern.same = names.split(',').filter_map(written).collect();
            }),
            RuleChange::AtLeast(number) => {
                rule.at_least = number.trim().parse().ok().filter(|least| *least > 0);
            }
            RuleChange::Changes(path) => rule.changes = written(&path),
        }
    }
}

/// The pattern of a part.
pub fn pattern_of(rule: &Rule, part: RulePart) -> Option<&ActPattern> {
    match part {
        RulePart::When => rule.when.as_ref(),
        RulePart::WithoutBefore => rule.without_before.as_ref(),
        RulePart::After => rule.after.as_ref(),
    }
}

/// Changes a pattern. One without a condition is removed.
fn pattern(rule: &mut Rule, part: RulePart, change: impl FnOnce(&mut ActPattern)) {
    let place = match part {
        RulePart::When => &mut rule.when,
        RulePart::WithoutBefore => &mut rule.without_before,
        RulePart::After => &mut rule.after,
    };
    let mut pattern = place.take().unwrap_or_default();
    change(&mut pattern);
    *place = (pattern != ActPattern::default()).then_some(pattern);
}

fn written(text: &str) -> Option<Text> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.into())
}

/// The arguments of a pattern as a person types them.
pub fn arguments_text(pattern: &ActPattern) -> String {
    let lines = pattern
        .arguments
        .iter()
        .map(|(name, text)| format!("{name}: {text}"));
    lines.collect::<Vec<_>>().join("\n")
}
