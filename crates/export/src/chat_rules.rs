//! What chat APIs demand of a conversation, apart from the form of each message. The measure is OpenAI's Chat Completions; where
//! another common API is stricter, the text of the [`ChatRefusal`] says so.
//!
//! - `repair` changes what can be changed without a loss: ids of calls that are empty, too long or repeated; results that do not
//!   directly follow their calls; content that is null; empty names; numbers that JSON cannot represent.
//! - [`refusals`] says what is left. It reads the line as an API does, and knows nothing of the episode.
//!
//! A last message of the model is accepted by most APIs, and fine-tuning needs it, so it is none of them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use volary_core::json::{Json, Object, Text};

use crate::parts::strict;

/// The maximum length of a call's id, in characters.
const LONGEST_ID: usize = 40;
/// The maximum length of a function's name, in bytes.
const LONGEST_NAME: usize = 64;
/// The maximum number of tools.
const MOST_TOOLS: usize = 128;

/// A property of a conversation for which chat APIs refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChatRefusal {
    /// There is no message.
    NoMessages,
    /// The first message that is no instruction is one of the model.
    BeginsWithModel,
    /// A message of the user, the model or the system says and does nothing.
    Empty,
    /// A call is not answered.
    CallWithoutResult,
    /// The calls of the last message are not answered.
    LastCallWithoutResult,
    /// A result answers no call before it, or one that is answered already.
    ResultWithoutCall,
    /// The arguments of a call are not a JSON object.
    Arguments,
    /// A function has a name with other characters than letters, digits, `_` and `-`, or one that is too long.
    FunctionName,
    /// Two tools have the same name.
    RepeatedTool,
    /// There are too many tools.
    TooManyTools,
    /// The role `function`, of which messages have no name here.
    FunctionRole,
    /// A message of another role than `user` has an image.
    ImageOfOthers,
    /// The address of an image is neither a web address nor a data URL.
    ImageAddress,
}

impl ChatRefusal {
    /// What is refused, for "Chat APIs may refuse …".
    pub fn text(self) -> &'static str {
        match self {
            ChatRefusal::NoMessages => "a conversation without messages",
            ChatRefusal::BeginsWithModel => {
                "a conversation that begins with the model (OpenAI accepts it)"
            }
            ChatRefusal::Empty => "empty messages (OpenAI accepts them)",
            ChatRefusal::CallWithoutResult => "calls without a result",
            ChatRefusal::LastCallWithoutResult => {
                "last calls without a result (fine-tuning accepts them)"
            }
            ChatRefusal::ResultWithoutCall => "results without a call",
            ChatRefusal::Arguments => "arguments that are not a JSON object",
            ChatRefusal::FunctionName => {
                "names of functions that are not 1 to 64 letters, digits, _ and -"
            }
            ChatRefusal::RepeatedTool => "several tools with one name",
            ChatRefusal::TooManyTools => "more than 128 tools",
            ChatRefusal::FunctionRole => "messages with the role `function`",
            ChatRefusal::ImageOfOthers => "images in messages that are not the user's",
            ChatRefusal::ImageAddress => {
                "images whose address is neither a web address nor a data URL"
            }
        }
    }
}

/// Repairs a line `{messages, tools}` without a loss.
pub(crate) fn repair(line: &mut Object) {
    for value in line.values_mut() {
        *value = strict(std::mem::take(value));
    }
    let Some(Json::List(messages)) = line.get_mut("messages") else {
        return;
    };
    for message in messages.iter_mut() {
        if let Json::Object(message) = message {
            fill(message);
        }
    }
    let answered = distinguish(messages);
    bring_together(messages, &answered);
}

