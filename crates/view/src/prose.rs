//! Markdown as a tree to render, with the source position of each text.
//!
//! **Invariants:** HTML is treated as text; the tree is no deeper than [`DEEPEST`] and has at most
//! [`MOST_NODES`] nodes, whatever the input.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Deeper content is rendered at this depth.
const DEEPEST: usize = 20;
/// A text with more nodes is shown as plain text, because each node is an element of the page.
const MOST_NODES: usize = 4_000;

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProseNode {
    pub kind: ProseKind,
    /// Its children in order.
    pub children: Vec<ProseNode>,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProseKind {
    Paragraph,
    /// A heading of a level, from 1 to 6.
    Heading(usize),
    /// A code block and its language, empty if none is given.
    Code(String),
    /// A block quote.
    Quote,
    /// A list; `Some` is the first number of an ordered list.
    List(Option<u64>),
    /// A list item.
    Item,
    /// A table; its first row is the head.
    Table,
    /// A table row, and whether it is the head.
    Row(bool),
    /// A table cell.
    Cell,
    /// A thematic break.
    Rule,
    /// Emphasised.
    Emphasis,
    Strong,
    /// Struck through.
    Struck,
    /// Inline code.
    Inline,
    /// A link and its target.
    Link(String),
    /// An image and its address; its children are the alternative text.
    Image(String),
    /// A task list box, and whether it is ticked.
    Box(bool),
    /// Text and its source offset in characters.
    Text {
        /// The first character.
        at: usize,
        text: String,
    },
}

/// Parses a text; `None` if it has too many nodes to render.
pub fn prose(source: &str) -> Option<Vec<ProseNode>> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder::new(source);
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        builder.take(event, range);
        if builder.count > MOST_NODES {
            return None;
        }
    }
    Some(builder.finish())
}

struct Builder<'a> {
    source: &'a str,
    done: Vec<ProseNode>,
    open: Vec<ProseNode>,
    /// The number of containers that were not opened because they are too deep.
    skipped: usize,
    count: usize,
    /// The source end of the last text, if more can be appended to it.
    text_end: Option<usize>,
    /// Cached position: byte offset and character count.
    counted: (usize, usize),
}

impl<'a> Builder<'a> {
    fn new(source: &'a str) -> Self {
        Builder {
            source,
            done: Vec::new(),
            open: Vec::new(),
            skipped: 0,
            count: 0,
            text_end: None,
            counted: (0, 0),
        }
    }

    fn take(&mut self, event: Event, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.begin(kind(tag)),
            Event::End(TagEnd::MetadataBlock(_)) => {}
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.text(&text, range);
            }
            Event::Code(text) => {
                let within = self.source.get(range.clone()).unwrap_or_default();
                let start = range.start + start_of_code(within, &text);
                self.begin(ProseKind::Inline);
                self.text(&text, start..start + text.len());
                self.end();
            }
            Event::SoftBreak | Event::HardBreak => self.text("\n", range),
            Event::Rule => self.put(ProseKind::Rule),
            Event::TaskListMarker(ticked) => self.put(ProseKind::Box(ticked)),
            // These events are disabled by the parser options.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text, range);
            }
        }
    }

    fn begin(&mut self, kind: ProseKind) {
        self.text_end = None;
        if self.open.len() >= DEEPEST {
            self.skipped += 1;
            return;
        }
        self.count += 1;
        self.open.push(ProseNode {
            kind,
            children: Vec::new(),
        });
    }

    fn end(&mut self) {
        self.text_end = None;
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if let Some(node) = self.open.pop() {
            self.siblings().push(node);
        }
    }

    fn put(&mut self, kind: ProseKind) {
        self.text_end = None;
        self.count += 1;
        self.siblings().push(ProseNode {
            kind,
            children: Vec::new(),
        });
    }

    fn siblings(&mut self) -> &mut Vec<ProseNode> {
        match self.open.last_mut() {
            Some(parent) => &mut parent.children,
            None => &mut self.done,
        }
    }

    fn text(&mut self, added: &str, range: Range<usize>) {
        let as_written = self.source.get(range.clone()) == Some(added);
        if as_written
            && self.text_end == Some(range.start)
            && let Some(ProseNode {
                kind: ProseKind::Text { text, .. },
                ..
            }) = self.siblings().last_mut()
        {
            text.push_str(added);
            self.text_end = Some(range.end);
            return;
        }
        let at = self.characters(range.start);
        self.put(ProseKind::Text {
            at,
            text: added.to_owned(),
        });
        self.text_end = as_written.then_some(range.end);
    }

    /// The character offset of a byte offset. Cheap for ascending offsets.
    fn characters(&mut self, byte: usize) -> usize {
        if byte < self.counted.0 {
            self.counted = (0, 0);
        }
        let (from, count) = self.counted;
        let more = self.source.get(from..byte).unwrap_or_default();
        self.counted = (byte, count + more.chars().count());
        self.counted.1
    }

    fn finish(mut self) -> Vec<ProseNode> {
        while let Some(node) = self.open.pop() {
            self.siblings().push(node);
        }
        self.done
    }
}

