//! Untrusted texts and templates terminate, and never panic.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use proptest::collection::vec;
use proptest::prelude::*;
use volary_core::{Text, json};
use volary_tokens::tokenizer::{Tokenizer, ToyTokenizer};
use volary_tokens::tool_parser::{ParseOptions, ToolParser};
use volary_tokens::{
    Builtin, ChatMessage, ChatRole, ChatTemplate, Conversation, Delta, FileTokenizer, RenderInput,
    RenderedMode, call_to_action, openai,
};

fn pieces(parts: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => proptest::sample::select(parts).prop_map(str::to_owned),
        1 => "\\PC{0,3}",
    ];
    vec(part, 0..most).prop_map(|parts| parts.concat())
}

const CALLS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"name\"",
    "\"arguments\"",
    "\"parameters\"",
    "\"f\"",
    "null",
    "NaN",
    "-0",
    "1e400",
    "\"\\ud800\"",
    " ",
    "\u{1c}",
];

const JINJA: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "-",
    "+",
    " ",
    "\n",
    "messages",
    "for m in messages",
    "endfor",
    "if",
    "endif",
    "generation",
    "endgeneration",
    "raw",
    "endraw",
    "m.role",
    "m['content']",
    "|tojson",
    "|join",
    "|length",
    "loop.index",
    "set x =",
    "1",
    "'a'",
    "[",
    "]",
    "(",
    ")",
    ".split('a')",
    "~",
    "**",
    "//",
    "range(9)",
    "strftime_now('%Y')",
    "raise_exception('x')",
    "x",
    "namespace()",
    "macro f()",
    "endmacro",
    "f()",
];

proptest! {
    #[test]
    fn the_parser_never_panics(text in pieces(CALLS, 24), forward_unknown: bool) {
        let tools: [Text; 2] = ["f".into(), "g".into()];
        let options = ParseOptions { tools: &tools, forward_unknown };
        for parser in ToolParser::ALL {
            if let Ok(parsed) = parser.parse(&text, &options) {
                openai::message(&parsed);
                let _ = call_to_action(&parsed.calls, &parsed.normal_text);
            }
        }
    }

    #[test]
    fn templates_never_panic(source in pieces(JINJA, 16)) {
        let messages = [json!({"role": "user", "content": "hi"})];
        if let Ok(template) = ChatTemplate::new(&source) {
            let input = RenderInput { messages: &messages, ..RenderInput::default() };
            let text = template.render(&input);
            let rendered = template.render_with_generated(&input);
            prop_assert_eq!(text, rendered.map(|rendered| rendered.text));
        }
    }

    #[test]
    fn a_mask_is_as_long_as_its_tokens(
        text in pieces(&["<|im_start|>", "<|im_end|>", "assistant", "\n", "é"], 9),
        header: usize,
        is_trained: bool,
    ) {
        let header = header % (text.len() + 2);
        let strip = Delta { text: text.clone(), header, is_trained }.tokenize(&ToyTokenizer).unwrap();
        prop_assert_eq!(strip.mask().len(), strip.ids().len());
        prop_assert_eq!(ToyTokenizer.decode(strip.ids()).unwrap(), text.into_bytes());
    }

    #[test]
    fn broken_tokenizer_files_are_refused(data in vec(any::<u8>(), 0..64), json in "[{}\\[\\]\":,a-z0-9]{0,40}") {
        let _ = FileTokenizer::read(&data);
        let _ = FileTokenizer::read(format!("{{{json}").as_bytes());
        let _ = FileTokenizer::read(format!("kitoken\0\u{1}{json}").as_bytes());
        prop_assert!(FileTokenizer::read(b"YQ== 0\n").is_err());
    }
}

#[test]
fn an_endless_template_is_stopped() {
    let source = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}\
                  {% set x = 1 %}{% endfor %}{% endfor %}{% endfor %}";
    let template = ChatTemplate::new(source).unwrap();
    let messages = [json!({"role": "user", "content": "hi"})];
    let rendered = template.render(&RenderInput {
        messages: &messages,
        ..RenderInput::default()
    });
    assert!(rendered.is_err());
}

#[test]
fn an_error_names_its_line() {
    let messages = [json!({"role": "user", "content": "hi"})];
    let input = RenderInput {
        messages: &messages,
        ..RenderInput::default()
    };
    let error = |source: &str| {
        let rendered = ChatTemplate::new(source).and_then(|template| template.render(&input));
        rendered.unwrap_err()
    };
    let raised = error("a\n{% if true %}\n{{ raise_exception('only ' ~ 1) }}\n{% endif %}");
    assert_eq!(raised.line(), Some(3));
    assert!(raised.to_string().contains("only 1"), "{raised}");
    assert_eq!(error("a\n{{ messages[0].x.y }}").line(), Some(2));
    assert_eq!(error("{% for %}").line(), Some(1));
}

#[test]
fn generated_parts_are_found_where_they_are() {
    let source = "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}\
                  {% generation %}{{ m.content }}!{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}";
    let template = ChatTemplate::new(source).unwrap();
    let messages = [
        json!({"role": "user", "content": "é"}),
        json!({"role": "assistant", "content": "yo"}),
        json!({"role": "user", "content": "b"}),
        json!({"role": "assistant", "content": ""}),
    ];
    let rendered = template.render_with_generated(&RenderInput {
        messages: &messages,
        ..RenderInput::default()
    });
    let rendered = rendered.unwrap();
    let parts = rendered.generated.iter();
    let parts: Vec<&str> = parts.map(|range| &rendered.text[range.clone()]).collect();
    assert_eq!(parts, ["yo!", "!"]);
}

#[test]
fn worked_example_of_slime() {
    let expected = [
        (RenderedMode::Seed, (41, 12)),
        (RenderedMode::Fixed, (52, 12)),
    ];
    for (mode, counts) in expected {
        let template = std::rc::Rc::new(Builtin::Qwen25.template().unwrap());
        let mut conversation = Conversation::new(template);
        conversation.push(ChatMessage::new(ChatRole::System, "SYS"));
        conversation.push(ChatMessage::new(ChatRole::User, "hi"));
        let prompt = conversation.render(&[], true).unwrap();
        assert_eq!(ToyTokenizer.encode(&prompt).unwrap().len(), 34);
        let mut whole = volary_tokens::TokenStrip::default();
        for (role, content) in [
            (ChatRole::Assistant, "Hello"),
            (ChatRole::User, "bye"),
            (ChatRole::Assistant, "Bye"),
            (ChatRole::User, "###STOP###"),
        ] {
            let message = ChatMessage::new(role, content);
            let delta = conversation.push_for_delta(message, mode, !whole.is_empty());
            whole.extend(&delta.unwrap().tokenize(&ToyTokenizer).unwrap());
        }
        assert_eq!((whole.len(), whole.trained()), counts);
        let mut decoded = prompt.into_bytes();
        decoded.extend(ToyTokenizer.decode(whole.ids()).unwrap());
        let rendered = conversation.render(&[], false).unwrap();
        assert_eq!(
            decoded == rendered.into_bytes(),
            mode == RenderedMode::Fixed
        );
    }
}
