//! Annotations: merging in any order, files that read back, and how much annotators agree.

use proptest::prelude::*;
use volary_analysis::annotations::agreement::{Agreement, Judgement, agreement, cohen};
use volary_analysis::annotations::{Annotation, Annotations, Target, Verdict, sidecar};
use volary_core::{Message, object};
use volary_episode::Episode;
use volary_episode::diff::Segment;
use volary_episode::history::{Root, StatePath};
use volary_episode::passages::{TextPart, TextPosition};

use crate::values::text;

fn part() -> impl Strategy<Value = TextPart> {
    prop_oneof![
        Just(TextPart::Name),
        Just(TextPart::Content),
        Just(TextPart::Reasoning),
        (0..3_usize).prop_map(TextPart::Call),
        (0..3_usize).prop_map(TextPart::Error),
        (0..3_usize).prop_map(TextPart::Score),
    ]
}

fn target() -> impl Strategy<Value = Target> {
    let segment = prop_oneof![
        "[a-c]".prop_map(|key| Segment::Key(key.into())),
        (0..5_usize).prop_map(Segment::Index)
    ];
    let path = (
        0..9_usize,
        any::<bool>(),
        prop::collection::vec(segment, 0..4),
    )
        .prop_map(|(frame, info, path)| {
            let root = if info { Root::Info } else { Root::State };
            Target::State {
                frame,
                part: StatePath { root, path },
            }
        });
    let passage = (
        0..9_usize,
        0..3_usize,
        part(),
        0..50_usize,
        0..50_usize,
        text(),
    );
    let passage = passage.prop_map(
        |(step, message, part, start, length, quote)| Target::Passage {
            position: TextPosition {
                step,
                message,
                part,
            },
            start,
            end: start + length,
            quote,
        },
    );
    prop_oneof![
        Just(Target::Episode),
        (0..9_usize).prop_map(|step| Target::Step { step }),
        passage,
        path
    ]
}

prop_compose! {
    fn annotation()(
        id in "[a-c]", target in target(), said in text(), label in prop::option::of("[xy]"),
        verdict in prop::option::of(prop::sample::select(Verdict::ALL.to_vec())), author in "[pq]",
        changed in 0..3_u8, revision in 0..3_u64, deleted in any::<bool>(), extra in any::<bool>(),
    ) -> Annotation {
        Annotation {
            id: id.into(), episode: "e".into(), target, text: said, label: label.map(Into::into), verdict,
            author: author.into(), changed: f64::from(changed), revision, deleted,
            extras: if extra { object!({ "colour": "red" }) } else { object!({}) },
        }
    }
}

fn notes() -> impl Strategy<Value = Annotations> {
    prop::collection::vec(annotation(), 0..5).prop_map(|notes| notes.into_iter().collect())
}

fn merged(one: &Annotations, other: &Annotations) -> Annotations {
    let mut all = one.clone();
    all.merge(other.clone());
    all
}

proptest! {
    #[test]
    fn merging_does_not_depend_on_the_order(a in notes(), b in notes(), c in notes()) {
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&a, &a), a.clone());
        prop_assert_eq!(merged(&merged(&a, &b), &b), merged(&a, &b));
    }

    #[test]
    fn files_read_back(notes in notes()) {
        let reading = sidecar::read(&sidecar::to_text(&notes)).unwrap();
        prop_assert_eq!(reading.faults, []);
        prop_assert_eq!(reading.annotations, notes);
    }

    #[test]
    fn cut_files_are_refused_and_never_panic(notes in notes(), at in any::<prop::sample::Index>()) {
        let text = sidecar::to_text(&notes);
        let cut = at.index(text.len());
        if let Some(cut) = text.get(..cut) {
            prop_assert!(sidecar::read(cut).is_err());
        }
    }

    #[test]
    fn kappa_is_at_most_one_and_one_only_in_full_agreement(pairs in prop::collection::vec((0..3_u8, 0..3_u8), 0..20)) {
        let found = cohen(pairs.clone());
        let turned = cohen(pairs.iter().map(|(one, other)| (*other, *one)));
        prop_assert_eq!(found, turned);
        if let Some(kappa) = found.kappa {
            prop_assert!((-1.0..=1.0).contains(&kappa));
            prop_assert_eq!(kappa == 1.0, pairs.iter().all(|(one, other)| one == other));
        }
    }
}

