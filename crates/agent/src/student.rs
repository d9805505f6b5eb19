//! A scripted student: a policy that makes one typical mistake of agents and names it.
//!
//! Invariants: each action follows from the seed, the fault and the episode so far. It needs neither model nor oracle;
//! if the environment has an oracle, all steps without the fault are the oracle's.

mod fault;

use futures_util::future::LocalBoxFuture;
use volary_core::json::{Json, Key, Object, Text, float_text};
use volary_core::message::Body;
use volary_core::random::Random;
use volary_core::tool::ToolCallFunction;
use volary_core::{Tool, ToolCall, ToolRequestMessage};
use volary_episode::passages::content;
use volary_episode::{Episode, call_id};

use crate::oracle::Oracle;
use crate::policy::{Decision, Policy, PolicyError, PolicyInput};
use crate::random::arguments;

pub use fault::Fault;

/// Tool names that exist in no environment.
const INVENTED: [&str; 4] = ["search_web", "ask_expert", "solve", "final_answer"];

/// Makes one fault, and otherwise acts like the oracle, or at random without one.
#[derive(Clone)]
pub struct Student {
    fault: Option<Fault>,
    seed: u64,
    oracle: Option<Oracle>,
    note: Option<Text>,
}

/// The action of one step, and whether it is the fault.
struct Turn {
    action: ToolRequestMessage,
    is_fault: bool,
}

impl Student {
    /// Creates a student with a fault. `oracle` takes the other steps.
    pub fn new(fault: Fault, seed: u64, oracle: Option<Oracle>) -> Self {
        Student {
            fault: Some(fault),
            seed,
            oracle,
            note: None,
        }
    }

    /// Creates a student whose fault follows from the seed. Two of seven seeds have none.
    pub fn varied(seed: u64, oracle: Option<Oracle>) -> Self {
        let choices = Fault::ALL.into_iter().map(Some).chain([None, None]);
        let choices: Vec<Option<Fault>> = choices.collect();
        let mut random = Random::new(seed).fork("fault");
        Student {
            fault: random.pick(&choices).copied().flatten(),
            seed,
            oracle,
            note: None,
        }
    }

    /// The fault; `None` for a student without one.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    fn decide(&mut self, input: &PolicyInput<'_>) -> Decision {
        self.note = None;
        let step = input.episode.steps.len();
        let turn = match self.fault {
            Some(fault) => self.faulty(fault, input, step),
            None => self.good(input, step),
        };
        match turn {
            Some(mut turn) => {
                self.note = self
                    .fault
                    .filter(|_| turn.is_fault)
                    .map(|fault| fault.note().into());
                for (index, call) in turn.action.tool_calls.iter_mut().enumerate() {
                    call.id = call_id(step, index);
                }
                Decision::Act(turn.action)
            }
            None => Decision::End {
                reason: "The student has stopped.".into(),
            },
        }
    }

    /// The turn of a step; `None` if the student stops.
    fn faulty(&self, fault: Fault, input: &PolicyInput<'_>, step: usize) -> Option<Turn> {
        match (fault, step) {
            (Fault::Loop, _) => {
                let (name, arguments) = self.detour(input)?;
                let text = match step {
                    0 => "I will work it out.",
                    _ => "I will try that again.",
                };
                Some(Turn {
                    action: call(text, name, arguments),
                    is_fault: step > 0,
                })
            }
            (Fault::WrongTool, 0) => Some(self.wrong_tool(input)),
            (Fault::MalformedJson, 0) => Some(self.malformed(input)),
            (Fault::GivesUp, 0) => {
                let (name, arguments) = self.detour(input)?;
                Some(Turn {
                    action: call("Let me see.", name, arguments),
                    is_fault: false,
                })
            }
            (Fault::GivesUp, 1) => Some(Turn {
                action: said("This is too hard. I stop here."),
                is_fault: true,
            }),
            (Fault::GivesUp, _) => None,
            (Fault::ConfidentlyWrong, 0) => Some(self.wrong_answer(input)),
            // The student claims to be done.
            (Fault::ConfidentlyWrong, _) => None,
            (Fault::WrongTool | Fault::MalformedJson, _) => self.good(input, step),
        }
    }

    /// The turn of a student without faults.
    fn good(&self, input: &PolicyInput<'_>, step: usize) -> Option<Turn> {
        let action = match &self.oracle {
            Some(oracle) => oracle.action(input)?,
            None => {
                let mut random = self.random(step);
                let tool = random.pick(input.tools)?;
                call("", tool.info.name.clone(), arguments(tool, &mut random))
            }
        };
        Some(Turn {
            action,
            is_fault: false,
        })
    }

    fn random(&self, step: usize) -> Random {
        Random::new(self.seed).fork(&format!("step {step}"))
    }

    /// A valid call that does not lead to the goal, the same in each step.
    fn detour(&self, input: &PolicyInput<'_>) -> Option<(Text, Object)> {
        let mut random = self.random(0);
        let solving = self.solving_tool(input);
        let others: Vec<&Tool> = others(input.tools, solving.as_deref());
        let tool = if others.is_empty() {
            input.tools.first()?
        } else {
            random.pick(&others)?
        };
        let arguments = self.plausible_arguments(tool, input, &mut random);
        Some((tool.info.name.clone(), arguments))
    }

    /// The tool that the oracle would call next.
    fn solving_tool(&self, input: &PolicyInput<'_>) -> Option<Text> {
        let action = self.oracle.as_ref()?.action(input)?;
        let call = action.tool_calls.first()?;
        Some(call.function.name.clone())
    }

    /// Arguments that fit the schema. Texts are computations with the numbers of the task.
    fn plausible_arguments(
        &self,
        tool: &Tool,
        input: &PolicyInput<'_>,
        random: &mut Random,
    ) -> Object {
        let mut drawn = arguments(tool, random);
        let numbers = numbers(input.episode);
        if let [first, second, ..] = numbers.as_slice() {
            let keys: Vec<Key> = drawn.keys().cloned().collect();
            for key in keys {
                if drawn.get(&key).and_then(Json::as_text).is_some() {
                    let sign = random.pick(&["+", "-"]).copied().unwrap_or("+");
                    drawn.insert(key, format!("{first} {sign} {second}"));
                }
            }
        }
        drawn
    }

    fn wrong_tool(&self, input: &PolicyInput<'_>) -> Turn {
        let mut random = self.random(0);
        let good = self.good(input, 0).map(|turn| turn.action.tool_calls);
        let arguments = good
            .and_then(|calls| calls.into_iter().next())
            .map(|call| call.function.arguments)
            .unwrap_or_default();
        let name = match random.pick(&INVENTED) {
            Some(name) => Text::from(*name),
            None => Text::default(),
        };
        let text = format!("The tool {name} will know.");
        Turn {
            action: call(&text, name, arguments),
            is_fault: true,
        }
    }

    fn malformed(&self, input: &PolicyInput<'_>) -> Turn {
        let good = self.good(input, 0).map(|turn| turn.action.tool_calls);
        let text = match good.and_then(|calls| calls.into_iter().next()) {
            Some(call) => {
                let arguments = Json::Object(call.function.arguments).to_python_text();
                let name = &call.function.name;
                // The closing brace is missing.
                format!("{{\"name\": \"{name}\", \"arguments\": {arguments}")
            }
            None => "{\"name\": ".to_owned(),
        };
        Turn {
            action: said(&text),
            is_fault: true,
        }
    }

    fn wrong_answer(&self, input: &PolicyInput<'_>) -> Turn {
        let mut random = self.random(0);
        let good = self.good(input, 0).map(|turn| turn.action);
        let changed = good.and_then(|mut action| {
            let call = action.tool_calls.first_mut()?;
            let arguments = &mut call.function.arguments;
            let key = arguments.keys().next().cloned()?;
            let wrong = wrong(arguments.get(&key)?, &mut random);
            arguments.insert(key, wrong);
            action.body = Body::text("I am absolutely certain of this answer.");
            Some(action)
        });
        Turn {
            action: changed.unwrap_or_else(|| said("Done. I am certain that the task is solved.")),
            is_fault: true,
        }
    }
}

