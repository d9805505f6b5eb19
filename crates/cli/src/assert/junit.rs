//! A JUnit report: a suite for each rule, and a test for each trajectory.

use volary_analysis::behaviour::rules::RuleLevel;

use super::Outcome;

/// The report, as XML.
pub fn report(outcome: &Outcome) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"volary assert\">\n",
    );
    for (index, rule) in outcome.rules.iter().enumerate() {
        let of_rule = || {
            outcome
                .violations
                .iter()
                .filter(move |violation| violation.rule == index)
        };
        let is_failure = rule.level == RuleLevel::Error;
        let fit = outcome.fits.get(index).copied().unwrap_or_default();
        let failures = if is_failure { fit.matching } else { 0 };
        text.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\">\n",
            escaped(&rule.id),
            outcome.episodes.len()
        ));
        for episode in &outcome.episodes {
            text.push_str(&format!(
                "    <testcase classname=\"{}\" name=\"{}\">",
                escaped(&episode.file),
                escaped(&episode.name)
            ));
            let found = of_rule().filter(|violation| {
                violation.file == episode.file && violation.episode == episode.name
            });
            let steps: Vec<String> = found
                .map(|violation| format!("step {}: {}", violation.step, violation.what))
                .collect();
            if !steps.is_empty() {
                let (steps, title) = (escaped(&steps.join("\n")), escaped(&rule.title));
                text.push_str(&if is_failure {
                    format!("<failure message=\"{title}\">{steps}</failure>")
                } else {
                    format!("<system-out>{steps}</system-out>")
                });
            }
            text.push_str("</testcase>\n");
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// A text as XML. Control characters, which XML cannot contain, become question marks.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('?');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}
