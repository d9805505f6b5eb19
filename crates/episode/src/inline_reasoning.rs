//! Reasoning that a model wrote into the text of its message, between tags such as `<think>` and `</think>`.
//!
//! Invariants: the parts of a text follow each other and, with the tags between them, make up the whole text. A text that
//! mentions a tag elsewhere than at its start is not divided, except at a closing tag without an opening one: chat templates
//! often write the opening tag into the prompt.

use std::ops::Range;

/// A part of a text, as a range of bytes. It is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinePart {
    pub is_reasoning: bool,
    pub range: Range<usize>,
}

/// The names of the tags.
const TAGS: [&str; 3] = ["think", "thinking", "reasoning"];

/// Divides the text of a model's message into reasoning and the rest. A text without reasoning is one part, and a blank one
/// is none.
pub fn divide(text: &str) -> Vec<InlinePart> {
    let mut parts = Vec::new();
    let mut at = 0;
    if let Some(end) = unopened_end(text) {
        push(&mut parts, text, 0..end.start, true);
        at = end.end;
    }
    while let Some((start, tag)) = opening(text, at) {
        let closing = format!("</{tag}>");
        let inside = text.get(start..).unwrap_or_default();
        // Reasoning that is not closed was cut off.
        let end = inside.find(&closing).map(|end| start + end);
        push(&mut parts, text, start..end.unwrap_or(text.len()), true);
        at = end.map_or(text.len(), |end| end + closing.len());
    }
    push(&mut parts, text, at..text.len(), false);
    parts
}

/// What a model said after and around its reasoning: the parts that are no reasoning. Reasoning if there is nothing else.
pub fn said(text: &str) -> &str {
    let parts = divide(text);
    let said = parts.iter().find(|part| !part.is_reasoning);
    let range = said.or(parts.first()).map(|part| part.range.clone());
    range.and_then(|range| text.get(range)).unwrap_or_default()
}

/// The opening tag at an offset, after white space: the end of the tag, and its name.
fn opening(text: &str, at: usize) -> Option<(usize, &'static str)> {
    let rest = text.get(at..)?;
    let trimmed = rest.trim_start();
    let start = text.len() - trimmed.len();
    TAGS.into_iter().find_map(|tag| {
        let after = trimmed.strip_prefix('<')?.strip_prefix(tag)?;
        after
            .starts_with('>')
            .then_some((start + tag.len() + 2, tag))
    })
}

/// The first closing tag, if the text does not start with an opening one and none is before it.
fn unopened_end(text: &str) -> Option<Range<usize>> {
    let closing = "</think>";
    let start = text.find(closing)?;
    let before = text.get(..start)?;
    (!before.contains("<think>")).then_some(start..start + closing.len())
}

fn push(parts: &mut Vec<InlinePart>, text: &str, range: Range<usize>, is_reasoning: bool) {
    let found = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (found.len() - found.trim_start().len());
    let trimmed = found.trim();
    // Without reasoning, white space at the ends is a part of the text.
    let range = if parts.is_empty() && !is_reasoning && range.start == 0 {
        range
    } else {
        start..start + trimmed.len()
    };
    if !trimmed.is_empty() {
        parts.push(InlinePart {
            is_reasoning,
            range,
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn divided(text: &str) -> Vec<(bool, &str)> {
        let parts = divide(text).into_iter();
        parts
            .map(|part| (part.is_reasoning, &text[part.range]))
            .collect()
    }

    #[test]
    fn reasoning_at_the_start_is_separate() {
        let text = "<think>\nSix times seven.\n</think>\n\nIt is 42.";
        assert_eq!(
            divided(text),
            [(true, "Six times seven."), (false, "It is 42.")]
        );
        assert_eq!(said(text), "It is 42.");
        let twice = "<thinking>a</thinking> <think>b</think>c";
        assert_eq!(divided(twice), [(true, "a"), (true, "b"), (false, "c")]);
    }

    #[test]
    fn the_opening_tag_may_be_in_the_prompt() {
        let text = "Six times seven.\n</think>\nIt is 42.";
        assert_eq!(
            divided(text),
            [(true, "Six times seven."), (false, "It is 42.")]
        );
    }

    #[test]
    fn reasoning_that_was_cut_off_has_no_end() {
        assert_eq!(divided("<think>Six times"), [(true, "Six times")]);
        assert_eq!(said("<think>Six times"), "Six times");
    }

    #[test]
    fn empty_reasoning_is_left_out() {
        assert_eq!(
            divided("<think>\n\n</think>\n\nIt is 42."),
            [(false, "It is 42.")]
        );
        assert_eq!(divided("<think></think>"), []);
        assert_eq!(divided(" \n"), []);
    }

    #[test]
    fn a_text_about_the_tags_is_one_part() {
        for text in [
            "Write <think> before you answer.",
            "Write <think>x</think> before you answer.",
            "<thinker>x</thinker>",
            " plain\n",
        ] {
            assert_eq!(divided(text), [(false, text)]);
        }
    }

    proptest! {
        #[test]
        fn parts_follow_each_other(text in "(<think>|</think>|<thinking>|</thinking>|[aé \n<]){0,12}") {
            let mut at = 0;
            for part in divide(&text) {
                prop_assert!(part.range.start >= at);
                prop_assert!(!text[part.range.clone()].trim().is_empty());
                at = part.range.end;
            }
            prop_assert!(at <= text.len());
        }
    }
}
