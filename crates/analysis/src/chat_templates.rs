//! The marks of chat templates, in one table.
//!
//! [`token_record`](volary_episode::token_record) finds turns in tokens by them, where each mark is one token. The readers of rollouts
//! divide texts by them, where a message may quote the marks of another template.

use volary_core::Role;

/// The marks of a chat template, or of several that differ in nothing else.
pub struct Template {
    /// What precedes every opener, as a token of its own. It has no meaning alone.
    pub lead: &'static str,
    /// What begins a message, and its role if the header names none.
    pub openers: &'static [(&'static str, Role)],
    pub header: Header,
    /// What ends a message.
    pub ends: &'static [&'static str],
    /// Whether texts are divided by these marks, too, rather than tokens only.
    pub divides_texts: bool,
}

/// What belongs to the header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// The opener only, which says the role.
    Opener,
    /// The line that the opener begins, which names the role. A variant of the template may have this mark in place of
    /// the line break.
    Line { or_up_to: Option<&'static str> },
    /// The role up to this mark, and line breaks after it.
    UpTo(&'static str),
    /// The role up to the next mark, which the model writes.
    BeforeMark,
}

/// What most templates have in common.
const COMMON: Template = Template {
    lead: "",
    openers: &[],
    header: Header::Opener,
    ends: &[],
    divides_texts: true,
};

pub static TEMPLATES: [Template; 13] = [
    // ChatML, and its variant of Phi-4.
    Template {
        openers: &[("<|im_start|>", Role::User)],
        header: Header::Line {
            or_up_to: Some("<|im_sep|>"),
        },
        ends: &["<|im_end|>"],
        ..COMMON
    },
    // Llama 3.
    Template {
        openers: &[("<|start_header_id|>", Role::User)],
        header: Header::UpTo("<|end_header_id|>"),
        ends: &["<|eot_id|>", "<|eom_id|>"],
        ..COMMON
    },
    // Llama 4.
    Template {
        openers: &[("<|header_start|>", Role::User)],
        header: Header::UpTo("<|header_end|>"),
        ends: &["<|eot|>", "<|eom|>"],
        ..COMMON
    },
    // Gemma, in two versions.
    Template {
        openers: &[("<start_of_turn>", Role::User)],
        header: Header::Line { or_up_to: None },
        ends: &["<end_of_turn>", "<eos>"],
        ..COMMON
    },
    Template {
        openers: &[("<|turn>", Role::User)],
        header: Header::Line { or_up_to: None },
        ends: &["<turn|>"],
        ..COMMON
    },
    // Granite.
    Template {
        openers: &[("<|start_of_role|>", Role::User)],
        header: Header::UpTo("<|end_of_role|>"),
        ends: &["<|end_of_text|>"],
        ..COMMON
    },
    // MiniMax.
    Template {
        openers: &[("]~b]", Role::User)],
        header: Header::Line { or_up_to: None },
        ends: &["[e~["],
        ..COMMON
    },
    // Kimi.
    Template {
        openers: &[
            ("<|im_user|>", Role::User),
            ("<|im_assistant|>", Role::Assistant),
            ("<|im_system|>", Role::System),
        ],
        header: Header::UpTo("<|im_middle|>"),
        ends: &["<|im_end|>"],
        ..COMMON
    },
    // GLM, Phi and others.
    Template {
        openers: &[
            ("<|user|>", Role::User),
            ("<|assistant|>", Role::Assistant),
            ("<|system|>", Role::System),
            ("<|observation|>", Role::Tool),
            ("<|tool|>", Role::Tool),
        ],
        ends: &["<|end|>", "<|endoftext|>"],
        ..COMMON
    },
    // DeepSeek. After the results of tools, the model goes on without another mark.
    Template {
        openers: &[
            ("<｜User｜>", Role::User),
            ("<｜Assistant｜>", Role::Assistant),
            ("<｜tool▁outputs▁begin｜>", Role::Tool),
            ("<｜tool▁outputs▁end｜>", Role::Assistant),
        ],
        ends: &["<｜end▁of▁sentence｜>"],
        ..COMMON
    },
    // Command R.
    Template {
        lead: "<|START_OF_TURN_TOKEN|>",
        openers: &[
            ("<|USER_TOKEN|>", Role::User),
            ("<|CHATBOT_TOKEN|>", Role::Assistant),
            ("<|SYSTEM_TOKEN|>", Role::System),
        ],
        ends: &["<|END_OF_TURN_TOKEN|>"],
        ..COMMON
    },
    // Harmony. A turn has several parts, such as an analysis and a call, and each has marks of its own.
    Template {
        openers: &[("<|start|>", Role::User)],
        header: Header::BeforeMark,
        ends: &["<|end|>", "<|return|>", "<|call|>"],
        divides_texts: false,
        ..COMMON
    },
    // Mistral. Its marks are plain text, which a message may contain: `</s>` is a tag of HTML as well.
    Template {
        openers: &[("[INST]", Role::User), ("[/INST]", Role::Assistant)],
        ends: &["</s>"],
        divides_texts: false,
        ..COMMON
    },
];

/// What begins DeepSeek's prompts. Its message of the system has no mark.
pub const DEEPSEEK_BEGINNING: &str = "<｜begin▁of▁sentence｜>";

/// What may precede the first message of a prompt.
pub const BEGINNINGS: [&str; 8] = [
    "<|begin_of_text|>",
    DEEPSEEK_BEGINNING,
    "<|startoftext|>",
    "<BOS_TOKEN>",
    "<bos>",
    "<s>",
    "[gMASK]",
    "<sop>",
];
