//! A SARIF 2.1.0 report, which code hosts show next to files.

use serde_json::{Value, json};
use volary_analysis::behaviour::rules::RuleLevel;

use super::Outcome;

/// The report, as JSON.
pub fn report(outcome: &Outcome) -> String {
    let rules: Vec<Value> = outcome
        .rules
        .iter()
        .map(|rule| {
            json!({
                "id": &*rule.id,
                "shortDescription": {"text": title(&rule.id, &rule.title)},
                "defaultConfiguration": {"level": level(rule.level)},
            })
        })
        .collect();
    let results: Vec<Value> = outcome
        .violations
        .iter()
        .map(|violation| {
            let rule = outcome.rules.get(violation.rule);
            let title = rule.map_or("", |rule| title(&rule.id, &rule.title));
            json!({
                "ruleId": violation.id,
                "ruleIndex": violation.rule,
                "level": level(outcome.level(violation)),
                "message": {"text": format!("{title}: {} (step {})", violation.what, violation.step)},
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri(&violation.file)},
                        "region": {"startLine": 1},
                    },
                    "logicalLocations": [{
                        "name": violation.episode,
                        "fullyQualifiedName": format!("{} step {}", violation.episode, violation.step),
                    }],
                }],
            })
        })
        .collect();
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "volary", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
        }],
    });
    report.to_string() + "\n"
}

fn title<'a>(id: &'a str, title: &'a str) -> &'a str {
    if title.trim().is_empty() { id } else { title }
}

fn level(level: RuleLevel) -> &'static str {
    match level {
        RuleLevel::Error => "error",
        RuleLevel::Warning => "warning",
        RuleLevel::Note => "note",
    }
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
    const ENCODED: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'%')
        .add(b'?')
        .add(b'#')
        .add(b'"')
        .add(b'<')
        .add(b'>')
        .add(b'[')
        .add(b']');
    utf8_percent_encode(&path.replace('\\', "/"), ENCODED).to_string()
}
