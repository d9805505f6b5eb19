//! The policy: which one acts, with what settings. The settings are a form made from a schema, as
//! everything else that is filled in here.

use futures_util::future::AbortHandle;
use leptos::prelude::*;
use volary_agent::{Limits, Oracle, Policy, PolicyError, RandomPolicy, Scripted};
use volary_core::json::{Json, Text};
use volary_core::registry::EnvironmentEntry;
use volary_core::{AnyMessage, ToolRequestMessage, json};

use super::player::{Aside, BuiltIn, Player};
use super::state::Playground;
use crate::browser;
use crate::projection::form::Form;

/// The id of the form of the policy.
pub const POLICY_FORM: &str = "policy-form";

const SCRIPT: &str = "Script";
const POLICY_SEED: &str = "Policy seed";
const DELAY: &str = "Delay";
const MAXIMUM_STEPS: &str = "Maximum steps";
/// Nobody waits longer between two steps, in seconds.
const LONGEST_DELAY: f64 = 60.0;
/// No run is longer.
const MOST_STEPS: i64 = 100_000;

/// Who acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyKind {
    /// The person.
    #[default]
    Manual,
    /// A list of actions.
    Scripted,
    /// Random actions, drawn from the schemas.
    Random,
    /// The environment's own solution.
    Oracle,
    /// A model, with the person's own key.
    Model,
}

impl PolicyKind {
    /// All of them, in the order of display.
    pub const ALL: [PolicyKind; 5] = [
        PolicyKind::Manual,
        PolicyKind::Scripted,
        PolicyKind::Random,
        PolicyKind::Oracle,
        PolicyKind::Model,
    ];

    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            PolicyKind::Manual => "Manual",
            PolicyKind::Scripted => "Scripted",
            PolicyKind::Random => "Random",
            PolicyKind::Oracle => "Oracle",
            PolicyKind::Model => "Model",
        }
    }

    /// Its name in an address; `None` for the default.
    pub fn in_address(self) -> Option<String> {
        (self != PolicyKind::Manual).then(|| self.name().to_lowercase())
    }

    /// The policy of a name in an address.
    pub fn of_address(name: &str) -> Option<PolicyKind> {
        let mut all = PolicyKind::ALL.into_iter();
        all.find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// What it does, for people.
    pub const fn summary(self) -> &'static str {
        match self {
            PolicyKind::Manual => "You act: choose a tool, fill in its form and press Step.",
            PolicyKind::Scripted => "Takes the actions of a list, one by one.",
            PolicyKind::Random => {
                "Calls random tools with random arguments that match their schemas."
            }
            PolicyKind::Oracle => "Gives the known answer.",
            PolicyKind::Model => {
                "A language model acts. Step asks it for one action. To act yourself, add a call."
            }
        }
    }

    /// Whether it can act in an environment.
    pub fn fits(self, entry: Option<&EnvironmentEntry>) -> bool {
        match self {
            PolicyKind::Oracle => entry.is_some_and(|entry| entry.oracle.is_some()),
            _ => true,
        }
    }

    fn schema(self, Pace { delay, most }: Pace) -> Json {
        let delay = json!({
            "type": "number",
            "description": "Pause between steps, in seconds.",
            "default": delay,
            "minimum": 0,
            "maximum": LONGEST_DELAY
        });
        let maximum = json!({
            "type": "integer",
            "description": "Episodes that reach this length are truncated.",
            "default": most,
            "minimum": 1,
            "maximum": MOST_STEPS
        });
        let properties = match self {
            // A model has settings of its own.
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
        };
        json!({
            "type": "object",
            "properties": properties,
            "required": (if self == PolicyKind::Scripted { vec![SCRIPT] } else { vec![] }),
            "additionalProperties": false
        })
    }
}

/// The settings that policies share which need no model, as they were filled in last.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Seconds between two steps.
    delay: f64,
    /// Steps of an episode at most.
    most: i64,
}

/// The signals of the policy.
#[derive(Clone, Copy)]
pub struct Drive {
    /// Who acts.
    pub kind: RwSignal<PolicyKind>,
    /// Its settings.
    pub form: RwSignal<Form>,
    /// What the next policy takes over from this one.
    pace: StoredValue<Pace>,
    /// How the run goes.
    pub run: RwSignal<Run>,
    /// Whether the current operation takes long, so that the user may want to stop it.
    pub is_slow: RwSignal<bool>,
    /// Whether the user is asked who should act.
    pub is_choosing: RwSignal<bool>,
    /// The step of which it is shown what went over the wire.
    pub inspected: RwSignal<Option<usize>>,
    /// Counts the runs.
    pub(super) runs: StoredValue<u32>,
    /// Whether the last run was for one action only.
    pub(super) once: StoredValue<bool>,
    /// Ends whatever the one who plays is doing.
    pub(super) leash: StoredValue<AbortHandle>,
    /// What is to be written down with the step that is being taken.
    pub(super) aside: StoredValue<Option<Box<Aside>>>,
}

/// How a run goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// Nobody runs.
    #[default]
    Idle,
    /// The policy acts; the number tells runs apart.
    Going(u32),
    /// It was asked to stop, and the last step is still under way.
    Stopping(u32),
}

/// Who plays, with what the run needs.
pub(super) struct Plan {
    pub player: Box<dyn Player>,
    /// Seconds between two steps.
    pub delay: f64,
}

