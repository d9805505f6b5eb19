//! Plans: their cells, and round trips through the stored form.

use proptest::prelude::*;
use volary_core::object;

use super::*;

fn plan(tasks: usize, policies: usize, trials: usize) -> Plan {
    let task = |n: usize| PlannedTask {
        id: n.to_string().into(),
        title: format!("Task {n}").into(),
        environment: "counter".into(),
        configuration: object!({"target": (n as i64)}),
    };
    let actors = [
        Actor::Random,
        Actor::Oracle,
        Actor::Student {
            fault: Some(Fault::Loop),
        },
        Actor::Student { fault: None },
        Actor::Scripted {
            script: "[]".into(),
        },
        Actor::Model {
            connection: "mine".into(),
            settings: object!({"System prompt": "Be brief."}),
        },
    ];
    let policy = |n: usize| PlannedPolicy {
        name: format!("policy {n}").into(),
        actor: actors[n % actors.len()].clone(),
        max_steps: 50,
    };
    Plan {
        name: "A plan".into(),
        dataset: Some("word_problems".into()),
        tasks: (0..tasks).map(task).collect(),
        policies: (0..policies).map(policy).collect(),
        trials,
        seed: (1 << 53) - 1,
        success: 1.0,
        pace: Pace {
            requests_per_minute: Some(60),
            budget: Budget {
                cost: Some(0.5),
                ..Budget::default()
            },
            ..Pace::default()
        },
    }
}

#[test]
fn selections() {
    assert_eq!(Selection::All.indices(3), [0, 1, 2]);
    let range = |first, last| Selection::Range { first, last }.indices(5);
    assert_eq!(range(2, 3), [1, 2]);
    assert_eq!(range(0, 99), [0, 1, 2, 3, 4]);
    assert!(range(4, 2).is_empty() && range(9, 12).is_empty());
    let sample = |count, seed| Selection::Sample { count, seed }.indices(100);
    assert_eq!(sample(10, 1), sample(10, 1));
    assert_ne!(sample(10, 1), sample(10, 2));
    assert_eq!(sample(1000, 1).len(), 100);
}

#[test]
fn policies_meet_the_same_environments_but_draw_apart() {
    let plan = plan(2, 2, 2);
    let cell = |number| plan.cell(number).unwrap();
    assert_eq!(plan.recipe(cell(0)), plan.recipe(cell(1)));
    assert_ne!(plan.recipe(cell(0)), plan.recipe(cell(4)));
    assert_ne!(plan.policy_seed(cell(0)), plan.policy_seed(cell(1)));
}

#[test]
fn no_tasks_no_cells() {
    for empty in [plan(0, 2, 2), plan(2, 0, 2), plan(2, 2, 0)] {
        assert_eq!((empty.length(), empty.cell(0)), (0, None));
    }
    assert_eq!(Plan::read(&Json::Null), None);
}

#[test]
fn equal_tasks_share_one_description() {
    let mut alike = plan(1_000, 1, 1);
    for task in &mut alike.tasks {
        task.configuration = object!({"target": 7, "by": 1});
    }
    let text = alike.to_json().to_python_text();
    assert_eq!(text.matches("counter").count(), 1);
    alike.tasks[500].configuration = object!({"by": 1, "target": 7});
    let text = alike.to_json().to_python_text();
    assert_eq!(text.matches("counter").count(), 3);
    assert_eq!(Plan::read(&Json::parse(&text).unwrap()), Some(alike));
    let without = object!({"tasks": [{"id": "1", "title": "One"}]});
    assert_eq!(Plan::read(&Json::Object(without)), None);
}

proptest! {
    #[test]
    fn plans_come_back(
        tasks in 0_usize..5, policies in 0_usize..6, trials in 1_usize..4, alike in 1_i64..4
    ) {
        let mut plan = plan(tasks, policies, trials);
        for (n, task) in (0_i64..).zip(&mut plan.tasks) {
            task.configuration = object!({"target": (n / alike)});
        }
        let text = plan.to_json().to_python_text();
        prop_assert_eq!(Plan::read(&Json::parse(&text).unwrap()), Some(plan));
    }

    #[test]
    fn cells_and_numbers_belong_together(
        tasks in 1_usize..6, policies in 1_usize..5, trials in 1_usize..5
    ) {
        let plan = plan(tasks, policies, trials);
        for number in 0..plan.length() {
            let cell = plan.cell(number).unwrap();
            prop_assert_eq!(plan.number(cell.task, cell.policy, cell.trial), number);
            prop_assert!(plan.task(cell).is_some() && plan.policy(cell).is_some());
            prop_assert!(cell.trial < trials);
        }
    }
}
