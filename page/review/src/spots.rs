//! The places in an episode that are highlighted or scrolled to: search hits, notes, and the passage of a link. Pure.

use std::ops::RangeInclusive;

use volary_analysis::annotations::{Annotations, Target};
use volary_app::review::episode_search::HitPosition;
use volary_core::quantity::count_text;
use volary_episode::Episode;
use volary_episode::passages::{TextPart, passage};
use volary_protocol::library::EpisodeMatch;
use volary_view::highlight::{Spot, holder_id};

use volary_library::findings::MOST as MOST_HITS;

/// The maximum number of highlights of one kind: the browser measures each again when the page changes.
const MOST: usize = 400;

/// A highlight: the id of the element that contains its text, and its place there.
pub(super) type Mark = (String, Spot);

/// Where a search hit is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HitPlace {
    /// In the side panel about the episode as a whole.
    Details,
    /// In the transcript.
    Transcript(Spot),
}

impl HitPlace {
    pub(super) fn of(hit: &EpisodeMatch) -> HitPlace {
        match hit.place.part {
            TextPart::Name | TextPart::Score(_) => HitPlace::Details,
            TextPart::Error(_) if hit.place.step == 0 => HitPlace::Details,
            _ => HitPlace::Transcript(spot_of_hit(hit)),
        }
    }
}

fn spot_of_hit(hit: &EpisodeMatch) -> Spot {
    Spot {
        place: hit.place,
        range: hit.start..hit.start + hit.length,
        quote: hit.words.to_string(),
        before: hit.before,
    }
}

/// The range of a target's passage; `None` if it has none, or if the passage no longer exists.
pub(super) fn spot_of(target: &Target, episode: &Episode) -> Option<Spot> {
    let range = target.locate(episode)?;
    let Target::Passage {
        position, quote, ..
    } = target
    else {
        return None;
    };
    let before = match position.part {
        // Calls are reformatted: their passages are found by words, so the occurrence has to be counted.
        TextPart::Call(_) => {
            let text = passage(episode, *position)?;
            let start = text
                .char_indices()
                .nth(range.start)
                .map_or(text.len(), |(byte, _)| byte);
            text.get(..start)?.matches(&**quote).count()
        }
        _ => 0,
    };
    Some(Spot {
        place: *position,
        range,
        quote: quote.to_string(),
        before,
    })
}

/// Which of the hits is shown, for the user.
pub(super) fn hit_position_text(position: HitPosition) -> String {
    match position {
        HitPosition::Idle | HitPosition::Searching => String::new(),
        HitPosition::NotFound => "not found".to_owned(),
        HitPosition::At { at, count } => {
            let more = if count >= MOST_HITS { " or more" } else { "" };
            format!("{} of {}{more}", count_text(at + 1), count_text(count))
        }
    }
}

/// The search hits of some steps: the one at an index, and the others. The hits are in the order of the episode.
pub(super) fn hit_marks(
    hits: &[EpisodeMatch],
    at: usize,
    steps: &RangeInclusive<usize>,
) -> (Vec<Mark>, Vec<Mark>) {
    let from = hits.partition_point(|hit| hit.place.step < *steps.start());
    let near = hits.iter().enumerate().skip(from);
    let near = near.take_while(|(_, hit)| steps.contains(&hit.place.step));
    let others = near.filter(|(number, _)| *number != at).take(MOST);
    // The shown hit is highlighted however many precede it.
    let here = hits.get(at).filter(|hit| steps.contains(&hit.place.step));
    let marks = |hit: &EpisodeMatch| mark(spot_of_hit(hit));
    (
        here.into_iter().filter_map(marks).collect(),
        others.filter_map(|(_, hit)| marks(hit)).collect(),
    )
}

/// The passages of some steps that have notes.
pub(super) fn note_marks(
    notes: &Annotations,
    episode: &Episode,
    steps: &RangeInclusive<usize>,
) -> Vec<Mark> {
    let notes = notes.of_episode(&episode.id).into_iter();
    let marks = notes.filter_map(|note| target_mark(&note.target, episode, steps));
    marks.take(MOST).collect()
}

