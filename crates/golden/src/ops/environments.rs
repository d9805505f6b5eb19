//! Environments: by name, whole episodes, and the calculator's tools.

use volary_core::environment::Setting;
use volary_core::message::DumpOptions;
use volary_core::random::Random;
use volary_core::{
    AnyMessage, Environment, EnvironmentError, Json, Object, Reset, Tool, ToolCall,
    ToolRequestMessage, fields, json, object,
};

use super::input::{World, flag, list, object as read_object, required, text, told};
use super::story;

/// The environment given by `env` and `config`.
fn make(world: &World, input: &Json) -> Result<Box<dyn Environment>, String> {
    named(
        &text(input, "env")?,
        read_object(input, "config")?,
        &world.setting(),
    )
}

/// The environment with this name: one of the registry, or the harness's own.
pub(super) fn named(
    name: &str,
    configuration: Object,
    setting: &Setting,
) -> Result<Box<dyn Environment>, String> {
    if name == "story" {
        return Ok(Box::new(story::make(configuration, setting)?));
    }
    volary_envs::registry()
        .environment_from_name(name, None, &configuration, setting)
        .map_err(told)
}

/// The environment given by `env` and `config`, after its first reset.
pub(super) fn reset(world: &World, input: &Json) -> Result<(Box<dyn Environment>, Reset), String> {
    let mut environment = make(world, input)?;
    let reset = world.run(environment.reset())?;
    Ok((environment, reset))
}

pub(super) fn from_name(input: &Json) -> Result<Json, String> {
    let world = World::new();
    let setting = world.setting();
    let registry = volary_envs::registry();
    let name = text(input, "name")?;
    let mut arguments = read_object(input, "kwargs")?;
    if &*text(input, "registry")? == "dataset" {
        let dataset = registry.dataset_from_name(&name, &arguments, &setting);
        let length = dataset.map_err(told)?.length();
        return Ok(json!({"length": (length.map(|length| length as i64))}));
    }
    // In Python, an argument of that name is the task itself.
    let task = match (input.get("task"), arguments.remove("task")) {
        (Some(_), Some(_)) => return Err("the task is given twice".to_owned()),
        (Some(task), None) => Some(task.clone()),
        (None, argument) => argument,
    };
    let task = task
        .filter(|task| !task.is_null())
        .map(|task| fields::text("task", &task))
        .transpose()
        .map_err(told)?;
    let mut environment = registry
        .environment_from_name(&name, task.as_deref(), &arguments, &setting)
        .map_err(told)?;
    let reset = world.run(environment.reset())?;
    let contents: Vec<Json> = reset
        .messages
        .iter()
        .map(|message| message.body().content.clone().into())
        .collect();
    Ok(json!({"messages": contents, "tools": (names(&reset))}))
}

pub(super) fn episode(input: &Json) -> Result<Json, String> {
    let world = World::new();
    let (mut environment, reset) = reset(&world, input)?;
    let id = environment
        .id()
        .map_or_else(|error| json!({"error": (error.to_string())}), Json::from);
    let frame = environment.export_frame().dump();
    let mut steps = Vec::new();
    for step in list(input, "steps")? {
        let mut outcome = if flag(step, "reset", false)? {
            world
                .run(environment.reset())
                .and_then(|reset| shown(&reset))
        } else {
            let action = AnyMessage::read(required(step, "action")?).map_err(told)?;
            play(&world, &mut *environment, action)
        }
        .unwrap_or_else(|error| object!({"error": error}));
        outcome.insert("frame", environment.export_frame().dump());
        steps.push(outcome);
    }
    Ok(json!({"id": id, "reset": (shown(&reset)?), "frame": frame, "steps": steps}))
}

pub(super) fn calculator_eval(input: &Json) -> Result<Json, String> {
    let arguments = object!({"expr": (required(input, "expr")?.clone())});
    let mut step = call_calculator("calculator", arguments, 0.into(), Json::Null)?;
    Ok(step.remove("content").unwrap_or_default())
}

pub(super) fn calculator_submit(input: &Json) -> Result<Json, String> {
    let arguments = object!({"answer": (required(input, "answer")?.clone())});
    let correct = required(input, "correct")?.clone();
    let config = input.get("config").cloned().unwrap_or_default();
    call_calculator("submit_answer", arguments, correct, config).map(Json::Object)
}

/// One tool call in a new calculator environment: `{content, reward, done}`.
fn call_calculator(
    tool: &'static str,
    arguments: Object,
    answer: Json,
    config: Json,
) -> Result<Object, String> {
    let world = World::new();
    let mut configuration = object!({"problem_id": "id", "problem": "problem", "answer": answer});
    if !config.is_null() {
        configuration.insert("config", config);
    }
    let input = json!({"env": "calculator", "config": configuration});
    let (mut environment, _) = reset(&world, &input)?;
    let action = ToolRequestMessage {
        tool_calls: vec![ToolCall::from_name(tool, arguments, &mut Random::new(0))],
        ..ToolRequestMessage::default()
    };
    let step = world.run(environment.step(action.into()))?;
    let [reply] = &*step.messages else {
        return Err(format!("{} replies to one call", step.messages.len()));
    };
    Ok(object!({
        "content": (reply.body().content.clone()),
        "reward": (step.reward),
        "done": (step.done)
    }))
}

pub(super) fn play(
    world: &World,
    environment: &mut dyn Environment,
    action: AnyMessage,
) -> Result<Object, String> {
    let step = world.run::<_, EnvironmentError>(environment.step(action))?;
    Ok(object!({
        "messages": (full(&step.messages)?),
        "reward": (step.reward),
        "done": (step.done),
        "truncated": (step.truncated)
    }))
}

pub(super) fn shown(reset: &Reset) -> Result<Object, String> {
    Ok(object!({"messages": (full(&reset.messages)?), "tools": (names(reset))}))
}

pub(super) fn names(reset: &Reset) -> Vec<Json> {
    let name = |tool: &std::sync::Arc<Tool>| tool.info.name.clone().into();
    reset.tools.iter().map(name).collect()
}

/// The messages with their infos.
pub(super) fn full(messages: &[AnyMessage]) -> Result<Vec<Object>, String> {
    let dumps = messages
        .iter()
        .map(|message| message.dump(&DumpOptions::with_info()));
    dumps.collect::<Result<_, _>>().map_err(told)
}
