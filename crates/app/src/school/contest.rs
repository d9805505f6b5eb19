//! A person plays against the policy: both answer the same task, and the score is counted.

use volary_school::Behaviour;
use volary_school::record::SampleRecord;

use super::Answer;

/// A round, and the score of all rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contest {
    /// The number of the task; 0 before the first one.
    pub number: u32,
    /// Empty until it is drawn.
    pub prompt: String,
    /// What the person wrote.
    pub turns: Vec<String>,
    /// The person's episode so far.
    pub person: Option<SampleRecord>,
    /// What the policy did; not before the person is done.
    pub policy: Option<Answer>,
    /// Why the last turn was none.
    pub refused: Option<String>,
    /// Whether the last turn is being played.
    is_waiting: bool,
    /// The number of finished rounds, and of those that the person and the policy solved.
    pub rounds: u32,
    pub person_solved: u32,
    pub policy_solved: u32,
}

impl Contest {
    /// Asks for the next task.
    pub(super) fn next(&mut self) -> u32 {
        *self = Contest {
            number: self.number + 1,
            rounds: self.rounds,
            person_solved: self.person_solved,
            policy_solved: self.policy_solved,
            ..Contest::default()
        };
        self.number
    }

    pub(super) fn drawn(&mut self, number: u32, prompt: &str) {
        if number == self.number {
            prompt.clone_into(&mut self.prompt);
        }
    }

    /// Appends a turn, unless the round is over or the former turn is still being played.
    pub(super) fn write(&mut self, turn: String) -> bool {
        if self.prompt.is_empty() || self.policy.is_some() || self.is_waiting {
            return false;
        }
        self.is_waiting = true;
        self.refused = None;
        self.turns.push(turn);
        true
    }

    pub(super) fn refused(&mut self, reason: &str) {
        self.is_waiting = false;
        self.turns.pop();
        self.refused = Some(reason.to_owned());
    }

    /// What the person did; with what the policy did, the round is over.
    pub(super) fn played(&mut self, person: SampleRecord, policy: Option<Answer>) {
        self.is_waiting = false;
        if let Some(policy) = policy.filter(|_| self.policy.is_none()) {
            self.rounds += 1;
            self.person_solved += u32::from(person.behaviour == Behaviour::Right);
            self.policy_solved += u32::from(policy.sample.behaviour == Behaviour::Right);
            self.policy = Some(policy);
        }
        self.person = Some(person);
    }
}
