//! A person who answers a task with the moves that the policy has.

use crate::learnable::{Exercise, Learnable, Turn};
use crate::play::{AttemptEnding, Play, SchoolError};
use crate::record::SampleRecord;
use crate::rollout::RewardParts;

/// Why a turn of a person is not played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PersonError {
    #[error("`{turn}` is no move of this environment. Write it like the example.")]
    NoMove { turn: String },
    #[error("The episode is over. Take another task.")]
    Over,
    #[error(transparent)]
    School(#[from] SchoolError),
}

/// What a person did.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonAttempt {
    /// Without probabilities: nobody drew its characters.
    pub sample: SampleRecord,
    pub is_over: bool,
}

/// Plays the turns of a person.
///
/// # Errors
///
/// If a turn is no move, comes after the end, or the environment fails.
pub fn attempt(
    learnable: &dyn Learnable,
    exercise: &Exercise,
    turns: &[&str],
) -> Result<PersonAttempt, PersonError> {
    let mut play = Play::start(learnable, exercise, 0)?;
    for turn in turns {
        if play.attempt().ending != AttemptEnding::Open {
            return Err(PersonError::Over);
        }
        let Turn::Calls(calls) = learnable.read_turn(turn) else {
            let turn = (*turn).to_owned();
            return Err(PersonError::NoMove { turn });
        };
        play.act(turn, calls)?;
    }
    let attempt = play.into_attempt();
    let is_over = attempt.ending != AttemptEnding::Open;
    let mut text = exercise.prompt.clone();
    let mut mask = vec![false; text.len()];
    for turn in &attempt.turns {
        text += &turn.text;
        mask.resize(text.len(), true);
        // Nobody reads what comes after the end.
        if !turn.step.done {
            text += &turn.reply;
            mask.resize(text.len(), false);
        }
    }
    let reward = RewardParts {
        graded: learnable.reward(exercise, &attempt),
        ..RewardParts::default()
    };
    Ok(PersonAttempt {
        sample: SampleRecord {
            group: 0,
            sample: 0,
            prompt: exercise.prompt.len(),
            log_probs: vec![0.0; mask.len()],
            mask,
            text,
            behaviour: learnable.judge(exercise, &attempt),
            graded: reward.graded,
            reward: reward.total(),
            advantage: 0.0,
        },
        is_over,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::courses::learnable;
    use crate::learnable::Behaviour;

    #[test]
    fn a_person_may_use_the_tool_and_is_graded_as_the_policy_is() {
        let calculator = learnable("calculator").unwrap();
        let exercise = calculator.exercise_of("?37*48=").unwrap();
        let moves = calculator.moves();
        let calculation = moves[0].turn("37 × 48");
        let open = attempt(&*calculator, &exercise, &[&calculation]).unwrap();
        assert!(!open.is_over);
        assert_eq!(open.sample.text, "?37*48=c37*48)>1776;");
        let answer = moves[1].turn("1776");
        let done = attempt(&*calculator, &exercise, &[&calculation, &answer]).unwrap();
        assert!(done.is_over);
        assert_eq!(done.sample.text, "?37*48=c37*48)>1776;a1776.");
        assert_eq!(
            (done.sample.behaviour, done.sample.reward),
            (Behaviour::Right, 1.0)
        );
        let guess = moves[1].turn("1700");
        let wrong = attempt(&*calculator, &exercise, &[&guess]).unwrap();
        assert_eq!(
            (wrong.sample.behaviour, wrong.sample.reward),
            (Behaviour::NoTool, 0.0)
        );
    }

    #[test]
    fn what_is_no_move_is_refused() {
        let calculator = learnable("calculator").unwrap();
        let exercise = calculator.exercise_of("?37*48=").unwrap();
        let refused = |turns: &[&str]| {
            attempt(&*calculator, &exercise, turns)
                .unwrap_err()
                .to_string()
        };
        assert!(refused(&["cpi)"]).starts_with("`cpi)` is no move"));
        assert!(refused(&["a1776.", "a1776."]).starts_with("The episode is over"));
    }

    #[test]
    fn every_example_of_a_move_is_one() {
        for learnable in crate::learnables() {
            for moved in learnable.moves() {
                let turn = moved.turn(moved.example);
                assert!(
                    matches!(learnable.read_turn(&turn), Turn::Calls(_)),
                    "{turn}"
                );
            }
        }
    }
}
