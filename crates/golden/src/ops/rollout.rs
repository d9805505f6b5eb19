//! Whole episodes of a trained agent, against a scripted server and a scripted environment.

use std::collections::VecDeque;
use std::rc::Rc;

use volary_core::{Json, Object, Text, fields};
use volary_rollout::rollout::GenerateFailure;
use volary_rollout::sglang::Prompt;
use volary_rollout::{
    EnvReset, EnvStep, GenerateReply, InteractionResult, Rollout, RolloutEnvironment,
    RolloutSettings, Status, drive,
};
use volary_tokens::{Action, TokenId, Tokenizer, TokenizerError};

use super::input::{given, list, required, text, told, whole};
use super::tokens::{ORIGINAL_INSTRUCTION, digest, mode, template, with_tokenizer};

pub(super) fn slime_rollout(input: &Json) -> Result<Json, String> {
    let mut environment = ScriptedEnvironment::read(required(input, "env")?)?;
    let result = run(input, None, &mut environment)?;
    environment.check_used_up()?;
    let mut shown = result.to_json();
    if given(input, "tool_instruction").is_none() && result.prompt.contains(ORIGINAL_INSTRUCTION) {
        hide_original(&mut shown, &result);
    }
    Ok(shown)
}

/// Where the original's wording stands in the prompt, only hashes of prompt and tokens are recorded.
fn hide_original(shown: &mut Json, result: &InteractionResult) {
    if let Json::Object(object) = shown {
        object.insert("prompt", digest(&result.prompt));
        object.insert("tokens", digest_of_tokens(&result.tokens_and_mask().0));
    }
}

/// The hash of the decimal ids with commas between, and how many there are.
fn digest_of_tokens(tokens: &[TokenId]) -> Json {
    let ids: Vec<String> = tokens.iter().map(TokenId::to_string).collect();
    let mut shown = digest(&ids.join(","));
    if let Json::Object(object) = &mut shown {
        object.insert("length", i64::try_from(tokens.len()).unwrap_or(i64::MAX));
    }
    shown
}

/// Runs an episode with the scripted replies of a case.
fn run(
    input: &Json,
    task_index: Option<i64>,
    environment: &mut dyn RolloutEnvironment,
) -> Result<InteractionResult, String> {
    let mut settings = RolloutSettings::new(template(input)?);
    settings.wiki = text(input, "wiki")?;
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
    let (mut rollout, first) = Rollout::start(settings, Rc::new(Named(name)));
    let mut generate = |request: volary_rollout::GenerateRequest| {
        if !matches!(request.prompt, Prompt::Text(_)) {
            return Err(GenerateFailure::Reply("the prompt is no text".into()));
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
        // What fails us stops the original's run.
        (Some(reason), Status::Failed) => Err(reason.to_string()),
        (None, _) => Err("the rollout did not end".to_owned()),
        _ => Ok(result),
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

/// An environment that does not look at actions.
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
