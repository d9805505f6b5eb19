//! The content of a message in its most readable form.

use volary_core::json::{Json, Text};
use volary_core::message::Body;

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
    /// Texts and images.
    Parts(Vec<ContentPart>),
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
    /// Anything else.
    Other(Json),
}

/// A text within a content. For passages, all texts of a content form one text, separated by line breaks.
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
            Content::Json(_) | Content::Nothing => Vec::new(),
        }
    }
}

/// Parses the content of a message.
pub fn content(body: &Body) -> Content {
    let Some(text) = body.content.as_ref().filter(|text| !text.is_empty()) else {
        return Content::Nothing;
    };
    let container = text.starts_with(['{', '[']) && text.ends_with(['}', ']', ' ', '\n']);
    // Multimodal content is parsed regardless of its length, because images are long.
    let multimodal = body.content_is_json_str && text.starts_with("[{");
    if !container || (text.len() > LARGEST_JSON && !multimodal) {
        return Content::Text(text.clone());
    }
    match Json::parse(text) {
        Ok(Json::List(list)) if body.content_is_json_str && is_multimodal(&list) => {
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

/// Whether a list is one of text and image blocks (aviary's rule).
fn is_multimodal(list: &[Json]) -> bool {
    !list.is_empty()
        && list.iter().all(|block| {
            block
                .get("type")
                .and_then(Json::as_text)
                .is_some_and(|kind| matches!(&**kind, "text" | "image_url"))
        })
}

fn part(block: Json) -> ContentPart {
    if let Some(text) = block.get("text").and_then(Json::as_text) {
        return ContentPart::Text(text.clone());
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
    fn large_json_stays_text() {
        let text = format!("[{}1]", "1, ".repeat(LARGEST_JSON / 3));
        assert_eq!(content(&Body::text(&*text)), Content::Text((*text).into()));
    }
}
