//! Search finds what a plain search without regard to case finds, and says where.

use proptest::prelude::*;
use volary_analysis::search::{Document, Query, SearchIndex};
use volary_core::{AnyMessage, Message, Role, ToolCall, ToolRequestMessage, object};
use volary_episode::passages::{TextPart, TextPosition, passage, passages};
use volary_episode::{Episode, Outcome, StepRecord};

fn episode(texts: &[String]) -> Episode {
    let mut episode = Episode::default();
    let mut texts = texts.iter();
    episode.start.extend(
        texts
            .next()
            .map(|text| AnyMessage::from(Message::user(text.as_str()))),
    );
    for text in texts {
        let action = Message::new(Role::Assistant, text.as_str()).into();
        let outcome = Outcome::Failed {
            message: text.as_str().into(),
        };
        episode.steps.push(StepRecord::new(action, outcome));
    }
    episode
}

/// One character for one, as the index does it.
fn folded(text: &str) -> String {
    let small = |character: char| match character {
        'ς' => 'σ',
        _ => character.to_lowercase().next().unwrap_or(character),
    };
    text.chars().map(small).collect()
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-cA-C ÄäßΣς\n\u{212a}k🦀]{0,12}|\\PC{0,20}", 0..6)
}

proptest! {
    #[test]
    fn words_are_found_where_they_are(texts in texts(), words in prop::collection::vec("[a-cA-CÄßk🦀]{1,4}", 1..3)) {
        let episode = episode(&texts);
        let query = Query::parse(&words.join(" "));
        let all: Vec<String> = passages(&episode).map(|(_, text)| folded(&text)).collect();
        let expected = words.iter().all(|word| all.iter().any(|text| text.contains(&folded(word))));
        let document = Document::of(&episode);
        let hits = document.hits(&query, usize::MAX);
        // It shows one of the words, or all of them as a phrase.
        let first = document.first(&query);
        prop_assert_eq!(first.is_some(), expected);
        if let Some(first) = first {
            let text = passage(&episode, first.position).unwrap();
            let found: String = text.chars().skip(first.start).take(first.length).collect();
            let found = folded(&found.split_whitespace().collect::<Vec<_>>().join(" "));
            let is_one = words.iter().any(|word| folded(word) == found);
            prop_assert!(is_one || found == folded(&words.join(" ")), "{}", found);
        }
        for hit in &hits {
            let text = passage(&episode, hit.position).unwrap();
            let found: String = text.chars().skip(hit.start).take(hit.length).collect();
            prop_assert!(words.iter().any(|word| folded(word) == folded(&found)));
            let snippet = document.snippet(hit, 3);
            prop_assert_eq!(&snippet.hit, &found);
            let around = [snippet.before.trim_start_matches('…'), &snippet.hit, snippet.after.trim_end_matches('…')].concat();
            prop_assert!(text.contains(&around));
        }
        let mut index = SearchIndex::default();
        index.insert("e".into(), &episode);
        prop_assert_eq!(index.search(&query).found.len(), usize::from(expected));
        let mut full = SearchIndex::new(0, 0);
        full.insert("e".into(), &episode);
        prop_assert!(!expected || full.search(&query).unsure.len() == 1);
    }

    #[test]
    fn every_text_is_a_query(text in "\\PC{0,20}|[\" a\0]{0,12}", texts in texts()) {
        let query = Query::parse(&text);
        let _ = Document::of(&episode(&texts)).hits(&query, 10);
    }
}

#[test]
fn the_first_hit_shows_the_phrase_or_the_longest_word() {
    let said = [
        "The agent read the policy and the rules.".to_owned(),
        "It waived \n the fee.".to_owned(),
    ];
    let document = Document::of(&episode(&said));
    let shown = |query: &str| {
        let first = document.first(&Query::parse(query))?;
        Some(document.snippet(&first, 0).hit)
    };
    assert_eq!(
        shown("waived the fee").as_deref(),
        Some("waived \n the fee")
    );
    // Not one after the other: the longest word, not the first "the".
    assert_eq!(shown("the waived").as_deref(), Some("waived"));
    assert_eq!(shown("the").as_deref(), Some("The"));
    assert_eq!(shown("waived the fees"), None);
}

