//! The rendered text, its tokens, and the three modes side by side.

use volary_core::Json;
use volary_tokens::delta::{Observation, TokenIn};
use volary_tokens::{
    ChatMessage, ChatRole, ChatTemplate, Conversation, Delta, MaskMode, RenderInput, RenderedMode,
    TokenStrip, Tokenizer,
};

use super::checks::{self, Check};
use super::input::{Case, role};

/// The results for an input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Report {
    /// The rendered text, or the error of the template.
    pub rendered: Result<Rendering, String>,
    /// The modes in their order, or why there is nothing to train.
    pub modes: Result<Vec<ModeReport>, String>,
    pub checks: Vec<Check>,
}

/// A text with its tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rendering {
    pub text: String,
    /// Its tokens, none of them trained, or an error.
    pub tokens: Result<TokenStrip, String>,
}

/// The result of a mode for an episode.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModeReport {
    pub mode: MaskMode,
    /// The part of each message: first the prompt as a whole, then the messages after it.
    pub parts: Vec<Part>,
    /// Why the mode stops after these parts.
    pub error: Option<String>,
    /// The first difference from the rendered text.
    pub difference: Option<Difference>,
}

/// The text and tokens that a message adds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub name: String,
    /// Whether the assistant wrote it.
    pub is_turn: bool,
    pub text: String,
    /// Its tokens and mask.
    pub strip: TokenStrip,
}

/// The first difference between a mode's text and the rendered one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The index of the part.
    pub part: usize,
    /// The byte offset in the part's text.
    pub at: usize,
    /// The text of the mode at this place; empty at its end.
    pub found: String,
    /// The rendered text at this place; empty at its end.
    pub expected: String,
}

impl ModeReport {
    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.strip.len()).sum()
    }

    /// The number of trained tokens.
    pub(super) fn trained(&self) -> usize {
        self.parts.iter().map(|part| part.strip.trained()).sum()
    }
}

/// Computes the report of an input.
pub(super) fn examine(case: &Case, tokenizer: &dyn Tokenizer) -> Report {
    let rendered = render(
        &case.template,
        case,
        &case.messages,
        case.add_generation_prompt,
    );
    // The modes are compared with the text without a header at its end.
    let whole = render(&case.template, case, &case.messages, false);
    let modes = modes(case, tokenizer, whole.as_deref().ok());
    let end = end_of_turn(&case.template);
    let checks = vec![
        checks::keeps_prefixes(case),
        checks::trains_end(modes.as_deref(), end.as_deref(), tokenizer),
        checks::keeps_tokens(modes.as_deref(), tokenizer),
        checks::finds_calls(case, end.as_deref()),
    ];
    let rendered = rendered.map(|text| Rendering {
        tokens: tokenizer
            .encode(&text)
            .map(|ids| TokenStrip::uniform(ids, false))
            .map_err(|error| error.to_string()),
        text,
    });
    Report {
        rendered,
        modes,
        checks,
    }
}

/// Renders messages with the tools of the case.
pub(super) fn render(
    template: &ChatTemplate,
    case: &Case,
    messages: &[Json],
    add_generation_prompt: bool,
) -> Result<String, String> {
    let input = RenderInput {
        messages,
        tools: &case.tools,
        add_generation_prompt,
        ..RenderInput::default()
    };
    template.render(&input).map_err(|error| error.to_string())
}

/// The text that a template writes after a turn, such as `<|im_end|>`.
pub(super) fn end_of_turn(template: &ChatTemplate) -> Option<String> {
    const SAID: &str = "volary-turn-2f7d";
    let messages = [
        ChatMessage::new(ChatRole::User, "u"),
        ChatMessage::new(ChatRole::Assistant, SAID),
    ]
    .map(|message| message.to_json());
    let input = RenderInput {
        messages: &messages,
        ..RenderInput::default()
    };
    let text = template.render(&input).ok()?;
    let (_, after) = text.rsplit_once(SAID)?;
    let end = after.trim();
    (!end.is_empty()).then(|| end.to_owned())
}

