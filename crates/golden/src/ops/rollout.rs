//! Whole episodes of a trained agent with a scripted server: in a scripted environment, and in tau-bench's.

use std::collections::VecDeque;
use std::rc::Rc;

use volary_core::{Json, Object, Text, fields, json, object};
use volary_envs::tau::customer::{Customer, CustomerStep};
use volary_envs::tau::{self as tau_bench, Episode, Reward};
use volary_rollout::rollout::GenerateFailure;
use volary_rollout::sglang::Prompt;
use volary_rollout::{
    EnvReset, EnvStep, GenerateReply, InteractionResult, Rollout, RolloutEnvironment,
    RolloutSettings, Status, drive,
};
use volary_tokens::{Action, TokenId, Tokenizer, TokenizerError};

use super::input::{given, list, required, text, told, whole};
use super::tau;
use super::tokens::{ORIGINAL_INSTRUCTION, digest, mode, template, with_tokenizer};

pub(super) fn slime_rollout(input: &Json) -> Result<Json, String> {
    let mut environment = ScriptedEnvironment::read(required(input, "env")?)?;
    let (result, _) = run(input, None, &mut environment)?;
    environment.check_used_up()?;
    let mut shown = result.to_json();
    if given(input, "tool_instruction").is_none() && result.prompt.contains(ORIGINAL_INSTRUCTION) {
        hide_original(&mut shown, &result);
    }
    Ok(shown)
}

/// If the prompt contains the original's wording, only the hashes of prompt and tokens are recorded.
fn hide_original(shown: &mut Json, result: &InteractionResult) {
    if let Json::Object(object) = shown {
        object.insert("prompt", digest(&result.prompt));
        object.insert("tokens", digest_of_tokens(&result.tokens_and_mask().0));
    }
}

/// The hash of the decimal ids joined by commas, and their number.
fn digest_of_tokens(tokens: &[TokenId]) -> Json {
    let ids: Vec<String> = tokens.iter().map(TokenId::to_string).collect();
    let mut shown = digest(&ids.join(","));
    if let Json::Object(object) = &mut shown {
        object.insert("length", i64::try_from(tokens.len()).unwrap_or(i64::MAX));
    }
    shown
}

/// Runs an episode with the scripted replies of a case. Also returns the prompts that were sent.
fn run(
    input: &Json,
    task_index: Option<i64>,
    environment: &mut dyn RolloutEnvironment,
) -> Result<(InteractionResult, Vec<String>), String> {
    let mut settings = RolloutSettings::new(template(input)?);
    settings.wiki = Some(text(input, "wiki")?);
    settings.tools = list(input, "tools")?.to_vec();
    settings.mode = mode(input)?;
    settings.task_index = task_index;
    settings.max_num_steps =
        usize::try_from(whole(input, "max_num_steps")?).map_err(|error| error.to_string())?;
    settings.tool_instruction = match given(input, "tool_instruction") {
        Some(instruction) => fields::text("tool_instruction", instruction).map_err(told)?,
        None => ORIGINAL_INSTRUCTION.into(),
    };
    let name = text(input, "tokenizer")?;
    let mut replies: VecDeque<Json> = list(input, "replies")?.iter().cloned().collect();
    let mut requests = Vec::new();
    let (mut rollout, first) = Rollout::start(settings, Rc::new(Named(name)));
    let mut generate = |request: volary_rollout::GenerateRequest| {
        match request.prompt {
            Prompt::Text(text) => requests.push(text),
            Prompt::InputIds(_) => {
                return Err(GenerateFailure::Reply("the prompt is no text".into()));
            }
        }
        let reply = replies
            .pop_front()
            .ok_or_else(|| GenerateFailure::Reply("there are more requests than replies".into()))?;
        if let Some(reason) = reply.get("raise").and_then(Json::as_text) {
            return Err(GenerateFailure::Transport(reason.clone()));
        }
        GenerateReply::read(&reply)
            .map_err(|error| GenerateFailure::Reply(error.to_string().into()))
    };
    drive(&mut rollout, first, environment, &mut generate).map_err(told)?;
    if !replies.is_empty() {
        return Err(format!("{} replies are left", replies.len()));
    }
    let result = rollout.into_result();
    match (&result.stop_reason, result.status()) {
        // Failures of Volary stop the original's run.
        (Some(reason), Status::Failed) => Err(reason.to_string()),
        (None, _) => Err("the rollout did not end".to_owned()),
        _ => Ok((result, requests)),
    }
}

/// A tokenizer by its name in the case.
struct Named(Text);

impl Tokenizer for Named {
    fn encode(&self, text: &str) -> Result<Vec<TokenId>, TokenizerError> {
        with_tokenizer(&self.0, |tokenizer| tokenizer.encode(text).map_err(told))
            .map_err(TokenizerError::Encode)
    }

    fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError> {
        with_tokenizer(&self.0, |tokenizer| tokenizer.decode(ids).map_err(told))
            .map_err(TokenizerError::Encode)
    }

    fn is_special(&self, id: TokenId) -> bool {
        with_tokenizer(&self.0, |tokenizer| Ok(tokenizer.is_special(id))).unwrap_or(false)
    }
}