fn kind(tag: Tag) -> ProseKind {
    match tag {
        Tag::Heading { level, .. } => ProseKind::Heading(match level {
            HeadingLevel::H1 => 1,
            HeadingLevel::H2 => 2,
            HeadingLevel::H3 => 3,
            HeadingLevel::H4 => 4,
            HeadingLevel::H5 => 5,
            HeadingLevel::H6 => 6,
        }),
        Tag::BlockQuote(_) => ProseKind::Quote,
        Tag::CodeBlock(CodeBlockKind::Fenced(language)) => ProseKind::Code(language.to_string()),
        Tag::CodeBlock(CodeBlockKind::Indented) => ProseKind::Code(String::new()),
        Tag::List(start) => ProseKind::List(start),
        Tag::Item => ProseKind::Item,
        Tag::Table(_) => ProseKind::Table,
        Tag::TableHead => ProseKind::Row(true),
        Tag::TableRow => ProseKind::Row(false),
        Tag::TableCell => ProseKind::Cell,
        Tag::Emphasis => ProseKind::Emphasis,
        Tag::Strong => ProseKind::Strong,
        Tag::Strikethrough => ProseKind::Struck,
        Tag::Link { dest_url, .. } => ProseKind::Link(dest_url.to_string()),
        Tag::Image { dest_url, .. } => ProseKind::Image(dest_url.to_string()),
        // HTML is text; the other events are disabled by the parser options.
        _ => ProseKind::Paragraph,
    }
}

