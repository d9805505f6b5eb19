//! The policies of the playground: names, settings schemas, and construction from settings.
//!
//! Invariant: all built-in policies share one pace (delay and maximum steps), which survives a change of the policy.

use volary_agent::{Fault, Limits, Oracle, Policy, PolicyError, RandomPolicy, Scripted, Student};
use volary_core::json::{Json, Text};
use volary_core::registry::EnvironmentEntry;
use volary_core::{AnyMessage, ToolRequestMessage, json};
use volary_episode::Episode;

/// The form field of the script.
pub const SCRIPT: &str = "Script";
const POLICY_SEED: &str = "Policy seed";
/// The form field of the student's fault.
pub const FAULT: &str = "Fault";
/// The option for a fault that follows from the seed.
pub const VARIED: &str = "varied";
const DELAY: &str = "Delay";
const MAXIMUM_STEPS: &str = "Maximum steps";
/// The longest pause between two steps, in seconds.
const LONGEST_DELAY: f64 = 60.0;
/// The maximum of the step limit.
const MOST_STEPS: i64 = 100_000;

/// The policies that the user can choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyKind {
    /// The user.
    #[default]
    Manual,
    /// A list of actions.
    Scripted,
    /// Random actions, drawn from the schemas.
    Random,
    /// The environment's own solution.
    Oracle,
    /// A scripted student with a typical mistake.
    Student,
    /// A model, with the user's key.
    Model,
}

impl PolicyKind {
    pub const ALL: [PolicyKind; 6] = [
        PolicyKind::Manual,
        PolicyKind::Scripted,
        PolicyKind::Random,
        PolicyKind::Oracle,
        PolicyKind::Student,
        PolicyKind::Model,
    ];

