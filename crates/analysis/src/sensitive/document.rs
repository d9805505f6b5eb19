//! Checks and masks whole text files: JSON, JSON Lines, and anything else line by line.
//!
//! Invariants: JSON stays JSON, since texts are masked within their members. A masked document has no finding.

use super::{Finding, Findings, Sensitive, find, mask_value, masked_text, visit};
use volary_core::Json;

/// The findings of a text file. Locations are paths of JSON members, after the line in JSON Lines (`line 3:
/// messages[0]`), or lines of other text.
pub fn check_document(text: &str) -> Vec<Finding> {
    let mut findings = Findings::default();
    match Document::of(text) {
        Document::Json(value) => members(&value, "", &mut findings),
        Document::Lines(lines) => {
            for (number, line) in (1..).zip(lines) {
                if let Some(value) = line {
                    members(&value, &format!("line {number}: "), &mut findings);
                }
            }
        }
        Document::Text => {
            let found = find(text);
            let (mut line, mut at) = (1, 0);
            for one in found {
                line += text[at..one.range.start].matches('\n').count();
                at = one.range.start;
                findings.add(text, &[one], None, &format!("line {line}"));
            }
        }
    }
    findings.list
}

/// A text file with all findings of [`check_document`] masked. JSON is reformatted, one value per line.
pub fn masked_document(text: &str) -> String {
    match Document::of(text) {
        Document::Json(value) => written(value) + "\n",
        Document::Lines(lines) => {
            let lines = lines.into_iter();
            lines
                .map(|line| line.map_or_else(String::new, written) + "\n")
                .collect()
        }
        Document::Text => masked_text(text),
    }
}

enum Document {
    Json(Json),
    /// One value per line; `None` for empty lines.
    Lines(Vec<Option<Json>>),
    Text,
}

impl Document {
    fn of(text: &str) -> Document {
        if let Ok(value) = Json::parse(text) {
            return Document::Json(value);
        }
        let lines = text.lines().map(|line| match line.trim() {
            "" => Ok(None),
            line => Json::parse(line).map(Some),
        });
        match lines.collect() {
            Ok(lines) => Document::Lines(lines),
            Err(_) => Document::Text,
        }
    }
}

fn members(value: &Json, before: &str, findings: &mut Findings) {
    let mut add = |text: &str, found: &[Sensitive], path: &str| {
        findings.add(text, found, None, &format!("{before}{path}"));
    };
    visit(value, None, &mut String::new(), &mut add);
}

fn written(value: Json) -> String {
    mask_value(value, None).to_python_text()
}

#[cfg(test)]
mod tests {
    use super::super::FindingKind;
    use super::*;

    fn findings(text: &str) -> Vec<(FindingKind, String)> {
        let found = check_document(text).into_iter();
        found.map(|one| (one.kind, one.path)).collect()
    }

    #[test]
    fn paths_are_members_or_lines() {
        let key = "sk-ant-0123456789abcdef0123";
        for (text, path) in [
            (format!("{{\"a\": [\"{key}\"]}}"), "a[0]"),
            (
                format!("{{\"a\": 1}}\n\n{{\"b\": \"{key}\"}}\n"),
                "line 3: b",
            ),
            (format!("a, b\n1, {key}\n"), "line 2"),
        ] {
            assert_eq!(
                findings(&text),
                [(FindingKind::ApiKey, path.to_owned())],
                "{text}"
            );
            let masked = masked_document(&text);
            assert_eq!(findings(&masked), [], "{masked}");
            assert!(masked.contains("[API key]"), "{masked}");
        }
    }

    #[test]
    fn masked_json_stays_json_with_its_numbers() {
        let text =
            "{\"n\": 123456789012345678901234567890, \"x\": 1.0, \"password\": \"hunter22\"}";
        let masked = masked_document(text);
        let expected = text.replace("hunter22", "[secret]") + "\n";
        assert_eq!(masked, expected);
        assert!(Json::parse(masked.trim()).is_ok());
    }
}
