//! Tests of quotes: by hand, and over invented corpora with known edits.

use volary_core::Message;
use volary_core::random::Random;
use volary_episode::Episode;

use super::*;
use crate::render::RenderOptions;

fn rendered(texts: &[&str]) -> Rendered {
    let options = RenderOptions {
        mask: false,
        ..RenderOptions::default()
    };
    let start = texts.iter().map(|text| Message::user(*text).into());
    let episode = Episode {
        start: start.collect(),
        ..Episode::default()
    };
    Rendered::of(&episode, &options)
}

#[test]
fn each_state_is_told_apart() {
    let rendered = rendered(&[
        "The agent said: “I can’t cancel  the\nreservation”, and left.",
        "Your refund of $500 was sent.",
        r#"{"text":"line one\nline two"}"#,
    ]);
    let index = QuoteIndex::of(&rendered);
    for (message, quote, state, words) in [
        (
            0,
            "I can’t cancel the reservation",
            QuoteState::Exact,
            Some("I can’t cancel  the\nreservation"),
        ),
        (0, "The agent said", QuoteState::Exact, None),
        (0, "  and\n left. ", QuoteState::Exact, Some("and left.")),
        (
            0,
            "I can't cancel the reservation",
            QuoteState::Close,
            Some("I can’t cancel  the\nreservation"),
        ),
        (
            0,
            "THE AGENT SAID",
            QuoteState::Close,
            Some("The agent said"),
        ),
        (
            0,
            "I can’t cancel the reservations",
            QuoteState::Close,
            Some("I can’t cancel  the\nreservation"),
        ),
        // Cut within a word or a number.
        (0, "I can’t canc", QuoteState::Close, Some("I can’t cancel")),
        (
            1,
            "refund of $50",
            QuoteState::Close,
            Some("refund of $500"),
        ),
        (
            1,
            "I can’t cancel the reservation",
            QuoteState::Elsewhere,
            Some("I can’t cancel  the\nreservation"),
        ),
        (
            0,
            "refund of $500 was send",
            QuoteState::Elsewhere,
            Some("refund of $500 was sent"),
        ),
        (
            2,
            "line one\nline two",
            QuoteState::Close,
            Some("line one\\nline two"),
        ),
        (
            0,
            "I will cancel every reservation at once",
            QuoteState::NotFound,
            None,
        ),
        (9, "Your refund", QuoteState::Elsewhere, None),
        (0, "", QuoteState::NotFound, None),
        (0, " \n", QuoteState::NotFound, None),
        // Markers are no text of the trajectory.
        (1, "[M1", QuoteState::NotFound, None),
    ] {
        let check = index.check(Some(message), quote);
        let found = check
            .found
            .as_ref()
            .and_then(|found| found.words.as_deref());
        assert_eq!((check.state, found), (state, words), "{quote}");
    }
    assert_eq!(
        index.check(None, "Your refund of").state,
        QuoteState::Elsewhere
    );
}

#[test]
fn a_match_has_its_range() {
    let rendered = rendered(&["zero", "one two  three four"]);
    let check = QuoteIndex::of(&rendered).check(Some(1), "two three");
    let found = check.found.unwrap();
    assert_eq!(&rendered.messages[1].text[found.range], "two  three");
}

const WORDS: [&str; 40] = [
    "the",
    "agent",
    "refund",
    "order",
    "was",
    "not",
    "cancelled",
    "because",
    "policy",
    "forbids",
    "it",
    "user",
    "asked",
    "for",
    "a",
    "flight",
    "to",
    "Zürich",
    "on",
    "May",
    "3rd",
    "and",
    "paid",
    "$120",
    "with",
    "card",
    "ending",
    "in",
    "4242",
    "error:",
    "file",
    "not_found",
    "retry",
    "“quoted”",
    "done",
    "checked",
    "tests",
    "passed",
    "日本語",
    "I",
];

fn text(random: &mut Random, count: usize) -> String {
    let mut text = String::new();
    for _ in 0..count {
        text.push_str(random.pick(&WORDS).unwrap());
        text.push_str(match random.below(12) {
            0 => "\n",
            1 => "  ",
            2 => ", ",
            _ => " ",
        });
    }
    text
}