    /// The label on screen.
    pub const fn name(self) -> &'static str {
        match self {
            PolicyKind::Manual => "Manual",
            PolicyKind::Scripted => "Scripted",
            PolicyKind::Random => "Random",
            PolicyKind::Oracle => "Oracle",
            PolicyKind::Student => "Student",
            PolicyKind::Model => "Model",
        }
    }

    /// The name with a plain word for it, for a list in which nothing explains it.
    pub const fn plain_name(self) -> &'static str {
        match self {
            PolicyKind::Manual => "Manual (you act)",
            PolicyKind::Scripted => "Scripted (a list of actions)",
            PolicyKind::Random => "Random (any tool, any values)",
            PolicyKind::Oracle => "Oracle (knows the answer)",
            PolicyKind::Student => "Student (makes a mistake)",
            PolicyKind::Model => "Model (an AI decides)",
        }
    }

    /// The value in an address; `None` for the default.
    pub fn in_address(self) -> Option<String> {
        (self != PolicyKind::Manual).then(|| self.name().to_lowercase())
    }

    /// Parses the value in an address.
    pub fn of_address(name: &str) -> Option<PolicyKind> {
        let mut all = PolicyKind::ALL.into_iter();
        all.find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The description on screen.
    pub const fn summary(self) -> &'static str {
        match self {
            PolicyKind::Manual => "You act: choose a tool, fill in its form and press Step.",
            PolicyKind::Scripted => "Takes the actions of a list, one by one.",
            PolicyKind::Random => {
                "Calls random tools with random arguments that match their schemas."
            }
            PolicyKind::Oracle => "Gives the known answer.",
            PolicyKind::Student => "Makes a typical mistake of agents, and names it afterwards.",
            PolicyKind::Model => {
                "A language model acts. Step asks it for one action. To act yourself, add a call."
            }
        }
    }

    /// Whether the policy can act in an environment.
    pub fn fits(self, entry: Option<&EnvironmentEntry>) -> bool {
        match self {
            PolicyKind::Oracle => entry.is_some_and(|entry| entry.oracle.is_some()),
            _ => true,
        }
    }

    /// The JSON schema of the settings, with `pace` as defaults.
    pub fn schema(self, pace: PolicyPace) -> Json {
        let delay = json!({
            "type": "number",
            "description": "Pause between steps, in seconds.",
            "default": (pace.delay),
            "minimum": 0,
            "maximum": LONGEST_DELAY
        });
        let maximum = json!({
            "type": "integer",
            "description": "Episodes that reach this length are truncated.",
            "default": (pace.max_steps),
            "minimum": 1,
            "maximum": MOST_STEPS
        });
        let properties = match self {
            // A model has its own settings.
            PolicyKind::Manual | PolicyKind::Model => json!({}),
            PolicyKind::Scripted => json!({
                SCRIPT: {
                    "type": "string",
                    "description": "A JSON list of actions. An action is a call {\"name\": …, \
                         \"arguments\": {…}} or a list of calls. Action n is taken in step n.",
                    "format": "multiline"
                },
                DELAY: delay,
                MAXIMUM_STEPS: maximum
            }),
            PolicyKind::Random => json!({
                POLICY_SEED: {
                    "type": "integer",
                    "description": "The same seed draws the same actions.",
                    "default": 0,
                    "minimum": 0
                },
                DELAY: delay,
                MAXIMUM_STEPS: maximum
            }),
            PolicyKind::Oracle => json!({ DELAY: delay, MAXIMUM_STEPS: maximum }),
            PolicyKind::Student => json!({
                FAULT: (fault_schema(Fault::Loop.name())),
                POLICY_SEED: {
                    "type": "integer",
                    "description": "The same seed makes the same fault in the same way.",
                    "default": 0,
                    "minimum": 0
                },
                DELAY: delay,
                MAXIMUM_STEPS: maximum
            }),
        };
        json!({
            "type": "object",
            "properties": properties,
            "required": (if self == PolicyKind::Scripted { vec![SCRIPT] } else { vec![] }),
            "additionalProperties": false
        })
    }

    /// Builds the policy from valid settings, with its limits and its delay between steps. `None` for the user and for
    /// a model, which have no such settings.
    pub fn policy(
        self,
        settings: &Json,
        oracle: impl FnOnce() -> Result<Oracle, PolicyError>,
    ) -> Result<Option<PacedPolicy>, PolicyFault> {
        let policy: Box<dyn Policy> = match self {
            PolicyKind::Manual | PolicyKind::Model => return Ok(None),
            PolicyKind::Scripted => {
                let text = settings.get(SCRIPT).and_then(Json::as_text);
                let script = Scripted::parse(text.map_or("", |text| text));
                Box::new(script.map_err(|error| PolicyFault::Script(error.to_string()))?)
            }
            PolicyKind::Random => {
                let seed = settings.get(POLICY_SEED).and_then(Json::as_i64);
                Box::new(RandomPolicy::new(seed.unwrap_or_default().unsigned_abs()))
            }
            PolicyKind::Student => {
                let seed = settings.get(POLICY_SEED).and_then(Json::as_i64);
                let seed = seed.unwrap_or_default().unsigned_abs();
                Box::new(match chosen_fault(settings) {
                    Some(fault) => Student::new(fault, seed, oracle().ok()),
                    None => Student::varied(seed, oracle().ok()),
                })
            }
            PolicyKind::Oracle => {
                Box::new(oracle().map_err(|error| PolicyFault::Unfit(error.to_string()))?)
            }
        };
        let max_steps = settings.get(MAXIMUM_STEPS).and_then(Json::as_i64);
        let max_steps = max_steps.and_then(|steps| steps.try_into().ok());
        Ok(Some(PacedPolicy {
            policy,
            limits: max_steps.map_or_else(Limits::default, |max_steps| Limits { max_steps }),
            delay: settings
                .get(DELAY)
                .and_then(Json::as_f64)
                .unwrap_or_default(),
        }))
    }
}

/// The JSON schema of the student's fault, with a default.
pub fn fault_schema(default: &str) -> Json {
    let names = Fault::ALL.map(Fault::name).into_iter().chain([VARIED]);
    let names: Vec<Json> = names.map(Json::from).collect();
    json!({
        "type": "string",
        "description": "What the student does wrong. With \"varied\" the seed decides, and some seeds make no fault.",
        "enum": names,
        "default": default
    })
}

