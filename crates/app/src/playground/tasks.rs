//! Lists of tasks, from the built-in datasets and from a file of the user: lookup of tasks, and their recipes.

use std::sync::Arc;

use volary_core::dataset::Task;
use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_core::random::Random;
use volary_core::registry::{DatasetEntry, Registry};
use volary_episode::{Recipe, TaskReference};

/// A list of tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSource {
    pub dataset: Text,
    /// The heading above the tasks.
    pub title: Text,
    pub tasks: Arc<[Task]>,
    /// The file that the tasks were read from, if any. Selecting another split reads it again.
    pub file: Option<TaskFile>,
}

/// A file that tasks were read from.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFile {
    pub text: Text,
    pub name: Text,
    /// The selected split.
    pub split: Text,
}

/// The location of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    /// The index of the list.
    pub source: usize,
    /// The index of the task within the list.
    pub task: usize,
}

/// The dataset argument for the contents of a file.
const FILE_KEY: &str = "jsonl";
/// The dataset argument for the name of a split.
const SPLIT_KEY: &str = "split";

/// Exclusive upper bound of seeds.
const SEED_END: u64 = 1 << 53;

/// The lists that need no input from the user.
pub fn built_in(registry: &Registry) -> Vec<TaskSource> {
    let entries = registry.datasets.iter();
    entries
        .filter_map(|entry| {
            // Datasets with required arguments need a file first.
            let tasks = make(registry, entry.name, &Object::new()).ok()?;
            (!tasks.is_empty()).then(|| TaskSource {
                dataset: entry.name.into(),
                title: entry.summary.into(),
                tasks,
                file: None,
            })
        })
        .collect()
}

/// Whether a text looks like tasks: JSON lines with questions and answers.
pub fn holds_tasks(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first
        .filter(|line| line.len() < 1_000_000)
        .and_then(|line| Json::parse(line.trim()).ok())
        .is_some_and(|row| row.get("question").is_some() && row.get("answer").is_some())
}

/// Reads the tasks of a file. If `split` is `None`, it is guessed from the file's name.
pub fn from_file(
    registry: &Registry,
    name: &str,
    text: Text,
    split: Option<&str>,
) -> Result<TaskSource, Text> {
    let entry = registry
        .datasets
        .iter()
        .find(|entry| property(entry, FILE_KEY).is_some())
        .ok_or("No dataset accepts files.")?;
    let splits = splits(entry);
    let guessed = splits.iter().find(|split| name.contains(&***split));
    let split = split
        .map(Text::from)
        .or_else(|| guessed.cloned())
        .or_else(|| splits.first().cloned())
        .unwrap_or_default();
    let arguments = object!({ FILE_KEY: (text.clone()), SPLIT_KEY: (split.clone()) });
    let tasks = make(registry, entry.name, &arguments)?;
    Ok(TaskSource {
        dataset: entry.name.into(),
        title: format!("{name} ({split})").into(),
        tasks,
        file: Some(TaskFile {
            text,
            name: name.into(),
            split,
        }),
    })
}

/// The splits that a file of tasks can have.
pub fn file_splits(registry: &Registry) -> Vec<Text> {
    registry
        .datasets
        .iter()
        .find(|entry| property(entry, FILE_KEY).is_some())
        .map(splits)
        .unwrap_or_default()
}

/// The task that is shown by default: the first one of the first list.
pub fn first(sources: &[TaskSource], environment: Option<&str>) -> Option<TaskPlace> {
    sources.iter().enumerate().find_map(|(source, list)| {
        let task = list
            .tasks
            .iter()
            .position(|task| environment.is_none_or(|name| task.environment == name))?;
        Some(TaskPlace { source, task })
    })
}

/// The task with an id, among those of an environment.
pub fn find(sources: &[TaskSource], environment: Option<&str>, id: &str) -> Option<TaskPlace> {
    sources.iter().enumerate().find_map(|(source, list)| {
        let fits = |task: &Task| {
            *task.id == *id && environment.is_none_or(|name| task.environment == name)
        };
        let task = list.tasks.iter().position(fits)?;
        Some(TaskPlace { source, task })
    })
}

pub fn at(sources: &[TaskSource], place: TaskPlace) -> Option<&Task> {
    sources.get(place.source)?.tasks.get(place.task)
}

/// The location of the task that a recipe starts without changes.
pub fn of_recipe(sources: &[TaskSource], recipe: &Recipe) -> Option<TaskPlace> {
    let reference = recipe.task.as_ref()?;
    let source = sources
        .iter()
        .position(|list| list.dataset == reference.dataset)?;
    let task =
        sources.get(source)?.tasks.iter().position(|task| {
            task.id == reference.id && task.configuration == recipe.configuration
        })?;
    Some(TaskPlace { source, task })
}

