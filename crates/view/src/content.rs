//! The content of a message in its most readable form.

use volary_core::AnyMessage;
use volary_core::json::{Json, Text};
use volary_core::message::{Body, Role};
use volary_episode::inline_reasoning::{InlinePart, divide};
use volary_episode::passages::{REDACTED_REASONING, block_text, is_content_block};

/// Larger contents are shown as plain text and not parsed as JSON.
const LARGEST_JSON: usize = 200_000;

/// The content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Empty.
    Nothing,
    Text(Text),
    /// A list or an object.
    Json(Json),
    /// Texts, images and other blocks.
    Parts(Vec<ContentPart>),
    /// A text that contains the model's reasoning, and its parts.
    Divided(Text, Vec<InlinePart>),
}

/// A part of a multimodal content.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentPart {
    Text(Text),
    /// An image embedded in the message.
    Image(Text),
    /// An image at an external address. It is not fetched, because a request would reveal the reader to its
    /// host.
    ImageElsewhere(Text),
    /// Reasoning that the provider encrypted: the size of its data in bytes.
    Redacted(usize),
    /// Anything else.
    Other(Json),
}

/// A text within a content. For passages, all texts of a content form one text. Those of blocks are separated by line breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartText {
    /// The index of the part.
    pub number: usize,
    pub text: Text,
    /// The place of its first character among those of all texts.
    pub start: usize,
}

impl PartText {
    /// The place of a character in this text, given its place among those of all texts; `None` if it is in another one.
    pub fn place_of(&self, character: usize) -> Option<usize> {
        let place = character.checked_sub(self.start)?;
        (place <= self.text.chars().count()).then_some(place)
    }
}

impl Content {
    /// Whether a part is reasoning within a text.
    pub fn is_reasoning(&self, part: usize) -> bool {
        match self {
            Content::Divided(_, parts) => parts.get(part).is_some_and(|part| part.is_reasoning),
            _ => false,
        }
    }

    /// The texts, in order.
    pub fn texts(&self) -> Vec<PartText> {
        let mut start = 0;
        let mut part = |number, text: &Text| {
            let part = PartText {
                number,
                text: text.clone(),
                start,
            };
            start += text.chars().count() + 1;
            part
        };
        match self {
            Content::Text(text) => vec![part(0, text)],
            Content::Parts(parts) => {
                let texts = parts.iter().enumerate();
                let texts = texts.filter_map(|(number, found)| match found {
                    ContentPart::Text(text) => Some(part(number, text)),
                    _ => None,
                });
                texts.collect()
            }
            Content::Divided(text, parts) => {
                let (mut at, mut characters) = (0, 0);
                let parts = parts.iter().enumerate().map(|(number, part)| {
                    let before = text.get(at..part.range.start).unwrap_or_default();
                    let own = text.get(part.range.clone()).unwrap_or_default();
                    let start = characters + before.chars().count();
                    (at, characters) = (part.range.end, start + own.chars().count());
                    PartText {
                        number,
                        text: own.into(),
                        start,
                    }
                });
                parts.collect()
            }
            Content::Json(_) | Content::Nothing => Vec::new(),
        }
    }
}

/// Parses the content of a message, with the reasoning in the text of a model.
pub fn message_content(message: &AnyMessage) -> Content {
    match content(message.body()) {
        Content::Text(text) if message.role() == Role::Assistant => {
            let parts = divide(&text);
            if parts.iter().any(|part| part.is_reasoning) {
                Content::Divided(text, parts)
            } else {
                Content::Text(text)
            }
        }
        other => other,
    }
}

/// Parses the content of a message. A blank one is nothing.
pub fn content(body: &Body) -> Content {
    let content = body.content.as_ref();
    let Some(text) = content.filter(|text| !text.trim().is_empty()) else {
        return Content::Nothing;
    };
    let container = text.starts_with(['{', '[']) && text.ends_with(['}', ']', ' ', '\n']);
    // Multimodal content is parsed regardless of its length, because images are long.
    let multimodal = body.content_is_json_str && text.starts_with("[{");
    if !container || (text.len() > LARGEST_JSON && !multimodal) {
        return Content::Text(text.clone());
    }
    match Json::parse(text) {
        Ok(Json::List(list)) if body.content_is_json_str && list.iter().any(is_content_block) => {
            Content::Parts(list.into_iter().map(part).collect())
        }
        Ok(_) if text.len() > LARGEST_JSON => Content::Text(text.clone()),
        Ok(value @ (Json::List(_) | Json::Object(_))) => Content::Json(value),
        Ok(_) | Err(_) => Content::Text(text.clone()),
    }
}