#[test]
fn known_agreements() {
    // Of 50 things both say yes to 20 and no to 15; 5 and 10 are split: 0.7 observed, 0.5 by chance.
    let counts = [
        (("y", "y"), 20),
        (("y", "n"), 5),
        (("n", "y"), 10),
        (("n", "n"), 15),
    ];
    let pairs = counts
        .iter()
        .flat_map(|(pair, count)| std::iter::repeat_n(*pair, *count));
    let found = cohen(pairs);
    assert_eq!(
        (found.items, found.observed, found.expected),
        (50, Some(0.7), Some(0.5))
    );
    assert!((found.kappa.unwrap() - 0.4).abs() < 1e-12);
    assert_eq!(cohen::<u8>([]), Agreement::default());
    let same = cohen([(1, 1), (1, 1)]);
    assert_eq!(
        (same.observed, same.expected, same.kappa),
        (Some(1.0), Some(1.0), None)
    );
    assert_eq!(cohen([(1, 2), (1, 2)]).kappa, Some(0.0));
    assert_eq!(cohen([(1, 2), (2, 1)]).kappa, Some(-1.0));
    assert_eq!(cohen([(1, 1), (2, 2)]).kappa, Some(1.0));
}

fn note(id: &str, author: &str, step: usize, verdict: Verdict) -> Annotation {
    Annotation {
        id: id.into(),
        episode: "e".into(),
        author: author.into(),
        target: Target::Step { step },
        verdict: Some(verdict),
        ..Annotation::default()
    }
}

#[test]
fn the_last_judgement_of_a_thing_counts() {
    let mut notes = Annotations::default();
    for (time, (id, author, step, verdict)) in [
        ("1", "p", 1, Verdict::Bad),
        ("2", "p", 1, Verdict::Good),
        ("3", "q", 1, Verdict::Good),
        ("4", "p", 2, Verdict::Bad),
        ("5", "q", 2, Verdict::Bad),
        ("6", "p", 3, Verdict::Bad),
    ]
    .into_iter()
    .enumerate()
    {
        notes.write(note(id, author, step, verdict), time as f64);
    }
    let found = agreement(&notes, "p", "q", Judgement::Verdict);
    assert_eq!((found.items, found.kappa), (2, Some(1.0)));
    assert_eq!(agreement(&notes, "p", "q", Judgement::Label).items, 0);
    assert_eq!(notes.authors(), [&"p".into(), &"q".into()]);
    assert!(notes.delete("5", 9.0) && !notes.delete("5", 9.0));
    assert_eq!(agreement(&notes, "p", "q", Judgement::Verdict).items, 1);
    let mut older = Annotations::default();
    older.write(note("5", "q", 2, Verdict::Bad), 4.0);
    assert_eq!(notes.merge(older), 0, "what was deleted stays deleted");
}

#[test]
fn quotes_are_found_again() {
    let target = |start, end, quote: &str| Target::Passage {
        position: TextPosition::default(),
        start,
        end,
        quote: quote.into(),
    };
    let episode = Episode {
        start: vec![Message::user("é one two one").into()],
        ..Episode::default()
    };
    assert_eq!(target(2, 5, "one").locate(&episode), Some(2..5));
    assert_eq!(target(9, 12, "one").locate(&episode), Some(10..13));
    assert_eq!(target(2, 5, "six").locate(&episode), None);
    assert_eq!(target(2, 5, "").locate(&episode), None);
    assert_eq!(Target::Step { step: 1 }.locate(&episode), None);
}

#[test]
fn one_malformed_note_does_not_affect_the_others() {
    let text = r#"{"format": "volary-annotations", "version": 1, "annotations": [
        {"id": "a", "episode": "e", "at": {"step": -1}}, {"id": "b", "episode": "e", "verdict": "fine"}, 7,
        {"id": "c", "episode": "e"}]}"#;
    let reading = sidecar::read(text).unwrap();
    assert_eq!(reading.annotations.iter().count(), 1);
    let faults: Vec<String> = reading.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults[0],
        "annotations[0].at.step: must be a whole number, not negative, is a number."
    );
    assert_eq!(faults.len(), 3);
    for refused in [
        "[]",
        "{}",
        r#"{"format": "volary-annotations"}"#,
        r#"{"format": "volary-annotations", "version": 2}"#,
        "{",
    ] {
        assert!(sidecar::read(refused).is_err(), "{refused}");
    }
}

#[test]
fn lines_hold_every_version_and_damaged_ones_are_counted() {
    let note = |text: &str, revision| Annotation {
        id: "a".into(),
        episode: "e".into(),
        text: text.into(),
        revision,
        ..Annotation::default()
    };
    let old = Annotations::from_iter([note("two\nlines", 1)]);
    let new = Annotations::from_iter([note("new \u{2028}", 2)]);
    let (old, new) = (sidecar::to_lines(&old), sidecar::to_lines(&new));
    assert_eq!(old.lines().count(), 1);
    for text in [
        format!("{old}{new}"),
        format!("\n{new}\r\n{old}{{\"id\": \"a\", \"epi"),
    ] {
        let reading = sidecar::read_lines(&text);
        assert_eq!(&*reading.annotations.get("a").unwrap().text, "new \u{2028}");
        assert_eq!(
            reading.damaged,
            text.matches("epi").count().saturating_sub(2)
        );
    }
}
