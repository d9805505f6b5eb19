//! The training runs that a page of findings shows: those of the exported trajectories.

use std::collections::HashSet;
use std::sync::Arc;

use volary_analysis::table::Row;
use volary_analysis::training::Catalog;
use volary_core::json::Text;
use volary_protocol::library::FoundRun;

/// The maximum number of runs: each has curves and tables.
const MOST_RUNS: usize = 4;

/// The runs of a catalog that have some of the chosen rows, in its order. A run is shown whole.
pub fn found_runs(catalog: &Catalog, chosen: &[Arc<Row>]) -> Vec<FoundRun> {
    let chosen: HashSet<&Text> = chosen.iter().map(|row| &row.id).collect();
    let runs = catalog.runs.iter();
    let runs = runs.filter(|run| run.rows.iter().any(|row| chosen.contains(&row.id)));
    runs.take(MOST_RUNS)
        .map(|run| FoundRun {
            title: run.title().into(),
            ids: run.rows.iter().map(|row| row.id.clone()).collect(),
            reward: None,
        })
        .collect()
}

/// The title of the page.
pub fn findings_title(runs: &[FoundRun]) -> Text {
    match runs {
        [run] => format!("Findings in {}", run.title).into(),
        _ => "Findings".into(),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    /// A sample of a run at a step; without a run it is a trajectory on its own.
    fn row(run: Option<&str>, sample: i64) -> Arc<Row> {
        Arc::new(Row {
            id: format!("{}-{sample}", run.unwrap_or("alone")).into(),
            // A folder of files is a run.
            run: run.map(|run| format!("{run}/1.jsonl").into()),
            metadata: match run {
                Some(_) => object!({ "step": 1, "group": 0, "sample": sample }),
                None => object!({}),
            },
            ..Row::default()
        })
    }

    fn titles(runs: &[FoundRun]) -> Vec<&str> {
        runs.iter().map(|run| &*run.title).collect()
    }

    #[test]
    fn a_run_is_shown_whole_if_one_of_its_samples_is_exported() {
        let all = [row(Some("a"), 0), row(Some("a"), 1), row(Some("b"), 0)];
        let found = found_runs(&Catalog::of(&all), &all[1..2]);
        assert_eq!(titles(&found), ["a"]);
        assert_eq!(found[0].ids, ["a-0".into(), "a-1".into()]);
    }

    #[test]
    fn trajectories_without_a_run_have_none() {
        let all = [row(None, 0), row(Some("a"), 0)];
        assert!(found_runs(&Catalog::of(&all), &all[..1]).is_empty());
        assert!(found_runs(&Catalog::of(&all), &[]).is_empty());
    }

    #[test]
    fn many_runs_do_not_make_a_page_that_nobody_can_read() {
        let names: Vec<String> = (0..9).map(|number| format!("run {number}")).collect();
        let all: Vec<_> = names.iter().map(|name| row(Some(name), 0)).collect();
        assert_eq!(found_runs(&Catalog::of(&all), &all).len(), MOST_RUNS);
    }

    #[test]
    fn the_title_names_the_only_run() {
        let all = [row(Some("a"), 0), row(Some("b"), 0)];
        let catalog = Catalog::of(&all);
        assert_eq!(
            &*findings_title(&found_runs(&catalog, &all[..1])),
            "Findings in a"
        );
        assert_eq!(&*findings_title(&found_runs(&catalog, &all)), "Findings");
        assert_eq!(&*findings_title(&[]), "Findings");
    }
}
