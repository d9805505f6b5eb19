//! Tool selection: requests, responses, the ledger.

use volary_agent::model::ToolChoice;
use volary_agent::model::selector::{SelectorRequest, ToolSelector};
use volary_core::message::DumpOptions;
use volary_core::{AnyMessage, Json, Object, Text, Tool, json};

use super::environments;
use super::input::{World, flag, given, list, required, text, told};

pub(super) fn request(input: &Json) -> Result<Json, String> {
    let messages = messages(list(input, "messages")?)?;
    let mut selector = selector(input, false)?;
    let request = selector.request(&messages, &tools(input)?, choice(input)?);
    request.to_json().map(Json::Object).map_err(told)
}

pub(super) fn response(input: &Json) -> Result<Json, String> {
    let mut selector = selector(input, false)?;
    let choice = choice(input)?;
    let message = selector
        .read(required(input, "response")?, choice.as_ref())
        .map_err(told)?;
    let dump = message.dump(&DumpOptions::with_info()).map_err(told)?;
    Ok(json!({"message": dump, "content": (message.body.content.clone())}))
}

pub(super) fn ledger(input: &Json) -> Result<Json, String> {
    let mut selector = selector(input, flag(input, "accum_messages", false)?)?;
    let tools = tools(input)?;
    let (mut outcomes, mut requests) = (Vec::new(), Vec::new());
    for turn in list(input, "turns")? {
        let choice = choice(turn)?;
        let messages = messages(list(turn, "messages")?)?;
        let request = selector.request(&messages, &tools, choice.clone());
        requests.push(sent(&request)?);
        let read = selector.read(required(turn, "response")?, choice.as_ref());
        outcomes.push(if read.is_ok() { "ok" } else { "error" });
    }
    let ledger = selector.ledger().map(dumps).transpose()?;
    Ok(json!({"outcomes": outcomes, "requests": requests, "ledger": ledger}))
}

fn selector(input: &Json, accum_messages: bool) -> Result<ToolSelector, String> {
    let model = match given(input, "model") {
        Some(_) => text(input, "model")?,
        None => Text::from("gpt-4o"),
    };
    Ok(ToolSelector::new(model, accum_messages, true))
}

/// The tools in the case, or those of an environment.
fn tools(input: &Json) -> Result<Vec<Tool>, String> {
    if given(input, "env").is_some() {
        let (_, reset) = environments::reset(&World::new(), input)?;
        return Ok(reset.tools.iter().map(|tool| (**tool).clone()).collect());
    }
    let tools = list(input, "tools")?.iter();
    tools.map(|tool| Tool::read(tool).map_err(told)).collect()
}

fn choice(input: &Json) -> Result<Option<ToolChoice>, String> {
    match input.get("tool_choice") {
        None => Ok(Some(ToolChoice::Required)),
        Some(Json::Null) => Ok(None),
        Some(Json::Text(word)) => match &**word {
            "required" => Ok(Some(ToolChoice::Required)),
            "auto" => Ok(Some(ToolChoice::Auto)),
            "none" => Ok(Some(ToolChoice::None)),
            _ => Ok(Some(ToolChoice::Word(word.clone()))),
        },
        Some(choice) => Ok(Some(ToolChoice::Tool(text(choice, "tool")?))),
    }
}

fn messages(list: &[Json]) -> Result<Vec<AnyMessage>, String> {
    let list = list.iter();
    list.map(|message| AnyMessage::read(message).map_err(told))
        .collect()
}

/// The messages that a request sends.
fn sent(request: &SelectorRequest) -> Result<Json, String> {
    let mut request: Object = request.to_json().map_err(told)?;
    Ok(request.remove("messages").unwrap_or_default())
}

fn dumps(messages: &[AnyMessage]) -> Result<Json, String> {
    let dumps: Result<Vec<Json>, String> = messages
        .iter()
        .map(|message| {
            let dump = message.dump(&DumpOptions::default());
            dump.map(Json::Object).map_err(told)
        })
        .collect();
    dumps.map(Json::List)
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    #[test]
    fn choices_of_every_form() {
        let read = |choice: Json| super::choice(&Json::Object(object!({"tool_choice": choice})));
        assert_eq!(read(json!("auto")), Ok(Some(ToolChoice::Auto)));
        assert_eq!(read(json!(null)), Ok(None));
        assert_eq!(
            read(json!({"tool": "f"})),
            Ok(Some(ToolChoice::Tool("f".into())))
        );
        assert_eq!(
            read(json!("perhaps")),
            Ok(Some(ToolChoice::Word("perhaps".into())))
        );
    }
}
