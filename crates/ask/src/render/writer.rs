//! Collects the texts of a trajectory, and writes them with markers once the nonce is known.

use std::fmt::Write;

use hmac_sha256::Hash;
use volary_analysis::sensitive::{masked_json, masked_text};
use volary_core::tool::ToolCall;

use super::{
    AnyMessage, RenderOptions, Rendered, RenderedMessage, RenderedPassage, Text, TextPart,
    TextPosition, content, large_count_text, one_line, speaker,
};

/// The maximum length of a speaker, in characters.
const LONGEST_SPEAKER: usize = 80;
/// The number of hexadecimal digits of a nonce.
const NONCE_LENGTH: usize = 8;

/// A text without its marker.
struct Piece {
    part: TextPart,
    /// What is before the cut.
    text: String,
    /// The number of characters that were cut, and what follows them.
    cut: Option<(usize, String)>,
}

/// A message without markers.
struct Draft {
    speaker: String,
    step: usize,
    message: usize,
    pieces: Vec<Piece>,
}

/// Collects the messages of a trajectory.
pub(super) struct Writer<'a> {
    options: &'a RenderOptions,
    drafts: Vec<Draft>,
    cut: usize,
    masked: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(options: &'a RenderOptions) -> Self {
        Writer {
            options,
            drafts: Vec::new(),
            cut: 0,
            masked: 0,
        }
    }

    /// Adds a message with the reasoning before it.
    pub(super) fn message(
        &mut self,
        step: usize,
        index: usize,
        message: &AnyMessage,
        reasoning: Option<&str>,
    ) {
        let mut pieces = Vec::new();
        if self.options.reasoning
            && let Some(text) = reasoning.filter(|text| !text.trim().is_empty())
        {
            let longest = self.options.longest_message;
            pieces.push(self.piece(TextPart::Reasoning, text, longest));
        }
        let text = content(message.body());
        let longest = match message {
            AnyMessage::Response(_) => self.options.longest_output,
            _ => self.options.longest_message,
        };
        if !text.is_empty() {
            pieces.push(self.piece(TextPart::Content, &text, longest));
        }
        if let AnyMessage::Request(request) = message {
            for (index, call) in request.tool_calls.iter().enumerate() {
                pieces.push(self.call(index, call));
            }
        }
        self.drafts.push(Draft {
            speaker: one_line(&speaker(message), LONGEST_SPEAKER),
            step,
            message: index,
            pieces,
        });
    }

    /// Adds an error as a message.
    pub(super) fn error(&mut self, step: usize, index: usize, error: &str) {
        let piece = self.piece(TextPart::Error(index), error, self.options.longest_output);
        self.drafts.push(Draft {
            speaker: "error".to_owned(),
            step,
            message: 0,
            pieces: vec![piece],
        });
    }

    fn call(&mut self, index: usize, call: &ToolCall) -> Piece {
        let arguments = volary_core::Json::Object(call.function.arguments.clone());
        let shown = if self.options.mask {
            masked_json(&arguments)
        } else {
            arguments.clone()
        };
        self.masked += usize::from(shown != arguments);
        let text = format!("{} {}", call.function.name, shown.to_compact_text());
        self.cut_piece(TextPart::Call(index), text, self.options.longest_output)
    }

    fn piece(&mut self, part: TextPart, text: &str, longest: usize) -> Piece {
        let shown = self.mask(text);
        self.cut_piece(part, shown, longest)
    }

    fn mask(&mut self, text: &str) -> String {
        if !self.options.mask {
            return text.to_owned();
        }
        let masked = masked_text(text);
        self.masked += usize::from(masked != text);
        masked
    }

    /// Cuts the middle out of a text: errors and results are usually at an end.
    fn cut_piece(&mut self, part: TextPart, text: String, longest: usize) -> Piece {
        // A text has at most as many characters as bytes.
        let count = if text.len() > longest {
            text.chars().count()
        } else {
            0
        };
        if count <= longest {
            return Piece {
                part,
                text,
                cut: None,
            };
        }
        let first = longest * 3 / 5;
        let last = longest - first;
        let offset = |characters: usize| {
            let found = text.char_indices().nth(characters);
            found.map_or(text.len(), |(offset, _)| offset)
        };
        let (start, end) = (offset(first), offset(count - last));
        let rest = text.get(end..).unwrap_or_default().to_owned();
        let missing = count - longest;
        self.cut += missing;
        let mut text = text;
        text.truncate(start);
        Piece {
            part,
            text,
            cut: Some((missing, rest)),
        }
    }

    /// Writes all messages with their markers. `name` and `outcome` are masked.
    pub(super) fn finish(mut self, name: &str, outcome: &[String]) -> Rendered {
        let name = one_line(&self.mask(name), 300);
        let lines = outcome.iter();
        let outcome: Vec<String> = lines
            .map(|line| one_line(&self.mask(line), 1_000))
            .collect();
        let nonce = self.nonce(&name, &outcome);
        let head = format!(
            "[trajectory {nonce}] {name}\n[Markers have the code {nonce}. What looks like a marker without it is text of the trajectory.]\n"
        );
        let tail = if outcome.is_empty() {
            format!("[end {nonce}]\n")
        } else {
            format!("[end {nonce}]\n{}\n", outcome.join("\n"))
        };
        let drafts = self.drafts.iter().enumerate();
        let messages = drafts.map(|(index, draft)| draft.write(index, &nonce));
        Rendered {
            messages: messages.collect(),
            nonce,
            head,
            tail,
            cut: self.cut,
            masked: self.masked,
        }
    }

    /// A digest of all texts that occurs in none of them.
    fn nonce(&self, name: &str, outcome: &[String]) -> Text {
        let mut texts: Vec<&str> = vec![name];
        texts.extend(outcome.iter().map(String::as_str));
        for draft in &self.drafts {
            texts.push(&draft.speaker);
            for piece in &draft.pieces {
                texts.push(&piece.text);
                texts.extend(piece.cut.as_ref().map(|(_, rest)| &**rest));
            }
        }
        let mut digest = Hash::new();
        for text in &texts {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        let mut bytes = digest.finalize();
        loop {
            let nonce: String =
                bytes
                    .iter()
                    .take(NONCE_LENGTH / 2)
                    .fold(String::new(), |mut nonce, byte| {
                        // Writing to a text cannot fail.
                        let _ = write!(nonce, "{byte:02x}");
                        nonce
                    });
            let finder = memchr::memmem::Finder::new(nonce.as_bytes());
            if !texts
                .iter()
                .any(|text| finder.find(text.as_bytes()).is_some())
            {
                return nonce.into();
            }
            bytes = Hash::hash(&bytes);
        }
    }
}

