//! What is said comes back as it was.

use volary_trace::table::Row;

use super::super::findings::{Finding, Match};
use super::super::origin::Origin;
use super::*;

#[test]
fn requests_come_back() {
    let requests = [
        Request::Open {
            number: 1,
            id: "a\"b".into(),
        },
        Request::Search {
            number: 2,
            words: "\u{202e}six".into(),
        },
        Request::Find {
            number: 7,
            id: "a".into(),
            words: "six \"seven".into(),
        },
        Request::List { number: 3 },
        Request::Cancel { reading: 9 },
        Request::Settle { number: 10 },
        Request::Fetch {
            number: 8,
            origin: Origin::Published,
            files: vec![
                ("a.json".into(), "http://x/a.json".into()),
                ("b".into(), "c".into()),
            ],
        },
        Request::Fetch {
            number: 9,
            origin: Origin::Imported,
            files: vec![("a.json".into(), "http://x/a.json".into())],
        },
        Request::Tag {
            number: 7,
            ids: vec!["a".into()],
            tag: "good".into(),
            on: true,
        },
        Request::Check {
            number: 6,
            id: "c".into(),
        },
        Request::Export {
            number: 5,
            ids: vec!["a".into()],
        },
        Request::Forget {
            number: u32::MAX,
            ids: vec!["a".into(), "b".into()],
        },
    ];
    for request in requests {
        assert_eq!(Request::read(&request.to_text()), Some(request));
    }
    assert_eq!(Request::read("{}"), None);
}

#[test]
fn answers_come_back() {
    let answers = [
        Answer::Progress {
            number: 1,
            doing: "Reading a.json".into(),
            done: Some(0.25),
        },
        Answer::Added {
            number: 1,
            rows: vec![Row::default()],
        },
        Answer::Begun {
            number: 1,
            row: Row::default(),
        },
        Answer::Grown {
            number: 1,
            id: "a".into(),
            into: "b".into(),
        },
        Answer::Unfetched {
            number: 2,
            url: "http://x/a.json".into(),
            reason: "no".into(),
            status: Some(404),
            answered: true,
        },
        Answer::Read {
            number: 1,
            notes: vec!["Two episodes.".into()],
        },
        Answer::Found {
            number: 2,
            matches: vec![Match {
                id: "a".into(),
                step: 3,
                before: "x".into(),
                hit: "y".into(),
                after: "z".into(),
            }],
        },
        Answer::Listed { number: 5 },
        Answer::Places {
            number: 7,
            places: vec![Finding {
                start: 3,
                length: 3,
                words: "six".into(),
                ..Finding::default()
            }],
        },
        Answer::Gone {
            ids: vec!["a".into()],
        },
        Answer::Checked {
            number: 6,
            words: "The same.".into(),
            step: None,
        },
        Answer::Checked {
            number: 6,
            words: "Not the same.".into(),
            step: Some(0),
        },
        Answer::Forgotten { number: 3 },
        Answer::Refused {
            number: 4,
            reason: "It is no file.".into(),
        },
        Answer::NotRead {
            reason: "The browser's database failed: no.".into(),
        },
        Answer::Notice {
            what: "2 stored records cannot be read.".into(),
            why: "They are damaged.".into(),
            advice: "Export them.".into(),
        },
        Answer::NotKept {
            reason: "The disk is full.".into(),
        },
    ];
    for answer in answers {
        assert_eq!(Answer::read(&answer.to_text()), Some(answer));
    }
    assert_eq!(Answer::read("{\"say\": \"opened\"}"), None);
}
