//! Alignments lose nothing, never cross, and find what is common.

use proptest::prelude::*;
use volary_analysis::align::lines::{HunkKind, line_hunks};
use volary_analysis::align::sequence::align;
use volary_analysis::align::similar::similar_pairs;
use volary_analysis::align::{Likeness, align_episodes, common_steps};
use volary_core::{AnyMessage, Message, Role, ToolCall, ToolRequestMessage, object};
use volary_episode::{Episode, Outcome, StepRecord};

fn call(id: &str, tool: &str, n: i64, reward: f64) -> StepRecord {
    let calls = vec![ToolCall::new(id, tool, object!({ "n": n, "same": true }))];
    let action = ToolRequestMessage {
        tool_calls: calls,
        ..Default::default()
    };
    let messages = vec![AnyMessage::from(Message::new(
        Role::User,
        format!("{n} was taken"),
    ))];
    StepRecord::new(
        action.into(),
        Outcome::Observed {
            messages,
            reward,
            done: false,
            truncated: false,
        },
    )
}

fn episode(steps: &[(&str, i64)]) -> Episode {
    let steps = steps.iter().enumerate();
    let steps = steps
        .map(|(index, (tool, n))| call(&index.to_string(), tool, *n, 0.0))
        .collect();
    Episode {
        steps,
        ..Episode::default()
    }
}

fn rows(left: &Episode, right: &Episode) -> Vec<(Option<usize>, Option<usize>)> {
    align_episodes(left, right)
        .rows
        .iter()
        .map(|row| (row.left, row.right))
        .collect()
}

#[test]
fn an_extra_step_shifts_the_rest() {
    let one = episode(&[("a", 1), ("b", 2), ("c", 3)]);
    let other = episode(&[("a", 1), ("x", 9), ("b", 2), ("c", 3)]);
    let pairs = [
        (Some(0), Some(0)),
        (None, Some(1)),
        (Some(1), Some(2)),
        (Some(2), Some(3)),
    ];
    assert_eq!(rows(&one, &other), pairs);
    assert_eq!(align_episodes(&one, &other).first_divergence, Some(2));
    assert_eq!(align_episodes(&one, &one).first_divergence, None);
    assert_eq!(common_steps(&[&one, &other]), 1);
    assert_eq!(common_steps(&[&one]), 3);
    assert_eq!(common_steps(&[]), 0);
}

#[test]
fn the_same_tool_pairs_before_the_same_place_does() {
    let one = episode(&[("find", 1), ("book", 2)]);
    let other = episode(&[("ask", 5), ("find", 3), ("book", 4)]);
    assert_eq!(
        rows(&one, &other),
        [(None, Some(0)), (Some(0), Some(1)), (Some(1), Some(2))]
    );
}

#[test]
fn rewards_and_starts_count_ids_do_not() {
    let mut one = episode(&[("a", 1), ("b", 2)]);
    let mut other = one.clone();
    other.steps[1] = call("another id", "b", 2, 1.0);
    let found = align_episodes(&one, &other);
    assert_eq!(found.first_divergence, Some(2));
    assert_eq!(
        found.rows[1].likeness,
        Likeness {
            reward: false,
            ..Likeness::FULL
        }
    );
    one.start.push(Message::user("hello").into());
    assert_eq!(align_episodes(&one, &other).first_divergence, Some(0));
}

