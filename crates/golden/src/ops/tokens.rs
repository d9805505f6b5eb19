//! Chat templates, tokenizers, masks, and tool calls in text.
//!
//! Cases with Qwen2.5's tokenizer need its file, which is not part of the project: its path is in the environment
//! variable [`TOKENIZER_VARIABLE`]. Without it they are skipped and reported by name.

use std::rc::Rc;
use std::sync::OnceLock;

use volary_core::{Json, Object, Text, json};
use volary_tokens::template::{Builtin, ChatTemplate, RenderInput};
use volary_tokens::tool_parser::{ParseOptions, ParsedCall};
use volary_tokens::{
    ChatMessage, Conversation, Delta, FileTokenizer, MaskMode, RenderedMode, TokenStrip, Tokenizer,
    ToolParser, ToyTokenizer, openai,
};

use super::input::{flag, given, list, object, required, text, told};

/// The variable with the path of Qwen2.5's `tokenizer.json`.
pub(crate) const TOKENIZER_VARIABLE: &str = "VOLARY_QWEN25_TOKENIZER";
/// Its SHA-256: with another file, ids are not comparable.
const TOKENIZER_SHA256: &str = "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539";
/// slime's own wording, which recorded prompts contain.
pub(super) const ORIGINAL_INSTRUCTION: &str = include_str!("../../data/slime_tool_instruction.txt");

/// Whether a case needs a tokenizer that is not available.
pub(crate) fn lacks_tokenizer(input: &Json) -> bool {
    let name = input.get("tokenizer").and_then(Json::as_text);
    name.is_some_and(|name| &**name == "qwen2.5") && std::env::var_os(TOKENIZER_VARIABLE).is_none()
}

/// Calls a function with the tokenizer of this name.
pub(super) fn with_tokenizer<T>(
    name: &str,
    run: impl FnOnce(&dyn Tokenizer) -> Result<T, String>,
) -> Result<T, String> {
    static QWEN: OnceLock<Result<FileTokenizer, String>> = OnceLock::new();
    match name {
        "toy" => run(&ToyTokenizer),
        "qwen2.5" => run(QWEN.get_or_init(read_qwen).as_ref().map_err(Clone::clone)?),
        unknown => Err(format!("the tokenizer {unknown} is unknown")),
    }
}

fn read_qwen() -> Result<FileTokenizer, String> {
    let path = std::env::var_os(TOKENIZER_VARIABLE).unwrap_or_default();
    let data = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if sha256(&data) != TOKENIZER_SHA256 {
        return Err(format!("{} is another tokenizer", path.display()));
    }
    FileTokenizer::read(&data).map_err(told)
}

