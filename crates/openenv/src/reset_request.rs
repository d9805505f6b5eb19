//! The arguments of a reset.

use volary_core::fields::{self, FieldError};
use volary_core::json::{Json, Object, Text};

/// What a reset asks for. Unknown arguments are ignored, as OpenEnv's server does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResetRequest {
    pub which: Which,
    /// The seed of all randomness, and the task where none is named.
    pub seed: Option<u64>,
    /// The name that the client gives to the episode.
    pub episode_id: Option<Text>,
    /// The part of the tasks.
    pub split: Option<Text>,
}

/// The task of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Which {
    /// The next one.
    #[default]
    Next,
    /// The one at an index; negative ones count from the end.
    Index(i64),
    /// One that is made from arguments.
    Arguments(Object),
}

/// OpenEnv's limit of the length of an episode's id.
const LONGEST_ID: usize = 255;

impl ResetRequest {
    /// Reads the arguments: `index` (or aviary's `task_idx`), `task_kwargs`, `seed`, `episode_id`, `split`.
    pub fn read(data: &Object) -> Result<ResetRequest, FieldError> {
        let given = |key: &str| data.get(key).filter(|value| !value.is_null());
        let integer = |key: &'static str| {
            let value = given(key)?;
            let unfit = || FieldError::new(key, "an integer is needed");
            Some(value.as_i64().ok_or_else(unfit))
        };
        let text = |key: &'static str| given(key).map(|value| fields::text(key, value));
        let index = integer("index")
            .or_else(|| integer("task_idx"))
            .transpose()?;
        let arguments = match given("task_kwargs") {
            Some(Json::Object(arguments)) => Some(arguments.clone()),
            Some(_) => return Err(FieldError::new("task_kwargs", "an object is needed")),
            None => None,
        };
        let which = match (index, arguments) {
            (Some(_), Some(_)) => {
                return Err(FieldError::new("task_kwargs", "excludes an index"));
            }
            (Some(index), None) => Which::Index(index),
            (None, Some(arguments)) => Which::Arguments(arguments),
            (None, None) => Which::Next,
        };
        let seed = integer("seed").transpose()?.map(u64::try_from).transpose();
        let seed = seed.map_err(|_| FieldError::new("seed", "must not be negative"))?;
        let episode_id = text("episode_id").transpose()?;
        if episode_id
            .as_ref()
            .is_some_and(|id| id.chars().count() > LONGEST_ID)
        {
            let reason = format!("has more than {LONGEST_ID} characters");
            return Err(FieldError::new("episode_id", reason));
        }
        Ok(ResetRequest {
            which,
            seed,
            episode_id,
            split: text("split").transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    #[test]
    fn tasks_in_every_form() {
        let which = |data: Object| ResetRequest::read(&data).map(|request| request.which);
        assert_eq!(which(object!({})), Ok(Which::Next));
        assert_eq!(which(object!({"index": null, "more": 1})), Ok(Which::Next));
        assert_eq!(which(object!({"index": (-1)})), Ok(Which::Index(-1)));
        assert_eq!(which(object!({"task_idx": 2})), Ok(Which::Index(2)));
        assert_eq!(
            which(object!({"task_kwargs": {"a": 1}})),
            Ok(Which::Arguments(object!({"a": 1})))
        );
    }

    #[test]
    fn arguments_that_do_not_fit_are_named() {
        for (data, path) in [
            (object!({"index": "1"}), "index"),
            (object!({"index": 1, "task_kwargs": {}}), "task_kwargs"),
            (object!({"task_kwargs": []}), "task_kwargs"),
            (object!({"seed": (-1)}), "seed"),
            (object!({"seed": 1.5}), "seed"),
            (object!({"episode_id": 1}), "episode_id"),
            (object!({"episode_id": ("x".repeat(256))}), "episode_id"),
            (object!({"split": []}), "split"),
        ] {
            let read = ResetRequest::read(&data).map_err(|error| error.path);
            assert_eq!(read, Err(path.to_owned()), "{data:?}");
        }
    }
}