/// The passage of a target, if it is in some steps.
pub(super) fn target_mark(
    target: &Target,
    episode: &Episode,
    steps: &RangeInclusive<usize>,
) -> Option<Mark> {
    let is_near = target.step().is_some_and(|step| steps.contains(&step));
    is_near.then(|| mark(spot_of(target, episode)?))?
}

fn mark(spot: Spot) -> Option<Mark> {
    Some((holder_id(spot.place)?, spot))
}

#[cfg(test)]
mod tests {
    use volary_analysis::annotations::Annotation;
    use volary_core::json::{Json, Object};
    use volary_core::message::{Body, ToolRequestMessage};
    use volary_core::tool::ToolCall;
    use volary_episode::passages::TextPosition;
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    fn place(step: usize, part: TextPart) -> TextPosition {
        TextPosition {
            step,
            message: 0,
            part,
        }
    }

    fn hit(step: usize, part: TextPart, start: usize) -> EpisodeMatch {
        EpisodeMatch {
            place: place(step, part),
            start,
            length: 3,
            words: "fee".into(),
            before: 1,
        }
    }

    #[test]
    fn a_hit_is_shown_where_its_text_is() {
        for part in [TextPart::Name, TextPart::Score(1), TextPart::Error(0)] {
            assert_eq!(
                HitPlace::of(&hit(0, part, 2)),
                HitPlace::Details,
                "{part:?}"
            );
        }
        let spot = Spot {
            place: place(2, TextPart::Error(0)),
            range: 2..5,
            quote: "fee".to_owned(),
            before: 1,
        };
        // The error of a step is in the transcript.
        let of_step = hit(2, TextPart::Error(0), 2);
        assert_eq!(HitPlace::of(&of_step), HitPlace::Transcript(spot));
        let start = hit(0, TextPart::Content, 2);
        assert!(matches!(HitPlace::of(&start), HitPlace::Transcript(_)));
    }

    fn starts(marks: &[Mark]) -> Vec<usize> {
        marks.iter().map(|(_, spot)| spot.range.start).collect()
    }

    #[test]
    fn only_hits_on_the_page_are_marked() {
        let hits: Vec<_> = (0..6)
            .map(|step| hit(step, TextPart::Content, step))
            .collect();
        let (here, others) = hit_marks(&hits, 3, &(2..=4));
        assert_eq!((starts(&here), starts(&others)), (vec![3], vec![2, 4]));
        assert_eq!(here[0].0, "text-3-0-c");
        let (here, others) = hit_marks(&hits, 5, &(2..=4));
        assert_eq!((starts(&here), starts(&others)), (vec![], vec![2, 3, 4]));
        assert_eq!(hit_marks(&[], 0, &(0..=9)), (Vec::new(), Vec::new()));
        assert_eq!(hit_marks(&hits, 0, &(8..=9)), (Vec::new(), Vec::new()));
        // What no transcript shows has no mark.
        let (here, _) = hit_marks(&[hit(0, TextPart::Name, 0)], 0, &(0..=9));
        assert_eq!(here, []);
    }

    #[test]
    fn the_shown_hit_is_marked_however_many_precede_it() {
        let hits: Vec<_> = (0..MOST + 200)
            .map(|start| hit(1, TextPart::Content, start))
            .collect();
        let (here, others) = hit_marks(&hits, MOST + 100, &(0..=3));
        assert_eq!(starts(&here), [MOST + 100]);
        assert_eq!(others.len(), MOST);
        let (here, others) = hit_marks(&hits, 2, &(0..=3));
        assert_eq!(starts(&here), [2]);
        assert!(!starts(&others).contains(&2), "it has one mark");
    }