/// The SHA-256 of bytes, in hex.
pub(super) fn sha256(data: &[u8]) -> String {
    let hash = hmac_sha256::Hash::hash(data);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash and the length in code points of a text that is too long, or that may not be recorded.
pub(super) fn digest(text: &str) -> Json {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    json!({"sha256": (sha256(text.as_bytes())), "length": length})
}

/// The template of a case: a built-in one, or its source.
pub(super) fn template(input: &Json) -> Result<Rc<ChatTemplate>, String> {
    let template = match required(input, "template")? {
        Json::Text(name) => Builtin::from_name(name)
            .ok_or_else(|| format!("the template {name} is unknown"))?
            .template(),
        given => ChatTemplate::new(&text(given, "jinja")?),
    };
    template.map(Rc::new).map_err(told)
}

pub(super) fn chat_template(input: &Json) -> Result<Json, String> {
    let template = template(input)?;
    let mut variables = object(input, "variables")?;
    if let Some(enable_thinking) = given(input, "enable_thinking") {
        variables.insert("enable_thinking", enable_thinking.clone());
    }
    let tools = given(input, "tools").and_then(Json::as_list);
    let rendered = template.render(&RenderInput {
        messages: list(input, "messages")?,
        tools: tools.unwrap_or_default(),
        add_generation_prompt: flag(input, "add_generation_prompt", false)?,
        variables: Some(&variables),
        now: None,
    });
    rendered.map(Json::from).map_err(told)
}

pub(super) fn tokenize(input: &Json) -> Result<Json, String> {
    let content = text(input, "text")?;
    with_tokenizer(&text(input, "tokenizer")?, |tokenizer| {
        tokenizer.encode(&content).map(Json::from).map_err(told)
    })
}

/// The messages of a case.
fn messages(input: &Json) -> Result<Vec<ChatMessage>, String> {
    let messages = list(input, "messages")?.iter();
    messages
        .map(|message| ChatMessage::from_json(message).map_err(told))
        .collect()
}

/// The mode of a case.
pub(super) fn mode(input: &Json) -> Result<MaskMode, String> {
    let name = text(input, "mode")?;
    MaskMode::from_name(&name).ok_or_else(|| format!("the mode {name} is unknown"))
}

pub(super) fn token_delta(input: &Json) -> Result<Json, String> {
    let mode = match mode(input)? {
        MaskMode::Seed => RenderedMode::Seed,
        MaskMode::Fixed => RenderedMode::Fixed,
        MaskMode::TokenIn => return Err("token_in compares no renderings".to_owned()),
    };
    let mut messages = messages(input)?;
    let last = messages.pop().ok_or("there are no messages")?;
    let with_header = flag(input, "include_gen", false)?;
    let template = template(input)?;
    let mut deltas = [
        Conversation::whole(Rc::clone(&template)),
        Conversation::new(template),
    ]
    .into_iter()
    .map(|mut conversation| {
        messages
            .iter()
            .for_each(|message| conversation.push(message.clone()));
        conversation
            .push_for_delta(last.clone(), mode, with_header)
            .map_err(told)
    });
    let (whole, incremental) = (deltas.next(), deltas.next());
    if whole != incremental {
        return Err(format!(
            "the delta is {whole:?} as a whole and {incremental:?} by pieces"
        ));
    }
    let delta: Delta = whole.ok_or("there is no delta")??;
    let strip = with_tokenizer(&text(input, "tokenizer")?, |tokenizer| {
        delta.tokenize(tokenizer).map_err(told)
    })?;
    Ok(json!({"token_ids": (strip.ids().to_vec()), "loss_mask": (mask(&strip))}))
}

/// A mask as zeros and ones.
pub(super) fn mask(strip: &TokenStrip) -> Vec<i64> {
    strip.mask().iter().copied().map(i64::from).collect()
}

/// The names of the declared tools.
fn names(input: &Json) -> Result<Vec<Text>, String> {
    let names = list(input, "tools")?.iter();
    names
        .map(|name| {
            name.as_text()
                .cloned()
                .ok_or_else(|| "a tool is no text".to_owned())
        })
        .collect()
}

pub(super) fn qwen_tool_parse(input: &Json) -> Result<Json, String> {
    let variant = text(input, "variant")?;
    let parser = ToolParser::from_name(&variant)
        .ok_or_else(|| format!("the variant {variant} is unknown"))?;
    let tools = names(input)?;
    let options = ParseOptions {
        tools: &tools,
        forward_unknown: flag(input, "forward_unknown", false)?,
    };
    Ok(match parser.parse(&text(input, "text")?, &options) {
        Ok(parsed) => {
            let calls = parsed.calls.iter().map(|call| {
                json!({"name": (call.name.clone()), "parameters": (call.parameters.clone())})
            });
            json!({
                "success": true,
                "normal_text": (parsed.normal_text.clone()),
                "calls": (calls.collect::<Vec<_>>()),
                "openai_message": (openai::message(&parsed))
            })
        }
        Err(_) => {
            json!({"success": false, "normal_text": null, "calls": null, "openai_message": null})
        }
    })
}

pub(super) fn call_to_action(input: &Json) -> Result<Json, String> {
    let calls = list(input, "calls")?.iter().map(|call| {
        Ok(ParsedCall {
            tool_index: None,
            name: given(call, "name").and_then(Json::as_text).cloned(),
            parameters: text(call, "parameters")?,
        })
    });
    let calls = calls.collect::<Result<Vec<_>, String>>()?;
    let action = volary_tokens::call_to_action(&calls, &text(input, "text")?).map_err(told)?;
    let kwargs: Object = action.kwargs;
    Ok(json!({"name": (action.name), "kwargs": kwargs}))
}

pub(super) fn tool_instruction(input: &Json) -> Result<Json, String> {
    let replaced =
        volary_tokens::tool_instruction::replace(&text(input, "text")?, ORIGINAL_INSTRUCTION);
    Ok(digest(&replaced))
}
