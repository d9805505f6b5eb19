//! Parses tool calls in a completion like SGLang's parser `qwen25`.
//!
//! A call is a JSON object between tags, read by the rules of Python. A parse can fail as a whole, which
//! differs from finding no call: a training loop then aborts the episode.

use volary_core::json::read::{ReadProblem, read};
use volary_core::json::text::strip;
use volary_core::{Json, Object, Text};

use crate::json_text;

/// The maximum number of digits of an integer that Python parses.
const MOST_DIGITS: usize = 4300;

/// A version of the parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolParser {
    /// Until SGLang 0.4.6: tags without newlines, and a broken block fails the parse.
    V0,
    /// SGLang 0.4.7 to 0.5.15: tags with newlines; without calls, the whole text is plain.
    #[default]
    V1,
    /// Since SGLang 0.5.16: like V1, but if the opening tag occurs without a call, the text ends before it.
    V2,
}

impl ToolParser {
    /// All versions.
    pub const ALL: [ToolParser; 3] = [ToolParser::V0, ToolParser::V1, ToolParser::V2];

    /// The name in links and files.
    pub fn name(self) -> &'static str {
        match self {
            ToolParser::V0 => "V0",
            ToolParser::V1 => "V1",
            ToolParser::V2 => "V2",
        }
    }

    /// The version with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        ToolParser::ALL
            .into_iter()
            .find(|parser| parser.name() == name)
    }

    fn tags(self) -> (&'static str, &'static str) {
        match self {
            ToolParser::V0 => ("<tool_call>", "</tool_call>"),
            ToolParser::V1 | ToolParser::V2 => ("<tool_call>\n", "\n</tool_call>"),
        }
    }

    /// Finds the calls of declared tools in a text.
    pub fn parse(self, text: &str, options: &ParseOptions<'_>) -> Result<Parsed, ParseError> {
        let plain = || Parsed {
            normal_text: text.into(),
            calls: Vec::new(),
        };
        let (open, close) = self.tags();
        if self != ToolParser::V0 && options.tools.is_empty() {
            return Ok(plain());
        }
        let Some((before, _)) = text.split_once(open) else {
            return Ok(plain());
        };
        let mut calls = Vec::new();
        let mut rest = text;
        while let Some((_, tail)) = rest.split_once(open) {
            let Some((body, after)) = tail.split_once(close) else {
                break;
            };
            rest = after;
            if let Some(value) = self.read_body(body)? {
                calls_of(&value, options, &mut calls)?;
            }
        }
        if calls.is_empty() && self != ToolParser::V2 {
            return Ok(plain());
        }
        Ok(Parsed {
            normal_text: strip(before).into(),
            calls,
        })
    }

    /// The JSON of a block; `None` if it is invalid and skipped.
    fn read_body(self, body: &str) -> Result<Option<Json>, ParseError> {
        let body = match self {
            ToolParser::V0 => body,
            ToolParser::V1 | ToolParser::V2 => strip(body),
        };
        let outcome = read(body);
        let understood = match &outcome {
            Ok(_) => body.len(),
            Err(error) => body
                .char_indices()
                .nth(error.position)
                .map_or(body.len(), |(at, _)| at),
        };
        if has_long_integer(&body[..understood]) {
            return Err(ParseError::LongInteger);
        }
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.problem == ReadProblem::TooDeep => Err(ParseError::TooDeep),
            Err(error) if self == ToolParser::V0 => Err(ParseError::Json(error.to_string())),
            Err(_) => Ok(None),
        }
    }
}

/// The options of the parser.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions<'a> {
    /// The names of the declared tools.
    pub tools: &'a [Text],
    /// Whether calls of undeclared tools are returned.
    pub forward_unknown: bool,
}

/// A parsed completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The text without calls.
    pub normal_text: Text,
    /// The calls, in order.
    pub calls: Vec<ParsedCall>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCall {
    /// The index of the tool among the declared ones; `None` if it is not declared.
    pub tool_index: Option<usize>,
    /// The name; `None` if the call has none, which is accepted only if unknown tools are forwarded.
    pub name: Option<Text>,
    /// The arguments, as Python's JSON text.
    pub parameters: Text,
}

/// Why the parse fails as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A call is not an object.
    #[error("A tool call must be an object, not {0}")]
    NoObject(String),
    /// The name of a call has an unsupported type.
    #[error("The name of a tool call can't be {0}")]
    BadName(String),
    /// Python rejects integers of this length.
    #[error("An integer in a tool call has more than {MOST_DIGITS} digits")]
    LongInteger,
    /// Python rejects values of this nesting.
    #[error("A tool call is nested too deeply")]
    TooDeep,
    /// A block is not JSON, in the version that does not skip it.
    #[error("A tool call is not valid JSON: {0}")]
    Json(String),
}