/// Gives content to a message that has none, and removes an empty name.
fn fill(message: &mut Object) {
    let has_calls = message.contains_key("tool_calls");
    if let Some(content @ Json::Null) = message.get_mut("content")
        && !has_calls
    {
        *content = "".into();
    }
    if message
        .get("name")
        .is_some_and(|name| text(name).is_empty())
    {
        message.remove("name");
    }
    if let Some(Json::List(calls)) = message.get_mut("tool_calls") {
        for call in calls {
            let function = member_mut(call, "function");
            if let Some(Json::Object(function)) = function
                && let Some(Json::Text(arguments)) = function.get_mut("arguments")
            {
                make_strict(arguments);
            }
        }
    }
}

/// Replaces numbers in a JSON text that JSON cannot represent.
fn make_strict(json: &mut Text) {
    let may_have = ["NaN", "Infinity"]
        .iter()
        .any(|number| json.contains(number));
    if may_have && let Ok(value) = Json::parse(json) {
        *json = strict(value).to_python_text().into();
    }
}

/// Makes the ids of calls differ, with those of their results. Returns for each message that is the result of a call the
/// position of the message with that call.
fn distinguish(messages: &mut [Json]) -> HashMap<usize, usize> {
    let mut taken: HashSet<Text> = HashSet::new();
    let mut count = 0_usize;
    // The new ids of the calls that are not answered yet, by their old id, and by the position of their message.
    let mut open: HashMap<Text, Vec<(usize, VecDeque<Text>)>> = HashMap::new();
    let mut answered = HashMap::new();
    for (index, message) in messages.iter_mut().enumerate() {
        if let Some(Json::List(calls)) = member_mut(message, "tool_calls") {
            for call in calls {
                count += 1;
                let Some(id) = member_mut(call, "id") else {
                    continue;
                };
                let old = text(id);
                let new = free_id(&old, count, &taken);
                taken.insert(new.clone());
                *id = new.clone().into();
                let of_id = open.entry(old).or_default();
                match of_id.last_mut() {
                    Some((last, calls)) if *last == index => calls.push_back(new),
                    _ => of_id.push((index, VecDeque::from([new]))),
                }
            }
        } else if let Some(id) = member_mut(message, "tool_call_id")
            && let Some(of_id) = open.get_mut(&text(id))
            && let Some((call, mut calls)) = of_id.pop()
        {
            // Results have the order of the calls of a message.
            if let Some(new) = calls.pop_front() {
                *id = new.into();
                answered.insert(index, call);
            }
            if !calls.is_empty() {
                of_id.push((call, calls));
            }
        }
    }
    answered
}

/// The id, or a new one if it is empty, too long or taken.
fn free_id(id: &Text, number: usize, taken: &HashSet<Text>) -> Text {
    let fits = |id: &str| !id.is_empty() && id.chars().count() <= LONGEST_ID;
    if fits(id) && !taken.contains(id) {
        return id.clone();
    }
    let numbered = format!("{id}-{number}");
    let mut new: Text = if fits(&numbered) && !id.is_empty() {
        numbered.into()
    } else {
        format!("call_{number}").into()
    };
    let mut more = 1_usize;
    while taken.contains(&new) {
        more += 1;
        new = format!("call_{number}_{more}").into();
    }
    new
}

/// Moves each result directly behind the message with its call.
fn bring_together(messages: &mut Vec<Json>, answered: &HashMap<usize, usize>) {
    let mut results: HashMap<usize, Vec<Json>> = HashMap::new();
    let mut others: Vec<(usize, Json)> = Vec::with_capacity(messages.len());
    for (index, message) in std::mem::take(messages).into_iter().enumerate() {
        match answered.get(&index) {
            Some(call) => results.entry(*call).or_default().push(message),
            None => others.push((index, message)),
        }
    }
    for (index, message) in others {
        messages.push(message);
        messages.extend(results.remove(&index).unwrap_or_default());
    }
}

