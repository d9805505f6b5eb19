//! Columns with figures of the tokens that a trainer recorded.
//!
//! Invariant: a row without the figure has no value, which is not 0.

use std::collections::BTreeMap;

use volary_core::json::{Json, Text};
use volary_episode::token_record::{DIFFERENCE, StreamKind};

use super::{Column, Row};
use crate::tokens::TokenFigures;

/// A figure of the recorded tokens. Means are over the finite values of the trained tokens, or of the whole response if
/// the mask is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TokenColumn {
    /// The number of prompt tokens.
    Prompt,
    /// The number of tokens after the prompt.
    Response,
    /// Trained tokens as a share of all tokens.
    TrainedShare,
    Entropy,
    /// The mean estimate of the KL divergence.
    Divergence,
    /// The mean absolute difference of the log-probabilities of trainer and sampler.
    Mismatch,
    /// The mean advantage.
    Advantage,
    LowestAdvantage,
    HighestAdvantage,
    /// The number of NaN and infinite values.
    NotFinite,
    /// The number of policies that the episode was sampled from.
    Policies,
    /// The mean of the stream with this name.
    Stream(Text),
}

/// What streams with these meanings contribute has a column of its own.
const NAMED: [StreamKind; 3] = [
    StreamKind::Advantage,
    StreamKind::Entropy,
    StreamKind::Divergence,
];

impl TokenColumn {
    /// Those that do not depend on the names of streams, in the order of display.
    pub const FIXED: [TokenColumn; 11] = [
        TokenColumn::Prompt,
        TokenColumn::Response,
        TokenColumn::TrainedShare,
        TokenColumn::Advantage,
        TokenColumn::LowestAdvantage,
        TokenColumn::HighestAdvantage,
        TokenColumn::Entropy,
        TokenColumn::Divergence,
        TokenColumn::Mismatch,
        TokenColumn::NotFinite,
        TokenColumn::Policies,
    ];

    /// The name in addresses; of a stream its own.
    pub fn name(&self) -> &str {
        match self {
            TokenColumn::Prompt => "prompt-tokens",
            TokenColumn::Response => "response-tokens",
            TokenColumn::TrainedShare => "trained-share",
            TokenColumn::Entropy => "mean-entropy",
            TokenColumn::Divergence => "mean-kl",
            TokenColumn::Mismatch => "mean-mismatch",
            TokenColumn::Advantage => "mean-advantage",
            TokenColumn::LowestAdvantage => "lowest-advantage",
            TokenColumn::HighestAdvantage => "highest-advantage",
            TokenColumn::NotFinite => "not-finite",
            TokenColumn::Policies => "policy-versions",
            TokenColumn::Stream(name) => name,
        }
    }

    /// The column with this fixed name.
    pub fn read(name: &str) -> Option<TokenColumn> {
        TokenColumn::FIXED
            .into_iter()
            .find(|column| column.name() == name)
    }

    /// The heading of the column.
    pub fn heading(&self) -> String {
        let name = match self {
            TokenColumn::Prompt => "Prompt tokens",
            TokenColumn::Response => "Response tokens",
            TokenColumn::TrainedShare => "Trained share",
            TokenColumn::Entropy => "Mean entropy",
            TokenColumn::Divergence => "Mean KL",
            TokenColumn::Mismatch => "Mean mismatch",
            TokenColumn::Advantage => "Mean advantage",
            TokenColumn::LowestAdvantage => "Lowest advantage",
            TokenColumn::HighestAdvantage => "Highest advantage",
            TokenColumn::NotFinite => "NaN values",
            TokenColumn::Policies => "Policy versions",
            TokenColumn::Stream(name) => return format!("Mean {name}"),
        };
        name.to_owned()
    }

    /// Whether its values are whole numbers.
    pub fn is_count(&self) -> bool {
        matches!(
            self,
            TokenColumn::Prompt
                | TokenColumn::Response
                | TokenColumn::NotFinite
                | TokenColumn::Policies
        )
    }

    /// The figure of a row.
    pub fn value(&self, row: &Row) -> Option<f64> {
        let figures = row.token_figures.as_deref();
        match self {
            TokenColumn::Prompt => Some(figures?.prompt as f64),
            TokenColumn::Response => {
                let prompt = figures?.prompt;
                Some(row.recorded_tokens?.saturating_sub(prompt) as f64)
            }
            TokenColumn::TrainedShare => {
                let all = row.recorded_tokens.filter(|all| *all > 0)?;
                Some(row.trained_tokens? as f64 / all as f64)
            }
            TokenColumn::Entropy => figures?.entropy,
            TokenColumn::Divergence => figures?.divergence,
            TokenColumn::Mismatch => figures?.mismatch,
            // Rows of older versions have no means, but the one advantage of a sample is its mean.
            TokenColumn::Advantage => figures?.mean_of(StreamKind::Advantage).or_else(|| {
                let (low, high) = figures?.advantage?;
                (low == high).then_some(low)
            }),
            TokenColumn::LowestAdvantage => Some(figures?.advantage?.0),
            TokenColumn::HighestAdvantage => Some(figures?.advantage?.1),
            TokenColumn::NotFinite => Some(figures?.not_finite as f64),
            TokenColumn::Policies => policies(row).map(|count| count as f64),
            TokenColumn::Stream(name) => figures?.mean(name),
        }
    }
}

