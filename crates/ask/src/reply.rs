//! Reads what a model replied: JSON, also in prose, in a fence, or in a list.

use volary_core::json::{Json, read};

/// The maximum number of quotes that are checked; more are dropped, and counted.
pub const MOST_QUOTES: usize = 8;
/// The maximum number of characters of a quote and of an explanation that are stored.
const LONGEST_QUOTE: usize = 2_000;
const LONGEST_EXPLANATION: usize = 8_000;
/// The maximum number of braces at which an object is tried to be read.
const MOST_STARTS: usize = 200;

/// A reply, before it is checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedReply {
    pub label: Option<String>,
    pub score: Option<f64>,
    pub explanation: String,
    /// The message that each quote names, and the quote.
    pub quotes: Vec<(Option<usize>, String)>,
    /// The number of quotes beyond the maximum.
    pub dropped: usize,
}

/// Reads a reply; `None` if it contains no object of the schema.
pub fn parse(text: &str) -> Option<ParsedReply> {
    objects(text)
        .into_iter()
        .rev()
        .find_map(|value| of_json(&value))
}

/// The objects in a text that are not within another one, in order.
fn objects(text: &str) -> Vec<Json> {
    if let Ok(value) = read(text.trim()) {
        return match value {
            Json::List(list) => list,
            value => vec![value],
        };
    }
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_STARTS {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')) else {
            break;
        };
        let start = from + start;
        let rest = text.get(start..).unwrap_or_default();
        match balanced(rest).and_then(|length| Some((length, read(rest.get(..length)?).ok()?))) {
            Some((length, value)) => {
                found.push(value);
                from = start + length;
            }
            None => from = start + 1,
        }
    }
    found
}

/// The length of the object at the start of a text; `None` if it does not end.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (index, byte) in text.bytes().enumerate() {
        if in_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn of_json(value: &Json) -> Option<ParsedReply> {
    let object = value.as_object()?;
    let known = ["label", "score", "explanation", "evidence", "answer"];
    if !known.iter().any(|key| object.contains_key(key)) {
        // Some models wrap the object in another one.
        return match object.values().next() {
            Some(inner @ Json::Object(_)) if object.len() == 1 => of_json(inner),
            _ => None,
        };
    }
    let label = object.get("label").or_else(|| object.get("answer"));
    let label = label.and_then(|label| match label {
        Json::Text(text) => Some(text.to_string()),
        Json::Bool(true) => Some("yes".to_owned()),
        Json::Bool(false) => Some("no".to_owned()),
        Json::Integer(_) | Json::Float(_) => Some(label.to_compact_text()),
        _ => None,
    });
    let score = object.get("score").and_then(|score| {
        let number = score.as_f64();
        number.or_else(|| score.as_text()?.trim().parse().ok())
    });
    let explanation = object.get("explanation").and_then(Json::as_text);
    let explanation = explanation.map_or("", |text| text);
    let evidence = match object.get("evidence") {
        Some(Json::List(list)) => list.as_slice(),
        Some(one @ (Json::Object(_) | Json::Text(_))) => std::slice::from_ref(one),
        _ => &[],
    };
    let quotes: Vec<_> = evidence.iter().filter_map(quote).collect();
    let dropped = quotes.len().saturating_sub(MOST_QUOTES);
    Some(ParsedReply {
        label,
        score: score.filter(|score| score.is_finite()),
        explanation: explanation.chars().take(LONGEST_EXPLANATION).collect(),
        quotes: quotes.into_iter().take(MOST_QUOTES).collect(),
        dropped,
    })
}

/// A quote with the number of its message: an integer, or a text such as `M3`.
fn quote(value: &Json) -> Option<(Option<usize>, String)> {
    let shorten = |text: &str| text.chars().take(LONGEST_QUOTE).collect();
    if let Some(text) = value.as_text() {
        return Some((None, shorten(text)));
    }
    let text = value.get("quote")?.as_text()?;
    let message = value.get("message").and_then(|message| match message {
        Json::Text(text) => {
            let digits = text.trim_matches(|letter: char| !letter.is_ascii_digit());
            digits.parse().ok()
        }
        Json::Float(_) | Json::Integer(_) => {
            let number = message.as_f64().filter(|number| number.fract() == 0.0)?;
            (0.0..1e9).contains(&number).then_some(number as usize)
        }
        _ => None,
    });
    Some((message, shorten(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_in_what_surrounds_it() {
        let expected = ParsedReply {
            label: Some("yes".into()),
            explanation: "It {did}.".into(),
            quotes: vec![(Some(3), "a \"b\"".into())],
            ..ParsedReply::default()
        };
        let plain = r#"{"label": "yes", "explanation": "It {did}.", "evidence": [{"message": 3, "quote": "a \"b\""}]}"#;
        for text in [
            plain.to_owned(),
            format!("Sure! Here it is:\n```json\n{plain}\n```\nI hope {{that}} helps."),
            format!("[{plain}]"),
            format!("{{\"result\": {plain}}}"),
            format!("Think: {{\"label\": \"no\"}} no, rather\n{plain}"),
            plain.replace("\"message\": 3", "\"message\": \"[M3]\""),
            plain.replace("\"message\": 3", "\"message\": 3.0"),
        ] {
            assert_eq!(parse(&text), Some(expected.clone()), "{text}");
        }
    }

    #[test]
    fn other_replies_are_read_as_far_as_they_go() {
        for text in [
            "",
            "Yes.",
            "{",
            "{\"a\": 1}",
            "null",
            "[1, 2]",
            "{\"label\": \"yes\"",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        let reply = parse(r#"{"score": "7", "evidence": "only words"}"#).unwrap();
        assert_eq!(
            (reply.score, reply.quotes),
            (Some(7.0), vec![(None, "only words".into())])
        );
        let reply = parse(
            r#"{"label": true, "evidence": [{"message": -1, "quote": "x"}, {"quote": 5}, 7]}"#,
        )
        .unwrap();
        assert_eq!(
            (reply.label.as_deref(), reply.quotes),
            (Some("yes"), vec![(None, "x".into())])
        );
        let many = format!(
            r#"{{"label": "no", "evidence": [{}]}}"#,
            [r#"{"message": 1, "quote": "x"}"#; 20].join(",")
        );
        let reply = parse(&many).unwrap();
        assert_eq!((reply.quotes.len(), reply.dropped), (8, 12));
        assert_eq!(parse(&"{".repeat(100_000)), None);
    }
}