    #[test]
    fn the_position_among_the_hits_is_said_once_it_is_known() {
        assert_eq!(hit_position_text(HitPosition::Idle), "");
        // Not "not found" before the answer.
        assert_eq!(hit_position_text(HitPosition::Searching), "");
        assert_eq!(hit_position_text(HitPosition::NotFound), "not found");
        let at = |at, count| hit_position_text(HitPosition::At { at, count });
        assert_eq!(at(0, 1), "1 of 1");
        assert_eq!(at(1_233, 4_999), "1,234 of 4,999");
        assert_eq!(at(0, MOST_HITS), "1 of 5,000 or more");
    }

    /// An episode whose only step says something and calls a tool with some texts.
    fn episode(says: &str, arguments: &[&str]) -> Episode {
        let mut given = Object::default();
        for (place, text) in arguments.iter().enumerate() {
            given.insert(format!("a{place}"), Json::from(*text));
        }
        let request = ToolRequestMessage {
            body: Body::text(says),
            tool_calls: vec![ToolCall::new("c", "pay", given)],
        };
        let outcome = Outcome::Observed {
            messages: Vec::new(),
            reward: 0.0,
            done: false,
            truncated: false,
        };
        Episode {
            id: "e".into(),
            steps: vec![StepRecord::new(request.into(), outcome)],
            ..Episode::default()
        }
    }

    fn target(part: TextPart, start: usize, quote: &str) -> Target {
        Target::Passage {
            position: place(1, part),
            start,
            end: start + quote.chars().count(),
            quote: quote.into(),
        }
    }

    #[test]
    fn the_occurrence_of_a_quote_in_a_call_is_counted() {
        let episode = episode("", &["é fee", "fee", "fees"]);
        let text = passage(&episode, place(1, TextPart::Call(0))).expect("a call");
        let starts = text.match_indices("fee");
        let starts: Vec<usize> = starts
            .map(|(byte, _)| text[..byte].chars().count())
            .collect();
        assert_eq!(starts.len(), 3);
        for (before, start) in starts.iter().enumerate() {
            let spot = spot_of(&target(TextPart::Call(0), *start, "fee"), &episode);
            let spot = spot.expect("it is there");
            assert_eq!((spot.before, spot.range), (before, *start..start + 3));
        }
    }

    #[test]
    fn a_quote_in_a_message_needs_no_count() {
        let episode = episode("fee, fee", &[]);
        let spot = spot_of(&target(TextPart::Content, 5, "fee"), &episode);
        let expected = Spot {
            place: place(1, TextPart::Content),
            range: 5..8,
            quote: "fee".to_owned(),
            before: 0,
        };
        assert_eq!(spot, Some(expected));
    }

    #[test]
    fn what_is_no_passage_has_no_spot() {
        let episode = episode("fee", &[]);
        for target in [
            Target::Episode,
            Target::Step { step: 1 },
            // The text has changed since, or is gone.
            target(TextPart::Content, 0, "cost"),
            target(TextPart::Call(7), 0, "fee"),
        ] {
            assert_eq!(spot_of(&target, &episode), None, "{target:?}");
            assert_eq!(target_mark(&target, &episode, &(0..=9)), None);
        }
    }

    #[test]
    fn notes_of_this_episode_on_the_page_are_marked() {
        let episode = episode("fee and cost", &[]);
        let note = |id: &str, of: &str, target: Target| Annotation {
            id: id.into(),
            episode: of.into(),
            target,
            ..Annotation::default()
        };
        let notes: Annotations = [
            note("1", "e", target(TextPart::Content, 0, "fee")),
            note("2", "e", target(TextPart::Content, 8, "cost")),
            note("3", "other", target(TextPart::Content, 0, "fee")),
            note("4", "e", Target::Step { step: 1 }),
        ]
        .into_iter()
        .collect();
        let marks = note_marks(&notes, &episode, &(0..=1));
        assert_eq!(starts(&marks), [0, 8]);
        assert_eq!(note_marks(&notes, &episode, &(2..=9)), []);
    }
}
