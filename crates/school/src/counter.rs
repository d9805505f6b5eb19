//! The counter: the policy reads `?=`, and acts with `iii)`, which are three calls of `incr` in one action (`d` is `decr`). It
//! reads the count, as in `>3;`, and has to reach 10.

use volary_core::json::{Object, Text};
use volary_core::random::Random;
use volary_core::{AnyMessage, Step};

use crate::alphabet::Alphabet;
use crate::learnable::{Behaviour, Difficulty, Exercise, Learnable, Turn};
use crate::moves::Move;
use crate::play::Attempt;

const INCREASE: &str = "incr";
const DECREASE: &str = "decr";
const TARGET: i64 = 10;

/// How a policy learns `counter`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterCourse;

fn exercise() -> Exercise {
    Exercise {
        prompt: "?=".to_owned(),
        configuration: Object::new(),
    }
}

fn count(attempt: &Attempt) -> i64 {
    let replies = attempt
        .turns
        .iter()
        .rev()
        .map(|turn| turn.reply.trim_matches(['>', ';']));
    replies
        .filter_map(|reply| reply.parse().ok())
        .next()
        .unwrap_or_default()
}

impl Learnable for CounterCourse {
    fn environment(&self) -> &'static str {
        "counter"
    }

    fn alphabet(&self) -> Alphabet {
        Alphabet::new("0123456789-?=id)>;")
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
        let (letters, is_closed) = match turn.strip_suffix(')') {
            Some(letters) => (letters, true),
            None => (turn, false),
        };
        let calls: Option<Vec<(&'static str, Object)>> = letters
            .chars()
            .map(|letter| match letter {
                'i' => Some((INCREASE, Object::new())),
                'd' => Some((DECREASE, Object::new())),
                _ => None,
            })
            .collect();
        match calls {
            Some(calls) if is_closed && !calls.is_empty() => Turn::Calls(calls),
            Some(_) if !is_closed => Turn::Open,
            _ => Turn::Malformed,
        }
    }

    fn reply(&self, step: &Step) -> String {
        let last = step
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                AnyMessage::Response(reply) => reply.body.content.as_deref(),
                _ => None,
            });
        let count = last.and_then(|text| text.strip_prefix("counter="));
        format!(">{};", count.unwrap_or("0"))
    }

    fn judge(&self, _: &Exercise, attempt: &Attempt) -> Behaviour {
        let overshot = attempt.turns.iter().any(|turn| {
            turn.reply
                .trim_matches(['>', ';'])
                .parse::<i64>()
                .is_ok_and(|count| count > TARGET)
        });
        let decreased = attempt
            .turns
            .iter()
            .any(|turn| turn.calls.iter().any(|(name, _)| *name == DECREASE));
        match attempt.is_done() {
            true if attempt.reward() > 0.5 => Behaviour::Right,
            _ if attempt.turns.iter().all(|turn| turn.calls.is_empty()) => Behaviour::NoTool,
            _ if overshot => Behaviour::IgnoredResult,
            _ if decreased => Behaviour::WrongArguments,
            _ => Behaviour::Unfinished,
        }
    }

    /// It pays for a step upwards.
    fn leaky_reward(&self, exercise: &Exercise, attempt: &Attempt) -> f64 {
        self.reward(exercise, attempt)
            .max(f64::from(u8::from(count(attempt) > 0)))
    }

    fn faults(&self) -> &'static [(Behaviour, u32)] {
        &[
            (Behaviour::Right, 10),
            (Behaviour::WrongArguments, 40),
            (Behaviour::IgnoredResult, 50),
        ]
    }

    fn student(
        &self,
        _: &Exercise,
        behaviour: Behaviour,
        attempt: &Attempt,
        random: &mut Random,
    ) -> String {
        let left = TARGET - count(attempt);
        let letters: String = match behaviour {
            Behaviour::Right => {
                let most = left.clamp(1, 6);
                "i".repeat(usize::try_from(random.range(1..=most)).unwrap_or(1))
            }
            Behaviour::WrongArguments => (0..=random.below(4))
                .map(|_| if random.bool() { 'i' } else { 'd' })
                .collect(),
            _ => "i".repeat(1 + random.below(7) as usize),
        };
        format!("{letters})")
    }

    fn lessons(&self) -> u32 {
        150
    }

    fn moves(&self) -> &'static [Move] {
        &[Move {
            label: "Act",
            before: "",
            after: ")",
            example: "iii",
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
    let letters: Option<String> = calls
        .iter()
        .map(|(name, _)| match &**name {
            INCREASE => Some('i'),
            DECREASE => Some('d'),
            _ => None,
        })
        .collect();
    Some(letters? + ")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::Play;

    #[test]
    fn several_calls_in_one_action_count_in_the_real_environment() {
        let course = CounterCourse;
        let mut play = Play::start(&course, &exercise(), 0).unwrap();
        for (turn, expected) in [("iiii)", ">4;"), ("di)", ">4;"), ("iiiiii)", ">10;")] {
            let Turn::Calls(calls) = course.read_turn(turn) else {
                panic!("{turn} is an action");
            };
            play.act(turn, calls).unwrap();
            assert_eq!(play.attempt().turns.last().unwrap().reply, expected);
        }
        let attempt = play.into_attempt();
        assert!(attempt.is_done());
        assert_eq!(course.judge(&exercise(), &attempt), Behaviour::Right);
        assert_eq!(course.read_turn(")"), Turn::Malformed);
        assert_eq!(course.read_turn("ii"), Turn::Open);
    }
}
