//! Steps that a person labelled, from which rules are proposed, and what the labels say about rows.

use std::sync::Arc;

use volary_analysis::annotations::Annotations;
use volary_analysis::table::Row;
use volary_core::json::Text;

/// A step with a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelledStep {
    pub label: Text,
    /// The id of the episode.
    pub episode: Text,
    /// The step, from 1.
    pub step: usize,
}

/// The labelled steps of these rows, by label, then in the order of the rows.
pub fn labelled_steps(notes: &Annotations, rows: &[Arc<Row>]) -> Vec<LabelledStep> {
    let order: std::collections::HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| (&*row.id, place))
        .collect();
    let steps = notes.iter().filter_map(|note| {
        let label = note.label.as_ref().filter(|label| !label.is_empty())?;
        let step = note.target.step().filter(|step| *step > 0)?;
        let place = *order.get(&*note.episode)?;
        let labelled = LabelledStep {
            label: label.clone(),
            episode: note.episode.clone(),
            step,
        };
        Some((place, labelled))
    });
    let mut steps: Vec<(usize, LabelledStep)> = steps.collect();
    steps.sort_by(|(place, one), (other_place, other)| {
        let one = (&one.label, place, one.step);
        one.cmp(&(&other.label, other_place, other.step))
    });
    steps.dedup();
    steps.into_iter().map(|(_, step)| step).collect()
}

/// Whether a row is an instance of what a label names. A row with other notes, but without the label, is none; of a row
/// without any notes it is unknown.
pub fn is_labelled(row: &Row, label: &str) -> Option<bool> {
    if row.labels.iter().any(|known| **known == *label) {
        return Some(true);
    }
    let is_seen = !row.notes.is_empty() || row.verdict.is_some();
    is_seen.then_some(false)
}
