//! The result of a reply does not depend on how its bytes are split, and a truncated reply is never accepted as
//! complete.

use volary_agent::model::{Answer, ModelError};

use crate::fixtures::{Fixture, all, read_in};

#[test]
fn two_pieces_cut_anywhere_are_the_same_reply() {
    for fixture in all() {
        let whole = read_in(&fixture, [fixture.body.as_slice()]);
        for offset in 0..=fixture.body.len() {
            let (start, end) = fixture.body.split_at(offset);
            assert_eq!(
                read_in(&fixture, [start, end]),
                whole,
                "{} at {offset}",
                fixture.name
            );
        }
    }
}

#[test]
fn single_bytes_are_the_same_reply() {
    for fixture in all() {
        let whole = read_in(&fixture, [fixture.body.as_slice()]);
        assert_eq!(
            read_in(&fixture, fixture.body.chunks(1)),
            whole,
            "{}",
            fixture.name
        );
    }
}

#[test]
fn a_reply_that_ends_early_is_cut_or_lacks_nothing_but_its_count() {
    for fixture in all() {
        let (_, whole) = read_in(&fixture, [fixture.body.as_slice()]);
        for offset in 0..fixture.body.len() {
            let (start, _) = fixture.body.split_at(offset);
            match (&whole, read_in(&fixture, [start]).1) {
                (Ok(whole), Ok(found)) => {
                    assert_eq!(
                        uncounted(&found),
                        uncounted(whole),
                        "{} at {offset}",
                        fixture.name
                    );
                }
                (Ok(_), Err(error)) => assert!(
                    error == ModelError::Cut || offset == 0 && !fixture.is_stream(),
                    "{} at {offset}: {error}",
                    fixture.name
                ),
                (Err(_), Ok(found)) => panic!("{} at {offset}: {found:?}", fixture.name),
                (Err(_), Err(_)) => {}
            }
        }
    }
}

#[test]
fn what_came_before_a_cut_is_kept() {
    for fixture in all().into_iter().filter(Fixture::is_stream) {
        let (_, Ok(whole)) = read_in(&fixture, [fixture.body.as_slice()]) else {
            continue;
        };
        let mut reply = fixture.reply();
        let mut longest = 0;
        for (offset, byte) in fixture.body.iter().enumerate() {
            reply.push(&[*byte], &mut Vec::new()).unwrap();
            let Some(partial) = reply.partial() else {
                continue;
            };
            let text = partial.text.unwrap_or_default();
            let thinking = partial.thinking.unwrap_or_default();
            assert!(whole.text.as_deref().unwrap_or("").starts_with(&text));
            assert!(
                whole
                    .thinking
                    .as_deref()
                    .unwrap_or("")
                    .starts_with(&thinking)
            );
            // It never shrinks.
            let length = text.len() + thinking.len();
            assert!(length >= longest, "{} at {offset}", fixture.name);
            longest = length;
        }
    }
}

/// The answer without the token counts, which arrive after its end.
fn uncounted(answer: &Answer) -> Answer {
    Answer {
        usage: None,
        ..answer.clone()
    }
}
