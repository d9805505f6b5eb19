//! The hands: the policy reads `?=`, and acts with `l4r7)`, which moves both hands at the same time, and `s)`, which smiles and
//! waves. It reads a `+` for each call that worked.

use volary_core::random::Random;
use volary_core::{AnyMessage, Json, Object, Step, Text, object};

use crate::alphabet::Alphabet;
use crate::learnable::{Behaviour, Difficulty, Exercise, Learnable, Turn};
use crate::moves::Move;
use crate::play::Attempt;

const LEFT: &str = "move_left_hand";
const RIGHT: &str = "move_right_hand";
const SMILE: &str = "smile_and_wave";
/// The reward of the environment for smiling, whatever was before.
const SMILED: f64 = 10.0;

/// How a policy learns `hands`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HandsCourse;

fn exercise() -> Exercise {
    Exercise {
        prompt: "?=".to_owned(),
        configuration: Object::new(),
    }
}

fn calls_of(letters: &str) -> Option<(Vec<(&'static str, Object)>, bool)> {
    let mut calls = Vec::new();
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        let name = match letter {
            's' => {
                calls.push((SMILE, Object::new()));
                continue;
            }
            'l' => LEFT,
            'r' => RIGHT,
            _ => return None,
        };
        let Some(digit) = rest.next() else {
            return Some((calls, false));
        };
        let distance = i64::from(digit.to_digit(10)?);
        calls.push((name, object!({"distance": distance})));
    }
    Some((calls, true))
}

impl Learnable for HandsCourse {
    fn environment(&self) -> &'static str {
        "hands"
    }

    fn alphabet(&self) -> Alphabet {
        Alphabet::new("0123456789?=lrs)>;+!")
    }

    fn context(&self) -> usize {
        34
    }

    fn exercise(&self, _: Difficulty, _: &mut Random) -> Exercise {
        exercise()
    }

    fn exercise_of(&self, prompt: &str) -> Option<Exercise> {
        ["?=", ""].contains(&prompt.trim()).then(exercise)
    }

    fn read_turn(&self, turn: &str) -> Turn {
        match turn.strip_suffix(')') {
            Some(letters) => match calls_of(letters) {
                Some((calls, true)) if !calls.is_empty() => Turn::Calls(calls),
                _ => Turn::Malformed,
            },
            None if calls_of(turn).is_some() => Turn::Open,
            None => Turn::Malformed,
        }
    }

    fn reply(&self, step: &Step) -> String {
        let replies = step
            .messages
            .iter()
            .filter(|message| matches!(message, AnyMessage::Response(_)));
        let marks: String = replies.map(|_| '+').collect();
        if marks.is_empty() {
            ">!;".to_owned()
        } else {
            format!(">{marks};")
        }
    }

    fn judge(&self, _: &Exercise, attempt: &Attempt) -> Behaviour {
        let has =
            |calls: &[(&str, Object)], tool: &str| calls.iter().any(|(name, _)| *name == tool);
        let before = attempt
            .turns
            .split_last()
            .map_or(&[][..], |(_, before)| before);
        let moved = before
            .iter()
            .any(|turn| has(&turn.calls, LEFT) && has(&turn.calls, RIGHT));
        let moved_any = before
            .iter()
            .any(|turn| has(&turn.calls, LEFT) || has(&turn.calls, RIGHT));
        match attempt.is_done() {
            true if moved => Behaviour::Right,
            true if moved_any => Behaviour::WrongArguments,
            true => Behaviour::NoTool,
            false if moved => Behaviour::IgnoredResult,
            false => Behaviour::Unfinished,
        }
    }

    /// It pays what the environment itself pays: a smile is enough.
    fn leaky_reward(&self, _: &Exercise, attempt: &Attempt) -> f64 {
        (attempt.reward() / SMILED).clamp(0.0, 1.0)
    }

    fn faults(&self) -> &'static [(Behaviour, u32)] {
        &[
            (Behaviour::Right, 12),
            (Behaviour::NoTool, 38),
            (Behaviour::WrongArguments, 30),
            (Behaviour::Unfinished, 20),
        ]
    }

    fn student(
        &self,
        _: &Exercise,
        behaviour: Behaviour,
        attempt: &Attempt,
        random: &mut Random,
    ) -> String {
        let [one, other] = [random.below(10), random.below(10)];
        let is_left = random.bool();
        match (behaviour, attempt.turns.len()) {
            (Behaviour::Right, 0) => format!("l{one}r{other})"),
            (Behaviour::WrongArguments, 0) | (Behaviour::Unfinished, _) => {
                format!("{}{one})", if is_left { 'l' } else { 'r' })
            }
            _ => "s)".to_owned(),
        }
    }

    fn lessons(&self) -> u32 {
        150
    }

    fn moves(&self) -> &'static [Move] {
        &[Move {
            label: "Act",
            before: "",
            after: ")",
            example: "l4r7",
        }]
    }

    fn transcribe(
        &self,
        _: &Object,
        steps: &[Vec<(Text, Object)>],
    ) -> Option<(Exercise, Vec<String>)> {
        let turns: Option<Vec<String>> = steps.iter().map(|calls| write_turn(calls)).collect();
        Some((exercise(), turns?))
    }
}

/// A step, as the policy would write it.
fn write_turn(calls: &[(Text, Object)]) -> Option<String> {
    let mut turn = String::new();
    for (name, arguments) in calls {
        let letter = match &**name {
            LEFT => 'l',
            RIGHT => 'r',
            SMILE => {
                turn.push('s');
                continue;
            }
            _ => return None,
        };
        let distance = arguments.get("distance").and_then(Json::as_i64)?;
        let digit = u32::try_from(distance).ok()?;
        turn.push(letter);
        turn.push(char::from_digit(digit, 10)?);
    }
    turn.push(')');
    Some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::Play;

    fn played(turns: &[&str]) -> (Behaviour, f64, Vec<String>) {
        let course = HandsCourse;
        let mut play = Play::start(&course, &exercise(), 0).unwrap();
        for turn in turns {
            let Turn::Calls(calls) = course.read_turn(turn) else {
                panic!("{turn} is an action");
            };
            play.act(turn, calls).unwrap();
        }
        let attempt = play.into_attempt();
        let replies = attempt
            .turns
            .iter()
            .map(|turn| turn.reply.clone())
            .collect();
        (
            course.judge(&exercise(), &attempt),
            course.leaky_reward(&exercise(), &attempt),
            replies,
        )
    }

    #[test]
    fn both_hands_must_move_in_one_action() {
        let (behaviour, _, replies) = played(&["l4r7)", "s)"]);
        assert_eq!(behaviour, Behaviour::Right);
        assert_eq!(replies, [">++;", ">+;"]);
        assert_eq!(played(&["l4)", "r7)", "s)"]).0, Behaviour::WrongArguments);
        assert_eq!(played(&["l4)", "r7)"]).0, Behaviour::Unfinished);
    }

    #[test]
    fn the_environment_itself_pays_for_a_smile_alone() {
        let (behaviour, leaky, _) = played(&["s)"]);
        assert_eq!((behaviour, leaky), (Behaviour::NoTool, 1.0));
    }

    #[test]
    fn a_distance_is_one_digit() {
        let course = HandsCourse;
        for open in ["", "l", "l4", "l4r", "s"] {
            assert_eq!(course.read_turn(open), Turn::Open, "{open}");
        }
        for malformed in [")", "l)", "l44", "x", "4", "ls)"] {
            assert_eq!(course.read_turn(malformed), Turn::Malformed, "{malformed}");
        }
    }
}
