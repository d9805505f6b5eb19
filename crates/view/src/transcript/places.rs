//! The places of a transcript that keys lead to: the messages of each step, and its failure.
//!
//! Invariant: going forward from the start visits each place once, in order, and going back visits them in reverse.

use volary_episode::Episode;

use super::{failure_of, message_count, step_record};

/// The place of a step's failure: after the action, in place of responses.
pub const FAILURE_PLACE: usize = 1;

/// The number of places of a step that can be navigated to: its messages and its failure.
pub fn place_count(episode: &Episode, step: usize) -> usize {
    let fails = step_record(episode, step).and_then(failure_of).is_some();
    message_count(episode, step) + usize::from(fails)
}

/// The next place, as step and place in it; `None` at the end. `at` is the focused place of the selected step, if one is
/// focused; otherwise the step itself is where the reader is.
pub fn next_place(episode: &Episode, step: usize, at: Option<usize>) -> Option<(usize, usize)> {
    let place = at.map_or(0, |at| at + 1);
    if place < place_count(episode, step) {
        return Some((step, place));
    }
    let mut later = step + 1..=episode.steps.len();
    later
        .find(|step| place_count(episode, *step) > 0)
        .map(|step| (step, 0))
}

/// The previous place; `None` at the beginning.
pub fn previous_place(episode: &Episode, step: usize, at: Option<usize>) -> Option<(usize, usize)> {
    if let Some(place) = at.and_then(|at| at.checked_sub(1)) {
        return Some((step, place));
    }
    let mut earlier = (0..step).rev();
    earlier.find_map(|step| Some((step, place_count(episode, step).checked_sub(1)?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::message::Message;
    use volary_episode::Outcome;

    use super::super::tests::step;
    use super::*;

    fn failed() -> volary_episode::StepRecord {
        let mut record = step(0);
        record.outcome = Outcome::Failed {
            message: "broken".into(),
        };
        record
    }

    #[test]
    fn a_failure_is_a_place_of_its_step() {
        let episode = Episode {
            steps: vec![failed(), step(1)],
            ..Episode::default()
        };
        assert_eq!(place_count(&episode, 1), 2);
        assert_eq!(
            next_place(&episode, 1, Some(0)),
            Some((1, FAILURE_PLACE)),
            "the failure follows the action"
        );
        assert_eq!(next_place(&episode, 1, Some(FAILURE_PLACE)), Some((2, 0)));
        assert_eq!(
            previous_place(&episode, 2, Some(0)),
            Some((1, FAILURE_PLACE))
        );
    }

    #[test]
    fn a_reset_without_observations_is_passed_over() {
        let episode = Episode {
            steps: vec![step(1)],
            ..Episode::default()
        };
        assert_eq!(next_place(&episode, 0, None), Some((1, 0)));
        assert_eq!(previous_place(&episode, 1, Some(0)), None);
        assert_eq!(next_place(&Episode::default(), 0, None), None);
    }

    proptest! {
        #[test]
        fn each_place_is_visited_once_in_both_directions(
            start in 0_usize..3,
            kinds in prop::collection::vec(prop::option::of(0_usize..4), 0..8),
        ) {
            let steps = kinds.into_iter().map(|kind| kind.map_or_else(failed, step));
            let episode = Episode {
                start: vec![Message::user("seen").into(); start],
                steps: steps.collect(),
                ..Episode::default()
            };
            let all: Vec<(usize, usize)> = (0..=episode.steps.len())
                .flat_map(|step| (0..place_count(&episode, step)).map(move |place| (step, place)))
                .collect();
            let mut visited = Vec::new();
            let mut at = (0, None);
            while let Some((step, place)) = next_place(&episode, at.0, at.1) {
                visited.push((step, place));
                at = (step, Some(place));
            }
            prop_assert_eq!(&visited, &all);
            while let Some((step, place)) = previous_place(&episode, at.0, at.1) {
                visited.push((step, place));
                at = (step, Some(place));
            }
            let back: Vec<_> = all.iter().rev().skip(1).copied().collect();
            prop_assert_eq!(&visited[all.len()..], &back[..]);
        }
    }
}
