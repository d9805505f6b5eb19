//! What rows show of behaviour that depends on other rows: their clusters, and the steps beyond the shortest success. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use volary_analysis::table::Row;
use volary_analysis::table::diagnostic_column::fill_extra_steps;
use volary_core::json::Text;

/// The rows with their clusters and, if needed, their extra steps. Without either, the rows are shared.
pub fn with_behaviour(
    rows: Arc<Vec<Arc<Row>>>,
    clusters: &HashMap<Text, Text>,
    needs_extra_steps: bool,
) -> Arc<Vec<Arc<Row>>> {
    let rows = if needs_extra_steps {
        Arc::new(fill_extra_steps(&rows))
    } else {
        rows
    };
    if clusters.is_empty() {
        return rows;
    }
    let clustered = rows.iter().map(|row| match clusters.get(&row.id) {
        None => Arc::clone(row),
        Some(cluster) => Arc::new(Row {
            cluster: Some(cluster.clone()),
            ..Row::clone(row)
        }),
    });
    Arc::new(clustered.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared_unless_something_is_filled_in() {
        let rows = ["a", "b"].map(|id| {
            Arc::new(Row {
                id: id.into(),
                ..Row::default()
            })
        });
        let rows = Arc::new(rows.to_vec());
        let same = with_behaviour(Arc::clone(&rows), &HashMap::new(), false);
        assert!(Arc::ptr_eq(&same, &rows));
        let clusters = HashMap::from([("b".into(), "1 · look".into())]);
        let clustered = with_behaviour(Arc::clone(&rows), &clusters, true);
        assert!(Arc::ptr_eq(&clustered[0], &rows[0]));
        assert_eq!(clustered[1].cluster, Some("1 · look".into()));
    }
}
