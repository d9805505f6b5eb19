//! What a person sets up before an evaluation: tasks, policies, how often, how fast. Forms made from schemas,
//! and the plan that they stand for. Pure.

pub mod tasks;

use volary_agent::Scripted;
use volary_agent::evaluation::{Actor, Plan, PlannedPolicy};
use volary_core::json;
use volary_core::json::{Json, Object};

use super::{model_settings, pace};
use crate::models::sampling;
use tasks::Tasks;

/// The key of the script in the form of a policy.
pub const SCRIPT: &str = "Script";
const MAXIMUM_STEPS: &str = "Maximum steps";
const REPEATS: &str = "Repeats";
const SEED: &str = "Seed";
const SUCCESS: &str = "Success from";

/// The most cells: each is a result that is kept.
pub const MOST_CELLS: usize = 100_000;

/// The form for what concerns all episodes.
pub fn general_schema() -> Json {
    object_schema(json!({
        REPEATS: {
            "type": "integer",
            "description": "How often each policy tries each task; from 2 on, pass^k tells how reliable it is.",
            "default": 1,
            "minimum": 1,
            "maximum": 1000
        },
        SEED: {
            "type": "integer",
            "description": "What all seeds follow from.",
            "default": 0,
            "minimum": 0,
            "maximum": 2147483647
        },
        SUCCESS: {
            "type": "number",
            "description": "The total reward from which an episode is a success.",
            "default": 1.0
        }
    }))
}

/// The form for a policy of a kind: "Random", "Oracle", "Scripted", or a connection.
pub fn policy_schema(kind: &str) -> Json {
    let steps = json!({
        "type": "integer",
        "description": "An episode that gets so long is truncated.",
        "default": (if is_built_in(kind) { 50 } else { 20 }),
        "minimum": 1,
        "maximum": 100000
    });
    let mut properties = Object::new();
    if kind == "Scripted" {
        properties.insert(
            SCRIPT,
            json!({
                "type": "string",
                "description": "A JSON list of actions, each a call {\"name\": …, \"arguments\": {…}} or a list of calls.",
                "format": "multiline"
            }),
        );
    } else if !is_built_in(kind) {
        properties = model_settings::properties();
    }
    properties.insert(MAXIMUM_STEPS, steps);
    if !is_built_in(kind) {
        properties.extend(sampling::properties());
    }
    let mut schema = object_schema(Json::Object(properties));
    if kind == "Scripted"
        && let Json::Object(schema) = &mut schema
    {
        schema.insert("required", json!([SCRIPT]));
    }
    schema
}

fn is_built_in(kind: &str) -> bool {
    matches!(kind, "Random" | "Oracle" | "Scripted")
}

pub(super) fn object_schema(properties: Json) -> Json {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// The policy that a form means; or the key at fault, and why.
pub fn policy(kind: &str, value: &Json) -> Result<PlannedPolicy, (&'static str, String)> {
    let actor = match kind {
        "Random" => Actor::Random,
        "Oracle" => Actor::Oracle,
        "Scripted" => {
            let script = value.get(SCRIPT).and_then(Json::as_text);
            let script = script.cloned().unwrap_or_default();
            Scripted::parse(&script).map_err(|error| (SCRIPT, error.to_string()))?;
            Actor::Scripted { script }
        }
        connection => Actor::Model {
            connection: connection.into(),
            settings: value.as_object().cloned().unwrap_or_default(),
        },
    };
    Ok(PlannedPolicy {
        name: kind.into(),
        actor,
        max_steps: count(value, MAXIMUM_STEPS).unwrap_or(50) as usize,
    })
}

/// How often each policy shall try each task.
pub fn repeats(general: &Json) -> usize {
    count(general, REPEATS).unwrap_or(1) as usize
}

/// The plan that all of it stands for. Policies of one name get numbers.
pub fn plan(tasks: Tasks, mut policies: Vec<PlannedPolicy>, general: &Json, pace: &Json) -> Plan {
    for place in 0..policies.len() {
        let (before, rest) = policies.split_at_mut(place);
        if let Some(policy) = rest.first_mut() {
            let stem = policy.name.clone();
            let mut number = 1;
            while before.iter().any(|other| other.name == policy.name) {
                number += 1;
                policy.name = format!("{stem} {number}").into();
            }
        }
    }
    let names: Vec<&str> = policies.iter().map(|policy| &*policy.name).collect();
    let name = format!("{}: {}", tasks.title, names.join(", "));
    Plan {
        name: name.into(),
        dataset: tasks.dataset,
        tasks: tasks.list,
        repeats: repeats(general),
        seed: count(general, SEED).unwrap_or_default(),
        success: general.get(SUCCESS).and_then(Json::as_f64).unwrap_or(1.0),
        pace: pace::read(pace),
        policies,
    }
}

pub(super) fn count(value: &Json, key: &str) -> Option<u64> {
    value.get(key)?.as_i64()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::tasks::{Source, tasks_schema};
    use super::*;
    use crate::projection::form::Form;

    #[test]
    fn forms_are_ready_as_they_are() {
        let value = |schema: Json| Form::new(schema).value().unwrap();
        let seeds = value(tasks_schema(Source::Environment, ""));
        let tasks = Tasks {
            title: "dummy".into(),
            dataset: None,
            list: tasks::seeds(&"dummy".into(), &Object::new(), &seeds),
        };
        let policies = ["Random", "Random", "Mine"]
            .map(|kind| policy(kind, &value(policy_schema(kind))).unwrap());
        let plan = plan(
            tasks,
            policies.into(),
            &value(general_schema()),
            &value(pace::schema()),
        );
        assert_eq!(&*plan.name, "dummy: Random, Random 2, Mine");
        assert_eq!((plan.length(), plan.repeats, plan.success), (30, 1, 1.0));
        assert_eq!(plan.pace, Default::default());
        assert_eq!(plan.policies[2].max_steps, 20);
        assert!(plan.policies[2].actor.is_model());
    }

    #[test]
    fn scripts_are_checked() {
        let wrong = policy("Scripted", &Json::Object(object!({"Script": "{"})));
        assert_eq!(wrong.map_err(|(key, _)| key), Err(SCRIPT));
        let right = policy("Scripted", &Json::Object(object!({"Script": "[]"})));
        assert!(right.is_ok());
    }
}
