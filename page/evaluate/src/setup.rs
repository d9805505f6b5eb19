//! The input for a new evaluation: tasks, policies, trials and limits, as forms with schemas, and the plan that
//! results from it. Pure.

mod policy_names;
pub mod tasks;

use volary_agent::evaluation::{Actor, Plan, PlannedPolicy};
use volary_agent::{Fault, Scripted};
use volary_app::playground::policy;
use volary_core::json;
use volary_core::json::{Json, Object, Text};

use super::{model_settings, rate_limits};
use tasks::Tasks;
use volary_connections::models::sampling;

/// The name of the script's field in a policy's form.
pub const SCRIPT: &str = "Script";
const MAXIMUM_STEPS: &str = "Maximum steps";
const TRIALS: &str = "Trials";
const SEED: &str = "Seed";
const SUCCESS: &str = "Success threshold";

/// The maximum number of cells, each of which is a stored result.
pub const MOST_CELLS: usize = 100_000;

/// The JSON Schema of the settings of the whole evaluation.
pub fn general_schema() -> Json {
    object_schema(json!({
        TRIALS: {
            "type": "integer",
            "description": "Number of trials for each policy and task. With 2 or more, pass^k \
                 measures reliability.",
            "default": 1,
            "minimum": 1,
            "maximum": 1000
        },
        SEED: {
            "type": "integer",
            "description": "Base seed: the seeds of all episodes are derived from it.",
            "default": 0,
            "minimum": 0,
            "maximum": 2147483647
        },
        SUCCESS: {
            "type": "number",
            "description": "An episode with at least this total reward counts as a success.",
            "default": 1.0
        }
    }))
}

/// A kind of policy. A model's connection may have the same name as a built-in policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyChoice {
    /// Random calls.
    Random,
    /// The solution that the environment itself provides.
    Oracle,
    /// The scripted student.
    Student,
    /// The actions of a script.
    Scripted,
    /// The model of the connection with this name.
    Model(Text),
}

impl PolicyChoice {
    /// The policies that need no connection.
    pub const BUILT_IN: [PolicyChoice; 4] = [
        PolicyChoice::Random,
        PolicyChoice::Oracle,
        PolicyChoice::Student,
        PolicyChoice::Scripted,
    ];

    /// The display name.
    pub fn name(&self) -> &str {
        match self {
            PolicyChoice::Random => "Random",
            PolicyChoice::Oracle => "Oracle",
            PolicyChoice::Student => "Student",
            PolicyChoice::Scripted => "Scripted",
            PolicyChoice::Model(connection) => connection,
        }
    }

    /// A one-sentence description for the form.
    pub fn summary(&self) -> &'static str {
        match self {
            PolicyChoice::Random => "Calls random tools with valid random arguments.",
            PolicyChoice::Oracle => "Gives the known answer, where the environment has one.",
            PolicyChoice::Student => "Makes a typical mistake of agents, and names it afterwards.",
            PolicyChoice::Scripted => "Takes the same actions in each episode.",
            PolicyChoice::Model(_) => "A language model acts, using your own API key.",
        }
    }

    /// Returns whether a model chooses the actions.
    pub fn is_model(&self) -> bool {
        matches!(self, PolicyChoice::Model(_))
    }

    /// The option value of this kind in the select.
    pub fn to_value(&self) -> String {
        match self {
            PolicyChoice::Model(connection) => format!("model:{connection}"),
            built_in => built_in.name().to_owned(),
        }
    }

    /// Parses the output of [`PolicyChoice::to_value`].
    pub fn of_value(value: &str) -> Option<PolicyChoice> {
        match value.strip_prefix("model:") {
            Some(connection) => Some(PolicyChoice::Model(connection.into())),
            None => PolicyChoice::BUILT_IN
                .into_iter()
                .find(|kind| kind.name() == value),
        }
    }
}

