//! The three tools, and their state.

use std::cell::RefCell;
use std::rc::Rc;

use volary_core::json::text::strip;
use volary_core::json::{Object, Text, text_repr};
use volary_core::outside::Outside;
use volary_core::tool::ToolError;
use volary_core::{Json, ToolSet, object};
use volary_macros::tool;

use super::config::Config;
use super::page::Page;
use super::pages::Pages;
use super::text::{cleaned, normalized, pieces};
use crate::answers::{Judgement, judge};
use crate::cast::type_name;

thread_local! {
    /// The tools of every environment.
    pub static TOOLS: ToolSet<World> =
        ToolSet::new([search::tool(), lookup::tool(), submit_answer::tool()]);
}

/// The maximum number of disambiguation pages followed in a row.
const MOST_MEANINGS: usize = 20;

/// The number of sentences in the result of a search.
const SENTENCES: usize = 5;

/// The number of titles in the result of a search.
const TITLES: usize = 5;

/// The state of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Whether the episode is over.
    pub done: bool,
    /// The number of steps.
    pub steps: i64,
    /// The reward of the latest step.
    pub reward: f64,
    /// The submitted answer.
    pub answer: Json,
    /// Whether the latest action was a lookup.
    pub last_action_is_lookup: bool,
    /// The latest keyword.
    pub last_lookup: Json,
    /// The lines that contain it.
    pub lookup_results: Vec<Text>,
    /// The number of lines shown so far.
    pub lookup_index: i64,
    /// The latest page.
    pub page: Option<Text>,
}

impl State {
    /// The state as JSON.
    pub fn to_json(&self) -> Json {
        object!({
            "done": (self.done),
            "steps": (self.steps),
            "reward": (self.reward),
            "answer": (self.answer.clone()),
            "last_action_is_lookup": (self.last_action_is_lookup),
            "last_lookup": (self.last_lookup.clone()),
            "lookup_results": (self.lookup_results.clone()),
            "lookup_index": (self.lookup_index),
            "page": (self.page.clone()),
        })
        .into()
    }
}

/// The environment of the tools.
pub struct World {
    pub state: State,
    config: Rc<Config>,
    pages: Rc<dyn Pages>,
    outside: Rc<dyn Outside>,
    /// The pages that were read, by search term.
    read: Vec<(Text, Page)>,
}

impl World {
    /// The state after a reset.
    pub fn new(config: Rc<Config>, pages: Rc<dyn Pages>, outside: Rc<dyn Outside>) -> Self {
        World {
            state: State::default(),
            read: config.pages.clone(),
            config,
            pages,
            outside,
        }
    }

    /// The pages that were read, in the format of a configuration.
    pub fn recorded(&self) -> Object {
        let pages = self.read.iter();
        let pages: Object = pages
            .map(|(entity, page)| (entity.to_string().into(), page.to_json()))
            .collect();
        if pages.is_empty() {
            pages
        } else {
            object!({"pages": pages})
        }
    }

    fn known(&self, entity: &str) -> Option<Page> {
        let known = self.read.iter().find(|(known, _)| &**known == entity);
        known.map(|(_, page)| page.clone())
    }
}

/// Whether the value is falsy in Python.
fn is_false(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(value) => !value,
        Json::Integer(value) => value.is_zero(),
        Json::Float(value) => *value == 0.0,
        Json::Text(text) => text.is_empty(),
        Json::List(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
    }
}

fn no_attribute(value: &Json, name: &str) -> ToolError {
    let kind = type_name(value);
    let text = format!("'{kind}' object has no attribute '{name}'");
    ToolError::new("AttributeError", text)
}

/// Search the encyclopedia for an entity: gives the beginning of its article, or titles of similar ones.
///
/// # Arguments
///
/// - `entity`: What to search for.
#[tool]
async fn search(
    #[tool(schema = String)] entity: &Json,
    state: &RefCell<World>,
) -> Result<String, ToolError> {
    if is_false(entity) {
        state.borrow_mut().state.done = true;
        return Ok("Search failed. No entity provided.".to_owned());
    }
    let mut name = match entity {
        Json::Text(text) => text.to_string(),
        Json::Integer(_) | Json::Bool(_) => entity.to_display(),
        other => return Err(no_attribute(other, "replace")),
    };
    let mut page = read(state, &name).await?;
    let mut meanings = 0;
    while page.is_ambiguous() {
        meanings += 1;
        if !matches!(entity, Json::Text(_)) || meanings > MOST_MEANINGS {
            return Err(ToolError::runtime("The page leads to no single meaning."));
        }
        name = format!("[{name}]");
        page = read(state, &name).await?;
    }
    let mut world = state.borrow_mut();
    let state = &mut world.state;
    let texts = match page {
        Page::Texts(texts) => texts,
        Page::Similar(titles) => {
            state.page = None;
            let shown = if matches!(entity, Json::Text(_)) {
                text_repr(&name)
            } else {
                name
            };
            let titles: Vec<Text> = titles.into_iter().take(TITLES).collect();
            let titles = Json::from(titles).to_repr();
            return Ok(format!(
                "Search for {shown} returned no results. Similar: {titles}."
            ));
        }
    };
    let long = texts.iter().filter(|text| text.split(' ').count() > 2);
    let page: String = long.map(|text| format!("{}\n", cleaned(text))).collect();
    let lines = page.split('\n').filter(|line| !strip(line).is_empty());
    let sentences = lines.flat_map(|line| pieces(line, ". "));
    let shown: Vec<String> = sentences
        .take(SENTENCES)
        .map(|one| format!("{one}."))
        .collect();
    state.page = Some(page.into());
    state.last_action_is_lookup = false;
    Ok(shown.join(" "))
}