/// Whether a value is readable on one line.
pub fn is_short(value: &Json) -> bool {
    const SHORT_BYTES: usize = 60;
    match value {
        Json::Text(text) => text.len() <= SHORT_BYTES && !text.contains('\n'),
        Json::List(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => true,
    }
}

/// Whether a response reports a failed call. These are the prefixes that the executor writes.
pub fn is_failure(body: &Body) -> bool {
    body.content.as_deref().is_some_and(|text| {
        text.starts_with("Encountered exception during tool call: ")
            || text.starts_with("Invalid tool call: ")
    })
}

fn part(block: Json) -> ContentPart {
    if let Some(text) = block_text(&block) {
        return ContentPart::Text(text.clone());
    }
    let kind = block.get("type").and_then(Json::as_text);
    if kind.is_some_and(|kind| &**kind == "redacted_thinking") {
        return ContentPart::Redacted(redacted_size(&block));
    }
    let address = block
        .get("image_url")
        .and_then(|image| image.get("url").unwrap_or(image).as_text());
    match address {
        Some(address) if is_raster_data(address) => ContentPart::Image(address.clone()),
        Some(address) => ContentPart::ImageElsewhere(address.clone()),
        None => ContentPart::Other(block),
    }
}

/// The sizes in bytes of the blocks of encrypted reasoning that a message has next to its content.
pub fn redacted_reasoning(body: &Body) -> Vec<usize> {
    let blocks = body
        .info
        .as_ref()
        .and_then(|info| info.get(REDACTED_REASONING));
    let blocks = blocks.and_then(Json::as_list).unwrap_or_default();
    blocks.iter().map(redacted_size).collect()
}

/// The size of the data of a block with encrypted reasoning.
fn redacted_size(block: &Json) -> usize {
    let data = ["data", "encrypted_content", "reasoning", "signature"].into_iter();
    let mut data = data.filter_map(|key| block.get(key)?.as_text());
    data.next().map_or(0, |data| data.len())
}

/// Whether a URL embeds the image as pixels. SVG is excluded, because it can contain more than a picture.
pub fn is_raster_data(address: &str) -> bool {
    const KINDS: [&str; 6] = ["png", "jpeg", "gif", "webp", "bmp", "avif"];
    let Some((head, _)) = address.split_once([';', ',']) else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    head.strip_prefix("data:image/")
        .is_some_and(|kind| KINDS.contains(&kind))
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn texts_stay_texts() {
        assert_eq!(content(&Body::default()), Content::Nothing);
        assert_eq!(content(&Body::text("")), Content::Nothing);
        assert_eq!(content(&Body::text(" \n")), Content::Nothing);
        for text in ["hello", "[draft] of a text", "{not json}", "12"] {
            assert_eq!(content(&Body::text(text)), Content::Text(text.into()));
        }
    }

    #[test]
    fn the_texts_of_parts_form_one_text() {
        let blocks = json!([
            {"type": "text", "text": "größe"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "text", "text": "two"}
        ]);
        let texts = content(&Body::json(&blocks)).texts();
        let starts: Vec<_> = texts
            .iter()
            .map(|part| (part.number, &*part.text, part.start))
            .collect();
        // Characters count, not bytes, and a line break is between the texts.
        assert_eq!(starts, [(0, "größe", 0), (2, "two", 6)]);
        assert_eq!(texts[0].place_of(2), Some(2));
        assert_eq!(texts[0].place_of(6), None);
        assert_eq!(texts[1].place_of(5), None);
        assert_eq!(texts[1].place_of(7), Some(1));
        assert_eq!(content(&Body::text("plain")).texts().len(), 1);
        assert!(content(&Body::json(&json!({"a": "b"}))).texts().is_empty());
    }

    #[test]
    fn lists_and_objects_are_taken_apart() {
        let value = json!({"a": 1});
        assert_eq!(content(&Body::json(&value)), Content::Json(value.clone()));
        assert_eq!(content(&Body::text("{\"a\": 1}\n")), Content::Json(value));
    }

    #[test]
    fn images_are_shown_only_where_they_lie_in_the_message() {
        let blocks = json!([
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image_url", "image_url": {"url": "javascript:alert(1)"}},
            {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
            {"type": "image_url"}
        ]);
        assert_eq!(
            content(&Body::json(&blocks)),
            Content::Parts(vec![
                ContentPart::Text("look".into()),
                ContentPart::Image("data:image/png;base64,AA==".into()),
                ContentPart::ImageElsewhere("https://example.org/a.png".into()),
                ContentPart::ImageElsewhere("javascript:alert(1)".into()),
                ContentPart::ImageElsewhere("data:image/svg+xml,<svg/>".into()),
                ContentPart::Other(json!({"type": "image_url"})),
            ])
        );
    }

    #[test]
    fn an_unknown_block_is_shown_next_to_the_others() {
        let audio = json!({"type": "input_audio", "input_audio": {"data": "AA=="}});
        let untyped = json!({"note": 1});
        let blocks = json!([{"type": "text", "text": "Listen."}, (audio.clone()), (untyped.clone()), "Twice."]);
        assert_eq!(
            content(&Body::json(&blocks)),
            Content::Parts(vec![
                ContentPart::Text("Listen.".into()),
                ContentPart::Other(audio),
                ContentPart::Other(untyped.clone()),
                ContentPart::Text("Twice.".into()),
            ])
        );
        let data = json!([(untyped), {"type": "row", "value": 2}]);
        assert_eq!(content(&Body::json(&data)), Content::Json(data));
    }

    #[test]
    fn the_texts_are_those_of_passages() {
        let blocks = json!([{"type": "text", "text": "one"}, {"id": 1}, {"type": "text", "text": ""}, "two"]);
        let body = Body::json(&blocks);
        let texts = content(&body).texts();
        let joined = volary_episode::passages::content(&body);
        for part in texts {
            let found: String = joined
                .chars()
                .skip(part.start)
                .take(part.text.chars().count())
                .collect();
            assert_eq!(found, *part.text);
        }
        assert_eq!(joined, "one\n\ntwo");
    }

    #[test]
    fn encrypted_reasoning_is_named() {
        let blocks = json!([
            {"type": "redacted_thinking", "data": "abcd"},
            {"type": "text", "text": "It is 42."}
        ]);
        assert_eq!(
            content(&Body::json(&blocks)),
            Content::Parts(vec![
                ContentPart::Redacted(4),
                ContentPart::Text("It is 42.".into())
            ])
        );
        let kept = json!([{"type": "redacted_thinking", "data": "abcd"}, {"type": "reasoning", "redacted": true}]);
        let body = Body {
            info: Some(volary_core::object!({ REDACTED_REASONING: kept })),
            ..Body::text("It is 42.")
        };
        assert_eq!(redacted_reasoning(&body), [4, 0]);
        assert!(redacted_reasoning(&Body::default()).is_empty());
    }

    #[test]
    fn reasoning_in_the_text_of_a_model_is_a_part() {
        let text = "<think>größer</think>\n\nJa.";
        let of = |role| message_content(&volary_core::Message::new(role, text).into());
        let found = of(Role::Assistant);
        let texts = found.texts().into_iter();
        let texts: Vec<_> = texts
            .map(|part| (part.number, part.text.to_string(), part.start))
            .collect();
        // Characters count, not bytes, and the tags count with them.
        assert_eq!(
            texts,
            [(0, "größer".to_owned(), 7), (1, "Ja.".to_owned(), 23)]
        );
        assert_eq!(of(Role::User), Content::Text(text.into()));
    }

    #[test]
    fn large_json_stays_text() {
        let text = format!("[{}1]", "1, ".repeat(LARGEST_JSON / 3));
        assert_eq!(content(&Body::text(&*text)), Content::Text((*text).into()));
    }
}