/// What chat APIs refuse in a line `{messages, tools}`.
pub fn refusals(line: &Object) -> BTreeSet<ChatRefusal> {
    let mut found = BTreeSet::new();
    let list = |key: &str| line.get(key).and_then(Json::as_list).unwrap_or_default();
    let messages = list("messages");
    if messages.is_empty() {
        found.insert(ChatRefusal::NoMessages);
    }
    let first = messages.iter().find(|message| role(message) != "system");
    if first.is_some_and(|message| role(message) == "assistant") {
        found.insert(ChatRefusal::BeginsWithModel);
    }
    check_pairs(messages, &mut found);
    for message in messages {
        check_content(message, &mut found);
        for call in calls(message) {
            check_call(call, &mut found);
        }
    }
    let tools = list("tools");
    if tools.len() > MOST_TOOLS {
        found.insert(ChatRefusal::TooManyTools);
    }
    let mut names = HashSet::new();
    for tool in tools {
        let name = member(tool, &["function", "name"]);
        check_name(name, &mut found);
        if !names.insert(name) {
            found.insert(ChatRefusal::RepeatedTool);
        }
    }
    found
}

/// Checks that results directly follow their calls, and answer all of them.
fn check_pairs(messages: &[Json], found: &mut BTreeSet<ChatRefusal>) {
    let mut open: HashSet<&str> = HashSet::new();
    for message in messages {
        if role(message) == "tool" {
            if !open.remove(member(message, &["tool_call_id"])) {
                found.insert(ChatRefusal::ResultWithoutCall);
            }
            continue;
        }
        if !open.is_empty() {
            found.insert(ChatRefusal::CallWithoutResult);
        }
        open = calls(message)
            .iter()
            .map(|call| member(call, &["id"]))
            .collect();
    }
    if !open.is_empty() {
        found.insert(ChatRefusal::LastCallWithoutResult);
    }
}

fn check_content(message: &Json, found: &mut BTreeSet<ChatRefusal>) {
    let role = role(message);
    if role == "function" {
        found.insert(ChatRefusal::FunctionRole);
    }
    let content = message.get("content");
    let blocks = content.and_then(Json::as_list).unwrap_or_default();
    let is_empty = blocks.is_empty() && content.is_none_or(|content| text(content).is_empty());
    if is_empty && role != "tool" && calls(message).is_empty() {
        found.insert(ChatRefusal::Empty);
    }
    for block in blocks
        .iter()
        .filter(|block| member(block, &["type"]) == "image_url")
    {
        if role != "user" {
            found.insert(ChatRefusal::ImageOfOthers);
        }
        let address = member(block, &["image_url", "url"]);
        let known = ["https://", "http://", "data:image/"];
        if !known.iter().any(|start| address.starts_with(start)) {
            found.insert(ChatRefusal::ImageAddress);
        }
    }
}

fn check_call(call: &Json, found: &mut BTreeSet<ChatRefusal>) {
    check_name(member(call, &["function", "name"]), found);
    let arguments = Json::parse(member(call, &["function", "arguments"]));
    if !matches!(arguments, Ok(Json::Object(_))) {
        found.insert(ChatRefusal::Arguments);
    }
}

fn check_name(name: &str, found: &mut BTreeSet<ChatRefusal>) {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_allowed) {
        found.insert(ChatRefusal::FunctionName);
    }
}

fn calls(message: &Json) -> &[Json] {
    message
        .get("tool_calls")
        .and_then(Json::as_list)
        .unwrap_or_default()
}

fn role(message: &Json) -> &str {
    member(message, &["role"])
}

/// The text at a path; empty if there is none.
fn member<'a>(value: &'a Json, path: &[&str]) -> &'a str {
    let found = path.iter().try_fold(value, |value, key| value.get(key));
    found.and_then(Json::as_text).map_or("", |text| &**text)
}

fn member_mut<'a>(value: &'a mut Json, key: &str) -> Option<&'a mut Json> {
    match value {
        Json::Object(object) => object.get_mut(key),
        _ => None,
    }
}

fn text(value: &Json) -> Text {
    value.as_text().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests;
