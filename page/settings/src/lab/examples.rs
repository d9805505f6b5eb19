//! Worked examples.

use volary_tokens::Builtin;

use super::input::Input;

/// An example input.
pub(super) struct Example {
    pub name: &'static str,
    /// The explanation of the result.
    pub lesson: &'static str,
    template: Builtin,
    messages: &'static str,
    tools: &'static str,
}

impl Example {
    pub(super) fn input(&self) -> Input {
        Input {
            template: Some(self.template),
            source: String::new(),
            messages: self.messages.to_owned(),
            tools: self.tools.to_owned(),
            add_generation_prompt: false,
        }
    }
}

/// The examples; the page starts with the first.
pub(super) const EXAMPLES: [Example; 2] = [
    Example {
        name: "The header that seed loses",
        lesson: "From the second turn on, seed leaves out <|im_start|>assistant, so the model is trained on text that it never sees.",
        template: Builtin::Qwen25,
        messages: r#"[
  {"role": "system", "content": "You help with orders."},
  {"role": "user", "content": "Where is order 7?"},
  {"role": "assistant", "content": "<tool_call>\n{\"name\": \"find_order\", \"arguments\": {\"id\": 7}}\n</tool_call>"},
  {"role": "tool", "name": "find_order", "content": "{\"status\": \"shipped\"}"},
  {"role": "assistant", "content": "It was shipped."}
]"#,
        tools: TOOLS,
    },
    Example {
        name: "The think block that Qwen3 drops",
        lesson: "Hybrid Qwen3 leaves out the reasoning of older turns, so the text before a new question changes.",
        template: Builtin::Qwen3,
        messages: r#"[
  {"role": "user", "content": "What is 6 times 7?"},
  {"role": "assistant", "content": "<think>\n6 times 7 is 42.\n</think>\n\nIt is 42."},
  {"role": "user", "content": "And plus 1?"},
  {"role": "assistant", "content": "<think>\n42 plus 1 is 43.\n</think>\n\nIt is 43."}
]"#,
        tools: "",
    },
];

const TOOLS: &str = r#"[
  {
    "type": "function",
    "function": {
      "name": "find_order",
      "description": "Finds an order by its number.",
      "parameters": {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"]
      }
    }
  }
]"#;