/// Whether a quote is in a text apart from white space, not cut within a word: written without any of the code above.
fn is_in(text: &str, quote: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, quote) = (plain(text), plain(quote));
    let word = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() && letter < '\u{2e80}')
    };
    !quote.is_empty()
        && text.match_indices(&quote).any(|(start, _)| {
            let before = text[..start].chars().next_back();
            let after = text[start + quote.len()..].chars().next();
            let begins_within = word(before) && word(quote.chars().next());
            let ends_within = word(after) && word(quote.chars().next_back());
            !(begins_within || ends_within)
        })
}

/// An edit of a quote; the number tells which.
fn edited(random: &mut Random, quote: &str, kind: u64) -> String {
    let mut letters: Vec<char> = quote.chars().collect();
    let place =
        |random: &mut Random, letters: &[char]| random.below(letters.len().max(1) as u64) as usize;
    match kind {
        0 => quote.to_owned(),
        1 => quote.replace(' ', "\n  "),
        2 => quote.to_uppercase(),
        3 => quote.replace(['“', '”'], "\""),
        4 => {
            let at = place(random, &letters);
            letters[at] = 'q';
            letters.into_iter().collect()
        }
        5 => {
            let at = place(random, &letters);
            letters.remove(at);
            letters.into_iter().collect()
        }
        6 => {
            let at = place(random, &letters);
            letters.insert(at, *random.pick(&['x', ' ', '0', 'é']).unwrap());
            letters.into_iter().collect()
        }
        7 => letters.iter().rev().collect(),
        8 => {
            let mut words: Vec<&str> = quote.split(' ').collect();
            random.shuffle(&mut words);
            words.join(" ")
        }
        9 => quote.replacen("not ", "", 1),
        10 => letters.iter().take(letters.len() * 2 / 3).collect(),
        _ => format!("{quote} moreover"),
    }
}

#[test]
fn ten_thousand_edited_quotes_are_never_wrongly_exact() {
    let mut random = Random::new(54);
    let mut counts = [0_usize; 4];
    for _ in 0..500 {
        let texts: Vec<String> = (0..6).map(|_| text(&mut random, 60)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let rendered = rendered(&texts);
        let index = QuoteIndex::of(&rendered);
        for _ in 0..20 {
            let source = texts[random.below(6) as usize];
            let words: Vec<&str> = source.split(' ').collect();
            let start = random.below(40) as usize;
            let length = 3 + random.below(12) as usize;
            let quote = words[start..(start + length).min(words.len())].join(" ");
            let kind = random.below(12);
            let quote = edited(&mut random, &quote, kind);
            let message = random.below(6) as usize;
            let check = index.check(Some(message), &quote);
            let here = is_in(texts[message], &quote);
            let somewhere = texts.iter().any(|text| is_in(text, &quote));
            assert_eq!(
                check.state == QuoteState::Exact,
                here,
                "{quote:?} in {:?}: {check:?}",
                texts[message]
            );
            if somewhere {
                assert_ne!(check.state, QuoteState::NotFound, "{quote:?}");
            }
            if let Some(found) = &check.found {
                let words = &rendered.messages[found.message].text[found.range.clone()];
                if found.words.is_none() {
                    assert!(is_in(words, &quote), "{quote:?} is not {words:?}");
                }
                let text = &rendered.messages[found.message].text;
                let range = rendered.messages[found.message].passages[found.passage]
                    .range
                    .clone();
                let here = text[range].chars().skip(found.at.start);
                let here: String = here.take(words.chars().count()).collect();
                assert_eq!(here, *words, "the position is that of the words");
                assert_eq!(
                    found.message == message,
                    check.state != QuoteState::Elsewhere
                );
            }
            counts[QuoteState::ALL
                .iter()
                .position(|state| *state == check.state)
                .unwrap()] += 1;
        }
    }
    // The edits reach every state.
    assert!(counts.iter().all(|count| *count > 300), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 10_000);
}