/// The number of policies that an episode was sampled from; `None` if the file does not say.
pub fn policies(row: &Row) -> Option<usize> {
    let versions = row.metadata.get("weight_versions")?.as_list()?;
    let mut names: Vec<String> = versions.iter().map(Json::to_display).collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then_some(names.len())
}

/// The columns that some rows have a value in, with the number of such rows: the fixed ones in order, then at most `limit`
/// streams by decreasing number.
pub(super) fn found<'a>(
    rows: impl Iterator<Item = &'a Row> + Clone,
    limit: usize,
) -> Vec<(Column, usize)> {
    let fixed = TokenColumn::FIXED.into_iter().map(|column| {
        let known = rows.clone().filter(|row| column.value(row).is_some());
        let count = known.count();
        (column, count)
    });
    let fixed = fixed.filter(|(_, count)| *count > 0);
    let mut counts: BTreeMap<&Text, usize> = BTreeMap::new();
    for figures in rows.clone().filter_map(|row| row.token_figures.as_deref()) {
        for (name, _) in figures
            .means
            .iter()
            .filter(|(name, _)| is_other(figures, name))
        {
            *counts.entry(name).or_default() += 1;
        }
    }
    let mut streams: Vec<_> = counts.into_iter().collect();
    // The stream that follows from two others comes last.
    streams.sort_by_key(|(name, count)| (***name == *DIFFERENCE, std::cmp::Reverse(*count)));
    let streams = streams
        .into_iter()
        .take(limit)
        .map(|(name, count)| (TokenColumn::Stream(name.clone()), count));
    fixed
        .chain(streams)
        .map(|(column, count)| (Column::TokenFigure(column), count))
        .collect()
}

/// Whether no fixed column has the mean of this stream.
fn is_other(figures: &TokenFigures, name: &str) -> bool {
    let is_source = |kind: StreamKind| {
        figures
            .source(kind)
            .is_some_and(|(known, _)| **known == *name)
    };
    !NAMED.into_iter().any(is_source)
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::super::filter::Filter;
    use super::super::order::Direction;
    use super::super::{Cell, arrange, found_columns};
    use super::*;

    fn row(id: &str, means: &[(&str, f64)]) -> Row {
        Row {
            id: id.into(),
            recorded_tokens: Some(10),
            trained_tokens: Some(4),
            token_figures: Some(Box::new(TokenFigures {
                prompt: 3,
                advantage: Some((0.5, 0.5)),
                means: means
                    .iter()
                    .map(|(name, mean)| ((*name).into(), *mean))
                    .collect(),
                ..TokenFigures::default()
            })),
            ..Row::default()
        }
    }

    #[test]
    fn any_stream_has_a_column_and_missing_is_not_zero() {
        let with = row("a", &[("advantages", 0.25), ("teacher_kl", 0.0)]);
        // As rows of older versions are: without means.
        let older = row("b", &[]);
        let without = Row {
            id: "c".into(),
            metadata: object!({ "weight_versions": ["1", "2", "1"] }),
            ..Row::default()
        };
        let stream = TokenColumn::Stream("teacher_kl".into());
        let values = |column: &TokenColumn| [&with, &older, &without].map(|row| column.value(row));
        assert_eq!(values(&stream), [Some(0.0), None, None]);
        assert_eq!(
            values(&TokenColumn::Advantage),
            [Some(0.25), Some(0.5), None]
        );
        assert_eq!(values(&TokenColumn::Response), [Some(7.0), Some(7.0), None]);
        assert_eq!(
            values(&TokenColumn::TrainedShare),
            [Some(0.4), Some(0.4), None]
        );
        assert_eq!(values(&TokenColumn::Policies), [None, None, Some(2.0)]);
        let found = found_columns([&with, &older, &without], 9);
        let names: Vec<String> = found
            .iter()
            .filter_map(|(column, _)| match column {
                Column::TokenFigure(column) => Some(column.heading()),
                _ => None,
            })
            .collect();
        assert_eq!(
            names,
            [
                "Prompt tokens",
                "Response tokens",
                "Trained share",
                "Mean advantage",
                "Lowest advantage",
                "Highest advantage",
                "NaN values",
                "Policy versions",
                "Mean teacher_kl"
            ]
        );
        let column = Column::TokenFigure(stream);
        assert_eq!(without.cell(&column), Cell::Empty);
        let wanted = arrange::Wanted {
            filters: vec![(
                Column::TokenFigure(TokenColumn::Response),
                Filter::Between {
                    low: Some(7.0),
                    high: None,
                },
            )],
            ..arrange::Wanted::default()
        };
        let rows = vec![without.clone(), older.clone(), with.clone()];
        let ids = |wanted| -> Vec<Text> {
            let rows = arrange::arranged(rows.clone(), wanted);
            rows.iter().map(|row| row.id.clone()).collect()
        };
        assert_eq!(ids(wanted), ["b", "a"].map(Text::from));
        for direction in [Direction::Ascending, Direction::Descending] {
            let wanted = arrange::Wanted {
                sort: Some((column.clone(), direction)),
                ..arrange::Wanted::default()
            };
            assert_eq!(ids(wanted)[0], "a".into());
        }
    }
}