/// Whether a link target is allowed: web pages and mail, never scripts or files.
pub fn may_lead_to(address: &str) -> bool {
    const ALLOWED: [&str; 3] = ["https:", "http:", "mailto:"];
    ALLOWED.iter().any(|scheme| {
        address
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// The source offset of the text in a code span, after its backticks.
fn start_of_code(span: &str, text: &str) -> usize {
    let inner = span.trim_start_matches('`');
    let signs = span.len() - inner.len();
    if let Some(place) = inner.find(text) {
        return signs + place;
    }
    // Line breaks in a code span become spaces, so the text does not occur in the source as such. One leading
    // and one trailing space or line break are not part of it.
    let inner = inner.get(..inner.len().saturating_sub(signs));
    let is_space = |letter: char| letter == ' ' || letter == '\n';
    let is_padded =
        inner.is_some_and(|inner| inner.starts_with(is_space) && inner.ends_with(is_space));
    signs + usize::from(is_padded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tree in short: `p[text@0 "x"]`.
    fn sketch(nodes: &[ProseNode]) -> String {
        let parts = nodes.iter().map(|node| match &node.kind {
            ProseKind::Text { at, text } => format!("{at}:{text:?}"),
            kind => format!("{kind:?}[{}]", sketch(&node.children)),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    fn check(source: &str, expected: &str) {
        assert_eq!(
            prose(source).map(|nodes| sketch(&nodes)).as_deref(),
            Some(expected),
            "{source}"
        );
    }

    #[test]
    fn markdown_of_people_and_models() {
        check("one\ntwo", r#"Paragraph[0:"one\ntwo"]"#);
        check("# Head", r#"Heading(1)[2:"Head"]"#);
        check(
            "é **b** `c`",
            r#"Paragraph[0:"é " Strong[4:"b"] 7:" " Inline[9:"c"]]"#,
        );
        check(
            "- a\n- [x] b",
            r#"List(None)[Item[2:"a"] Item[Box(true)[] 10:"b"]]"#,
        );
        check("```py\nx = 1\ny\n```", r#"Code("py")[6:"x = 1\ny\n"]"#);
        check("> q", r#"Quote[Paragraph[2:"q"]]"#);
        check(
            "|a|b|\n|-|-|\n|1|2|",
            r#"Table[Row(true)[Cell[1:"a"] Cell[3:"b"]] Row(false)[Cell[13:"1"] Cell[15:"2"]]]"#,
        );
        check(
            "snake_case_name 2*3*4",
            r#"Paragraph[0:"snake_case_name 2" Emphasis[18:"3"] 20:"4"]"#,
        );
    }

    #[test]
    fn markup_is_text_and_addresses_stay_addresses() {
        check("<b onclick=x>y</b>", r#"Paragraph[0:"<b onclick=x>y</b>"]"#);
        check(
            "<script>\nx\n</script>",
            r#"Paragraph[0:"<script>\nx\n</script>"]"#,
        );
        check(
            "[a](javascript:x) ![i](http://x/y.png)",
            r#"Paragraph[Link("javascript:x")[1:"a"] 17:" " Image("http://x/y.png")[20:"i"]]"#,
        );
        for (address, allowed) in [
            ("https://a", true),
            ("HTTP://a", true),
            ("mailto:a@b", true),
            ("javascript:alert(1)", false),
            (" https://a", false),
            ("data:text/html,x", false),
            ("//a", false),
            ("", false),
        ] {
            assert_eq!(may_lead_to(address), allowed, "{address}");
        }
    }

    #[test]
    fn code_is_where_its_first_letter_is() {
        check("`` ` ``", r#"Paragraph[Inline[3:"`"]]"#);
        check("` a\nb `", r#"Paragraph[Inline[2:"a b"]]"#);
        check("`a\nb`", r#"Paragraph[Inline[1:"a b"]]"#);
    }

    #[test]
    fn depth_and_size_are_bounded() {
        fn depth(nodes: &[ProseNode]) -> usize {
            nodes
                .iter()
                .map(|node| 1 + depth(&node.children))
                .max()
                .unwrap_or_default()
        }
        let nodes = prose(&"> ".repeat(3_000)).unwrap_or_default();
        assert!(depth(&nodes) <= DEEPEST + 1);
        assert_eq!(prose(&"*a* ".repeat(MOST_NODES)), None);
    }

    proptest! {
        #[test]
        fn source_positions_match_the_texts(source in "([a-z é*_`#>|\\[\\]()!<&;\\\\\n-]|```|\\* |1\\. |&amp;){0,60}") {
            fn visit(source: &[char], nodes: &[ProseNode]) -> Result<(), TestCaseError> {
                for node in nodes {
                    if let ProseKind::Text { at, text } = &node.kind
                        && let Some(first) = text.chars().next()
                        && (first.is_alphanumeric() || matches!(first, '[' | '(' | '#'))
                    {
                        prop_assert_eq!(source.get(*at), Some(&first), "{:?}", text);
                    }
                    visit(source, &node.children)?;
                }
                Ok(())
            }
            let characters: Vec<char> = source.chars().collect();
            visit(&characters, &prose(&source).unwrap_or_default())?;
        }
    }
}