/// The result of a search, cached.
async fn read(world: &RefCell<World>, name: &str) -> Result<Page, ToolError> {
    let entity: Text = name.replace(' ', "+").into();
    let known = world.borrow().known(&entity);
    if let Some(page) = known {
        return Ok(page);
    }
    let pages = Rc::clone(&world.borrow().pages);
    let page = pages.page(Text::clone(&entity)).await;
    let page = page.map_err(|error| ToolError::new("ConnectionError", error.message))?;
    world.borrow_mut().read.push((entity, page.clone()));
    Ok(page)
}

/// Find the next line of the current article with a keyword in it.
///
/// # Arguments
///
/// - `keyword`: What the line has to contain.
#[tool]
fn lookup(#[tool(schema = String)] keyword: &Json, state: &mut World) -> Result<String, ToolError> {
    let state = &mut state.state;
    if is_false(keyword) {
        state.done = true;
        return Ok("Lookup failed. No keyword provided".to_owned());
    }
    let Some(page) = state.page.clone().filter(|page| !page.is_empty()) else {
        return Ok("Lookup failed. You have not specified a Wikipedia page yet.".to_owned());
    };
    if !state.last_action_is_lookup || !crate::tau::python::equal(&state.last_lookup, keyword) {
        state.last_lookup = keyword.clone();
        let mut lines = page
            .split('\n')
            .filter(|line| !strip(line).is_empty())
            .peekable();
        let found = match keyword {
            Json::Text(keyword) => {
                let keyword = keyword.to_lowercase();
                let with_it = lines.filter(|line| line.to_lowercase().contains(&keyword));
                with_it.map(|line| strip(line).into()).collect()
            }
            other if lines.peek().is_some() => return Err(no_attribute(other, "lower")),
            _ => Vec::new(),
        };
        state.lookup_results = found;
        state.lookup_index = 0;
    }
    let next = usize::try_from(state.lookup_index).ok();
    let Some(line) = next.and_then(|index| state.lookup_results.get(index)) else {
        return Ok("No more results.".to_owned());
    };
    let (number, count) = (state.lookup_index + 1, state.lookup_results.len());
    let shown = format!("(Result {number} / {count}) {line}");
    state.lookup_index = number;
    state.last_action_is_lookup = true;
    Ok(shown)
}

/// Submit the answer to the question, which ends the episode.
///
/// # Arguments
///
/// - `answer`: The answer.
#[tool]
async fn submit_answer(
    #[tool(schema = String)] answer: &Json,
    state: &RefCell<World>,
) -> Result<&'static str, ToolError> {
    let (config, outside) = {
        let mut world = state.borrow_mut();
        world.state.done = true;
        if is_false(answer) {
            return Ok("submit_answer failed since it was provided an empty answer.");
        }
        world.state.answer = answer.clone();
        (Rc::clone(&world.config), Rc::clone(&world.outside))
    };
    let proposed = normalized(answer);
    let (right, question) = (&config.correct_answer, Some(&*config.question));
    let judged = judge(
        &proposed,
        right,
        question,
        config.evaluation_mode,
        &Object::new(),
    );
    let score = match judged.map_err(|error| ToolError::value(error.to_string()))? {
        Judgement::Score(score) => score,
        Judgement::Ask(judge) => {
            let reply = outside.complete(judge.request.clone()).await;
            judge.score(&reply.map_err(|error| ToolError::runtime(error.message))?)
        }
    };
    let mut world = state.borrow_mut();
    world.state.reward += match score {
        0.0 => config.incorrect_reward,
        _ => config.correct_reward,
    };
    world.state.last_action_is_lookup = false;
    Ok("Finished.")
}
