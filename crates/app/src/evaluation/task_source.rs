//! The source of a new evaluation's tasks, and its text form as the value of a `select` option.
//!
//! Invariant: [`EvaluationTasks::parse`] reads every value that [`EvaluationTasks::value`] writes.

use volary_core::json::Text;

/// Where the tasks of a new evaluation come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationTasks {
    /// The dataset at this index of the list of datasets.
    Dataset(usize),
    /// A built-in environment; each seed is a task.
    Environment(Text),
    /// The user's environment in Python, by its id.
    Python(Text),
    /// A task dataset server, by its address.
    Server(Text),
    /// The tasks of the evaluation that is being duplicated.
    Copy,
}

impl EvaluationTasks {
    /// Serializes the source as an option's value.
    pub fn value(&self) -> String {
        match self {
            EvaluationTasks::Dataset(place) => format!("dataset:{place}"),
            EvaluationTasks::Environment(name) => format!("environment:{name}"),
            EvaluationTasks::Python(id) => format!("python:{id}"),
            EvaluationTasks::Server(url) => format!("server:{url}"),
            EvaluationTasks::Copy => "copy".to_owned(),
        }
    }

    /// Parses an option's value; `None` if it is invalid.
    pub fn parse(value: &str) -> Option<EvaluationTasks> {
        if value == "copy" {
            return Some(EvaluationTasks::Copy);
        }
        let (kind, rest) = value.split_once(':')?;
        Some(match kind {
            "dataset" => EvaluationTasks::Dataset(rest.parse().ok()?),
            "environment" => EvaluationTasks::Environment(rest.into()),
            "python" => EvaluationTasks::Python(rest.into()),
            "server" => EvaluationTasks::Server(rest.into()),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_read_back_from_its_value() {
        let sources = [
            EvaluationTasks::Dataset(12),
            EvaluationTasks::Environment("calculator".into()),
            EvaluationTasks::Python("python:story.py".into()),
            EvaluationTasks::Server("http://127.0.0.1:8041/".into()),
            EvaluationTasks::Copy,
        ];
        for source in sources {
            assert_eq!(EvaluationTasks::parse(&source.value()), Some(source));
        }
    }

    #[test]
    fn other_values_are_no_source() {
        for value in [
            "",
            "dataset",
            "dataset:",
            "dataset:x",
            "dataset:-1",
            "file:a",
            "copy:",
        ] {
            assert_eq!(EvaluationTasks::parse(value), None, "{value:?}");
        }
    }
}
