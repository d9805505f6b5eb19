//! The built-in templates; `templates/README.md` lists their sources.

use super::{ChatTemplate, TemplateError};

/// A chat template of a model family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// Qwen2.5-Instruct.
    Qwen25,
    /// Qwen3 with hybrid thinking: the thinking of older turns is omitted.
    Qwen3,
    /// Qwen3-Instruct-2507: no thinking.
    Qwen3Instruct2507,
}

impl Builtin {
    /// All built-in templates.
    pub const ALL: [Builtin; 3] = [Builtin::Qwen25, Builtin::Qwen3, Builtin::Qwen3Instruct2507];

    /// The name in links and files.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Qwen25 => "qwen2.5",
            Builtin::Qwen3 => "qwen3",
            Builtin::Qwen3Instruct2507 => "qwen3-2507",
        }
    }

    /// The template with this name.
    pub fn from_name(name: &str) -> Option<Builtin> {
        Builtin::ALL
            .into_iter()
            .find(|builtin| builtin.name() == name)
    }

    /// The Jinja source.
    pub fn source(self) -> &'static str {
        match self {
            Builtin::Qwen25 => include_str!("../../templates/qwen2.5.jinja"),
            Builtin::Qwen3 => include_str!("../../templates/qwen3.jinja"),
            Builtin::Qwen3Instruct2507 => include_str!("../../templates/qwen3-2507.jinja"),
        }
    }

    /// The built-in template with exactly this source.
    pub fn of_source(source: &str) -> Option<Builtin> {
        Builtin::ALL
            .into_iter()
            .find(|builtin| builtin.source() == source)
    }

    /// Compiles the template.
    pub fn template(self) -> Result<ChatTemplate, TemplateError> {
        ChatTemplate::new(self.source())
    }
}
