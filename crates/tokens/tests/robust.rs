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

fn rendered(source: &str) -> Result<String, volary_tokens::TemplateError> {
    let messages = [json!({"role": "user", "content": "hi"})];
    let input = RenderInput {
        messages: &messages,
        ..RenderInput::default()
    };
    ChatTemplate::new(source)?.render(&input)
}

#[test]
fn small_templates_do_not_fill_memory() {
    let doubled = |start: &str, double: &str, end: &str| {
        format!(
            "{{% set x = {start} %}}{}{end}",
            format!("{{% set x = {double} %}}").repeat(60)
        )
    };
    let long = "{% set x = 'ab' * 500000 %}";
    let hostile = [
        doubled("'ab'", "x ~ x", "{{ x }}"),
        doubled("'ab'", "x + x", "{{ x }}"),
        doubled("'ab'", "x * 2", "{{ x }}"),
        // A list that contains another one twice, and so on: small, unless it is written.
        doubled("[1]", "[x, x]", "{{ x }}"),
        doubled("[1]", "[x, x]", "{{ x | tojson }}"),
        doubled("[1]", "[x, x]", "{{ x | string }}"),
        doubled("[1]", "[x, x]", "{{ [x] | join }}"),
        doubled("[1]", "[x, x]", "{{ ''.join([x]) }}"),
        doubled("[1]", "[x, x]", "{{ raise_exception(x) }}"),
        doubled("{'a': 1}", "{'a': x, 'b': x}", "{{ x }}"),
        doubled(
            "{'a': 1}",
            "{'a': x, 'b': x}",
            "{{ x | tojson(indent=1000) }}",
        ),
        format!("{long}{{{{ x | replace('a', x) }}}}"),
        format!("{long}{{{{ x.replace('a', x) }}}}"),
        format!("{long}{{{{ range(99999) | join(x) }}}}"),
        format!("{long}{{{{ x.join(range(99999)) }}}}"),
        format!("{long}{{{{ range(99999) | list | tojson(separators=(x, x)) }}}}"),
        format!("{long}{{{{ [[[1]]] | tojson(indent=x) }}}}"),
        format!("{long}{{{{ x.replace('a', '\\t').expandtabs(100000) }}}}"),
        format!("{long}{{% for a in range(99999) %}}{{{{ x }}}}{{% endfor %}}"),
        "{{ '{:999999999}'.format(1) ~ ('%999999999d' | format(1)) }}".to_owned(),
        "{{ 'a' * 99999999999 }}{{ [1] * 99999999999 }}".to_owned(),
        "{{ range(99999999999) | list }}".to_owned(),
    ];
    for source in hostile {
        let end = source
            .get(source.len().saturating_sub(60)..)
            .unwrap_or(&source);
        println!("{end}");
        let began = std::time::Instant::now();
        let text = rendered(&source);
        assert!(text.is_err(), "{end}");
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    }
}

#[test]
fn work_on_long_texts_counts_however_it_is_done() {
    for work in [
        "x.find('b')",
        "x.count('b')",
        "x.rsplit('b')",
        "x.startswith('b')",
        "x | length",
    ] {
        let source = format!(
            "{{% set x = 'a' * 5000000 %}}{{% for a in range(99999) %}}{{% set y = {work} %}}{{% endfor %}}"
        );
        let began = std::time::Instant::now();
        let text = rendered(&source);
        assert!(text.is_err() || work.ends_with("length"), "{work}");
        assert!(
            began.elapsed().as_secs() < 60,
            "{work}: {:?}",
            began.elapsed()
        );
    }
}

#[test]
fn templates_that_are_nested_or_long_end() {
    for many in [40_000, 390] {
        nested_or_long(many);
    }
}

