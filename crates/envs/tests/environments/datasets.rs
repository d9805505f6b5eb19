//! Task datasets: word problems, GSM8K lines, endless dummies.

use std::collections::BTreeSet;
use std::rc::Rc;

use volary_core::clock::Standstill;
use volary_core::dataset::TaskDataset;
use volary_core::environment::Setting;
use volary_core::{Object, object};
use volary_envs::datasets::word_problems::problems;
use volary_envs::registry;

use crate::player::Player;

fn dataset(name: &str, arguments: Object) -> Box<dyn TaskDataset> {
    let setting = Setting {
        seed: 0,
        clock: Rc::new(Standstill),
        outside: Rc::new(volary_core::outside::Closed),
    };
    let made = registry().dataset_from_name(name, &arguments, &setting);
    made.unwrap()
}

#[test]
fn every_word_problem_is_whole_and_can_be_solved() {
    let problems = problems().unwrap();
    assert!(problems.len() >= 60, "{}", problems.len());
    let ids: BTreeSet<_> = problems.iter().map(|problem| &problem.id).collect();
    assert_eq!(ids.len(), problems.len());
    let tasks = dataset("word_problems", object!({}));
    assert_eq!(tasks.length(), Some(problems.len()));
    for (index, problem) in problems.iter().enumerate() {
        assert!((1..=3).contains(&problem.level), "{}", problem.id);
        assert!(problem.number.is_finite(), "{}", problem.id);
        let task = tasks.task(index).unwrap();
        assert_eq!(task.id, problem.id);
        let environment = tasks.environment_at(index).unwrap();
        assert_eq!(environment.id(), Ok(problem.id.clone()));
        let mut player = Player::new(task.environment, task.configuration);
        assert_eq!(player.solve().map(|step| step.reward), Some(1.0));
    }
    assert!(tasks.task(problems.len()).is_none());
}

#[test]
fn levels_share_out_the_word_problems() {
    let all = dataset("word_problems", object!({})).length().unwrap();
    let level = |level: i64| {
        let tasks = dataset("word_problems", object!({"level": level}));
        tasks.length().unwrap()
    };
    assert!((1..=3).all(|number| level(number) > 0));
    assert_eq!(level(1) + level(2) + level(3), all);
}

#[test]
fn dummies_do_not_come_to_an_end_and_differ_in_their_numbers() {
    let dummies = dataset("dummy", object!({}));
    assert_eq!(dummies.length(), None);
    assert!(dummies.task(0).is_none());
    assert_eq!(
        dummies
            .environment_at(0)
            .err()
            .map(|error| error.to_string()),
        Some("\"DummyTaskDataset\" does not implement get_new_env_by_idx".into())
    );
    for _ in 0..3 {
        assert_eq!(dummies.environment().unwrap().kind(), "DummyEnv");
    }
}