/// The recipe of the chosen task; `None` if the configuration was changed.
pub fn unchanged(
    sources: &[TaskSource],
    place: TaskPlace,
    configuration: &Object,
    seed: u64,
) -> Option<Recipe> {
    let task = at(sources, place)?;
    let source = sources.get(place.source)?;
    (task.configuration == *configuration).then(|| recipe(source, task, seed))
}

/// Gives an edited configuration its own id. That replaces members whose names end in `_id` and that hold the id of the
/// original task, or an id from this function. The new id is derived from the rest of the configuration, so the same
/// problem has the same id everywhere.
pub fn custom(task: Option<&str>, configuration: &Object) -> Object {
    let borrowed = |name: &str, value: &Json| {
        let value = value.as_text().filter(|_| name.ends_with("_id"))?;
        let given = value
            .rsplit_once(CUSTOM)
            .filter(|(_, number)| is_hex(number));
        match given {
            Some((id, _)) => Some(Text::from(id)),
            None => (task == Some(&**value)).then(|| value.clone()),
        }
    };
    let mut rest = configuration.clone();
    for (name, value) in configuration.iter() {
        if borrowed(name, value).is_some() {
            rest.insert(name.clone(), Json::Null);
        }
    }
    let mut random = Random::new(0).fork(&Json::from(rest).to_python_text());
    let mut custom = configuration.clone();
    for (name, value) in configuration.iter() {
        if let Some(id) = borrowed(name, value) {
            custom.insert(name.clone(), own_id(&id, &mut random));
        }
    }
    custom
}

/// Whether an edited configuration poses another problem than the task: a required member differs. Other members, such
/// as rewards or limits, only change how the same problem is played.
pub fn is_other_problem(task: &Object, configuration: &Object, schema: &Json) -> bool {
    let required = schema.get("required").and_then(Json::as_list);
    let mut required = required
        .unwrap_or_default()
        .iter()
        .filter_map(Json::as_text);
    required.any(|name| task.get(name) != configuration.get(name))
}

/// Infix of custom problem ids, before their number.
const CUSTOM: &str = "-custom-";

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// An id in the format of another one: a UUID, or the other id with a suffix.
fn own_id(id: &str, random: &mut Random) -> Text {
    let groups: Vec<usize> = id.split('-').map(str::len).collect();
    if groups == [8, 4, 4, 4, 12] && id.split('-').all(is_hex) {
        let (high, low) = (random.next_u64(), random.next_u64());
        // Version 8 and the variant of RFC 9562: a UUID derived from a text.
        let (high, low) = (high & !0xf000 | 0x8000, low >> 2 | 1 << 63);
        let digits = format!("{high:016x}{low:016x}");
        let (a, b, c) = (&digits[..8], &digits[8..12], &digits[12..16]);
        return format!("{a}-{b}-{c}-{}-{}", &digits[16..20], &digits[20..]).into();
    }
    format!("{id}{CUSTOM}{:06x}", random.below(1 << 24)).into()
}

/// Adds the list of a file and returns its first task. Replaces the list of an earlier file.
pub fn add_file(sources: &mut Vec<TaskSource>, list: TaskSource) -> TaskPlace {
    sources.retain(|list| list.file.is_none());
    sources.push(list);
    TaskPlace {
        source: sources.len() - 1,
        task: 0,
    }
}

/// Parses a seed that the user typed. Seeds stay below 2⁵³, so that every JSON reader preserves them.
pub fn read_seed(text: &str) -> Result<u64, &'static str> {
    text.trim()
        .parse()
        .ok()
        .filter(|seed| *seed < SEED_END)
        .ok_or("The seed must be a whole number from 0 to 9007199254740991.")
}

pub fn recipe(source: &TaskSource, task: &Task, seed: u64) -> Recipe {
    Recipe {
        environment: task.environment.into(),
        configuration: task.configuration.clone(),
        seed,
        task: Some(TaskReference {
            dataset: source.dataset.clone(),
            id: task.id.clone(),
        }),
    }
}

fn make(registry: &Registry, name: &str, arguments: &Object) -> Result<Arc<[Task]>, Text> {
    let tasks = registry.tasks(name, arguments);
    Ok(tasks.map_err(|error| error.to_string())?.into())
}

fn property(entry: &DatasetEntry, key: &str) -> Option<Json> {
    (entry.configuration)().get("properties")?.get(key).cloned()
}

