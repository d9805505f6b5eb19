//! Messages with images.

use super::error::MessageError;
use super::{Body, Message, Role};
use crate::json::{Json, Object, Text};
use crate::object;

impl Message {
    /// A message with a text and images, which are base64 texts or data URLs and are stored unchanged. Without
    /// images the content is the text; otherwise it is multimodal: the images, then the text.
    pub fn create(
        role: Role,
        text: Option<Text>,
        images: Option<&[Text]>,
        info: Option<Object>,
    ) -> Result<Self, MessageError> {
        let mut body = match images {
            None => Body {
                content: text,
                ..Body::default()
            },
            Some(images) => multimodal(text, images)?,
        };
        body.info = info;
        Ok(Message { role, body })
    }
}

/// The data URL of a PNG file, as an image of a message.
pub fn png_data_url(bytes: &[u8]) -> Text {
    let mut url = String::from("data:image/png;base64,");
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let digit = bits >> (18 - 6 * index) & 0x3f;
            // A group of n bytes is encoded as n + 1 digits.
            url.push(match ALPHABET.get(digit as usize) {
                Some(digit) if index <= group.len() => char::from(*digit),
                _ => '=',
            });
        }
    }
    url.into()
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn multimodal(text: Option<Text>, images: &[Text]) -> Result<Body, MessageError> {
    let mut blocks = Vec::with_capacity(images.len() + 1);
    for image in images {
        if !is_image_text(image) {
            return Err(MessageError::Image);
        }
        let url = Text::clone(image);
        blocks.push(Json::from(
            object!({"type": "image_url", "image_url": {"url": url}}),
        ));
    }
    blocks.extend(text.map(|text| super::dump::text_block(text.into())));
    Body::read_content(&Json::List(blocks)).map_err(|error| MessageError::Field {
        kind: "Message",
        error,
    })
}

/// Whether the text decodes as base64: for a `data:image/` URL the part after its first comma,
/// up to the next.
fn is_image_text(image: &str) -> bool {
    if !image.starts_with("data:image/") {
        return is_base64(image);
    }
    image.split(',').nth(1).is_some_and(is_base64)
}

/// Whether Python's lenient decoder accepts the text: characters outside the alphabet are skipped;
/// padding that completes a group of four with at least two digits ends the data, other
/// padding is skipped; the text must not end inside a group.
fn is_base64(text: &str) -> bool {
    if !text.is_ascii() {
        return false;
    }
    let mut filled = 0;
    let mut padding = 0;
    for byte in text.bytes() {
        match byte {
            b'=' if filled >= 2 => {
                padding += 1;
                if filled + padding >= 4 {
                    return true;
                }
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                filled = (filled + 1) % 4;
                padding = 0;
            }
            _ => {}
        }
    }
    filled == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_leniently_as_python() {
        for good in [
            "", "AAAA", "AAA=", "AA==", "AA==zzz", "A=A=A=A=", "AA=A=", "=", "AA\n-A=",
        ] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["A", "AA", "AAA", "AA=", "AA=A", "AAAAA", "AAé="] {
            assert!(!is_base64(bad), "{bad}");
        }
    }

    #[test]
    fn bytes_become_urls_that_can_be_read() {
        for (bytes, encoded) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe\xfd\xfc", "//79/A=="),
        ] {
            let url = png_data_url(bytes);
            assert_eq!(&*url, format!("data:image/png;base64,{encoded}"));
            assert!(is_image_text(&url));
        }
    }

    #[test]
    fn data_urls_need_a_comma() {
        assert!(is_image_text("data:image/png;base64,AAAA,B"));
        assert!(!is_image_text("data:image/png;base64,AA,AA"));
        assert!(!is_image_text("data:image/AAAA"));
        assert!(!is_image_text("data:text/plain,AAAA"));
    }

    #[test]
    fn no_blocks_are_no_content() {
        assert!(Message::create(Role::User, None, Some(&[]), None).is_err());
        let text = Message::create(Role::User, Some("x".into()), Some(&[]), None);
        assert!(text.is_ok_and(|message| message.body.is_multimodal()));
    }
}
