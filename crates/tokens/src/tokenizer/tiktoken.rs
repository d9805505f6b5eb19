//! Tiktoken files contain only ranks. The family defines how texts are split, which tokens are special and whether
//! texts are normalised.

use kitoken::convert::convert_tiktoken;
use kitoken::{
    Definition, Normalization, Regex, SpecialToken, SpecialTokenKind, Split, SplitBehavior,
    UnicodeNormalization,
};

use super::TokenizerError;
use super::file::unreadable;

/// A family of models that share a tiktoken file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TiktokenFamily {
    /// OpenAI's `p50k_base` and `r50k_base`.
    P50k,
    /// OpenAI's `cl100k_base`.
    Cl100k,
    /// OpenAI's `o200k_base`.
    O200k,
    /// Llama 3.
    Llama3,
    /// Qwen2, Qwen2.5 and Qwen3.
    Qwen,
}

/// The splitting expression of Llama 3.
const LLAMA_3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The splitting expression of Qwen.
const QWEN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// The special tokens of Qwen2.5, starting at the rank after the last one.
const QWEN_SPECIALS: [&str; 22] = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
];
/// The named special tokens of Llama 3.1, as offsets after the last rank; the others of 256 are reserved.
const LLAMA_3_SPECIALS: [(usize, &str); 8] = [
    (0, "<|begin_of_text|>"),
    (1, "<|end_of_text|>"),
    (4, "<|finetune_right_pad_id|>"),
    (6, "<|start_header_id|>"),
    (7, "<|end_header_id|>"),
    (8, "<|eom_id|>"),
    (9, "<|eot_id|>"),
    (10, "<|python_tag|>"),
];
const LLAMA_3_SPECIAL_COUNT: usize = 256;

impl TiktokenFamily {
    /// The family with this number of ranks.
    pub fn of_ranks(ranks: usize) -> Option<Self> {
        match ranks {
            50_256 | 50_257 | 50_280 => Some(TiktokenFamily::P50k),
            100_256 => Some(TiktokenFamily::Cl100k),
            128_000 => Some(TiktokenFamily::Llama3),
            151_643 => Some(TiktokenFamily::Qwen),
            199_998 => Some(TiktokenFamily::O200k),
            _ => None,
        }
    }
}

/// Whether the first line consists of a token in base64 and a rank.
pub(super) fn has_form(data: &[u8]) -> bool {
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut parts = line.trim_ascii().split(|byte| *byte == b' ');
    let (Some(token), Some(rank), None) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let is_token = !token.is_empty() && token.iter().all(is_base64);
    is_token && !rank.is_empty() && rank.iter().all(u8::is_ascii_digit)
}

/// The definition of the tokenizer of a file.
pub(super) fn definition(
    data: &[u8],
    family: Option<TiktokenFamily>,
) -> Result<Definition, TokenizerError> {
    let mut definition = convert_tiktoken(data).map_err(unreadable)?;
    let ranks = definition.model.vocab().len();
    let family = family
        .or_else(|| TiktokenFamily::of_ranks(ranks))
        .ok_or(TokenizerError::UnknownFamily(ranks))?;
    match family {
        // kitoken detects these by the number of ranks.
        TiktokenFamily::P50k | TiktokenFamily::Cl100k | TiktokenFamily::O200k => (),
        TiktokenFamily::Qwen => {
            let specials = QWEN_SPECIALS.iter().enumerate();
            definition.specials = specials
                .map(|(index, name)| special(ranks + index, name))
                .collect::<Result<_, _>>()?;
            definition.config.split = vec![split(QWEN)?];
            definition.config.normalization = vec![Normalization::Unicode {
                scheme: UnicodeNormalization::NFC,
            }];
            definition.config.templates.clear();
        }
        TiktokenFamily::Llama3 => {
            definition.specials = llama_3_specials(ranks)?;
            definition.config.split = vec![split(LLAMA_3)?];
            definition.config.templates.clear();
        }
    }
    Ok(definition)
}

fn llama_3_specials(ranks: usize) -> Result<Vec<SpecialToken>, TokenizerError> {
    let mut reserved = 0..;
    (0..LLAMA_3_SPECIAL_COUNT)
        .map(|index| {
            let named = LLAMA_3_SPECIALS.iter().find(|(at, _)| *at == index);
            match named {
                Some((_, name)) => special(ranks + index, name),
                None => {
                    let number = reserved.next().unwrap_or_default();
                    special(
                        ranks + index,
                        &format!("<|reserved_special_token_{number}|>"),
                    )
                }
            }
        })
        .collect()
}

fn special(id: usize, name: &str) -> Result<SpecialToken, TokenizerError> {
    let id = u32::try_from(id).map_err(unreadable)?;
    Ok(SpecialToken {
        id,
        bytes: name.as_bytes().to_vec(),
        kind: SpecialTokenKind::Control,
        ident: None,
        score: 0.0,
        extract: true,
    })
}

fn split(pattern: &str) -> Result<Split, TokenizerError> {
    let pattern = Regex::new(pattern).map_err(unreadable)?;
    Ok(Split::Pattern {
        pattern: pattern.into(),
        behavior: SplitBehavior::Isolate,
    })
}