/// The fault selected in a form; `None` for one that follows from the seed.
pub fn chosen_fault(settings: &Json) -> Option<Fault> {
    Fault::of_name(settings.get(FAULT)?.as_text()?)
}

/// Settings that all built-in policies share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyPace {
    /// Seconds between two steps.
    pub delay: f64,
    /// The maximum number of steps of an episode.
    pub max_steps: i64,
}

impl Default for PolicyPace {
    fn default() -> Self {
        PolicyPace {
            delay: 0.0,
            max_steps: 100,
        }
    }
}

impl PolicyPace {
    /// Updates the pace from a form that may be incomplete. A missing or invalid field keeps its value.
    #[must_use]
    pub fn updated(self, filled: &Json) -> PolicyPace {
        let delay = filled.get(DELAY).and_then(Json::as_f64);
        let max_steps = filled.get(MAXIMUM_STEPS).and_then(Json::as_i64);
        PolicyPace {
            delay: delay
                .filter(|delay| (0.0..=LONGEST_DELAY).contains(delay))
                .unwrap_or(self.delay),
            max_steps: max_steps
                .filter(|steps| (1..=MOST_STEPS).contains(steps))
                .unwrap_or(self.max_steps),
        }
    }
}

/// A policy with its limits and its delay.
pub struct PacedPolicy {
    pub policy: Box<dyn Policy>,
    pub limits: Limits,
    /// Seconds between two steps.
    pub delay: f64,
}

/// Error in the settings of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyFault {
    /// The script is invalid.
    Script(String),
    /// The policy does not fit the environment.
    Unfit(String),
}

/// The settings of a script that repeats the actions of an episode.
pub fn script_of(episode: &Episode, pace: PolicyPace) -> Json {
    let requests = episode.actions().filter_map(|action| match action {
        AnyMessage::Request(request) => Some(request.clone()),
        _ => None,
    });
    script_settings(requests.collect(), pace)
}

/// The settings of a script of these actions.
pub fn script_settings(actions: Vec<ToolRequestMessage>, pace: PolicyPace) -> Json {
    json!({
        SCRIPT: (Scripted::new(actions).to_text()),
        DELAY: (pace.delay),
        MAXIMUM_STEPS: (pace.max_steps)
    })
}

/// The oracle of an environment.
pub fn oracle(entry: Option<EnvironmentEntry>) -> Result<Oracle, PolicyError> {
    let entry = entry.ok_or_else(|| PolicyError::Unfit {
        policy: "Oracle".into(),
        reason: Text::from("the environment is unknown."),
    })?;
    Oracle::new(&entry)
}

#[cfg(test)]
mod tests {
    use volary_core::{Object, ToolCall, object};
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    fn no_oracle() -> Result<Oracle, PolicyError> {
        oracle(None)
    }

    fn fault(kind: PolicyKind, settings: &Json) -> Option<PolicyFault> {
        kind.policy(settings, no_oracle).err()
    }

    #[test]
    fn plain_names_stand_next_to_the_names() {
        for kind in PolicyKind::ALL {
            let plain = kind.plain_name().strip_prefix(kind.name());
            let word = plain.and_then(|word| word.strip_prefix(" (")?.strip_suffix(')'));
            assert!(word.is_some_and(|word| !word.is_empty()), "{kind:?}");
        }
    }

    #[test]
    fn every_policy_but_the_default_has_a_name_in_addresses() {
        assert_eq!(PolicyKind::default().in_address(), None);
        for kind in PolicyKind::ALL {
            if let Some(name) = kind.in_address() {
                assert_eq!(PolicyKind::of_address(&name), Some(kind));
            }
        }
        assert_eq!(PolicyKind::of_address("nobody"), None);
    }