fn nested_or_long(many: usize) {
    let long = |before: &str, part: &str, after: &str| {
        format!("{before}{}{after}", format!("{part}\n").repeat(many))
    };
    for source in [
        long("{{ ", "(", ""),
        long("{{ ", "[", ""),
        long("{{ ", "not ", "1 }}"),
        long("{{ ", "-", "1 }}"),
        long("{{ 1", " + 1", " }}"),
        long("{{ 1", " ~ 1", " }}"),
        long("{{ x", ".a", " }}"),
        long("{{ x", "[0]", " }}"),
        long("{{ x", "|string", " }}"),
        long("{{ 1", " if 1 else 1", " }}"),
        long("", "{% if 1 %}", ""),
        long("", "{% for a in [1] %}", ""),
        long("", "{% if 1 %}{% elif 1 %}", ""),
        long("", "{% generation %}", ""),
        long("{% raw %}", "{% '", ""),
        long("{% raw %}", "{% \"{{", "{% endraw %}"),
        long("", "{% raw %}", ""),
        long("", "{{ '", ""),
        long("", "{#", ""),
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}".to_owned(),
        "{% macro f(x) %}{{ f([x, x]) }}{{ f([x, x]) }}{% endmacro %}{{ f([]) }}".to_owned(),
        "{% for a in [1, 1] recursive %}{{ loop([1, 1]) }}{% endfor %}".to_owned(),
    ] {
        let start: String = source.chars().take(30).collect();
        println!("{start}");
        let began = std::time::Instant::now();
        let _ = rendered(&source);
        assert!(
            began.elapsed().as_secs() < 60,
            "{start}: {:?}",
            began.elapsed()
        );
    }
}

/// A `tokenizer.json` with this model and these further members.
fn tokenizer(model: &str, others: &str) -> Result<FileTokenizer, volary_tokens::TokenizerError> {
    FileTokenizer::read(format!(r#"{{"version": "1.0", "model": {model}{others}}}"#).as_bytes())
}

const BPE: &str = r#"{"type": "BPE", "vocab": {"a": 0, "b": 1, "aa": 2}, "merges": ["a a"]}"#;

fn split_by(pattern: &str) -> String {
    let pattern = json!(pattern).to_compact_text();
    format!(
        r#", "pre_tokenizer": {{"type": "Split", "pattern": {{"Regex": {pattern}}}, "behavior": "Isolated", "invert": false}}"#
    )
}

#[test]
fn a_regular_expression_without_end_is_an_error_of_the_text() {
    let plain = tokenizer(BPE, &split_by("a+|b")).unwrap();
    assert_eq!(plain.encode("aab").unwrap(), [2, 1]);
    let hostile = tokenizer(BPE, &split_by(r"(?:a|a)*(?:a+)+(?!a)c|b")).unwrap();
    let error = hostile.encode(&"a".repeat(200)).unwrap_err();
    assert!(error.to_string().contains("too many steps"), "{error}");
}

#[test]
fn hostile_tokenizer_files_are_refused_or_work() {
    let long = "a".repeat(5_000);
    let unigram = |token: &str| {
        format!(
            r#"{{"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["{token}", -1.0]]}}"#
        )
    };
    const UNKNOWN: &str = r#", "added_tokens": [{"id": 0, "content": "<unk>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}]"#;
    let refused = tokenizer(&BPE.replace("\"b\"", &format!("\"{long}\"")), "").unwrap_err();
    assert!(
        refused.to_string().contains("a token of 5000 bytes"),
        "{refused}"
    );
    let refused = tokenizer(&unigram(&long[..300]), UNKNOWN).unwrap_err();
    assert!(refused.to_string().contains("at most 256"), "{refused}");
    let cases = [
        tokenizer(&unigram("a"), UNKNOWN),
        tokenizer(&BPE.replace("\"a a\"", "\"x y\""), ""),
        tokenizer(&BPE.replace("2}", "4294967295}"), ""),
        tokenizer(&BPE.replace("\"aa\": 2", "\"aa\": 0"), ""),
        tokenizer(
            &BPE.replace("\"merges\"", "\"end_of_word_suffix\": \"</w>\", \"merges\""),
            "",
        ),
        tokenizer(BPE, &split_by("(")),
        tokenizer(BPE, &split_by("(?=)")),
        tokenizer(BPE, &split_by(r"(\w{1,1000}){1,1000}")),
        tokenizer(
            BPE,
            r#", "normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}"#,
        ),
        tokenizer(
            BPE,
            r#", "normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": "aaaaaaaaaaaaaaaa"}"#,
        ),
        tokenizer(
            BPE,
            r#", "added_tokens": [{"id": 0, "content": "", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}]"#,
        ),
        FileTokenizer::read(&[b"kitoken\0".as_slice(), &[0xff; 64]].concat()),
        FileTokenizer::read(format!("{{{}", "\"model\":{".repeat(10_000)).as_bytes()),
    ];
    for tokenizer in cases.into_iter().flatten() {
        let texts = ["", "a", "ab", "</w>", "\u{fffd}", &long];
        for text in texts {
            if let Ok(ids) = tokenizer.encode(text) {
                let _ = tokenizer.decode(&ids);
            }
        }
        let _ = tokenizer.decode(&[0, u32::MAX]);
    }
}