/// An environment that ignores actions.
struct ScriptedEnvironment {
    reset: EnvReset,
    steps: VecDeque<Result<EnvStep, Text>>,
}

impl ScriptedEnvironment {
    fn read(script: &Json) -> Result<Self, String> {
        let steps = list(script, "steps")?.iter();
        Ok(ScriptedEnvironment {
            reset: EnvReset {
                observation: text(script, "observation")?,
                info: info(script)?,
            },
            steps: steps.map(step).collect::<Result<_, _>>()?,
        })
    }

    fn check_used_up(&self) -> Result<(), String> {
        match self.steps.len() {
            0 => Ok(()),
            left => Err(format!("{left} steps of the environment are left")),
        }
    }
}

fn info(value: &Json) -> Result<Object, String> {
    fields::object("info", required(value, "info")?)
        .cloned()
        .map_err(told)
}

fn step(value: &Json) -> Result<Result<EnvStep, Text>, String> {
    if let Some(reason) = given(value, "raise") {
        return Ok(Err(fields::text("raise", reason).map_err(told)?));
    }
    let reward = required(value, "reward")?.as_f64();
    let done = required(value, "done")?.as_bool();
    Ok(Ok(EnvStep {
        observation: text(value, "observation")?,
        reward: reward.ok_or("the reward is no number")?,
        done: done.ok_or("done is no truth value")?,
        info: info(value)?,
    }))
}

impl RolloutEnvironment for ScriptedEnvironment {
    fn reset(&mut self, _: Option<i64>) -> Result<EnvReset, Text> {
        Ok(self.reset.clone())
    }

    fn step(&mut self, _: &Action) -> Result<EnvStep, Text> {
        let missing = || Err("there are more actions than steps".into());
        self.steps.pop_front().unwrap_or_else(missing)
    }
}

/// The environment of tau-bench, with a scripted customer.
struct TauEnvironment {
    episode: Episode,
    customer: Customer,
    task: Json,
}

impl TauEnvironment {
    fn read(input: &Json) -> Result<Self, String> {
        let episode = tau::new_episode(input)?;
        Ok(TauEnvironment {
            task: episode.task().to_json(),
            customer: tau::scripted_customer(input)?,
            episode,
        })
    }

    /// The members of the original's info.
    fn info(&self, source: &Text, reward: Option<&Reward>) -> Object {
        let reward =
            reward.map(|reward| json!({"reward": (reward.value), "info": (reward.info())}));
        object!({
            "task": (self.task.clone()),
            "source": (source.clone()),
            "user_cost": null,
            "reward_info": reward
        })
    }
}

impl RolloutEnvironment for TauEnvironment {
    fn reset(&mut self, _: Option<i64>) -> Result<EnvReset, Text> {
        let instruction = self.episode.task().instruction.clone();
        match self.customer.reset(Some(&instruction)) {
            Ok(CustomerStep::Say(observation)) => Ok(EnvReset {
                observation,
                info: self.info(&"user".into(), None),
            }),
            Ok(_) => Err("a script asks nothing".into()),
            Err(error) => Err(error.to_string().into()),
        }
    }

    fn step(&mut self, action: &Action) -> Result<EnvStep, Text> {
        let action = tau_bench::Action {
            name: action.name.clone(),
            kwargs: action.kwargs.clone(),
        };
        let step = tau::step(&mut self.episode, &mut self.customer, action)?;
        Ok(EnvStep {
            info: self.info(&step.source, step.reward.as_ref()),
            reward: step.value(),
            done: step.is_done(),
            observation: step.observation,
        })
    }
}

pub(super) fn slime_rollout_tau(input: &Json) -> Result<Json, String> {
    let mut environment = TauEnvironment::read(input)?;
    let (result, requests) = run(input, Some(whole(input, "task_index")?), &mut environment)?;
    let info = |key: &str| result.info.get(key).cloned().unwrap_or_default();
    let messages = result.messages_json().into_iter().map(|mut message| {
        if let Json::Object(message) = &mut message
            && let Some(Json::Text(content)) = message.get("content").cloned()
        {
            message.insert("content", tau::shortened(&content));
        }
        message
    });
    let (tokens, mask) = result.tokens_and_mask();
    Ok(json!({
        "prompt": (digest(&result.prompt)),
        "requests": (requests.iter().map(|request| digest(request)).collect::<Vec<_>>()),
        "status": (result.status().name()),
        "reward": (result.reward),
        "messages": (messages.collect::<Vec<_>>()),
        "source": (info("source")),
        "user_id": (info("task").get("user_id").cloned()),
        "reward_info": (info("reward_info")),
        "response": (tau::shortened(&result.response())),
        "response_length": (i64::try_from(mask.len()).unwrap_or(i64::MAX)),
        "loss_mask": (runs(&mask)),
        "tokens": (digest_of_tokens(&tokens))
    }))
}

/// A mask in run-length encoding.
fn runs(mask: &[bool]) -> Vec<Json> {
    let runs = mask.chunk_by(|first, second| first == second);
    let run = |run: &[bool]| {
        let bit = run.first().copied().unwrap_or_default();
        json!([
            (i64::from(bit)),
            (i64::try_from(run.len()).unwrap_or(i64::MAX))
        ])
    };
    runs.map(run).collect()
}