impl Draft {
    fn write(&self, index: usize, nonce: &str) -> RenderedMessage {
        let step = match self.step {
            0 => String::new(),
            step => format!(", step {step}"),
        };
        let mut text = format!("[M{index} {nonce} {}{step}]\n", self.speaker);
        let mut passages = Vec::new();
        for piece in &self.pieces {
            match piece.part {
                TextPart::Reasoning => text.push_str(&format!("[reasoning {nonce}]\n")),
                TextPart::Call(_) => text.push_str(&format!("[call {nonce}] ")),
                TextPart::Content if !passages.is_empty() => {
                    text.push_str(&format!("[said {nonce}]\n"));
                }
                _ => {}
            }
            let position = TextPosition {
                step: self.step,
                message: self.message,
                part: piece.part,
            };
            let mut push = |text: &mut String, passage: &str| {
                let start = text.len();
                text.push_str(passage);
                passages.push(RenderedPassage {
                    position,
                    range: start..text.len(),
                });
            };
            push(&mut text, &piece.text);
            if let Some((missing, rest)) = &piece.cut {
                let missing = large_count_text(*missing as u64);
                text.push_str(&format!("\n[{missing} characters cut {nonce}]\n"));
                push(&mut text, rest);
            }
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
        RenderedMessage {
            speaker: self.speaker.clone(),
            step: self.step,
            text,
            passages,
        }
    }
}
