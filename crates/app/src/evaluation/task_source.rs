//! The source of a new evaluation's tasks, and its text form as the value of a `select` option.
//!
//! Invariant: [`TaskSource::parse`] reads every value that [`TaskSource::value`] writes.

use volary_core::json::Text;

/// Where the tasks of a new evaluation come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskSource {
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

impl TaskSource {
    /// Serializes the source as an option's value.
    pub fn value(&self) -> String {
        match self {
            TaskSource::Dataset(place) => format!("dataset:{place}"),
            TaskSource::Environment(name) => format!("environment:{name}"),
            TaskSource::Python(id) => format!("python:{id}"),
            TaskSource::Server(url) => format!("server:{url}"),
            TaskSource::Copy => "copy".to_owned(),
        }
    }

    /// Parses an option's value; `None` if it is invalid.
    pub fn parse(value: &str) -> Option<TaskSource> {
        if value == "copy" {
            return Some(TaskSource::Copy);
        }
        let (kind, rest) = value.split_once(':')?;
        Some(match kind {
            "dataset" => TaskSource::Dataset(rest.parse().ok()?),
            "environment" => TaskSource::Environment(rest.into()),
            "python" => TaskSource::Python(rest.into()),
            "server" => TaskSource::Server(rest.into()),
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
            TaskSource::Dataset(12),
            TaskSource::Environment("calculator".into()),
            TaskSource::Python("python:story.py".into()),
            TaskSource::Server("http://127.0.0.1:8041/".into()),
            TaskSource::Copy,
        ];
        for source in sources {
            assert_eq!(TaskSource::parse(&source.value()), Some(source));
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
            assert_eq!(TaskSource::parse(value), None, "{value:?}");
        }
    }
}