fn splits(entry: &DatasetEntry) -> Vec<Text> {
    property(entry, SPLIT_KEY)
        .as_ref()
        .and_then(|split| split.get("enum")?.as_list())
        .map(|names| names.iter().filter_map(Json::as_text).cloned().collect())
        .unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use volary_core::json;

    use super::*;

    /// A list of two tasks, with the configurations 0 and 1.
    pub fn list(dataset: &str, environment: &'static str) -> TaskSource {
        let task = |number: i64| Task {
            id: number.to_string().into(),
            title: format!("Task {number}").into(),
            environment,
            configuration: object!({"n": number}),
        };
        TaskSource {
            dataset: dataset.into(),
            title: dataset.into(),
            tasks: [task(0), task(1)].into(),
            file: None,
        }
    }

    fn lists() -> Vec<TaskSource> {
        vec![list("sums", "calculator"), list("mazes", "maze")]
    }

    #[test]
    fn tasks_are_found_by_environment_and_id() {
        let lists = lists();
        let place = |source, task| Some(TaskPlace { source, task });
        assert_eq!(first(&lists, None), place(0, 0));
        assert_eq!(first(&lists, Some("maze")), place(1, 0));
        assert_eq!(first(&lists, Some("counter")), None);
        assert_eq!(find(&lists, Some("maze"), "1"), place(1, 1));
        assert_eq!(find(&lists, Some("maze"), "2"), None);
    }

    #[test]
    fn a_recipe_names_its_task_until_the_configuration_changes() {
        let lists = lists();
        let place = TaskPlace { source: 1, task: 1 };
        let recipe = unchanged(&lists, place, &object!({"n": 1}), 5).expect("the task's recipe");
        assert_eq!(recipe.seed, 5);
        assert_eq!(of_recipe(&lists, &recipe), Some(place));
        assert_eq!(unchanged(&lists, place, &object!({"n": 2}), 5), None);
        let changed = Recipe {
            configuration: object!({"n": 2}),
            ..recipe
        };
        assert_eq!(of_recipe(&lists, &changed), None);
        assert_eq!(of_recipe(&lists, &Recipe::default()), None);
    }

    #[test]
    fn a_custom_problem_has_its_own_id() {
        let id = |configuration: &Object| {
            let id = configuration.get("problem_id").and_then(Json::as_text);
            id.expect("an id").to_string()
        };
        let edited = |problem: &str, id: &str| {
            custom(
                Some("easy-01"),
                &object!({"problem_id": id, "user_id": "u", "problem": problem}),
            )
        };
        let one = edited("2?", "easy-01");
        assert!(id(&one).starts_with("easy-01-custom-"), "{one:?}");
        assert_eq!(one.get("problem"), Some(&"2?".into()));
        assert_eq!(one.get("user_id"), Some(&"u".into()));
        assert_eq!(edited("2?", "easy-01"), one);
        assert_ne!(id(&edited("3?", "easy-01")), id(&one));
        // Edit it again without its task.
        assert_eq!(custom(None, &one), one);
        let again = object!({"problem_id": (id(&one)), "user_id": "u", "problem": "3?"});
        assert_eq!(custom(None, &again), edited("3?", "easy-01"));
        // An id that the user chose is preserved.
        assert_eq!(id(&edited("2?", "mine")), "mine");
        let uuid = "00000000-5a8d-7341-5542-99441c6b9fe5";
        let other = id(&custom(Some(uuid), &object!({"problem_id": uuid})));
        let lengths: Vec<usize> = other.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_ne!(other, uuid);
    }

    #[test]
    fn the_same_problem_keeps_its_id_however_it_is_played() {
        let schema = json!({"required": ["problem", "answer"]});
        let task = object!({"problem_id": "easy-01", "problem": "1?", "answer": 1});
        let mut edited = task.clone();
        edited.insert("config", object!({"correct_reward": 2.0}));
        assert!(!is_other_problem(&task, &edited, &schema));
        edited.insert("answer", 2);
        assert!(is_other_problem(&task, &edited, &schema));
    }

    #[test]
    fn a_file_replaces_the_file_before_it() {
        let mut lists = lists();
        for name in ["one", "two"] {
            let file = TaskFile {
                text: "".into(),
                name: name.into(),
                split: "test".into(),
            };
            let list = TaskSource {
                file: Some(file),
                ..list(name, "calculator")
            };
            assert_eq!(add_file(&mut lists, list), TaskPlace { source: 2, task: 0 });
        }
        assert_eq!(lists.len(), 3);
        assert_eq!(&*lists[2].dataset, "two");
    }

    #[test]
    fn only_lines_with_question_and_answer_are_tasks() {
        assert!(holds_tasks(
            "\n{\"question\": \"1+1?\", \"answer\": \"#### 2\"}\nnonsense"
        ));
        for text in ["", "nonsense", "{\"question\": 1}", "[]"] {
            assert!(!holds_tasks(text), "{text}");
        }
    }

    #[test]
    fn seeds_stay_exact_in_json() {
        assert_eq!(read_seed(" 7 "), Ok(7));
        assert_eq!(read_seed("9007199254740991"), Ok(SEED_END - 1));
        for text in ["", "-1", "1.5", "9007199254740992", "seed"] {
            assert!(read_seed(text).is_err(), "{text}");
        }
    }
}