/// The JSON Schema of the form for a kind of policy.
pub fn policy_schema(kind: &PolicyChoice) -> Json {
    let steps = json!({
        "type": "integer",
        "description": "Episodes that reach this length are truncated.",
        "default": (if kind.is_model() { 20 } else { 50 }),
        "minimum": 1,
        "maximum": 100000
    });
    let mut properties = Object::new();
    if *kind == PolicyChoice::Scripted {
        properties.insert(
            SCRIPT,
            json!({
                "type": "string",
                "description": "A JSON list of actions. Each is a call {\"name\": …, \
                     \"arguments\": {…}} or a list of calls.",
                "format": "multiline"
            }),
        );
    } else if *kind == PolicyChoice::Student {
        properties.insert(policy::FAULT, policy::fault_schema(policy::VARIED));
    } else if kind.is_model() {
        properties = model_settings::properties();
    }
    properties.insert(MAXIMUM_STEPS, steps);
    if kind.is_model() {
        properties.extend(sampling::properties());
    }
    let mut schema = object_schema(Json::Object(properties));
    if *kind == PolicyChoice::Scripted
        && let Json::Object(schema) = &mut schema
    {
        schema.insert("required", json!([SCRIPT]));
    }
    schema
}

pub(super) fn object_schema(properties: Json) -> Json {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// Builds a policy from a form's value.
///
/// # Errors
///
/// Returns the invalid key and the reason.
pub fn policy(kind: &PolicyChoice, value: &Json) -> Result<PlannedPolicy, (&'static str, String)> {
    let actor = match kind {
        PolicyChoice::Random => Actor::Random,
        PolicyChoice::Oracle => Actor::Oracle,
        PolicyChoice::Student => Actor::Student {
            fault: policy::chosen_fault(value),
        },
        PolicyChoice::Scripted => {
            let script = value.get(SCRIPT).and_then(Json::as_text);
            let script = script.cloned().unwrap_or_default();
            Scripted::parse(&script).map_err(|error| (SCRIPT, error.to_string()))?;
            Actor::Scripted { script }
        }
        PolicyChoice::Model(connection) => Actor::Model {
            connection: connection.clone(),
            settings: value.as_object().cloned().unwrap_or_default(),
        },
    };
    Ok(PlannedPolicy {
        name: kind.name().into(),
        actor,
        max_steps: max_steps(value),
    })
}

/// Converts a planned policy back to its kind and form value.
pub fn policy_form(policy: &PlannedPolicy) -> (PolicyChoice, Json) {
    let mut value = Object::new();
    let kind = match &policy.actor {
        Actor::Random => PolicyChoice::Random,
        Actor::Oracle => PolicyChoice::Oracle,
        Actor::Student { fault } => {
            value.insert(policy::FAULT, fault.map_or(policy::VARIED, Fault::name));
            PolicyChoice::Student
        }
        Actor::Scripted { script } => {
            value.insert(SCRIPT, script.clone());
            PolicyChoice::Scripted
        }
        Actor::Model {
            connection,
            settings,
        } => {
            value = settings.clone();
            PolicyChoice::Model(connection.clone())
        }
    };
    value.insert(MAXIMUM_STEPS, policy.max_steps as i64);
    (kind, Json::Object(value))
}

/// The form value of the settings of the whole evaluation.
pub fn general_form(plan: &Plan) -> Json {
    let mut value = Object::new();
    value.insert(TRIALS, plan.trials as i64);
    value.insert(SEED, plan.seed as i64);
    value.insert(SUCCESS, plan.success);
    Json::Object(value)
}

/// The maximum number of steps in a policy's form value.
pub fn max_steps(value: &Json) -> usize {
    count(value, MAXIMUM_STEPS).unwrap_or(50) as usize
}

/// The number of trials per policy and task.
pub fn trials(general: &Json) -> usize {
    count(general, TRIALS).unwrap_or(1) as usize
}

/// Builds the plan. Policies of the same kind are named by the settings in which they differ.
pub fn plan(tasks: Tasks, mut policies: Vec<PlannedPolicy>, general: &Json, pace: &Json) -> Plan {
    policy_names::distinguish(&mut policies);
    let names: Vec<&str> = policies.iter().map(|policy| &*policy.name).collect();
    let name = format!("{}: {}", tasks.title, names.join(", "));
    Plan {
        name: name.into(),
        dataset: tasks.dataset,
        tasks: tasks.list,
        trials: trials(general),
        seed: count(general, SEED).unwrap_or_default(),
        success: general.get(SUCCESS).and_then(Json::as_f64).unwrap_or(1.0),
        pace: rate_limits::read(pace),
        policies,
    }
}

pub(super) fn count(value: &Json, key: &str) -> Option<u64> {
    value.get(key)?.as_i64()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use volary_core::object;
    use volary_view::form::Form;

    use super::tasks::{SelectableTasks, tasks_schema};
    use super::*;

    #[test]
    fn forms_are_ready_as_they_are() {
        let value = |schema: Json| Form::new(schema).value().unwrap();
        let seeds = value(tasks_schema(SelectableTasks::Environment, ""));
        let tasks = Tasks {
            title: "dummy".into(),
            dataset: None,
            list: tasks::seeds(&"dummy".into(), &Object::new(), &seeds),
        };
        let policies = [
            PolicyChoice::Random,
            PolicyChoice::Random,
            PolicyChoice::Model("Mine".into()),
        ]
        .map(|kind| policy(&kind, &value(policy_schema(&kind))).unwrap());
        let plan = plan(
            tasks,
            policies.into(),
            &value(general_schema()),
            &value(rate_limits::schema()),
        );
        assert_eq!(&*plan.name, "dummy: Random, Random 2, Mine");
        assert_eq!((plan.length(), plan.trials, plan.success), (30, 1, 1.0));
        assert_eq!(plan.pace, Default::default());
        assert_eq!(plan.policies[2].max_steps, 20);
        assert!(plan.policies[2].actor.is_model());
    }

    #[test]
    fn a_plan_fills_the_forms_that_made_it() {
        let script = Json::Object(object!({"Script": "[]", "Maximum steps": 7}));
        let model = PolicyChoice::Model("Mine".into());
        let asked = Form::new(policy_schema(&model)).value().unwrap();
        let general = Json::Object(object!({
            "Trials": 3,
            "Seed": 5,
            "Success threshold": 0.5
        }));
        let student = Json::Object(object!({"Fault": "gives up"}));
        let policies = vec![
            policy(&PolicyChoice::Student, &student).unwrap(),
            policy(&PolicyChoice::Scripted, &script).unwrap(),
            policy(&model, &asked).unwrap(),
            policy(
                &PolicyChoice::Oracle,
                &Form::new(policy_schema(&PolicyChoice::Oracle))
                    .value()
                    .unwrap(),
            )
            .unwrap(),
        ];
        let pace = rate_limits::value(&Default::default());
        let made = plan(Tasks::default(), policies.clone(), &general, &pace);
        let filled = |schema: Json, value: &Json| {
            let form = Form::with_value(schema, value);
            assert!(!form.is_raw(), "{value:?}");
            form.value().unwrap()
        };
        let again: Vec<PlannedPolicy> = policies
            .iter()
            .map(|planned| {
                let (kind, value) = policy_form(planned);
                policy(&kind, &filled(policy_schema(&kind), &value)).unwrap()
            })
            .collect();
        let general = filled(general_schema(), &general_form(&made));
        assert_eq!(plan(Tasks::default(), again, &general, &pace), made);
    }

    #[test]
    fn scripts_are_checked() {
        let wrong = policy(
            &PolicyChoice::Scripted,
            &Json::Object(object!({"Script": "{"})),
        );
        assert_eq!(wrong.map_err(|(key, _)| key), Err(SCRIPT));
        let right = policy(
            &PolicyChoice::Scripted,
            &Json::Object(object!({"Script": "[]"})),
        );
        assert!(right.is_ok());
    }

    #[test]
    fn a_connection_may_have_any_name() {
        for name in ["Oracle", "Random", "Scripted", "model:Oracle", ""] {
            let kind = PolicyChoice::Model(name.into());
            assert_eq!(PolicyChoice::of_value(&kind.to_value()), Some(kind.clone()));
            let form = Form::new(policy_schema(&kind)).value().unwrap();
            let policy = policy(&kind, &form).unwrap();
            assert!(policy.actor.is_model(), "{name}");
            assert_eq!(&*policy.name, name);
        }
        for kind in PolicyChoice::BUILT_IN {
            assert_eq!(PolicyChoice::of_value(&kind.to_value()), Some(kind));
        }
        assert_eq!(PolicyChoice::of_value("Nobody"), None);
    }
}
