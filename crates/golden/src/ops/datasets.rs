//! Task datasets: their batches and configurations, and GSM8K.

use std::cell::Cell;
use std::collections::BTreeSet;

use futures_util::future::LocalBoxFuture;
use volary_core::dataset::{Batches, DatasetError, TaskDataset};
use volary_core::random::Random;
use volary_core::task_config::TaskConfig;
use volary_core::{
    AnyMessage, Environment, EnvironmentError, Json, Reset, Step, Text, fields, json,
};
use volary_envs::calculator::CalculatorConfig;
use volary_envs::datasets::gsm8k::{Gsm8k, Row, Split, parse_answer};
use volary_envs::settings::Settings;

use super::input::{World, flag, given, required, text, told, whole};

pub(super) fn task_config(input: &Json) -> Result<Json, String> {
    let config = TaskConfig::read(required(input, "config")?).map_err(told)?;
    let arguments = config.arguments(&text(input, "split")?).map_err(told)?;
    Ok(json!({"name": (config.name), "kwargs": arguments}))
}

pub(super) fn batches(input: &Json) -> Result<Json, String> {
    let length = given(input, "length")
        .map(|_| whole(input, "length"))
        .transpose()?;
    let length = length.and_then(|length| usize::try_from(length).ok());
    // A negative size is invalid as well.
    let size = usize::try_from(whole(input, "batch_size")?).unwrap_or_default();
    let shuffle = flag(input, "shuffle", false)?;
    let take = given(input, "take")
        .map(|_| whole(input, "take"))
        .transpose()?;
    if length.is_none() && take.is_none() {
        return Err("an endless dataset needs take".to_owned());
    }
    let take = take.map_or(usize::MAX, |take| usize::try_from(take).unwrap_or_default());

    let items = Items {
        length,
        next: Cell::new(0),
    };
    let mut random = Random::new(0);
    let batches = Batches::new(&items, size, shuffle.then_some(&mut random)).map_err(told)?;
    let batches: Vec<Vec<i64>> = batches
        .take(take)
        .map(|batch| {
            batch
                .map_err(told)?
                .iter()
                .map(|item| number_of(&**item))
                .collect()
        })
        .collect::<Result<_, String>>()?;

    let sizes: Vec<i64> = batches.iter().map(|batch| batch.len() as i64).collect();
    if shuffle && let Some(length) = length {
        let seen: BTreeSet<i64> = batches.iter().flatten().copied().collect();
        let count: usize = batches.iter().map(Vec::len).sum();
        return Ok(json!({
            "sizes": sizes,
            "each_once": (seen.len() == count),
            "all": (seen.into_iter().eq(0..length as i64))
        }));
    }
    Ok(json!({"sizes": sizes, "batches": batches}))
}

pub(super) fn gsm8k_answer(input: &Json) -> Result<Json, String> {
    parse_answer(&text(input, "answer")?)
        .map(Json::Float)
        .map_err(told)
}

pub(super) fn gsm8k_split(input: &Json) -> Result<Json, String> {
    let world = World::new();
    let split = Split::from_name(&text(input, "split")?).map_err(told)?;
    let rows: Vec<Row> = (0..whole(input, "rows")?)
        .map(|row| Row {
            question: format!("question {row}").into(),
            answer: format!("#### {row}").into(),
        })
        .collect();
    let settings = Settings::new(
        fields::object("input", input).map_err(told)?,
        &["rows", "split", "config"],
    );
    let config = CalculatorConfig::read(&settings.map_err(told)?).map_err(told)?;
    let dataset = Gsm8k::new(split, &rows, config, &world.setting()).map_err(told)?;
    let length = dataset.length().ok_or("the dataset is endless")?;

    let (mut ids, mut problems, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..length {
        let mut environment = dataset.environment_at(index).map_err(told)?;
        world.run(environment.reset())?;
        let state = environment.export_frame().state;
        let member = |key: &str| required(&state, key).cloned();
        ids.push(member("problem_id")?);
        problems.push(member("problem")?);
        answers.push(member("answer")?);
    }
    // The environments of a dataset share its rewards.
    let correct_rewards: Vec<Json> = answers
        .first()
        .map(|_| config.correct_reward.into())
        .into_iter()
        .collect();
    Ok(json!({
        "source_split": (split.source()),
        "length": (length as i64),
        "ids": ids,
        "problems": problems,
        "answers": answers,
        "correct_rewards": correct_rewards
    }))
}

/// Items 0, 1, 2, …: environments that only know their index.
struct Items {
    length: Option<usize>,
    next: Cell<usize>,
}

impl TaskDataset for Items {
    fn kind(&self) -> &'static str {
        "Items"
    }

    fn length(&self) -> Option<usize> {
        self.length
    }

    fn environment_at(&self, index: usize) -> Result<Box<dyn Environment>, DatasetError> {
        Ok(Box::new(Item(index)))
    }

    fn environment(&self) -> Result<Box<dyn Environment>, DatasetError> {
        let next = self.next.get();
        self.next.set(next + 1);
        self.environment_at(next)
    }
}

struct Item(usize);

impl Environment for Item {
    fn kind(&self) -> &'static str {
        "Item"
    }

    fn reset(&mut self) -> LocalBoxFuture<'_, Result<Reset, EnvironmentError>> {
        Box::pin(std::future::ready(Ok(Reset::default())))
    }

    fn step(&mut self, _: AnyMessage) -> LocalBoxFuture<'_, Result<Step, EnvironmentError>> {
        Box::pin(std::future::ready(Ok(Step::default())))
    }

    fn id(&self) -> Result<Text, EnvironmentError> {
        Ok(self.0.to_string().into())
    }
}

/// The index of an item.
fn number_of(item: &dyn Environment) -> Result<i64, String> {
    item.id().map_err(told)?.parse().map_err(told)
}