fn calls_of(
    value: &Json,
    options: &ParseOptions<'_>,
    calls: &mut Vec<ParsedCall>,
) -> Result<(), ParseError> {
    let elements = match value {
        Json::List(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    for element in elements {
        let Json::Object(object) = element else {
            return Err(ParseError::NoObject(element.to_repr()));
        };
        calls.extend(call(object, options)?);
    }
    Ok(())
}

/// Converts a call; `None` if its tool is unknown and not forwarded.
fn call(object: &Object, options: &ParseOptions<'_>) -> Result<Option<ParsedCall>, ParseError> {
    let name = object.get("name").unwrap_or(&Json::Null);
    let bad_name = || ParseError::BadName(name.to_repr());
    let name_text = name.as_text().filter(|name| !name.is_empty());
    let tool_index = name_text.and_then(|name| options.tools.iter().position(|tool| tool == name));
    if tool_index.is_none() {
        match name {
            // Lists and objects can't be looked up; empty ones are looked up only if they are forwarded.
            Json::List(_) | Json::Object(_) if name.is_truthy() || options.forward_unknown => {
                return Err(bad_name());
            }
            Json::Null | Json::Text(_) if options.forward_unknown => (),
            _ if options.forward_unknown => return Err(bad_name()),
            _ => return Ok(None),
        }
    }
    let given = object.get("parameters").filter(|value| value.is_truthy());
    let parameters = match given.or_else(|| object.get("arguments")) {
        Some(value) => json_text::plain(value),
        None => "{}".to_owned(),
    };
    Ok(Some(ParsedCall {
        tool_index,
        name: name.as_text().cloned(),
        parameters: parameters.into(),
    }))
}

/// Whether an integer outside of strings exceeds Python's limit of digits.
fn has_long_integer(text: &str) -> bool {
    if text.len() <= MOST_DIGITS {
        return false;
    }
    let mut bytes = text.bytes().peekable();
    let mut digits = 0_usize;
    let mut is_float = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                while let Some(inner) = bytes.next() {
                    match inner {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => (),
                    }
                }
            }
            b'0'..=b'9' => digits += 1,
            b'.' | b'e' | b'E' | b'+' if digits > 0 => is_float = true,
            _ => (),
        }
        let goes_on = bytes.peek().is_some_and(|next| {
            next.is_ascii_digit() || digits > 0 && matches!(next, b'.' | b'e' | b'E' | b'+' | b'-')
        });
        if !goes_on {
            if digits > MOST_DIGITS && !is_float {
                return true;
            }
            digits = 0;
            is_float = false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(parser: ToolParser, text: &str, forward_unknown: bool) -> Result<Parsed, ParseError> {
        let tools = ["f".into(), "g".into()];
        parser.parse(
            text,
            &ParseOptions {
                tools: &tools,
                forward_unknown,
            },
        )
    }

    fn block(body: &str) -> String {
        format!("<tool_call>\n{body}\n</tool_call>")
    }

    #[test]
    fn names_of_other_types() {
        for (name, is_failure, is_forwarded_failure) in [
            ("null", false, false),
            ("\"\"", false, false),
            ("\"zzz\"", false, false),
            ("7", false, true),
            ("0", false, true),
            ("true", false, true),
            ("[]", false, true),
            ("{}", false, true),
            ("[1]", true, true),
            ("{\"a\": 1}", true, true),
        ] {
            let text = block(&format!("{{\"name\": {name}}}"));
            let fails = |forward| parse(ToolParser::V1, &text, forward).is_err();
            assert_eq!(fails(false), is_failure, "{name}");
            assert_eq!(fails(true), is_forwarded_failure, "{name}");
        }
    }

    #[test]
    fn long_integers_and_deep_values_fail_the_parse() {
        let call = |value: &str| block(&format!("{{\"name\": \"f\", \"arguments\": {value}}}"));
        let long = "1".repeat(MOST_DIGITS + 1);
        for bad in [
            long.clone(),
            format!("[-{long}]"),
            format!("{{\"a\": {long}, \"a\": 1}}"),
            // The error after the integer comes too late.
            format!("[{long}, nope]"),
            "[".repeat(2000),
        ] {
            assert!(parse(ToolParser::V1, &call(&bad), false).is_err());
        }
        for fine in [
            "1".repeat(MOST_DIGITS),
            format!("{long}.5"),
            format!("{long}e2"),
            format!("1.{long}"),
            format!("\"{long}\""),
            format!("\"\\\"{long}\""),
            format!("[nope, {long}]"),
        ] {
            assert!(parse(ToolParser::V1, &call(&fine), false).is_ok());
        }
    }

    #[test]
    fn an_index_is_that_of_the_declared_tool() {
        let text = [block("{\"name\": \"g\"}"), block("{\"name\": \"h\"}")].join("\n");
        let calls = parse(ToolParser::V1, &text, true).map(|parsed| parsed.calls);
        let indexes: Vec<_> = calls.iter().flatten().map(|call| call.tool_index).collect();
        assert_eq!(indexes, [Some(1), None]);
    }
}
