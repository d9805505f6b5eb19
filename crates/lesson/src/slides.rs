//! A lesson as slides for a presentation: a title, then text in portions, episodes, tasks and questions one by one.
//!
//! Invariants: the pieces keep their order, and none appears twice. Hints are left out: the presenter gives them.

use pulldown_cmark::{Event, Options, Parser};

use crate::lesson::{Check, Lesson, Piece, Play, Question};
use crate::school_block::SchoolBlock;

/// The length of a portion of text, in bytes. A longer paragraph is a slide of its own.
const PORTION: usize = 420;

/// What is shown at once, below the heading of its section.
#[derive(Clone, Debug, PartialEq)]
pub struct Slide {
    /// The heading of the section; empty before the first one.
    pub heading: String,
    pub content: Content,
}

/// The content of a slide.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The title of the lesson, and its summary.
    Title {
        title: String,
        summary: String,
    },
    /// Markdown.
    Text(String),
    /// An episode or a task, with the checks that follow it.
    Play {
        play: Play,
        checks: Vec<Check>,
    },
    Question(Question),
    /// A check that does not follow its episode.
    Check(Check),
    /// Tokens, and whether each is trained on.
    Tokens(Vec<(bool, String)>),
    /// A task on the page of the school, with the checks that follow it.
    School {
        block: SchoolBlock,
        checks: Vec<Check>,
    },
}

/// The slides of a lesson.
pub fn slides(lesson: &Lesson) -> Vec<Slide> {
    let mut slides = vec![Slide {
        heading: String::new(),
        content: Content::Title {
            title: lesson.title.clone(),
            summary: lesson.summary.clone(),
        },
    }];
    let mut heading = String::new();
    for piece in &lesson.pieces {
        let contents = match piece {
            Piece::Heading { text, .. } => {
                heading.clone_from(text);
                continue;
            }
            Piece::Hint(_) => continue,
            Piece::Prose(text) => portions(text).into_iter().map(Content::Text).collect(),
            Piece::Play(play) => vec![Content::Play {
                play: (**play).clone(),
                checks: Vec::new(),
            }],
            Piece::Check(check) => match slides.last_mut().map(|slide| &mut slide.content) {
                Some(Content::Play { play, checks }) if play.id == check.of => {
                    checks.push(check.clone());
                    continue;
                }
                Some(Content::School { block, checks }) if block.id == check.of => {
                    checks.push(check.clone());
                    continue;
                }
                _ => vec![Content::Check(check.clone())],
            },
            Piece::Question(question) => vec![Content::Question(question.clone())],
            Piece::Tokens(tokens) => vec![Content::Tokens(tokens.clone())],
            Piece::School(block) => vec![Content::School {
                block: block.clone(),
                checks: Vec::new(),
            }],
        };
        slides.extend(contents.into_iter().map(|content| Slide {
            heading: heading.clone(),
            content,
        }));
    }
    slides
}

/// Markdown in portions of whole paragraphs, lists, tables and code blocks.
fn portions(text: &str) -> Vec<String> {
    let mut portions: Vec<String> = Vec::new();
    for block in blocks(text) {
        match portions.last_mut() {
            Some(last) if last.len() + block.len() <= PORTION => {
                last.push_str("\n\n");
                last.push_str(block);
            }
            _ => portions.push(block.to_owned()),
        }
    }
    portions
}

/// The outermost blocks of Markdown.
fn blocks(text: &str) -> Vec<&str> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let is_outermost = depth == 0;
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ => {}
        }
        if is_outermost {
            blocks.extend(text.get(range).map(str::trim_end));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::parse;

    const LESSON: &str = "---
title: Sums
minutes: 5
summary: Add.
---

Before.

## Try

One paragraph.

- a list
- of two

```task
id: sum
environment: calculator
task: easy-02
```

```check
for: sum
reward: at least 1
```

```hint
Add.
```

```question
text: Why?
answers:
  [x] So.
  [ ] Not so.
```
";

    #[test]
    fn every_piece_but_hints_is_on_one_slide() {
        let lesson = parse(LESSON).unwrap();
        let slides = slides(&lesson);
        let shown: Vec<String> = slides
            .iter()
            .map(|slide| {
                let content = match &slide.content {
                    Content::Title { title, .. } => title.clone(),
                    Content::Text(text) => text.clone(),
                    Content::Play { play, checks } => format!("{} {}", play.id, checks.len()),
                    Content::Question(question) => question.text.clone(),
                    Content::Check(_) => "check".to_owned(),
                    Content::Tokens(_) => "tokens".to_owned(),
                    Content::School { block, checks } => format!("{} {}", block.id, checks.len()),
                };
                format!("{}|{content}", slide.heading)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "|Sums",
                "|Before.",
                "Try|One paragraph.\n\n- a list\n- of two",
                "Try|sum 1",
                "Try|Why?",
            ]
        );
    }

    #[test]
    fn long_texts_are_divided_between_blocks() {
        let paragraph = "word ".repeat(60);
        let text = format!("{paragraph}\n\n{paragraph}\n\nShort.\n\n```\na\n\nb\n```\n");
        let portions = portions(&text);
        assert_eq!(portions.len(), 2);
        assert!(
            portions[1].ends_with("Short.\n\n```\na\n\nb\n```"),
            "{portions:?}"
        );
    }

    #[test]
    fn the_lessons_of_the_page_have_slides() {
        for entry in &catalog::LESSONS {
            let file = format!(
                "{}/../../public/lessons/{}.md",
                env!("CARGO_MANIFEST_DIR"),
                entry.id
            );
            let lesson = parse(&std::fs::read_to_string(file).unwrap()).unwrap();
            let slides = slides(&lesson);
            let plays = slides
                .iter()
                .filter(|slide| matches!(slide.content, Content::Play { .. }))
                .count();
            assert_eq!(plays, lesson.plays().count(), "{}", entry.id);
        }
    }
}
