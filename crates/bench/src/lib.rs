//! Environments under load in a browser, for `cargo xtask bench`: the same crates, compiled with the
//! same profile as the page, stepped as its worker steps them.
//!
//! Each function does its work `count` times and returns how many of these had the expected result: fewer
//! than `count` means that the environment misbehaved.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_core::environment::Setting;
use volary_core::message::ToolRequestMessage;
use volary_core::{Clock, Environment, Json, Object, object};
use volary_envs::calls::{action, argument};
use volary_envs::registry;
use volary_envs::tau::checkout::{Original, Split};
use volary_envs::tau::{Action, Domain, Episode, STOP, Task, TurnResult};
use volary_tokens::{
    Builtin, ChatMessage, ChatRole, ChatTemplate, Conversation, FileTokenizer, RenderedMode,
    TokenStrip,
};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// The browser's clock: timings cost as much as in the page.
struct Performance;

impl Clock for Performance {
    fn now(&self) -> f64 {
        now() / 1000.0
    }

    fn sleep(&self, _duration: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Steps between two resets, so that the state stays as small as that of an episode.
const STEPS_PER_EPISODE: u32 = 100;

fn made(name: &str, configuration: &Object) -> Option<Box<dyn Environment>> {
    let setting = Setting {
        seed: 0,
        clock: Rc::new(Performance),
        outside: Rc::new(volary_core::outside::Closed),
    };
    let registry = registry();
    registry
        .environment_from_name(name, None, configuration, &setting)
        .ok()
}

fn reset(environment: &mut dyn Environment) -> bool {
    matches!(environment.reset().now_or_never(), Some(Ok(_)))
}

fn step(environment: &mut dyn Environment, request: &ToolRequestMessage) -> bool {
    let step = environment.step(request.clone().into()).now_or_never();
    matches!(step, Some(Ok(step)) if !step.messages.is_empty())
}

fn steps(name: &str, configuration: &Object, request: &ToolRequestMessage, count: u32) -> u32 {
    let Some(mut environment) = made(name, configuration) else {
        return 0;
    };
    (0..count)
        .filter(|number| {
            if number % STEPS_PER_EPISODE == 0 && !reset(&mut *environment) {
                return false;
            }
            step(&mut *environment, request)
        })
        .count() as u32
}

fn story() -> ToolRequestMessage {
    action(
        &[],
        [("print_story", argument("story", "Once upon a time done"))],
    )
}

/// Steps of the dummy environment.
#[wasm_bindgen]
pub fn dummy_steps(count: u32) -> u32 {
    steps(
        "dummy",
        &object!({"end_immediately": false}),
        &story(),
        count,
    )
}

/// Resets of the dummy environment.
#[wasm_bindgen]
pub fn dummy_resets(count: u32) -> u32 {
    let Some(mut environment) = made("dummy", &Object::new()) else {
        return 0;
    };
    (0..count).filter(|_| reset(&mut *environment)).count() as u32
}

/// Whole episodes of the dummy environment: created, reset, stepped once.
#[wasm_bindgen]
pub fn dummy_episodes(count: u32) -> u32 {
    let request = story();
    (0..count)
        .filter(|_| {
            made("dummy", &Object::new())
                .is_some_and(|mut made| reset(&mut *made) && step(&mut *made, &request))
        })
        .count() as u32
}

#[wasm_bindgen]
pub fn calculator_steps(count: u32) -> u32 {
    let problem = object!({"problem_id": "p", "problem": "What is 2 + 3?", "answer": 5});
    let request = action(
        &[],
        [("calculator", argument("expr", "(2 + 3) * 7 - 4 / 2"))],
    );
    steps("calculator", &problem, &request, count)
}

thread_local! {
    static TOKENIZER: RefCell<Option<FileTokenizer>> = const { RefCell::new(None) };
}

/// Reads the tokenizer of [`token_deltas`]; false if that fails.
#[wasm_bindgen]
pub fn set_tokenizer(file: &[u8]) -> bool {
    let tokenizer = FileTokenizer::read(file).ok();
    let is_read = tokenizer.is_some();
    TOKENIZER.with(|held| held.replace(tokenizer));
    is_read
}

/// Tokens and mask of an episode, message by message: how many tokens there are, and how many are trained. Nothing if
/// a message has no tokens.
#[wasm_bindgen]
pub fn token_deltas(turns: u32) -> Vec<u32> {
    TOKENIZER.with_borrow(|tokenizer| {
        let counts = tokenizer.as_ref().and_then(|held| deltas(held, turns));
        counts.map_or_else(Vec::new, |(tokens, trained)| vec![tokens, trained])
    })
}

fn deltas(tokenizer: &FileTokenizer, turns: u32) -> Option<(u32, u32)> {
    let template = ChatTemplate::new(Builtin::Qwen25.source()).ok()?;
    let mut conversation = Conversation::new(Rc::new(template));
    let mut whole = TokenStrip::default();
    for (place, message) in messages(turns).into_iter().enumerate() {
        if place < 2 {
            conversation.push(message);
            continue;
        }
        let with_header = !whole.is_empty();
        let delta = conversation.push_for_delta(message, RenderedMode::Fixed, with_header);
        whole.extend(&delta.ok()?.tokenize(tokenizer).ok()?);
    }
    Some((whole.len() as u32, whole.trained() as u32))
}

/// The same messages as in `tests/bench/slime.py`.
fn messages(turns: u32) -> Vec<ChatMessage> {
    let mut made = vec![
        ChatMessage::new(
            ChatRole::System,
            "You help customers of a shop. ".repeat(40),
        ),
        ChatMessage::new(ChatRole::User, "Hello, I would like to return some things."),
    ];
    for turn in 0..turns {
        let call = format!(
            "<tool_call>\n{{\"name\": \"get_order\", \"arguments\": {{\"order_id\": \"#W{turn}\"}}}}\n</tool_call>"
        );
        let said = format!("I look at order {turn} for you now.\n{call}");
        made.push(ChatMessage::new(ChatRole::Assistant, said));
        let items = (0..8).map(|item| {
            format!(
                "{{\"name\": \"item {item}\", \"price\": {turn}.{item}, \"state\": \"delivered\"}}"
            )
        });
        let items = items.collect::<Vec<_>>().join(", ");
        let found = format!("{{\"order_id\": \"#W{turn}\", \"items\": [{items}]}}");
        made.push(ChatMessage::new(ChatRole::Tool, found));
    }
    made
}

thread_local! {
    static RETAIL: RefCell<Option<Arc<Domain>>> = const { RefCell::new(None) };
}

/// Reads tau-bench's retail domain from a JSON object of the files of its checkout by their paths. Returns the number
/// of test tasks; 0 if it cannot be read.
#[wasm_bindgen]
pub fn set_retail(files: &str) -> u32 {
    let Ok(files) = Json::parse(files) else {
        return 0;
    };
    let read = |path: &str| files.get(path)?.as_text().cloned();
    let Ok(domain) = Original::Retail.read(Split::Test, &read) else {
        return 0;
    };
    let count = domain.tasks.len() as u32;
    RETAIL.with(|held| held.replace(Some(Arc::new(domain))));
    count
}

/// Plays the gold actions of every task from reset to reward. Returns the number of episodes with reward 1.
#[wasm_bindgen]
pub fn retail_gold_actions() -> u32 {
    RETAIL.with_borrow(|held| {
        let Some(domain) = held else {
            return 0;
        };
        let tasks = domain.tasks.iter();
        let rewards = tasks.filter_map(|task| gold_reward(domain, task));
        rewards.filter(|reward| *reward == 1.0).count() as u32
    })
}

/// The reward for the gold actions and a last message with all expected outputs.
fn gold_reward(domain: &Arc<Domain>, task: &Task) -> Option<f64> {
    let mut episode = Episode::new(Arc::clone(domain), task.clone());
    for action in &task.actions {
        if let TurnResult::Step(step) = episode.act(action.clone()).ok()?
            && step.is_done()
        {
            return Some(step.value());
        }
    }
    episode.act(Action::respond(task.outputs.join(" "))).ok()?;
    Some(episode.answer(STOP.into()).ok()?.value())
}
