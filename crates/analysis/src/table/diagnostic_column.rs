//! Columns with the number of diagnostics of a kind, and the cluster of similar behaviour.
//!
//! Invariant: a row of an older version has no numbers, which is not 0.

use std::sync::Arc;

use super::{Column, Row};
use crate::behaviour::diagnostics::{DiagnosticKind, TaskSteps, extra_steps};

/// The number of diagnostics of a kind, or of extra steps.
pub(super) fn value(kind: DiagnosticKind, row: &Row) -> Option<f64> {
    if kind == DiagnosticKind::ExtraSteps {
        return row.extra_steps.map(|steps| steps as f64);
    }
    Some(f64::from(row.diagnostics.as_deref()?.of_kind(kind)))
}

/// The columns of kinds that occur in some rows, with the number of rows whose number is known. Extra steps can be computed
/// if a task and its success are known.
pub(super) fn found<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Vec<(Column, usize)> {
    let known = rows.clone().filter(|row| row.diagnostics.is_some()).count();
    let occurs = |kind: DiagnosticKind| match kind {
        DiagnosticKind::ExtraSteps => rows
            .clone()
            .any(|row| row.task.is_some() && row.succeeded() == Some(true)),
        kind => rows
            .clone()
            .any(|row| value(kind, row).is_some_and(|number| number > 0.0)),
    };
    let kinds = DiagnosticKind::ALL.into_iter().filter(|kind| occurs(*kind));
    let clustered = rows.clone().filter(|row| row.cluster.is_some()).count();
    kinds
        .map(|kind| (Column::Diagnostic(kind), known))
        .chain((clustered > 0).then_some((Column::Cluster, clustered)))
        .collect()
}

/// The number of steps of each row beyond the shortest success of its task; `None` if that is unknown.
pub fn extra_steps_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Option<u64>> {
    let steps: Vec<TaskSteps<'_>> = rows
        .into_iter()
        .map(|row| TaskSteps {
            task: row.task.as_ref().map(|task| &*task.id),
            steps: row.steps,
            succeeded: row.succeeded(),
        })
        .collect();
    let extra = extra_steps(&steps).into_iter();
    extra.map(|extra| extra.map(|steps| steps as u64)).collect()
}

/// Fills in the number of extra steps. Rows for which it is unknown are shared.
pub fn fill_extra_steps(rows: &[Arc<Row>]) -> Vec<Arc<Row>> {
    let extra = extra_steps_of(rows.iter().map(AsRef::as_ref));
    let filled = rows.iter().zip(extra);
    filled
        .map(|(row, extra_steps)| match extra_steps {
            None => Arc::clone(row),
            extra_steps => Arc::new(Row {
                extra_steps,
                ..Row::clone(row)
            }),
        })
        .collect()
}

/// Whether some of these columns need [`fill_extra_steps`].
pub fn need_extra_steps<'a>(columns: impl IntoIterator<Item = &'a Column>) -> bool {
    let extra = Column::Diagnostic(DiagnosticKind::ExtraSteps);
    columns.into_iter().any(|column| *column == extra)
}

#[cfg(test)]
mod tests {
    use volary_episode::episode::TaskReference;

    use super::super::{Cell, found_columns};
    use super::*;
    use crate::behaviour::diagnostics::DiagnosticCounts;

    fn row(id: &str, steps: usize, reward: Option<f64>) -> Row {
        Row {
            id: id.into(),
            steps,
            reward,
            task: Some(TaskReference {
                dataset: "airline".into(),
                id: "7".into(),
            }),
            ..Row::default()
        }
    }

    #[test]
    fn unknown_is_not_zero() {
        let mut counts = DiagnosticCounts::default();
        counts.set(DiagnosticKind::IgnoredError, 2);
        let known = Row {
            diagnostics: Some(Box::new(counts)),
            ..row("a", 3, None)
        };
        let older = row("b", 3, None);
        let of = |row: &Row, kind| row.cell(&Column::Diagnostic(kind)).to_text();
        assert_eq!(of(&known, DiagnosticKind::IgnoredError), "2");
        assert_eq!(of(&known, DiagnosticKind::BlindWrite), "0");
        assert_eq!(of(&older, DiagnosticKind::IgnoredError), "");
        let found = found_columns([&known, &older], 9);
        assert_eq!(
            found,
            [(Column::Diagnostic(DiagnosticKind::IgnoredError), 1)],
            "kinds that occur nowhere have no column"
        );
    }

    #[test]
    fn extra_steps_compare_with_the_shortest_success_of_the_task() {
        let rows = [
            row("a", 9, Some(1.0)),
            row("b", 5, Some(1.0)),
            row("c", 12, Some(0.0)),
            Row {
                task: None,
                ..row("d", 12, Some(0.0))
            },
        ];
        let column = Column::Diagnostic(DiagnosticKind::ExtraSteps);
        assert_eq!(found_columns(&rows, 9), [(column.clone(), 0)]);
        assert!(need_extra_steps([&Column::Name, &column]));
        let rows = fill_extra_steps(&rows.map(Arc::new));
        let cells: Vec<Cell<'_>> = rows.iter().map(|row| row.cell(&column)).collect();
        let number = Cell::Number;
        assert_eq!(cells, [number(4.0), number(0.0), number(7.0), Cell::Empty]);
    }
}