impl Drive {
    /// The person acts.
    pub fn new() -> Self {
        Drive {
            kind: RwSignal::default(),
            form: RwSignal::new(Form::new(json!({"type": "object", "properties": {}}))),
            pace: StoredValue::new(Pace {
                delay: 0.0,
                most: 100,
            }),
            run: RwSignal::default(),
            is_slow: RwSignal::new(false),
            is_choosing: RwSignal::new(false),
            inspected: RwSignal::new(None),
            runs: StoredValue::new(0),
            once: StoredValue::new(false),
            leash: StoredValue::new(AbortHandle::new_pair().0),
            aside: StoredValue::new(None),
        }
    }

    /// The pace that is filled in now, as far as it can be one; else the one before. The other fields may hold anything.
    fn pace(self) -> Pace {
        let filled = self.form.with_untracked(Form::filled);
        let delay = filled.get(DELAY).and_then(Json::as_f64);
        let most = filled.get(MAXIMUM_STEPS).and_then(Json::as_i64);
        let former = self.pace.get_value();
        let pace = Pace {
            delay: delay
                .filter(|delay| (0.0..=LONGEST_DELAY).contains(delay))
                .unwrap_or(former.delay),
            most: most
                .filter(|most| (1..=MOST_STEPS).contains(most))
                .unwrap_or(former.most),
        };
        self.pace.set_value(pace);
        pace
    }
}

impl Default for Drive {
    fn default() -> Self {
        Drive::new()
    }
}

impl Playground {
    /// Chooses who acts. The settings that policies share are kept, also through those that have none.
    pub fn choose_policy(self, kind: PolicyKind) {
        let drive = self.drive;
        drive.kind.set(kind);
        drive.form.set(Form::new(kind.schema(drive.pace())));
        if kind == PolicyKind::Scripted {
            self.script_from_episode();
        }
    }

    /// Puts the actions of the shown episode into the script.
    pub fn script_from_episode(self) {
        let drive = self.drive;
        let actions: Vec<ToolRequestMessage> = self.episode.with_untracked(|episode| {
            let actions = episode.actions();
            actions
                .filter_map(|action| match action {
                    AnyMessage::Request(request) => Some(request.clone()),
                    _ => None,
                })
                .collect()
        });
        let pace = drive.pace();
        let schema = PolicyKind::Scripted.schema(pace);
        let value = json!({
            SCRIPT: (Scripted::new(actions).to_text()),
            DELAY: (pace.delay),
            MAXIMUM_STEPS: (pace.most)
        });
        drive.form.set(Form::with_value(schema, &value));
    }

    /// The chosen policy with its limits (a model comes from elsewhere), if its settings are as they should be; else the field at
    /// fault is marked.
    pub(super) fn policy(self) -> Option<Plan> {
        let drive = self.drive;
        let Some(settings) = drive.form.try_update(Form::submit).flatten() else {
            browser::show_fault(POLICY_FORM);
            return None;
        };
        let delay = settings.get(DELAY).and_then(Json::as_f64);
        let max_steps = settings
            .get(MAXIMUM_STEPS)
            .and_then(Json::as_i64)
            .and_then(|steps| steps.try_into().ok());
        let limits = max_steps.map_or_else(Limits::default, |max_steps| Limits { max_steps });
        let policy: Box<dyn Policy> = match drive.kind.get_untracked() {
            PolicyKind::Manual | PolicyKind::Model => return None,
            PolicyKind::Scripted => {
                let text = settings.get(SCRIPT).and_then(Json::as_text)?;
                match Scripted::parse(text) {
                    Ok(policy) => Box::new(policy),
                    Err(error) => {
                        let reason = error.to_string();
                        drive.form.update(|form| form.refuse(SCRIPT, &reason));
                        browser::show_fault(POLICY_FORM);
                        return None;
                    }
                }
            }
            PolicyKind::Random => {
                let seed = settings.get(POLICY_SEED).and_then(Json::as_i64);
                Box::new(RandomPolicy::new(seed.unwrap_or_default().unsigned_abs()))
            }
            PolicyKind::Oracle => match self.oracle() {
                Ok(policy) => Box::new(policy),
                Err(error) => {
                    self.say(error.to_string());
                    return None;
                }
            },
        };
        Some(Plan {
            player: Box::new(BuiltIn { policy, limits }),
            delay: delay.unwrap_or_default(),
        })
    }

    /// Writes down who acted.
    pub(super) fn set_policy_name(self, name: &str) {
        let same = self
            .episode
            .with_untracked(|episode| episode.policy.as_deref() == Some(name));
        if !same {
            self.episode.update_untracked(|episode| {
                std::sync::Arc::make_mut(episode).policy = Some(Text::from(name));
            });
        }
    }

    fn oracle(self) -> Result<Oracle, PolicyError> {
        let name = self.episode.with_untracked(|episode| {
            let recipe = episode.recipe.as_ref();
            recipe.map_or_else(Text::default, |recipe| recipe.environment.clone())
        });
        let entry = self.entry(&name).ok_or_else(|| PolicyError::Unfit {
            policy: "Oracle".into(),
            reason: "the environment is unknown.".into(),
        })?;
        Oracle::new(&entry)
    }
}
