//! One answer of the answers for the parts of a long trajectory.
//!
//! - Yes or no: yes if a part says so. Labels: of those that state something, the one with the most parts, at equal numbers
//!   the earlier one. A supported answer takes precedence over an unsupported one.
//! - Scores: the mean. Texts: one after the other.
//!
//! The evidence is that of the parts which agree with the merged answer. Contradictions are noted.

use std::collections::BTreeSet;

use volary_core::json::Text;

use crate::answer::{Answer, Evidence, Support};
use crate::question::AnswerType;

/// Merges the answers for all parts, in order. One answer stays as it is.
pub fn merged(kind: &AnswerType, mut answers: Vec<Answer>) -> Answer {
    if answers.len() < 2 {
        return answers.pop().unwrap_or_else(|| Answer::unreadable(""));
    }
    let parts = answers.len();
    let mut notes: Vec<Text> = vec![format!("Read in {parts} overlapping parts.").into()];
    let unreadable = answers
        .iter()
        .filter(|answer| answer.support == Support::Unreadable)
        .count();
    if unreadable > 0 {
        notes.push(format!("The answers for {unreadable} parts could not be read.").into());
    }
    let readable = |answer: &&Answer| answer.support != Support::Unreadable;
    let (label, score) = match kind {
        AnswerType::YesNo | AnswerType::Label { .. } => {
            let label = chosen_label(kind, &answers);
            let said: BTreeSet<&str> = answers
                .iter()
                .filter_map(|answer| answer.label.as_deref())
                .collect();
            if said.len() > 1 {
                let said: Vec<&str> = said.into_iter().collect();
                notes.push(format!("The parts differ: {}.", said.join(", ")).into());
            }
            (label, None)
        }
        AnswerType::Score { .. } => {
            let scores: Vec<f64> = answers.iter().filter_map(|answer| answer.score).collect();
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            (None, (!scores.is_empty()).then_some(mean))
        }
        AnswerType::Text => (None, None),
    };
    let agrees = |answer: &&Answer| label.is_none() || answer.label == label;
    let agreeing: Vec<&Answer> = answers.iter().filter(readable).filter(agrees).collect();
    let explanations = agreeing.iter().map(|answer| &*answer.explanation);
    let mut evidence: Vec<Evidence> = Vec::new();
    for one in agreeing.iter().flat_map(|answer| &answer.evidence) {
        if !evidence.contains(one) {
            evidence.push(one.clone());
        }
    }
    let support = if agreeing.is_empty() {
        Support::Unreadable
    } else if agreeing
        .iter()
        .all(|answer| answer.support == Support::NotNeeded)
    {
        Support::NotNeeded
    } else if agreeing
        .iter()
        .any(|answer| answer.support == Support::Supported)
    {
        Support::Supported
    } else {
        Support::Unsupported
    };
    if support == Support::Supported {
        // What did not hold is not lost: its state is shown with it.
        evidence.sort_by_key(|evidence| !evidence.state.holds());
    }
    for answer in &answers {
        notes.extend(answer.notes.iter().cloned());
    }
    Answer {
        explanation: explanations.collect::<Vec<_>>().join("\n").into(),
        label,
        score,
        evidence,
        support,
        parts,
        notes,
    }
}

fn chosen_label(kind: &AnswerType, answers: &[Answer]) -> Option<Text> {
    let rank = |answer: &Answer| {
        let label = answer.label.as_deref();
        (
            kind.needs_evidence(label),
            answer.support == Support::Supported,
        )
    };
    let best = answers
        .iter()
        .filter(|answer| answer.label.is_some())
        .map(rank)
        .max()?;
    let candidates = answers
        .iter()
        .filter(|answer| answer.label.is_some() && rank(answer) == best);
    let mut counts: Vec<(Text, usize)> = Vec::new();
    for label in candidates.filter_map(|answer| answer.label.clone()) {
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    let first = counts.into_iter().find(|(_, count)| *count == most)?;
    Some(first.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(label: &str, support: Support) -> Answer {
        Answer {
            label: Some(label.into()),
            score: None,
            explanation: label.into(),
            evidence: Vec::new(),
            support,
            parts: 1,
            notes: Vec::new(),
        }
    }

    #[test]
    fn one_part_that_shows_it_is_enough() {
        let merged = merged(
            &AnswerType::YesNo,
            vec![
                answer("no", Support::NotNeeded),
                answer("yes", Support::Supported),
                answer("no", Support::NotNeeded),
            ],
        );
        assert_eq!(merged.label.as_deref(), Some("yes"));
        assert_eq!((merged.support, merged.parts), (Support::Supported, 3));
        assert_eq!(&*merged.explanation, "yes");
        assert_eq!(&*merged.notes[1], "The parts differ: no, yes.");
    }

    #[test]
    fn supported_labels_win_then_frequent_ones() {
        let kind = AnswerType::of_labels(&["loop", "gave up", "none"]);
        let label = |answers| merged(&kind, answers).label;
        assert_eq!(
            label(vec![
                answer("loop", Support::Unsupported),
                answer("loop", Support::Unsupported),
                answer("gave up", Support::Supported),
            ]),
            Some("gave up".into())
        );
        assert_eq!(
            label(vec![
                answer("gave up", Support::Supported),
                answer("loop", Support::Supported),
                answer("loop", Support::Supported),
                answer("none", Support::NotNeeded),
            ]),
            Some("loop".into())
        );
    }

    #[test]
    fn scores_are_averaged_and_unreadable_parts_noted() {
        let score = |score| Answer {
            label: None,
            score: Some(score),
            ..answer("", Support::Supported)
        };
        let kind = AnswerType::Score {
            least: 0.0,
            most: 10.0,
        };
        let merged = merged(&kind, vec![score(2.0), Answer::unreadable("?"), score(4.0)]);
        assert_eq!(merged.score, Some(3.0));
        assert_eq!(
            &*merged.notes[1],
            "The answers for 1 parts could not be read."
        );
    }
}