#[test]
fn long_and_different_sequences_take_no_time() {
    let left: Vec<[u32; 1]> = (0..200_000).map(|n| [n]).collect();
    let right: Vec<[u32; 1]> = (0..200_000).rev().map(|n| [n]).collect();
    let same = |n: u32| (0..200_000).map(|index| [index % n]).collect::<Vec<_>>();
    for (left, right) in [(&left, &right), (&same(2), &same(3)), (&left, &same(7))] {
        let pairs = align(left, right);
        assert_eq!(
            pairs.iter().filter(|pair| pair.left.is_some()).count(),
            left.len()
        );
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_crosses(
        left in prop::collection::vec((0..4_u32, 0..2_u32), 0..40),
        right in prop::collection::vec((0..9_u32, 0..2_u32), 0..40),
    ) {
        let keys = |of: &[(u32, u32)]| of.iter().map(|(a, b)| [*a, *b]).collect::<Vec<_>>();
        let pairs = align(&keys(&left), &keys(&right));
        let lefts: Vec<usize> = pairs.iter().filter_map(|pair| pair.left).collect();
        let rights: Vec<usize> = pairs.iter().filter_map(|pair| pair.right).collect();
        prop_assert_eq!(lefts, (0..left.len()).collect::<Vec<_>>());
        prop_assert_eq!(rights, (0..right.len()).collect::<Vec<_>>());
        prop_assert!(pairs.iter().all(|pair| pair.left.is_some() || pair.right.is_some()));
    }

    #[test]
    fn an_inserted_element_is_found(numbers in prop::collection::btree_set(0..1000_u32, 1..60), at in any::<prop::sample::Index>()) {
        // All elements differ, so the others must all be paired with themselves.
        let left: Vec<[u32; 1]> = numbers.iter().map(|n| [*n]).collect();
        let mut right = left.clone();
        let index = at.index(left.len() + 1);
        right.insert(index, [5000]);
        for pair in align(&left, &right) {
            match (pair.left, pair.right) {
                (Some(one), Some(other)) => prop_assert_eq!(left[one], right[other]),
                (None, Some(other)) => prop_assert_eq!(other, index),
                _ => prop_assert!(false),
            }
        }
    }

    #[test]
    fn hunks_give_both_texts(old in "[ab\n ]{0,30}", new in "[ab\n ]{0,30}") {
        let (olds, news): (Vec<_>, Vec<_>) = (old.split('\n').collect(), new.split('\n').collect());
        let (mut at_old, mut at_new) = (0, 0);
        for hunk in line_hunks(&old, &new) {
            prop_assert_eq!((hunk.old.start, hunk.new.start), (at_old, at_new));
            (at_old, at_new) = (hunk.old.end, hunk.new.end);
            let same = olds[hunk.old.clone()] == news[hunk.new.clone()];
            match hunk.kind {
                HunkKind::Same => prop_assert!(same),
                HunkKind::Changed => prop_assert!(hunk.old.len() == hunk.new.len() && !same),
                HunkKind::Added => prop_assert!(hunk.old.is_empty()),
                HunkKind::Removed => prop_assert!(hunk.new.is_empty()),
            }
        }
        prop_assert_eq!((at_old, at_new), (olds.len(), news.len()));
    }

    #[test]
    fn lines_without_common_text_do_not_replace_each_other(
        old in prop::collection::vec("[ab]{1,9}", 1..9),
        new in prop::collection::vec("[cd]{1,9}", 1..9),
    ) {
        let kinds: Vec<_> = line_hunks(&old.join("\n"), &new.join("\n"))
            .iter()
            .map(|hunk| (hunk.kind, hunk.old.len(), hunk.new.len()))
            .collect();
        let expected = [(HunkKind::Removed, old.len(), 0), (HunkKind::Added, 0, new.len())];
        prop_assert_eq!(kinds, expected);
    }

    #[test]
    fn similar_lines_are_paired_in_order(
        old in prop::collection::vec("[ab ]{0,6}", 0..12),
        new in prop::collection::vec("[ab ]{0,6}", 0..12),
    ) {
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let pairs = similar_pairs(&old, &new);
        prop_assert!(pairs.iter().all(|(one, other)| *one < old.len() && *other < new.len()));
        prop_assert!(pairs.is_sorted_by(|one, next| one.0 < next.0 && one.1 < next.1));
        // A text is paired with itself, line by line.
        let itself: Vec<_> = (0..old.len()).map(|place| (place, place)).collect();
        prop_assert_eq!(similar_pairs(&old, &old), itself);
    }
}
