//! The tasks of a new evaluation: from datasets, servers, or seeds of an environment; their forms and selections. Pure.

use volary_agent::evaluation::{PlannedTask, Selection};
use volary_core::json::{Json, Object, Text};
use volary_core::{json, object};
use volary_remote::task::{TASK_INDEX, configuration};

use super::{MOST_CELLS, count, object_schema};
use volary_connections::remote::servers::Server;

const TASKS: &str = "Tasks";
const FIRST: &str = "First task";
const LAST: &str = "Last task";
const SAMPLE: &str = "Sample size";
const SAMPLE_SEED: &str = "Sample seed";
const EPISODES: &str = "Seeds";
const ENVIRONMENTS: &str = "Environments";

/// The ways to select tasks of a dataset.
pub const CHOICES: [&str; 3] = ["All", "Range", "Sample"];

/// The label of the select for [`CHOICES`].
pub const CHOICE_LABEL: &str = TASKS;

/// The maximum number of selectable tasks of a server, which limits the page's memory.
const MOST_TASKS: usize = 1_000_000;

/// The kind of a task source, with its number of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectableTasks {
    /// A dataset with this many tasks.
    Dataset(usize),
    /// A server with this many numbered tasks, counted from 0.
    Server(usize),
    /// A server that chooses tasks itself.
    Choosing,
    /// An environment; its tasks are seeds.
    Environment,
}

impl SelectableTasks {
    /// The source for a server that reported this number of tasks, or none.
    pub fn of_server(size: Option<u64>) -> SelectableTasks {
        let size = size.map(|size| usize::try_from(size).unwrap_or(MOST_TASKS));
        size.map_or(SelectableTasks::Choosing, |size| {
            SelectableTasks::Server(size.min(MOST_TASKS))
        })
    }

    /// The number of selectable tasks; `None` if tasks cannot be selected.
    pub fn length(self) -> Option<usize> {
        match self {
            SelectableTasks::Dataset(length) | SelectableTasks::Server(length) => Some(length),
            SelectableTasks::Choosing | SelectableTasks::Environment => None,
        }
    }

    /// The number of tasks that the form's value selects.
    pub fn count(self, choice: &str, value: &Json) -> usize {
        match self.length() {
            Some(length) => selection(self, choice, value).indices(length).len(),
            None => count(value, EPISODES)
                .or_else(|| count(value, ENVIRONMENTS))
                .unwrap_or(1) as usize,
        }
    }
}

/// The JSON Schema of the form for the chosen way to select tasks.
pub fn tasks_schema(source: SelectableTasks, choice: &str) -> Json {
    let whole = |description: &str, default: usize, minimum: i64, maximum: usize| {
        json!({
            "type": "integer",
            "description": description,
            "default": (default as i64),
            "minimum": minimum,
            "maximum": (maximum as i64)
        })
    };
    let properties = match (source, choice) {
        (SelectableTasks::Environment, _) => json!({
            EPISODES: (whole("Each seed is a separate task.", 10, 1, MOST_CELLS))
        }),
        (SelectableTasks::Choosing, _) => json!({
            ENVIRONMENTS: (whole(
                "This server does not number its tasks; it chooses a task for each environment.",
                10,
                1,
                MOST_CELLS
            ))
        }),
        (SelectableTasks::Dataset(length), "Range") => json!({
            FIRST: (whole("Counting from 1.", 1, 1, length)),
            LAST: (whole("Inclusive.", length.min(10), 1, length))
        }),
        (SelectableTasks::Server(length), "Range") => {
            let last = length.saturating_sub(1);
            json!({
                FIRST: (whole("Counting from 0, like task_idx.", 0, 0, last)),
                LAST: (whole("Inclusive.", last.min(9), 0, last))
            })
        }
        (SelectableTasks::Dataset(length) | SelectableTasks::Server(length), "Sample") => json!({
            SAMPLE: (whole("Number of tasks to draw.", length.min(10), 1, length)),
            SAMPLE_SEED: (whole("The same seed draws the same tasks.", 0, 0, 1 << 31))
        }),
        _ => json!({}),
    };
    object_schema(properties)
}

/// The selection that the form's value describes.
pub fn selection(source: SelectableTasks, choice: &str, value: &Json) -> Selection {
    let whole = |key: &str| count(value, key).unwrap_or_default() as usize;
    // A selection counts from 1.
    let from = usize::from(matches!(source, SelectableTasks::Server(_)));
    match choice {
        "Range" => Selection::Range {
            first: whole(FIRST).saturating_add(from),
            last: whole(LAST).saturating_add(from),
        },
        "Sample" => Selection::Sample {
            count: whole(SAMPLE),
            seed: count(value, SAMPLE_SEED).unwrap_or_default(),
        },
        _ => Selection::All,
    }
}

