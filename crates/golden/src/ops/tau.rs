//! tau-bench: environments, hashes, the calculator, customers, pass^k.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use volary_core::{Json, Object, fields, json, object};
use volary_envs::tau::checkout::{Original, Split};
use volary_envs::tau::customer::{
    ChatMessage, Customer, CustomerStep, Prompts, Simulator, Strategy,
};
use volary_envs::tau::domain::Domain;
use volary_envs::tau::hash::{data_hash, sha256};
use volary_envs::tau::pass_hat_k::{TrialResult, pass_hat_k};
use volary_envs::tau::{Action, Episode, STOP, Step, TurnResult, common};

use super::input::{given, list, required, text, told, whole};

/// Observations of at least this many characters are compared by hash.
const LONG: usize = 1500;

/// The original's checkout, if the variable is set; a relative path starts at the root of the repository.
pub(crate) fn checkout() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("TAU_BENCH_DIR").map(|given| root.join(given))
}

/// The original's prompts of customers, if the checkout is present.
pub(crate) fn original_prompts() -> Option<Prompts> {
    let path = checkout()?.join("tau_bench/envs/user.py");
    Prompts::from_source(&std::fs::read_to_string(path).ok()?)
}

/// A domain and its name and split.
type Read = (Original, Split, Arc<Domain>);

thread_local! {
    /// A cache of domains, since every case needs one.
    static READ: RefCell<Vec<Read>> = const { RefCell::new(Vec::new()) };
}

fn domain(input: &Json) -> Result<Arc<Domain>, String> {
    let name = text(input, "domain")?;
    let original = Original::from_name(&name).ok_or_else(|| format!("no domain {name}"))?;
    let split = Split::from_name(&text(input, "split")?).map_err(told)?;
    let known = READ.with_borrow(|read| {
        let same = |one: &&Read| one.0 == original && one.1 == split;
        read.iter().find(same).map(|one| Arc::clone(&one.2))
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let root = checkout().ok_or("TAU_BENCH_DIR is not set")?;
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path))
            .ok()
            .map(Into::into)
    };
    let domain = Arc::new(original.read(split, &read).map_err(told)?);
    READ.with_borrow_mut(|read| read.push((original, split, Arc::clone(&domain))));
    Ok(domain)
}

pub(super) fn new_episode(input: &Json) -> Result<Episode, String> {
    let domain = domain(input)?;
    let index = whole(input, "task_index")?;
    // As in Python, negative numbers count from the end.
    let from_end = if index < 0 {
        domain.tasks.len() as i64
    } else {
        0
    };
    let index = usize::try_from(index + from_end).map_err(told)?;
    let task = domain
        .tasks
        .get(index)
        .ok_or("there is no such task")?
        .clone();
    Ok(Episode::new(domain, task))
}

/// An episode with a scripted customer.
struct Play {
    episode: Episode,
    customer: Customer,
}

impl Play {
    fn step(&mut self, action: Action) -> Result<Step, String> {
        step(&mut self.episode, &mut self.customer, action)
    }
}

/// Takes an action; if it is a message to the customer, a scripted customer answers.
pub(super) fn step(
    episode: &mut Episode,
    customer: &mut Customer,
    action: Action,
) -> Result<Step, String> {
    match episode.act(action).map_err(told)? {
        TurnResult::Step(step) => Ok(step),
        // The script does not depend on the message.
        TurnResult::Customer(_) => match customer.step("").map_err(told)? {
            CustomerStep::Say(text) => episode.answer(text).map_err(told),
            _ => Err("a script asks nothing".to_owned()),
        },
    }
}

/// The customer with the texts of a case.
pub(super) fn scripted_customer(input: &Json) -> Result<Customer, String> {
    let script = list(input, "user_script")?.iter();
    let script = script.map(|text| fields::text("user_script", text));
    let script: Vec<_> = script.collect::<Result<_, _>>().map_err(told)?;
    Ok(Customer::scripted(script))
}

pub(super) fn env(input: &Json) -> Result<Json, String> {
    let mut play = Play {
        episode: new_episode(input)?,
        customer: scripted_customer(input)?,
    };
    let instruction = play.episode.task().instruction.clone();
    let CustomerStep::Say(reset) = play.customer.reset(Some(&instruction)).map_err(told)? else {
        return Err("a script asks nothing".to_owned());
    };
    let mut steps = Vec::new();
    let mut reward_info = Json::Null;
    for action in list(input, "actions")? {
        let action = Action::from_json(action).ok_or("an action has a name and kwargs")?;
        let step = match play.step(action) {
            Ok(step) => step,
            Err(error) => {
                steps.push(json!({"error": error}));
                continue;
            }
        };
        steps.push(json!({
            "observation": (shortened(&step.observation)),
            "reward": (step.value()),
            "done": (step.is_done()),
            "source": (step.source.clone()),
        }));
        if let Some(reward) = &step.reward {
            reward_info = json!({"reward": (reward.value), "info": (reward.info())});
            break;
        }
    }
    Ok(json!({"reset": (shortened(&reset)), "steps": steps, "reward_info": reward_info}))
}

/// Replaces a long text by its hash.
pub(super) fn shortened(text: &str) -> Json {
    match text.chars().count() {
        length if length < LONG => text.into(),
        _ => hashed(text),
    }
}

fn hashed(text: &str) -> Json {
    json!({"sha256": (sha256(text)), "length": (text.chars().count() as i64)})
}

