//! The figures of samples that are compared over steps.

use volary_core::json::Text;

/// A figure of a sample.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// The reward that counts.
    Reward,
    /// A part of the reward, or another score, by its name.
    Part(Text),
    /// The number of tokens of the response.
    Length,
    /// The number of turns.
    Turns,
    /// Trained tokens as a share of all tokens.
    TrainedShare,
    /// The mean entropy over trained tokens.
    Entropy,
    /// The mean divergence over trained tokens.
    Divergence,
    /// The mean absolute difference of the log-probabilities of trainer and sampler.
    Mismatch,
}

impl Measure {
    /// The measures that every run may have, in the order of display. Parts come after the reward.
    pub const FIXED: [Measure; 7] = [
        Measure::Reward,
        Measure::Length,
        Measure::Turns,
        Measure::TrainedShare,
        Measure::Entropy,
        Measure::Divergence,
        Measure::Mismatch,
    ];

    /// The name for display.
    pub fn name(&self) -> &str {
        match self {
            Measure::Reward => "Reward",
            Measure::Part(name) => name,
            Measure::Length => "Response tokens",
            Measure::Turns => "Turns",
            Measure::TrainedShare => "Trained share",
            Measure::Entropy => "Entropy",
            Measure::Divergence => "KL",
            Measure::Mismatch => "Mismatch",
        }
    }

    /// The name, which says where the measure is from if another one has the same name.
    pub fn title(&self) -> String {
        let has_name = |fixed: &Measure| fixed.name().eq_ignore_ascii_case(self.name());
        match self {
            Measure::Part(name) if Measure::FIXED.iter().any(has_name) => {
                format!("{name} (score of the file)")
            }
            _ => self.name().to_owned(),
        }
    }

    /// What it is, in one sentence.
    pub fn about(&self) -> &'static str {
        match self {
            Measure::Reward => "The reward of a sample.",
            Measure::Part(_) => "A part of the reward, or another score of a sample.",
            Measure::Length => "The number of tokens after the prompt.",
            Measure::Turns => "The number of turns of the agent.",
            Measure::TrainedShare => "Trained tokens as a share of all tokens.",
            Measure::Entropy => "The mean entropy over the trained tokens of a sample.",
            Measure::Divergence => "The mean KL estimate over the trained tokens of a sample.",
            Measure::Mismatch => {
                "The mean absolute difference of the log-probabilities of trainer and sampler, over the trained tokens of a sample."
            }
        }
    }

    /// Whether its values are whole numbers.
    pub fn is_count(&self) -> bool {
        matches!(self, Measure::Length | Measure::Turns)
    }

    /// Whether it is a share of 1.
    pub fn is_share(&self) -> bool {
        *self == Measure::TrainedShare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_with_the_name_of_a_measure_say_where_they_are_from() {
        let title = |name: &str| Measure::Part(name.into()).title();
        assert_eq!(title("turns"), "turns (score of the file)");
        assert_eq!(title("format"), "format");
        assert_eq!(Measure::Turns.title(), "Turns");
    }
}