/// Plans seeds of one environment as tasks.
pub fn seeds(environment: &Text, configuration: &Object, value: &Json) -> Vec<PlannedTask> {
    let count = SelectableTasks::Environment.count("", value);
    let task = |number| task(number, "Seed", environment, configuration.clone());
    (1..=count).map(task).collect()
}

/// Plans tasks of a server: by number, or as many as the server should choose.
pub fn of_server(
    server: &Server,
    choice: &str,
    arguments: &Object,
    value: &Json,
) -> Vec<PlannedTask> {
    let source = SelectableTasks::of_server(server.size);
    match source.length() {
        Some(length) => {
            let places = selection(source, choice, value).indices(length).into_iter();
            let task = |place: usize| {
                let configuration = object!({ TASK_INDEX: (place as i64) });
                task(place, "Task", &server.url, configuration)
            };
            places.map(task).collect()
        }
        None => {
            let mut arguments = arguments.clone();
            arguments.retain(|_, value| !value.is_null());
            let task = |number| task(number, "Task", &server.url, arguments.clone());
            (1..=source.count(choice, value)).map(task).collect()
        }
    }
}

/// The JSON Schema of the arguments for a server that chooses tasks.
pub fn arguments_schema() -> Json {
    let mut schema = configuration(None);
    if let Json::Object(schema) = &mut schema
        && let Some(Json::Object(properties)) = schema.get_mut("properties")
    {
        properties.retain(|key, _| *key != *TASK_INDEX);
    }
    schema
}

fn task(number: usize, word: &str, environment: &Text, configuration: Object) -> PlannedTask {
    PlannedTask {
        id: number.to_string().into(),
        title: format!("{word} {number}").into(),
        environment: environment.clone(),
        configuration,
    }
}

/// The tasks of an evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// The title of the task list.
    pub title: Text,
    /// The dataset of the tasks, if any.
    pub dataset: Option<Text>,
    pub list: Vec<PlannedTask>,
}

#[cfg(test)]
mod tests {
    use volary_view::form::Form;

    use super::*;

    fn chosen(source: SelectableTasks, choice: &str) -> Selection {
        let form = Form::new(tasks_schema(source, choice));
        selection(source, choice, &form.value().unwrap())
    }

    fn server(size: Option<u64>) -> Server {
        Server {
            name: "Class".into(),
            url: "http://a".into(),
            size,
            frames: None,
        }
    }

    #[test]
    fn forms_are_ready_as_they_are() {
        assert_eq!(
            chosen(SelectableTasks::Dataset(4), "Range"),
            Selection::Range { first: 1, last: 4 }
        );
        assert_eq!(
            chosen(SelectableTasks::Dataset(100), "Sample"),
            Selection::Sample { count: 10, seed: 0 }
        );
        assert_eq!(chosen(SelectableTasks::Dataset(4), "All"), Selection::All);
        assert_eq!(SelectableTasks::Dataset(4).count("All", &json!({})), 4);
        assert_eq!(
            SelectableTasks::Environment.count("", &json!({EPISODES: 3})),
            3
        );
    }

    #[test]
    fn tasks_of_a_server_are_counted_from_0() {
        let source = SelectableTasks::of_server(Some(20));
        let form = Form::new(tasks_schema(source, "Range")).value().unwrap();
        assert_eq!(source.count("Range", &form), 10);
        let tasks = of_server(&server(Some(20)), "Range", &Object::new(), &form);
        let last = tasks.last().unwrap();
        assert_eq!((tasks.len(), &*last.title, &*last.id), (10, "Task 9", "9"));
        assert_eq!(last.configuration, object!({"task_idx": 9}));
        let all = of_server(&server(Some(20)), "All", &Object::new(), &json!({}));
        assert_eq!(all.first().map(|task| &*task.id), Some("0"));
        assert_eq!(all.len(), 20);
    }

    #[test]
    fn a_server_may_choose_and_may_boast() {
        let source = SelectableTasks::of_server(None);
        let form = Form::new(tasks_schema(source, "All")).value().unwrap();
        let arguments = object!({"task_kwargs": {"x": 1}});
        let tasks = of_server(&server(None), "All", &arguments, &form);
        assert_eq!((tasks.len(), source.count("All", &form)), (10, 10));
        assert!(tasks.iter().all(|task| task.configuration == arguments));
        let empty = Form::new(arguments_schema()).value().unwrap();
        let empty = empty.as_object().unwrap();
        let tasks = of_server(&server(None), "All", empty, &form);
        assert_eq!(tasks[0].configuration, Object::new());
        assert_eq!(
            SelectableTasks::of_server(Some(u64::MAX)).length(),
            Some(MOST_TASKS)
        );
    }
}
