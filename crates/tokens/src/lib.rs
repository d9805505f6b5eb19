//! Input and output of a trained agent: chat templates, tokens, loss masks, tool calls in text.
//!
//! - [`template`]: chat templates, rendered like Hugging Face's transformers.
//! - [`tokenizer`]: text to token ids and back, from files or by bytes.
//! - [`conversation`]: flat messages, and the text that each adds, in linear time.
//! - [`delta`]: the tokens and the loss mask that a message adds, in three modes.
//! - [`tool_parser`]: parses tool calls in a completion like SGLang's `qwen25` parser.
//! - [`openai`], [`action`]: convert a parsed completion to an OpenAI message, and to an action of tau-bench.
//! - [`tool_instruction`]: the sentence of Qwen's templates that an agent replaces.
//!
//! Invariants: no I/O and no clock. Templates and tokenizer files are untrusted: their work is bounded, and invalid
//! input is an error with its position, never a panic.

pub mod action;
pub mod conversation;
pub mod delta;
mod json_text;
pub mod openai;
pub mod template;
pub mod tokenizer;
pub mod tool_instruction;
pub mod tool_parser;

pub use action::{Action, call_to_action};
pub use conversation::{ChatMessage, ChatRole, Conversation};
pub use delta::{Delta, DeltaError, MaskMode, RenderedMode};
pub use template::{Builtin, ChatTemplate, RenderInput, TemplateError};
pub use tokenizer::{FileTokenizer, Tokenizer, TokenizerError, ToyTokenizer};
pub use tool_parser::{ParseOptions, Parsed, ToolParser};
pub use volary_core::token_strip::{TokenId, TokenStrip};
