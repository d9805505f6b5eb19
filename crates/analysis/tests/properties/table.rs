//! The table: its cells, their order, and their groups.

use std::sync::Arc;

use proptest::prelude::*;
use volary_analysis::table::arrange::{Arranging, Wanted, arranged};
use volary_analysis::table::filter::Filter;
use volary_analysis::table::groups::{GroupBy, SUCCESS, grouped, passes};
use volary_analysis::table::order::{Direction, natural};
use volary_analysis::table::{Cell, Column, Row, choices, found_columns};
use volary_core::{json, object};
use volary_episode::{Ending, Episode, Rewards, Score, Source, TaskReference, Usage};

fn task(id: &str, reward: Option<f64>) -> Row {
    Row {
        id: id.into(),
        name: id.into(),
        task: Some(TaskReference {
            dataset: "d".into(),
            id: id.into(),
        }),
        reward,
        ..Row::default()
    }
}

#[test]
fn an_episode_becomes_a_row() {
    let usage = Usage {
        input: Some(10),
        output: Some(5),
        cost: Some(0.5),
        ..Usage::default()
    };
    let episode = Episode {
        policy: Some("someone".into()),
        total_usage: Some(usage),
        rewards: Rewards::Whole(0.25),
        ending: Ending::Done,
        source: Some(Source {
            format: "f".into(),
            version: None,
            file: "runs/a.json".into(),
        }),
        scores: vec![Score {
            name: "style".into(),
            value: json!(3),
            ..Score::default()
        }],
        metadata: object!({ "info": { "seed": 7, "note": null }, "big": [1] }),
        ..Episode::default()
    };
    let row = Row::of(&episode, vec!["good".into()]);
    let path = vec!["info".into(), "seed".into()];
    let cells = [
        (Column::Model, ""),
        (Column::Agent, "someone"),
        (Column::Run, "runs/a.json"),
        (Column::Reward, "0.25"),
        (Column::Tokens, "15"),
        (Column::Cost, "0.5"),
        (Column::Time, ""),
        (Column::Outcome, "done"),
        (Column::Tags, "good"),
        (Column::Task, ""),
        (Column::Score("style".into()), "3"),
        (Column::Metadata(path.clone()), "7"),
        (Column::Metadata(vec!["big".into()]), "[1]"),
        (Column::Metadata(vec!["info".into(), "none".into()]), ""),
        (Column::Metadata(Vec::new()), ""),
    ];
    for (column, expected) in cells {
        assert_eq!(row.cell(&column).to_text(), expected, "{column:?}");
    }
    let found = found_columns(&[row.clone(), row], 9);
    assert_eq!(
        found,
        [
            (Column::Score("style".into()), 2),
            (Column::Metadata(path), 2)
        ]
    );
}

