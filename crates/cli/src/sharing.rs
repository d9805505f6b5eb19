//! Reports sensitive data in the output of a command: keys, tokens, passwords and e-mail addresses, each with its file
//! and location.

use std::collections::BTreeSet;

use serde::Serialize;
use volary_analysis::sensitive::{Finding, FindingKind, summary};

use crate::output::plain;

/// The maximum number of findings that are printed; the others are counted.
const MOST: usize = 40;

/// The findings of all files.
#[derive(Debug, Default)]
pub struct Check {
    found: Vec<Sensitive>,
    kinds: Vec<FindingKind>,
    /// Whether findings are masked in the output.
    is_masked: bool,
}

/// A finding, as JSON. It never contains the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Sensitive {
    file: String,
    place: String,
    kind: &'static str,
    starts_with: String,
    places: usize,
}

impl Check {
    /// Starts without findings.
    pub fn new(is_masked: bool) -> Check {
        Check {
            is_masked,
            ..Check::default()
        }
    }

    /// Adds the findings of a file.
    pub fn add(&mut self, file: &str, findings: &[Finding]) {
        self.kinds.extend(findings.iter().map(|one| one.kind));
        self.found.extend(findings.iter().map(|one| Sensitive {
            file: file.to_owned(),
            place: one.path.clone(),
            kind: one.kind.name(),
            starts_with: one.preview.clone(),
            places: one.count,
        }));
    }

    /// Whether a secret that grants access is written. An e-mail address is not one.
    pub fn has_secrets(&self) -> bool {
        !self.is_masked && self.kinds.iter().any(|kind| kind.is_secret())
    }

    pub fn found(&self) -> &[Sensitive] {
        &self.found
    }

    /// The warning; empty without findings.
    pub fn report(&self) -> String {
        if self.found.is_empty() {
            return String::new();
        }
        let files: BTreeSet<&str> = self.found.iter().map(|one| &*one.file).collect();
        let count = match files.len() {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        let kinds = summary(self.kinds.iter().copied());
        let mut lines = vec![if self.is_masked {
            format!("Masked in {count}: {kinds}.")
        } else {
            format!(
                "Warning: {count} may hold what should not be shared: {kinds}. --mask masks them."
            )
        }];
        for one in self.found.iter().take(MOST) {
            let more = match one.places {
                1 => String::new(),
                places => format!(", at {places} places"),
            };
            let Sensitive {
                file,
                place,
                kind,
                starts_with,
                ..
            } = one;
            lines.push(format!("  {file}: {place}: {kind} {starts_with}{more}"));
        }
        let more = self.found.len().saturating_sub(MOST);
        if more > 0 {
            lines.push(format!("  {more} more"));
        }
        let lines = lines.iter().map(|line| plain(line) + "\n");
        lines.collect()
    }

    /// Prints the warning to standard error.
    pub fn print(&self) {
        eprint!("{}", self.report());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FindingKind, places: usize) -> Finding {
        Finding {
            kind,
            preview: "sk-a… (40 characters)".to_owned(),
            step: None,
            path: "start[0].content".to_owned(),
            count: places,
        }
    }

    #[test]
    fn a_warning_names_file_and_place() {
        let mut check = Check::new(false);
        assert_eq!(check.report(), "");
        check.add("a.json", &[finding(FindingKind::Email, 1)]);
        assert!(!check.has_secrets());
        check.add("b.json", &[finding(FindingKind::ApiKey, 3)]);
        assert!(check.has_secrets());
        let report = check.report();
        assert!(report.starts_with("Warning: 2 files"), "{report}");
        assert!(report.contains("1 API key, 1 e-mail address"), "{report}");
        let line = "  b.json: start[0].content: API key sk-a… (40 characters), at 3 places\n";
        assert!(report.contains(line), "{report}");
    }

    #[test]
    fn masked_findings_are_not_warnings() {
        let mut check = Check::new(true);
        check.add("a.json", &vec![finding(FindingKind::Token, 1); MOST + 2]);
        assert!(!check.has_secrets());
        let report = check.report();
        assert!(
            report.starts_with("Masked in 1 file: 42 tokens."),
            "{report}"
        );
        assert!(report.ends_with("  2 more\n"), "{report}");
    }
}