    #[test]
    fn a_pace_survives_missing_and_invalid_fields() {
        let pace = PolicyPace {
            delay: 1.5,
            max_steps: 7,
        };
        assert_eq!(pace.updated(&json!({})), pace);
        assert_eq!(
            pace.updated(&json!({ DELAY: (-1), MAXIMUM_STEPS: 0 })),
            pace
        );
        assert_eq!(
            pace.updated(&json!({ DELAY: 61, MAXIMUM_STEPS: "many" })),
            pace
        );
        let filled = json!({ DELAY: 0.5, MAXIMUM_STEPS: 3 });
        assert_eq!(
            pace.updated(&filled),
            PolicyPace {
                delay: 0.5,
                max_steps: 3
            }
        );
    }

    #[test]
    fn schemas_offer_the_pace_as_default() {
        let pace = PolicyPace {
            delay: 2.0,
            max_steps: 9,
        };
        for kind in [
            PolicyKind::Scripted,
            PolicyKind::Random,
            PolicyKind::Student,
        ] {
            let schema = kind.schema(pace);
            let field = |key: &str| schema.get("properties")?.get(key)?.get("default").cloned();
            assert_eq!(field(DELAY), Some(json!(2.0)), "{kind:?}");
            assert_eq!(field(MAXIMUM_STEPS), Some(json!(9)), "{kind:?}");
        }
        assert_eq!(
            PolicyKind::Model.schema(pace).get("properties"),
            Some(&json!({}))
        );
    }

    #[test]
    fn settings_become_a_policy_with_limits() {
        let settings = json!({ POLICY_SEED: 3, DELAY: 0.25, MAXIMUM_STEPS: 12 });
        let made = PolicyKind::Random.policy(&settings, no_oracle);
        let Ok(Some(paced)) = made else {
            panic!("no policy")
        };
        assert_eq!(&*paced.policy.name(), "random");
        assert_eq!(paced.limits.max_steps, 12);
        assert_eq!(paced.delay, 0.25);
        for kind in [PolicyKind::Manual, PolicyKind::Model] {
            assert!(matches!(kind.policy(&settings, no_oracle), Ok(None)));
        }
    }

    #[test]
    fn a_student_has_the_chosen_fault() {
        for fault in Fault::ALL {
            let settings = json!({ FAULT: (fault.name()), POLICY_SEED: 1 });
            assert_eq!(chosen_fault(&settings), Some(fault));
            let Ok(Some(paced)) = PolicyKind::Student.policy(&settings, no_oracle) else {
                panic!("no policy")
            };
            assert_eq!(paced.policy.afterword().as_deref(), Some(fault.note()));
        }
        assert_eq!(chosen_fault(&json!({ FAULT: VARIED })), None);
    }

    #[test]
    fn faults_name_the_script_or_the_environment() {
        let settings = json!({ SCRIPT: "nonsense" });
        assert!(matches!(
            fault(PolicyKind::Scripted, &settings),
            Some(PolicyFault::Script(_))
        ));
        assert!(matches!(
            fault(PolicyKind::Oracle, &json!({})),
            Some(PolicyFault::Unfit(_))
        ));
    }

    #[test]
    fn the_script_of_an_episode_takes_its_calls_again() {
        let call = ToolCall::new("id", "add", object!({"a": 1}));
        let request = ToolRequestMessage {
            tool_calls: vec![call],
            ..ToolRequestMessage::default()
        };
        let mut episode = Episode::default();
        episode.steps.push(StepRecord {
            action: request.into(),
            outcome: Outcome::Failed { message: "".into() },
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        });
        let settings = script_of(&episode, PolicyPace::default());
        assert!(fault(PolicyKind::Scripted, &settings).is_none());
        let text = settings.get(SCRIPT).and_then(Json::as_text).cloned();
        let script = Scripted::parse(&text.unwrap_or_default()).expect("a script");
        assert_eq!(script.actions().len(), 1);
        assert_eq!(&*script.actions()[0].tool_calls[0].function.name, "add");
    }
}
