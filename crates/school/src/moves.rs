//! The moves that a person has who plays against the policy.

/// A move that a person fills in: what the policy writes around what the person writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The label of its button.
    pub label: &'static str,
    pub before: &'static str,
    pub after: &'static str,
    /// What a person may write.
    pub example: &'static str,
}

impl Move {
    /// The turn, as the policy would write it. Signs that are easily typed instead of those of the alphabet are understood.
    pub fn turn(&self, written: &str) -> String {
        let written: String = written
            .chars()
            .filter(|character| !character.is_whitespace())
            .map(|character| match character {
                '×' | '·' | 'x' | 'X' => '*',
                '−' | '–' => '-',
                character => character.to_ascii_lowercase(),
            })
            .collect();
        format!("{}{written}{}", self.before, self.after)
    }
}