pub(super) fn gold(input: &Json) -> Result<Json, String> {
    let episode = new_episode(input)?;
    let before = episode.state().hash();
    let task = episode.task().clone();
    let mut actions = task.actions;
    let mut script = Vec::new();
    if !task.outputs.is_empty() {
        actions.insert(0, Action::respond(task.outputs.join("\n")));
        script.push("ok");
    }
    actions.push(Action::respond("done"));
    script.push(STOP);
    let mut play = Play {
        episode,
        customer: Customer::scripted(script),
    };
    let mut reward = 0.0;
    for action in actions {
        let step = play.step(action)?;
        reward = step.value();
        if step.is_done() {
            break;
        }
    }
    Ok(json!({
        "reward": reward,
        "data_hash_before": before,
        "data_hash_after": (play.episode.state().hash()),
    }))
}

pub(super) fn hash(input: &Json) -> Result<Json, String> {
    required(input, "value").map(|value| data_hash(value).into())
}

pub(super) fn calculate(input: &Json) -> Result<Json, String> {
    let expression = required(input, "expression")?;
    let text = common::calculate(expression).unwrap_or_else(|error| format!("Error: {error}"));
    Ok(text.into())
}

pub(super) fn pass(input: &Json) -> Result<Json, String> {
    let number = |row: &Json, key: &str| match required(row, key)? {
        Json::Integer(value) => Ok(value.clone()),
        _ => Err(format!("{key} must be a whole number")),
    };
    let rows = list(input, "results")?.iter().map(|row| {
        Ok(TrialResult {
            task: number(row, "task_id")?,
            trial: number(row, "trial")?,
            reward: required(row, "reward")?
                .as_f64()
                .ok_or("reward must be a number")?,
        })
    });
    let rows: Vec<TrialResult> = rows.collect::<Result<_, String>>()?;
    let values = pass_hat_k(&rows).map_err(told)?.into_iter().enumerate();
    let values: Object = values
        .map(|(index, value)| ((index + 1).to_string().into(), value.into()))
        .collect();
    Ok(values.into())
}

/// The requests and messages of a customer. Prompts are replaced by their hashes.
pub(super) fn user(input: &Json) -> Result<Json, String> {
    let strategy = text(input, "strategy")?;
    let prompts = original_prompts().unwrap_or_default();
    let simulated = |strategy| Customer::Simulated(Simulator::new(strategy, prompts.clone()));
    let customer = match &*strategy {
        "llm" => simulated(Strategy::Llm),
        "react" => simulated(Strategy::React { legacy: true }),
        "verify" => simulated(Strategy::Verify),
        "reflection" => simulated(Strategy::Reflection),
        "human" => Customer::Human,
        unknown => return Err(format!("no strategy {unknown}")),
    };
    let completions = list(input, "completions")?.iter();
    let mut conversation = Conversation {
        customer,
        completions: completions
            .map(|one| one.as_text().cloned().unwrap_or_default())
            .collect(),
        requests: Vec::new(),
    };
    let instruction = given(input, "instruction").map(|one| fields::text("instruction", one));
    let instruction = instruction.transpose().map_err(told)?;
    let mut replies = Vec::new();
    let mut said = conversation.turn(|customer| customer.reset(instruction.as_deref()));
    let mut messages = list(input, "agent_messages")?.iter();
    let error = loop {
        match said {
            Ok(reply) => replies.push(reply),
            Err(error) => break Some(error),
        }
        let Some(message) = messages.next() else {
            break None;
        };
        let message = fields::text("agent_messages", message).map_err(told)?;
        said = conversation.turn(|customer| customer.step(&message));
    };
    let mut result = object!({"requests": (conversation.requests), "replies": replies});
    if let Some(error) = error {
        result.insert("error", error);
    }
    Ok(result.into())
}

struct Conversation {
    customer: Customer,
    completions: std::collections::VecDeque<volary_core::Text>,
    requests: Vec<Json>,
}

impl Conversation {
    fn turn<E: std::fmt::Display>(
        &mut self,
        begin: impl FnOnce(&mut Customer) -> Result<CustomerStep, E>,
    ) -> Result<Json, String> {
        let mut progress = begin(&mut self.customer).map_err(told)?;
        loop {
            self.requests.push(match progress {
                CustomerStep::Say(text) => return Ok(text.into()),
                CustomerStep::Show(text) => text.into(),
                CustomerStep::Ask(messages) => shown(&messages),
            });
            let completion = self
                .completions
                .pop_front()
                .ok_or("nobody answers any more")?;
            progress = self.customer.completed(&completion).map_err(told)?;
        }
    }
}

fn shown(messages: &[ChatMessage]) -> Json {
    // A request with one message is the prompt of a judge or helper.
    let alone = messages.len() == 1;
    let messages = messages.iter().map(|message| {
        let is_prompt = alone || message.role == volary_core::Role::System;
        let content = if is_prompt {
            hashed(&message.content)
        } else {
            message.content.clone().into()
        };
        json!({"role": (message.role.as_str()), "content": content})
    });
    Json::List(messages.collect())
}

/// The expectation for a customer with this project's prompts: any text in place of a prompt.
pub(super) fn without_wording(expected: &Json) -> Json {
    match expected {
        Json::List(list) => Json::List(list.iter().map(without_wording).collect()),
        Json::Object(object) if object.len() == 2 && object.contains_key("sha256") => {
            json!({"$any": true})
        }
        Json::Object(object) => {
            let members = object.iter();
            Json::Object(
                members
                    .map(|(key, value)| (key.clone(), without_wording(value)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}
