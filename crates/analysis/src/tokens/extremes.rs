//! Tokens worth looking at: the most extreme values, and the first decision after a tool result.

use volary_core::Role;
use volary_episode::episode::Episode;
use volary_episode::token_record::{DIFFERENCE, StreamKind, TokenRecord};

/// The maximum number of tokens that a ranking has.
const MOST: usize = 50;

/// A reason to look at tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    LargestAdvantage,
    HighestEntropy,
    /// The largest difference of the log-probabilities of trainer and sampler.
    LargestMismatch,
    LowestLogprob,
    /// The first trained token after each result of a tool.
    AfterTool,
}

impl Extreme {
    /// All of them, in the order of a menu.
    pub const ALL: [Extreme; 5] = [
        Extreme::LargestAdvantage,
        Extreme::HighestEntropy,
        Extreme::LargestMismatch,
        Extreme::LowestLogprob,
        Extreme::AfterTool,
    ];

    /// The name in a menu.
    pub fn name(self) -> &'static str {
        match self {
            Extreme::LargestAdvantage => "largest |advantage|",
            Extreme::HighestEntropy => "highest entropy",
            Extreme::LargestMismatch => "largest |trainer − sampler|",
            Extreme::LowestLogprob => "lowest log-probability",
            Extreme::AfterTool => "first token after a tool result",
        }
    }

    /// The tokens, the most extreme first; those after tool results in their order. Only trained tokens count, unless
    /// the mask is unknown. Empty if the record has no such data.
    pub fn tokens(self, episode: &Episode, record: &TokenRecord) -> Vec<usize> {
        let stream = |kind| record.stream_of(kind).map(|(_, stream)| stream);
        match self {
            Extreme::LargestAdvantage => ranked(record, |token| {
                Some(stream(StreamKind::Advantage)?.get(token)?.abs())
            }),
            Extreme::HighestEntropy => {
                ranked(record, |token| stream(StreamKind::Entropy)?.get(token))
            }
            Extreme::LargestMismatch => {
                ranked(record, |token| Some(record.value(DIFFERENCE, token)?.abs()))
            }
            Extreme::LowestLogprob => {
                let known = stream(StreamKind::Sampler).or_else(|| stream(StreamKind::Trainer));
                ranked(record, |token| Some(-known?.get(token)?))
            }
            Extreme::AfterTool => after_tools(episode, record),
        }
    }
}

/// The tokens with the highest values. Of neighbouring tokens with the same value only the first counts: an advantage is
/// often the same on all tokens of a turn.
fn ranked(record: &TokenRecord, value: impl Fn(usize) -> Option<f64>) -> Vec<usize> {
    let is_counted = |token: &usize| !record.is_mask_known || record.is_trained(*token);
    let mut last = None;
    let mut found: Vec<(f64, usize)> = Vec::new();
    for token in (0..record.strip.len()).filter(is_counted) {
        let Some(value) = value(token).filter(|value| value.is_finite()) else {
            last = None;
            continue;
        };
        if last != Some(value) {
            found.push((value, token));
        }
        last = Some(value);
    }
    let order = |one: &(f64, usize), other: &(f64, usize)| {
        other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
    };
    if found.len() > MOST {
        found.select_nth_unstable_by(MOST, order);
        found.truncate(MOST);
    }
    found.sort_by(order);
    found.into_iter().map(|(_, token)| token).collect()
}

fn after_tools(episode: &Episode, record: &TokenRecord) -> Vec<usize> {
    if !record.is_divided {
        return Vec::new();
    }
    let is_tool = |step: usize| {
        let said = step.checked_sub(1).and_then(|at| episode.steps.get(at));
        let mut said = said.into_iter().flat_map(|step| step.messages());
        said.any(|message| [Role::Tool, Role::Function].contains(&message.role()))
    };
    let results = record
        .parts
        .iter()
        .filter(|part| part.message > 0 && is_tool(part.step));
    let mut tokens: Vec<usize> = results
        .filter_map(|part| {
            (part.range.end..record.strip.len()).find(|token| record.is_trained(*token))
        })
        .collect();
    // Several results may precede one turn.
    tokens.dedup();
    tokens
}

#[cfg(test)]
mod tests {
    use volary_core::json::Text;
    use volary_core::{Message, TokenStream};
    use volary_episode::episode::{Outcome, StepRecord};
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

    fn builder() -> TokenRecordBuilder {
        let mask = vec![true, true, false, true, true];
        TokenRecordBuilder::new(vec![1; 6], LossMask::Response(mask)).unwrap()
    }

    fn tokens(extreme: Extreme, streams: &[(&str, [f64; 5])]) -> Vec<usize> {
        let mut builder = builder();
        for (name, values) in streams {
            let values: TokenStream = values.iter().copied().collect();
            builder.stream(*name, &values, Alignment::Response);
        }
        let episode = Episode::default();
        extreme.tokens(&episode, &builder.divided(&episode))
    }

    #[test]
    fn the_most_extreme_trained_token_is_first() {
        let entropy = ("entropy", [0.5, f64::NAN, 9.0, 2.0, 1.0]);
        assert_eq!(tokens(Extreme::HighestEntropy, &[entropy]), [4, 5, 1]);
        let sampler = ("logprobs", [-0.5, -3.0, 0.0, -0.1, -0.2]);
        assert_eq!(tokens(Extreme::LowestLogprob, &[sampler]), [2, 1, 5, 4]);
        let trainer = ("log_probs", [-0.5, -3.1, 0.0, -0.1, -0.7]);
        assert_eq!(
            tokens(Extreme::LargestMismatch, &[sampler, trainer])[..2],
            [5, 2]
        );
        assert!(tokens(Extreme::LargestMismatch, &[sampler]).is_empty());
    }

    #[test]
    fn the_first_of_equal_neighbours_counts() {
        let advantage = ("advantages", [-2.0, -2.0, 0.0, -2.0, 1.0]);
        assert_eq!(tokens(Extreme::LargestAdvantage, &[advantage]), [1, 5]);
    }

    #[test]
    fn only_tool_results_count_as_such() {
        let message = |role| Message::new(role, Text::from("x")).into();
        let step = |role| {
            let outcome = Outcome::Observed {
                messages: vec![message(role)],
                reward: 0.0,
                done: false,
                truncated: false,
            };
            StepRecord::new(message(Role::Assistant), outcome)
        };
        let episode = |role| Episode {
            start: vec![message(Role::User)],
            steps: vec![step(role), step(Role::User)],
            ..Episode::default()
        };
        let after = |role| {
            let episode = episode(role);
            Extreme::AfterTool.tokens(&episode, &builder().divided(&episode))
        };
        assert_eq!(after(Role::Tool), [4]);
        assert!(after(Role::User).is_empty());
    }
}