#[test]
fn phrases_reach_over_spaces_but_not_over_texts() {
    let said = [
        "Book a\n  flight to Boston".to_owned(),
        "flight".to_owned(),
        "to Rome".to_owned(),
    ];
    let document = Document::of(&episode(&said));
    let found = |query: &str| document.hits(&Query::parse(query), 9).len();
    assert_eq!(found("\"A FLIGHT TO\""), 1);
    assert_eq!(found("\"flight to rome\""), 0);
    assert_eq!(found("\"aflight\""), 0);
    assert_eq!(
        found("rome book"),
        3,
        "the second step says it twice: as action and as failure"
    );
    assert_eq!(found("rome paris"), 0);
    assert_eq!(found("\"a flight"), 1, "a quote that is not closed yet");
}

#[test]
fn calls_and_blocks_are_searched_as_they_are_shown() {
    let call = ToolCall::new("1", "book_flight", object!({ "to": "Boston" }));
    let action = ToolRequestMessage {
        tool_calls: vec![call],
        ..Default::default()
    };
    let blocks = r#"[{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "data:abc"}}]"#;
    let mut shown = Message::user(blocks);
    shown.body.content_is_json_str = true;
    let outcome = Outcome::Observed {
        messages: vec![shown.into()],
        reward: 0.0,
        done: false,
        truncated: false,
    };
    let episode = Episode {
        steps: vec![StepRecord::new(action.into(), outcome)],
        ..Episode::default()
    };
    let document = Document::of(&episode);
    let first = |query: &str| document.first(&Query::parse(query)).map(|hit| hit.position);
    assert_eq!(
        first("boston"),
        Some(TextPosition {
            step: 1,
            message: 0,
            part: TextPart::Call(0)
        })
    );
    assert_eq!(
        first("see"),
        Some(TextPosition {
            step: 1,
            message: 1,
            part: TextPart::Content
        })
    );
    assert_eq!(first("data:abc"), None);
}

#[test]
fn episodes_come_and_go() {
    let mut index = SearchIndex::default();
    index.insert("a".into(), &episode(&["one two".into()]));
    index.insert("b".into(), &episode(&["two three".into()]));
    let found = |index: &SearchIndex, query: &str| -> Vec<String> {
        index
            .search(&Query::parse(query))
            .found
            .iter()
            .map(|(id, _)| id.to_string())
            .collect()
    };
    assert_eq!(found(&index, "two"), ["a", "b"]);
    index.insert("a".into(), &episode(&["four".into()]));
    assert_eq!(found(&index, "two"), ["b"]);
    assert!(index.remove("b") && !index.remove("b"));
    assert_eq!(found(&index, "two"), [""; 0]);
    assert!(index.remove("a"));
    assert_eq!((index.len(), index.bytes()), (0, 0));
}

/// A run that is followed for hours must not fill the memory with texts.
#[test]
fn texts_of_followed_episodes_have_a_limit_of_their_own() {
    let document = |number: usize| Document::of(&episode(&[format!("word{number} ").repeat(10)]));
    let size = document(100).bytes();
    let mut index = SearchIndex::new(100 * size, 5 * size);
    for number in 100..150 {
        index.insert_document(format!("f{number}").into(), document(number), true);
        // The last line is read again and again while it grows.
        index.insert_document(format!("f{number}").into(), document(number), true);
    }
    assert_eq!(index.bytes(), 5 * size);
    for number in 200..210 {
        index.insert_document(format!("o{number}").into(), document(number), false);
    }
    assert_eq!(index.bytes(), 15 * size);
    // All of them are searched.
    let matches = index.search(&Query::parse("word149"));
    assert!(matches.unsure.contains(&"f149".into()) && matches.unsure.len() < 45);
    assert_eq!(index.search(&Query::parse("word101")).found.len(), 1);
    assert_eq!(index.search(&Query::parse("word205")).found.len(), 1);
    index.remove("f101");
    index.insert_document("f999".into(), document(999), true);
    assert_eq!(index.search(&Query::parse("word999")).found.len(), 1);
}
