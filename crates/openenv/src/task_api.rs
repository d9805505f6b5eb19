//! OpenEnv's Task API: lists of the tasks of an environment, by split and index.

use volary_core::dataset::Task;
use volary_core::fields::{self, FieldError};
use volary_core::json;
use volary_core::json::{Json, Object, Text};

/// The name of the only split: our datasets have one.
pub const SPLIT: &str = "train";

/// The tasks that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRange {
    pub split: Text,
    /// The first one; negative ones count from the end, as in a slice of Python.
    pub start: Option<i64>,
    /// The one after the last one.
    pub stop: Option<i64>,
}

/// The reply to `/{env}/splits`.
pub fn splits() -> Json {
    json!([{"name": SPLIT, "type": "train"}])
}

/// Reads the body of `/{env}/tasks` and `/{env}/num_tasks`.
pub fn read_split(body: Option<&Json>) -> Result<Text, FieldError> {
    split_of(object_of(body)?)
}

/// Reads the body of `/{env}/task`.
pub fn read_task(body: Option<&Json>) -> Result<(Text, i64), FieldError> {
    let object = object_of(body)?;
    let index = fields::required(object, "index")?;
    Ok((split_of(object)?, integer("index", index)?))
}

/// Reads the body of `/{env}/task_range`.
pub fn read_range(body: Option<&Json>) -> Result<TaskRange, FieldError> {
    let object = object_of(body)?;
    let bound = |key: &'static str| match object.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => integer(key, value).map(Some),
    };
    Ok(TaskRange {
        split: split_of(object)?,
        start: bound("start")?,
        stop: bound("stop")?,
    })
}

impl TaskRange {
    /// The places from the first to after the last one, among `length` tasks.
    pub fn places(&self, length: usize) -> std::ops::Range<usize> {
        let place = |bound: i64| {
            let distance = usize::try_from(bound.unsigned_abs()).unwrap_or(usize::MAX);
            match bound {
                0.. => distance.min(length),
                _ => length.saturating_sub(distance),
            }
        };
        let start = self.start.map_or(0, place);
        let stop = self.stop.map_or(length, place);
        start..stop.max(start)
    }
}

/// A task as it is listed. Its configuration is left out: it may contain the answer.
pub fn task_to_json(index: usize, task: Option<&Task>) -> Json {
    let number = i64::try_from(index).unwrap_or(i64::MAX);
    match task {
        Some(task) => json!({
            "id": (task.id.clone()),
            "index": number,
            "split": SPLIT,
            "title": (task.title.clone()),
            "environment": (task.environment)
        }),
        None => json!({"id": (format!("{SPLIT}-{index}")), "index": number, "split": SPLIT}),
    }
}

fn object_of(body: Option<&Json>) -> Result<&Object, FieldError> {
    fields::object("", body.unwrap_or(&Json::Null))
}

fn split_of(object: &Object) -> Result<Text, FieldError> {
    fields::text("split", fields::required(object, "split")?)
}

fn integer(key: &'static str, value: &Json) -> Result<i64, FieldError> {
    let integer = value.as_i64();
    integer.ok_or_else(|| FieldError::new(key, "an integer is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_slices() {
        let places = |start, stop| {
            let range = TaskRange {
                split: SPLIT.into(),
                start,
                stop,
            };
            range.places(10)
        };
        assert_eq!(places(None, None), 0..10);
        assert_eq!(places(Some(2), Some(4)), 2..4);
        assert_eq!(places(Some(-3), None), 7..10);
        assert_eq!(places(None, Some(-8)), 0..2);
        assert_eq!(places(Some(8), Some(3)), 8..8);
        assert_eq!(places(Some(50), None), 10..10);
        assert_eq!(places(Some(i64::MIN), Some(i64::MAX)), 0..10);
    }
}