fn modes(
    case: &Case,
    tokenizer: &dyn Tokenizer,
    whole: Option<&str>,
) -> Result<Vec<ModeReport>, String> {
    let messages = flat(&case.messages)?;
    let first_turn = messages
        .iter()
        .position(|message| message.role == ChatRole::Assistant)
        .ok_or("There is no assistant message, so nothing is trained.")?;
    let (before, _) = case.messages.split_at(first_turn);
    if before.is_empty() {
        return Err(
            "The first message must not be the assistant's: a prompt has to come before it."
                .to_owned(),
        );
    }
    let prompt = render(&case.template, case, before, true)?;
    let reports = MaskMode::ALL.into_iter().map(|mode| {
        let mut parts = Vec::new();
        let error = record(
            case, mode, &messages, first_turn, &prompt, tokenizer, &mut parts,
        )
        .err();
        let difference = whole.and_then(|whole| difference(&parts, whole, error.is_some()));
        ModeReport {
            mode,
            parts,
            error,
            difference,
        }
    });
    Ok(reports.collect())
}

/// The messages in the form of a training loop: with the raw text of each turn.
fn flat(messages: &[Json]) -> Result<Vec<ChatMessage>, String> {
    let read = |(place, message): (usize, &Json)| {
        let number = place + 1;
        let has_calls = message
            .get("tool_calls")
            .and_then(Json::as_list)
            .is_some_and(|calls| !calls.is_empty());
        if has_calls {
            return Err(format!(
                "Message {number} has tool_calls. Masks need the raw text of a turn, with its calls, as content."
            ));
        }
        ChatMessage::from_json(message).map_err(|error| format!("Message {number}: {error}"))
    };
    messages.iter().enumerate().map(read).collect()
}

/// Records an episode like a rollout, message by message.
fn record(
    case: &Case,
    mode: MaskMode,
    messages: &[ChatMessage],
    first_turn: usize,
    prompt: &str,
    tokenizer: &dyn Tokenizer,
    parts: &mut Vec<Part>,
) -> Result<(), String> {
    let ids = tokenizer
        .encode(prompt)
        .map_err(|error| error.to_string())?;
    parts.push(Part {
        name: "Prompt".to_owned(),
        is_turn: false,
        text: prompt.to_owned(),
        strip: TokenStrip::uniform(ids, false),
    });
    let mut conversation = Conversation::new(case.template.clone());
    let (before, after) = messages.split_at(first_turn);
    for message in before {
        conversation.push(message.clone());
    }
    let end = end_of_turn(&case.template);
    for (place, message) in after.iter().enumerate() {
        let number = first_turn + place + 1;
        let is_turn = message.role == ChatRole::Assistant;
        let failed = |error: String| format!("Message {number}: {error}");
        let rendered = match mode {
            MaskMode::Seed => Some(RenderedMode::Seed),
            MaskMode::Fixed => Some(RenderedMode::Fixed),
            MaskMode::TokenIn => None,
        };
        let (text, strip) = match rendered {
            Some(mode) => {
                // The prompt contains the header of the first turn.
                let delta = conversation.push_for_delta(message.clone(), mode, place > 0);
                let delta = delta.map_err(|error| failed(error.to_string()))?;
                tokenized(delta, tokenizer)
            }
            None => {
                let end = end
                    .as_deref()
                    .ok_or_else(|| failed("the template writes nothing after a turn".to_owned()))?;
                let token_in = TokenIn {
                    template: &case.template,
                    end,
                };
                let continues = after
                    .get(place + 1)
                    .is_some_and(|next| next.role == ChatRole::Assistant);
                if is_turn {
                    sampled(token_in, message, tokenizer)
                } else {
                    let observation = if continues {
                        Observation::Continues
                    } else {
                        Observation::Closes
                    };
                    let delta = token_in.observation(message, observation);
                    tokenized(delta.map_err(|error| failed(error.to_string()))?, tokenizer)
                }
            }
        }
        .map_err(failed)?;
        parts.push(Part {
            name: format!("{number} {}", message.role.name()),
            is_turn,
            text,
            strip,
        });
    }
    Ok(())
}

fn tokenized(delta: Delta, tokenizer: &dyn Tokenizer) -> Result<(String, TokenStrip), String> {
    let strip = delta
        .tokenize(tokenizer)
        .map_err(|error| error.to_string())?;
    Ok((delta.text, strip))
}

/// Makes a turn as if the model had sampled the tokens of its text.
fn sampled(
    token_in: TokenIn<'_>,
    message: &ChatMessage,
    tokenizer: &dyn Tokenizer,
) -> Result<(String, TokenStrip), String> {
    let text = format!("{}{}", message.content, token_in.end);
    let strip = tokenizer
        .encode(&text)
        .and_then(|ids| token_in.turn(tokenizer, &ids));
    Ok((text, strip.map_err(|error| error.to_string())?))
}

