//! HotPotQA: episodes with given pages, texts, and judged answers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use volary_core::outside::{ModelRequest, OutsideError};
use volary_core::{AnyMessage, Environment, Json, Object, Text, fields, json, object};
use volary_envs::answers::{EvalMode, Judgement, judge};
use volary_envs::hotpotqa::pages::{PageFuture, Pages};
use volary_envs::hotpotqa::text::{cleaned, normalized};
use volary_envs::hotpotqa::{Config, HotPotQa, Page};

use super::environments::{full, play, shown};
use super::input::{World, flag, given, list, object as read_object, required, text, told};

/// Pages by search term; other searches fail.
struct FixedPages(BTreeMap<Text, Text>);

impl Pages for FixedPages {
    fn page(&self, entity: Text) -> PageFuture {
        let page = self.0.get(&entity).map(|html| Page::from_html(html));
        Box::pin(std::future::ready(page.ok_or_else(|| OutsideError {
            message: format!("there is no page for {entity}").into(),
        })))
    }
}

pub(super) fn episode(input: &Json) -> Result<Json, String> {
    let world = World::new();
    let mut config = read_object(input, "config")?;
    config.remove("proxy");
    let pages = read_object(input, "pages")?
        .into_iter()
        .map(|(entity, html)| {
            let html = fields::text(&entity, &html).map_err(told)?;
            Ok((Text::from(&*entity), html))
        });
    let pages: BTreeMap<Text, Text> = pages.collect::<Result<_, String>>()?;
    let mut config = Config::read(&config).map_err(told)?;
    // The original passes its mode as the question, so that it has no effect.
    config.evaluation_mode = EvalMode::Contains;
    let setting = world.setting();
    let mut environment = HotPotQa::new(config, Rc::new(FixedPages(pages)), &setting);
    let reset = world.run(environment.reset())?;
    let id = environment.id();
    let id = id.map_or_else(|error| json!({"error": (error.to_string())}), Json::from);
    let frame = environment.export_frame().dump();
    let state = environment.state().to_json();
    let mut steps = Vec::new();
    for step in list(input, "steps")? {
        let mut outcome = if flag(step, "reset", false)? {
            world
                .run(environment.reset())
                .and_then(|reset| shown(&reset))
        } else {
            let action = AnyMessage::read(required(step, "action")?).map_err(told)?;
            play(&world, &mut environment, action)
        }
        .unwrap_or_else(|error| object!({"error": error}));
        outcome.insert("frame", environment.export_frame().dump());
        outcome.insert("state", environment.state().to_json());
        steps.push(outcome);
    }
    let reset = object!({
        "messages": (full(&reset.messages)?), "tools": (super::environments::names(&reset)),
    });
    Ok(json!({"id": id, "reset": reset, "frame": frame, "state": state, "steps": steps}))
}

pub(super) fn normalize(input: &Json) -> Result<Json, String> {
    required(input, "answer").map(|answer| normalized(answer).into())
}

pub(super) fn clean(input: &Json) -> Result<Json, String> {
    text(input, "text").map(|text| cleaned(&text).into())
}

fn judged(input: &Json) -> Result<Judgement, String> {
    let mode = match given(input, "eval_mode") {
        Some(mode) => fields::text("eval_mode", mode).map_err(told)?,
        None => EvalMode::Contains.name().into(),
    };
    let mode = EvalMode::from_name(&mode).map_err(told)?;
    let question = given(input, "question").map(|one| fields::text("question", one));
    let question = question.transpose().map_err(told)?;
    let settings: Object = read_object(input, "llm_eval_config")?;
    let (proposed, correct) = (text(input, "proposed")?, text(input, "correct")?);
    judge(&proposed, &correct, question.as_deref(), mode, &settings).map_err(told)
}

pub(super) fn eval_answer(input: &Json) -> Result<Json, String> {
    match judged(input)? {
        Judgement::Score(score) => Ok(score.into()),
        Judgement::Ask(_) => Err("there is no model here".to_owned()),
    }
}

pub(super) fn eval_answer_llm(input: &Json) -> Result<Json, String> {
    let requests = RefCell::new(Vec::new());
    let score = match judged(input)? {
        Judgement::Score(score) => score,
        Judgement::Ask(judge) => {
            let ModelRequest {
                model,
                temperature,
                messages,
                ..
            } = judge.request.clone();
            let messages = messages
                .into_iter()
                .map(|(role, content)| json!({"content": content, "role": (role.as_str())}));
            requests.borrow_mut().push(json!({
                "model": model, "temperature": temperature,
                "messages": (messages.collect::<Vec<_>>()),
            }));
            let reply = given(input, "reply").map(|reply| fields::text("reply", reply));
            judge.score(&reply.transpose().map_err(told)?.unwrap_or_default())
        }
    };
    Ok(json!({"score": score, "requests": (requests.into_inner())}))
}
