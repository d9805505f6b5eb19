//! What is said about keys, tokens and addresses that were found in something that is about to be shared.

use volary_analysis::sensitive::{Finding, summary};
use volary_core::json::Text;
use volary_core::quantity::count_text;

/// A finding and the one of several files or episodes that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedFinding {
    /// The name of the episode; `None` if there is only one.
    pub owner: Option<Text>,
    pub finding: Finding,
}

impl OwnedFinding {
    /// The findings of the only episode.
    pub fn all(findings: Vec<Finding>) -> Vec<OwnedFinding> {
        let findings = findings.into_iter();
        let found = findings.map(|finding| OwnedFinding {
            owner: None,
            finding,
        });
        found.collect()
    }

    /// Whether a key or a password is among them, so that masking is the default.
    pub fn any_secret(found: &[OwnedFinding]) -> bool {
        found.iter().any(|one| one.finding.kind.is_secret())
    }

    /// All findings in a sentence.
    pub fn summary(subject: &str, found: &[OwnedFinding]) -> String {
        let kinds = summary(found.iter().map(|one| one.finding.kind));
        format!("{subject} has {kinds}.")
    }

    /// The finding in a line, before its first place.
    pub fn text(&self) -> String {
        let OwnedFinding { owner, finding } = self;
        let owner = owner
            .as_ref()
            .map_or_else(String::new, |owner| format!("{owner}: "));
        let times = match finding.count {
            1 => String::new(),
            places => format!(", at {} places", count_text(places)),
        };
        let kind = finding.kind.name();
        format!("{owner}{kind} {}{times}: ", finding.preview)
    }
}

#[cfg(test)]
mod tests {
    use volary_analysis::sensitive::check;
    use volary_core::message::Message;
    use volary_episode::{Episode, Outcome, StepRecord};

    use super::*;

    fn found(texts: &[&str]) -> Vec<OwnedFinding> {
        let steps = texts.iter().map(|text| {
            StepRecord::new(
                Message::user(*text).into(),
                Outcome::Observed {
                    messages: Vec::new(),
                    reward: 0.0,
                    done: false,
                    truncated: false,
                },
            )
        });
        let episode = Episode {
            steps: steps.collect(),
            ..Episode::default()
        };
        OwnedFinding::all(check(&episode))
    }

    #[test]
    fn an_address_is_named_but_need_not_be_masked() {
        let found = found(&["Write to ada@example.org."]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!OwnedFinding::any_secret(&found));
        let text = OwnedFinding::summary("The episode", &found);
        assert!(
            text.starts_with("The episode has ") && text.ends_with('.'),
            "{text}"
        );
        assert!(text.contains("address"), "{text}");
    }

    #[test]
    fn a_key_is_shown_in_part_and_masked_by_default() {
        let key = format!("sk-ant-api03-{}", "a1B2".repeat(20));
        let found = found(&[&key, &key]);
        assert!(OwnedFinding::any_secret(&found));
        let text = found[0].text();
        assert!(!text.contains(&key), "{text}");
        assert!(text.contains("at 2 places"), "{text}");
    }

    #[test]
    fn the_owner_is_named_among_several() {
        let mut found = found(&["Write to ada@example.org."]);
        let alone = found[0].text();
        assert!(!alone.contains("places"), "{alone}");
        found[0].owner = Some("Run 7".into());
        assert_eq!(found[0].text(), format!("Run 7: {alone}"));
    }
}
