//! No input panics, and chunking never changes the result: for arbitrary bytes, and for fixtures with
//! damage typical of networks and servers.

use proptest::prelude::*;
use volary_agent::model::selector::ToolSelector;
use volary_agent::model::{ProviderKind, select};

use crate::fixtures::{Fixture, all, read_in};

/// The tokens of an event stream, so that random texts reach deeper states.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        4 => prop::sample::select(vec![
            "data: ", "event: error\n", "\n", "\n\n", "\r\n", ": comment\n", "[DONE]", "{", "}", "[", "]", ",", ":",
            "\"choices\":", "\"delta\":", "\"index\":0", "\"content\":", "\"tool_calls\":", "\"function\":", "\"name\":",
            "\"arguments\":", "\"finish_reason\":\"stop\"", "\"type\":\"content_block_delta\"", "\"candidates\":",
            "\"parts\":", "\"error\":", "null", "\"x\"", "1e999", "<html>", "\"message\":", "\"output\":", "\"usage\":",
        ]).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

#[derive(Clone, Debug)]
enum Damage {
    Drop(prop::sample::Index),
    Repeat(prop::sample::Index),
    Swap(prop::sample::Index),
    Byte(prop::sample::Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Drop),
        any::<prop::sample::Index>().prop_map(Damage::Repeat),
        any::<prop::sample::Index>().prop_map(Damage::Swap),
        (any::<prop::sample::Index>(), any::<u8>())
            .prop_map(|(index, byte)| Damage::Byte(index, byte)),
    ]
}

/// The body with lines lost, duplicated or reordered, or with a byte replaced.
fn damaged(body: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = body
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for damage in damages {
        if lines.is_empty() {
            break;
        }
        match damage {
            Damage::Drop(at) => {
                lines.remove(at.index(lines.len()));
            }
            Damage::Repeat(at) => {
                let index = at.index(lines.len());
                lines.insert(index, lines[index].clone());
            }
            Damage::Swap(at) => {
                let index = at.index(lines.len());
                let last = lines.len() - 1;
                lines.swap(index, (index + 2).min(last));
            }
            Damage::Byte(at, byte) => {
                let line = at.index(lines.len());
                let inside = at.index(lines[line].len().max(1));
                if let Some(known) = lines[line].get_mut(inside) {
                    *known = *byte;
                }
            }
        }
    }
    lines.concat()
}

/// Reads a body in one piece and in several; the results must be equal, and an answer must be selectable or rejected.
fn check(fixture: &Fixture, indices: &[prop::sample::Index]) -> Result<(), TestCaseError> {
    let whole = read_in(fixture, [fixture.body.as_slice()]);
    let mut cuts: Vec<usize> = indices
        .iter()
        .map(|at| at.index(fixture.body.len() + 1))
        .collect();
    cuts.sort_unstable();
    cuts.push(fixture.body.len());
    let mut start = 0;
    let pieces: Vec<&[u8]> = cuts
        .iter()
        .map(|end| {
            let piece = &fixture.body[start..*end];
            start = *end;
            piece
        })
        .collect();
    prop_assert_eq!(&read_in(fixture, pieces), &whole);
    if let Ok(answer) = whole.1 {
        let mut selector = ToolSelector::new("m", true, false);
        let name = fixture.kind.provider().name();
        let selected = select(&mut selector, &answer, name, |index| {
            format!("made{index}").into()
        });
        if let Ok(action) = selected {
            let ids: std::collections::HashSet<_> =
                action.tool_calls.iter().map(|call| &call.id).collect();
            prop_assert_eq!(ids.len(), action.tool_calls.len());
            prop_assert!(
                action
                    .tool_calls
                    .iter()
                    .all(|call| !call.function.name.is_empty())
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_panic(
        body in words(),
        kind in prop::sample::select(ProviderKind::ALL.to_vec()),
        end in prop::sample::select(vec!["x.sse", "x.json"]),
        indices in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let fixture = Fixture { name: end.into(), kind, body, expected: Default::default() };
        check(&fixture, &indices)?;
    }

    #[test]
    fn no_damage_panics(
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..5),
        indices in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut fixtures = all();
        let mut fixture = fixtures.swap_remove(which.index(fixtures.len()));
        fixture.body = damaged(&fixture.body, &damages);
        check(&fixture, &indices)?;
    }
}