#[test]
fn an_unknown_reward_is_not_zero() {
    let unknown = Episode {
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    let row = Row::of(&unknown, Vec::new());
    assert_eq!(row.cell(&Column::Reward), Cell::Empty);
    let rows = vec![row, task("a", Some(0.0))];
    let known = |column: Column, filter: Filter| {
        let filters = vec![(column, filter)];
        let wanted = Wanted {
            filters,
            ..Wanted::default()
        };
        ids(&arranged(rows.clone(), wanted))
    };
    let between = |low, high| known(Column::Reward, Filter::Between { low, high });
    assert_eq!(between(None, Some(1.0)), ["a"]);
    assert_eq!(between(Some(0.5), None), [""; 0]);
    assert_eq!(known(Column::Reward, Filter::Known(false)), [""]);
    assert_eq!(known(Column::Name, Filter::Contains("A".into())), ["a"]);
    assert_eq!(
        known(Column::Task, Filter::OneOf(vec!["a".into(), "b".into()])),
        ["a"]
    );
    let only = Wanted {
        only: Some(Arc::new(|row: &Row| row.id.is_empty())),
        ..Wanted::default()
    };
    assert_eq!(ids(&arranged(rows.clone(), only)), [""]);
    assert_eq!(ids(&arranged(rows, Wanted::default())), ["", "a"]);
}

fn ids(rows: &[Arc<Row>]) -> Vec<String> {
    rows.iter().map(|row| row.id.to_string()).collect()
}

fn sorted(rows: Vec<Row>, column: Column, direction: Direction) -> Vec<Arc<Row>> {
    let sort = Some((column, direction));
    arranged(
        rows,
        Wanted {
            sort,
            ..Wanted::default()
        },
    )
}

#[test]
fn rows_are_sorted_as_people_expect() {
    let rows = vec![
        task("task 10", Some(1.0)),
        task("Task 9", None),
        task("task 9", Some(0.5)),
    ];
    let sorted = |column, direction| ids(&sorted(rows.clone(), column, direction));
    let [ten, nine, small] = ["task 10", "Task 9", "task 9"];
    assert_eq!(
        sorted(Column::Name, Direction::Ascending),
        [nine, small, ten]
    );
    assert_eq!(
        sorted(Column::Reward, Direction::Ascending),
        [small, ten, nine]
    );
    assert_eq!(
        sorted(Column::Reward, Direction::Descending),
        [ten, small, nine]
    );
    assert_eq!(
        sorted(Column::Model, Direction::Descending),
        [ten, nine, small]
    );
}

#[test]
fn tries_of_a_task_are_judged_together() {
    let rows: Vec<Row> = [
        ("a", 1.0),
        ("b", 0.0),
        ("a", 0.0),
        ("a", 1.0 - 1e-9),
        ("b", 0.0),
    ]
    .map(|(id, reward)| task(id, Some(reward)))
    .to_vec();
    let groups = grouped(&rows, &GroupBy::Task, SUCCESS);
    assert_eq!(
        groups.iter().map(|group| &*group.name).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(groups[0].rows, [0, 2, 3]);
    assert_eq!((groups[0].trials, groups[0].successes), (3, 2));
    assert_eq!(
        (groups[0].agreement, groups[1].agreement),
        (Some(1.0 / 3.0), Some(1.0))
    );
    assert_eq!(groups[1].mean_reward, Some(0.0));
    let pass = &passes(&groups)[0].all;
    assert!(
        (pass[0] - 1.0 / 3.0).abs() < 1e-12
            && (pass[1] - 1.0 / 6.0).abs() < 1e-12
            && pass.len() == 2
    );
    let alone = grouped(&rows[..1], &GroupBy::Run, SUCCESS);
    assert_eq!((alone[0].agreement, &*alone[0].name), (None, ""));
    assert!(passes(&alone).is_empty() && passes(&[]).is_empty());
    let unknown = [task("a", None)];
    assert_eq!(
        grouped(&unknown, &GroupBy::Task, SUCCESS)[0].mean_reward,
        None
    );
}

/// Each branch of a rollout has the reward of the whole; if they differ, that of the first one counts.
#[test]
fn branches_of_a_rollout_are_one_trial() {
    let row = |id: &str, reward: f64| Row {
        id: id.into(),
        ..task("a", Some(reward))
    };
    let mut rows = vec![
        row("A-branch-3", 0.0),
        row("A", 1.0),
        row("A-branch-2", 0.5),
        row("B", 0.0),
    ];
    for _ in 0..2 {
        let groups = grouped(&rows, &GroupBy::Task, SUCCESS);
        assert_eq!(groups[0].rows.len(), 4);
        assert_eq!((groups[0].trials, groups[0].successes), (2, 1));
        assert_eq!(groups[0].mean_reward, Some(0.5));
        assert_eq!(passes(&groups)[0].all, [0.5, 0.0]);
        rows.reverse();
    }
    // These are no branches, and ids need not be unique.
    let rows = [
        row("fix-branch-a", 1.0),
        row("fix-branch-b", 1.0),
        row("1", 0.0),
        row("1", 0.0),
    ];
    let groups = grouped(&rows, &GroupBy::Task, SUCCESS);
    assert_eq!((groups[0].trials, groups[0].successes), (4, 2));
}

#[test]
fn tasks_of_two_environments_with_one_name_are_distinct() {
    let of = |environment: &str| Row {
        environment: Some(environment.into()),
        ..task("4", Some(1.0))
    };
    let groups = grouped(
        &[of("one"), of("other"), of("one")],
        &GroupBy::Task,
        SUCCESS,
    );
    let names: Vec<&str> = groups.iter().map(|group| &*group.name).collect();
    assert_eq!(names, ["4", "4"]);
    assert_ne!(groups[0].key, groups[1].key);
    assert_eq!(
        (&*groups[0].rows, &*groups[1].rows),
        (&[0, 2][..], &[1][..])
    );
}

#[test]
fn tries_of_two_models_are_never_pooled() {
    let by = |model: &str, id: &str, reward: f64| Row {
        model: Some(model.into()),
        ..task(id, Some(reward))
    };
    let rows = [
        by("m", "a", 1.0),
        by("n", "a", 0.0),
        by("m", "a", 1.0),
        by("n", "a", 0.0),
        by("m", "b", 1.0),
        by("m", "b", 0.0),
    ];
    let groups = grouped(&rows, &GroupBy::Task, SUCCESS);
    let told: Vec<_> = groups
        .iter()
        .map(|group| {
            let model = group.tried.as_ref().map(|tried| &*tried.model);
            (&*group.name, model, group.trials, group.agreement)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a", Some("m"), 2, Some(1.0)),
            ("a", Some("n"), 2, Some(1.0)),
            ("b", Some("m"), 2, Some(0.0)),
        ]
    );
    let found = passes(&groups);
    let told: Vec<_> = found.iter().map(|by| (&*by.model, &*by.all)).collect();
    assert_eq!(told, [("m", &[0.75, 0.5][..]), ("n", &[0.0, 0.0][..])]);
}

#[test]
fn groups_that_are_not_tasks_have_no_agreement_and_no_chances() {
    let rows = [task("a", Some(1.0)), task("b", Some(0.0))];
    for by in [GroupBy::Run, GroupBy::Column(Column::Model)] {
        let groups = grouped(&rows, &by, SUCCESS);
        assert_eq!((groups.len(), groups[0].agreement), (1, None), "{by:?}");
        assert!(passes(&groups).is_empty(), "{by:?}");
    }
    let nowhere = Row {
        reward: Some(1.0),
        ..Row::default()
    };
    let unknown = grouped(&[nowhere.clone(), nowhere], &GroupBy::Task, SUCCESS);
    assert_eq!((unknown[0].trials, unknown[0].agreement), (2, None));
    assert!(passes(&unknown).is_empty());
}

/// Published figures: 50 tasks tried 4 times, with this many successes.
#[test]
fn known_chances_over_tasks() {
    let counts = [(0, 14), (1, 12), (2, 10), (3, 4), (4, 10)];
    let mut rows = Vec::new();
    for (successes, tasks) in counts {
        for n in 0..tasks {
            let trials = (0..4).map(|index| f64::from(u8::from(index < successes)));
            rows.extend(trials.map(|reward| task(&format!("{successes}/{n}"), Some(reward))));
        }
    }
    let pass = &passes(&grouped(&rows, &GroupBy::Task, SUCCESS))[0].all;
    let expected = [0.42, 0.41 / 1.5, 0.22, 0.20];
    assert!(
        pass.iter()
            .zip(expected)
            .all(|(found, expected)| (found - expected).abs() < 1e-9),
        "{pass:?}"
    );
}

#[test]
fn rows_with_several_tags_are_in_several_groups() {
    let mut rows = [task("a", None), task("b", None)];
    rows[0].tags = vec!["x".into(), "y".into(), "x".into()];
    let groups = grouped(&rows, &GroupBy::Column(Column::Tags), SUCCESS);
    let told: Vec<_> = groups
        .iter()
        .map(|group| (&*group.name, group.rows.len()))
        .collect();
    assert_eq!(told, [("x", 1), ("y", 1), ("", 1)]);
    assert_eq!(choices(&rows, &Column::Tags, 1), [("x".to_owned(), 2)]);
}

proptest! {
    #[test]
    fn the_natural_order_is_an_order(a in "[a-bA-B0-2é]{0,5}", b in "[a-bA-B0-2é]{0,5}", c in "[a-bA-B0-2é]{0,5}") {
        prop_assert_eq!(natural(&a, &b), natural(&b, &a).reverse());
        prop_assert_eq!(natural(&a, &b).is_eq(), a == b);
        if natural(&a, &b).is_le() && natural(&b, &c).is_le() {
            prop_assert!(natural(&a, &c).is_le());
        }
    }

    #[test]
    fn texts_are_sorted_by_the_natural_order(texts in prop::collection::vec("[a-cA-C0-2 é_~]{0,6}", 0..40)) {
        let rows: Vec<Row> = texts.iter().map(|text| Row { id: "x".into(), ..task(text, None) }).collect();
        let mut expected: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
        expected.sort_by(|one, other| natural(one, other));
        let found = sorted(rows, Column::Name, Direction::Ascending);
        let found: Vec<&str> = found.iter().map(|row| &*row.name).take(expected.len()).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn however_little_is_done_at_a_time_the_order_is_the_same(
        rewards in prop::collection::vec(prop::option::of(-3..3), 0..3000),
        most in 1_usize..700,
        is_descending: bool,
    ) {
        let row = |(index, reward): (usize, &Option<i32>)| Arc::new(task(&index.to_string(), reward.map(f64::from)));
        let rows: Arc<Vec<Arc<Row>>> = Arc::new(rewards.iter().enumerate().map(row).collect());
        let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
        let wanted = Wanted { sort: Some((Column::Reward, direction)), ..Wanted::default() };
        let mut arranging = Arranging::of(Arc::clone(&rows), wanted);
        let found = loop {
            if let Some(found) = arranging.advance(most) {
                break found;
            }
        };
        let mut expected = rows.to_vec();
        // A stable sort of the standard library.
        expected.sort_by(|one, other| match (one.reward, other.reward) {
            (Some(one), Some(other)) if is_descending => other.total_cmp(&one),
            (Some(one), Some(other)) => one.total_cmp(&other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        });
        prop_assert_eq!(ids(&found), ids(&expected));
    }
}
