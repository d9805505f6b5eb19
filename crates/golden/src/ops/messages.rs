//! Messages: parsing, dumping, display, joining, appending, construction.

use volary_core::json::Object;
use volary_core::message::{self, Body, DumpOptions, MessageError};
use volary_core::{
    AnyMessage, Json, Message, Role, Text, ToolRequestMessage, ToolResponseMessage, json,
};

use super::input::{flag, given, list, required, text, told};

pub(super) fn dump(input: &Json) -> Result<Json, String> {
    let message = read(input)?;
    let none = Json::Null;
    let options = input.get("options").unwrap_or(&none);
    let exclude: Vec<&str> = given(options, "exclude")
        .and_then(Json::as_list)
        .unwrap_or_default()
        .iter()
        .filter_map(|field| field.as_text().map(|field| &**field))
        .collect();
    let options = DumpOptions {
        include_info: flag(options, "include_info", false)?,
        deserialize_content: flag(options, "deserialize_content", true)?,
        exclude_none: flag(options, "exclude_none", false)?,
        exclude: &exclude,
    };
    message.dump(&options).map(Json::Object).map_err(told)
}

pub(super) fn parse(input: &Json) -> Result<Json, String> {
    let message = AnyMessage::read(required(input, "data")?).map_err(told)?;
    let variant = match &message {
        AnyMessage::Request(_) => "ToolRequestMessage",
        AnyMessage::Response(_) => "ToolResponseMessage",
        AnyMessage::Plain(_) => "Message",
    };
    let dump = message.dump(&DumpOptions::default()).map_err(told)?;
    let body = message.body();
    Ok(json!({
        "variant": variant,
        "content": (body.content.clone()),
        "content_is_json_str": (body.content_is_json_str),
        "is_multimodal": (body.is_multimodal()),
        "cache_breakpoint": (body.cache_breakpoint),
        "info": (body.info.clone()),
        "dump": dump
    }))
}

pub(super) fn text_ops(input: &Json) -> Result<Json, String> {
    let mut message = read(input)?;
    let mut results = Vec::new();
    for op in list(input, "ops")? {
        let in_place = flag(op, "inplace", true)?;
        let added = text(op, "text")?;
        let delimiter = match given(op, "delim") {
            Some(_) => text(op, "delim")?,
            None => "\n".into(),
        };
        let add: fn(&mut Body, &str, &str) -> Result<(), MessageError> = match &*text(op, "op")? {
            "append" => Body::append_text,
            "prepend" => Body::prepend_text,
            unknown => return Err(format!("the text operation {unknown} is unknown")),
        };
        let mut copy = message.body().clone();
        let changed = if in_place {
            body_mut(&mut message)
        } else {
            &mut copy
        };
        add(changed, &added, &delimiter).map_err(told)?;
        results.push(json!({
            "content": (changed.content.clone()),
            "content_is_json_str": (changed.content_is_json_str),
            "same_message": in_place
        }));
    }
    Ok(json!({"results": results, "content": (message.body().content.clone())}))
}

pub(super) fn show(input: &Json) -> Result<Json, String> {
    Ok(read(input)?.to_string().into())
}

pub(super) fn join(input: &Json) -> Result<Json, String> {
    let messages: Vec<AnyMessage> = list(input, "messages")?
        .iter()
        .map(AnyMessage::read)
        .collect::<Result<_, _>>()
        .map_err(told)?;
    let none = Json::Null;
    let options = input.get("options").unwrap_or(&none);
    let delimiter = match given(options, "delimiter") {
        Some(_) => text(options, "delimiter")?,
        None => "\n".into(),
    };
    let include_roles = flag(options, "include_roles", true)?;
    Ok(message::join(&messages, &delimiter, include_roles).into())
}

pub(super) fn create(input: &Json) -> Result<Json, String> {
    let role = match given(input, "role") {
        Some(_) => {
            let name = text(input, "role")?;
            Role::from_name(&name).ok_or_else(|| format!("there is no role {name}"))?
        }
        None => Role::default(),
    };
    let content = given(input, "text")
        .map(|_| text(input, "text"))
        .transpose()?;
    let images: Option<Vec<Text>> = match given(input, "images") {
        None => None,
        Some(Json::Text(image)) => Some(vec![image.clone()]),
        Some(_) => {
            let images = list(input, "images")?.iter();
            let images = images.map(|image| image.as_text().cloned().ok_or("images are texts"));
            Some(images.collect::<Result<_, _>>()?)
        }
    };
    let info: Option<Object> = given(input, "info").and_then(Json::as_object).cloned();
    let message = Message::create(role, content, images.as_deref(), info).map_err(told)?;
    let body = message.body;
    Ok(json!({
        "role": (message.role.as_str()),
        "content": (body.content),
        "content_is_json_str": (body.content_is_json_str),
        "info": (body.info)
    }))
}

/// The message of `data`, read as the kind in `kind`.
fn read(input: &Json) -> Result<AnyMessage, String> {
    let data = required(input, "data")?;
    let message = match &*text(input, "kind")? {
        "Message" => Message::read(data).map(Into::into),
        "ToolRequestMessage" => ToolRequestMessage::read(data).map(Into::into),
        "ToolResponseMessage" => ToolResponseMessage::read(data).map(Into::into),
        "EnvStateMessage" => Message::read_env_state(data).map(Into::into),
        unknown => return Err(format!("the kind {unknown} is unknown")),
    };
    message.map_err(told)
}

fn body_mut(message: &mut AnyMessage) -> &mut Body {
    match message {
        AnyMessage::Request(message) => &mut message.body,
        AnyMessage::Response(message) => &mut message.body,
        AnyMessage::Plain(message) => &mut message.body,
    }
}