impl Policy for Student {
    fn name(&self) -> Text {
        "student".into()
    }

    fn act<'a>(
        &'a mut self,
        input: PolicyInput<'a>,
    ) -> LocalBoxFuture<'a, Result<Decision, PolicyError>> {
        let decision = self.decide(&input);
        Box::pin(std::future::ready(Ok(decision)))
    }

    fn note(&self) -> Option<Text> {
        self.note.clone()
    }

    fn afterword(&self) -> Option<Text> {
        Some(match self.fault {
            Some(fault) => fault.note().into(),
            None => "The student made no fault.".into(),
        })
    }
}

fn others<'a>(tools: &'a [Tool], solving: Option<&str>) -> Vec<&'a Tool> {
    let tools = tools.iter();
    tools
        .filter(|tool| Some(&*tool.info.name) != solving)
        .collect()
}

fn call(text: &str, name: Text, arguments: Object) -> ToolRequestMessage {
    ToolRequestMessage {
        body: if text.is_empty() {
            Body::default()
        } else {
            Body::text(text)
        },
        tool_calls: vec![ToolCall {
            id: Text::default(),
            function: ToolCallFunction { name, arguments },
        }],
    }
}

fn said(text: &str) -> ToolRequestMessage {
    ToolRequestMessage {
        body: Body::text(text),
        tool_calls: Vec::new(),
    }
}

/// The numbers in the opening messages of an episode, as written.
fn numbers(episode: &Episode) -> Vec<String> {
    let messages = episode.start.iter();
    let text: String = messages
        .map(|message| format!("{}\n", content(message.body())))
        .collect();
    let numerals = text.split(|character: char| !character.is_ascii_digit() && character != '.');
    let numbers = numerals.map(|word| word.trim_matches('.'));
    numbers
        .filter(|number| !number.is_empty() && number.matches('.').count() < 2)
        .map(str::to_owned)
        .collect()
}

/// Another value of the same type.
fn wrong(value: &Json, random: &mut Random) -> Json {
    if let Some(number) = value.as_i64() {
        return (number + 1 + random.range(0..=8)).into();
    }
    if let Some(text) = value.as_text() {
        return match text.parse::<f64>() {
            Ok(number) => {
                let off = random.range(1..=9) as f64;
                let text = float_text(number + off);
                Text::from(text.strip_suffix(".0").unwrap_or(&text)).into()
            }
            Err(_) => format!("{text} (surely)").into(),
        };
    }
    match value.as_f64() {
        Some(number) => (number + 1.0).into(),
        None => Json::Null,
    }
}

#[cfg(test)]
mod tests;