/// Finds the first difference between parts and text. If the mode stopped early, the text may continue after the
/// parts.
fn difference(parts: &[Part], whole: &str, gave_up: bool) -> Option<Difference> {
    let mut rest = whole;
    for (place, part) in parts.iter().enumerate() {
        match rest.strip_prefix(&*part.text) {
            Some(after) => rest = after,
            None => {
                let at = common(&part.text, rest);
                return Some(Difference {
                    part: place,
                    at,
                    found: excerpt(&part.text[at..]),
                    expected: excerpt(&rest[at..]),
                });
            }
        }
    }
    let last = parts.len().checked_sub(1)?;
    (!rest.is_empty() && !gave_up).then(|| Difference {
        part: last,
        at: parts[last].text.len(),
        found: String::new(),
        expected: excerpt(rest),
    })
}

/// The length in bytes of the common prefix of two texts, in whole characters.
pub(super) fn common(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs
        .take_while(|(one, other)| one == other)
        .map(|(character, _)| character.len_utf8())
        .sum()
}

/// The start of a text, short enough for a sentence.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The number and role of a message, for sentences.
pub(super) fn named(place: usize, message: &Json) -> String {
    format!("message {} ({})", place + 1, role(message))
}

#[cfg(test)]
mod tests {
    use volary_tokens::ToyTokenizer;

    use super::*;
    use crate::lab::examples::EXAMPLES;

    fn of_example(place: usize) -> Report {
        examine(&EXAMPLES[place].input().read().unwrap(), &ToyTokenizer)
    }

    #[test]
    fn seed_loses_the_header_of_the_second_turn() {
        let modes = of_example(0).modes.unwrap();
        let [seed, fixed, token_in] = modes.as_slice() else {
            panic!("three modes");
        };
        let lost = seed.difference.as_ref().unwrap();
        assert_eq!(seed.parts[lost.part].name, "5 assistant");
        assert_eq!(lost.at, 0);
        assert!(
            lost.expected.starts_with("<|im_start|>assistant\n"),
            "{lost:?}"
        );
        assert!(lost.found.starts_with("It was shipped."), "{lost:?}");
        assert_eq!(fixed.difference, None);
        // A special token and the bytes of "assistant\n".
        assert_eq!(fixed.len() - seed.len(), 11);
        assert_eq!(fixed.trained(), seed.trained());
        // It ends with the end of the turn; the line break after it was not sampled.
        let end = token_in.difference.as_ref().unwrap();
        assert_eq!((end.found.as_str(), end.expected.as_str()), ("", "\n"));
    }

    #[test]
    fn qwen3_drops_the_think_block_of_an_older_turn() {
        let report = of_example(1);
        let modes = report.modes.unwrap();
        let lost = modes[0].difference.as_ref().unwrap();
        assert!(lost.found.starts_with("<think>"), "{lost:?}");
        assert!(lost.expected.starts_with("It is 42."), "{lost:?}");
        let text = report.rendered.unwrap().text;
        assert!(!text.contains("6 times 7 is 42"), "{text}");
        assert!(text.contains("42 plus 1 is 43"), "{text}");
    }

    #[test]
    fn conversations_that_cannot_be_trained_are_rendered() {
        let mut input = EXAMPLES[0].input();
        input.messages = r#"[{"role": "user", "content": "Hello"}]"#.to_owned();
        input.add_generation_prompt = true;
        let report = examine(&input.read().unwrap(), &ToyTokenizer);
        let rendered = report.rendered.unwrap();
        assert!(rendered.text.ends_with("<|im_start|>assistant\n"));
        assert_eq!(rendered.tokens.map(|strip| strip.trained()), Ok(0));
        assert!(report.modes.is_err());
        input.messages =
            r#"[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}]"#
                .to_owned();
        let report = examine(&input.read().unwrap(), &ToyTokenizer);
        assert!(report.rendered.is_ok());
        assert!(
            report
                .modes
                .unwrap_err()
                .contains("Message 2 has tool_calls")
        );
    }

    #[test]
    fn the_end_of_a_turn_is_the_template_s_own() {
        for builtin in volary_tokens::Builtin::ALL {
            let end = end_of_turn(&builtin.template().unwrap());
            assert_eq!(end.as_deref(), Some("<|im_end|>"));
        }
        let bare = ChatTemplate::new("{{ messages[-1].content }}").unwrap();
        assert_eq!(end_of_turn(&bare), None);
    }
}
