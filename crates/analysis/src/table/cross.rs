//! Cross table of groups by two columns: a row for each value of the first, a column for each value of the second.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use volary_core::json::Text;

use super::groups::{Group, GroupOrder};
use super::order::{Direction, natural};
use crate::statistics::Paired;

/// The groups of two columns, crossed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cross {
    /// The values of the first column, in order of appearance.
    pub rows: Vec<Text>,
    /// The values of the second column, in natural order.
    pub columns: Vec<Text>,
    /// The group of each row and column; `None` if no trajectory has both.
    cells: Vec<Vec<Option<Group>>>,
}

/// The total of a row, or of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossTotal {
    /// The number of trajectories.
    pub count: usize,
    /// The mean reward; `None` if there are no rewards.
    pub mean: Option<f64>,
}

impl CrossTotal {
    fn of<'a>(groups: impl Iterator<Item = &'a Group>) -> CrossTotal {
        let (mut count, mut trials, mut sum) = (0, 0, 0.0);
        for group in groups {
            count += group.rows.len();
            if let Some(mean) = group.mean_reward {
                trials += group.trials;
                sum += mean * group.trials as f64;
            }
        }
        CrossTotal {
            count,
            mean: (trials > 0).then(|| sum / trials as f64),
        }
    }
}

/// A row in which two columns differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing {
    pub row: usize,
    /// The mean reward in the first column.
    pub first: f64,
    pub second: f64,
}

impl Cross {
    /// Builds the table from groups by two columns; groups without a second value are dropped.
    pub fn of(groups: &[Group]) -> Cross {
        let mut columns: Vec<Text> = groups
            .iter()
            .filter_map(|group| group.second.clone())
            .collect();
        columns.sort_by(|one, other| natural(one, other));
        columns.dedup();
        let indices: BTreeMap<&str, usize> = columns
            .iter()
            .enumerate()
            .map(|(at, name)| (&**name, at))
            .collect();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut rows = Vec::new();
        let mut cells: Vec<Vec<Option<Group>>> = Vec::new();
        for group in groups {
            let Some(column) = group.second.as_deref().and_then(|name| indices.get(name)) else {
                continue;
            };
            let row = *known.entry(&group.name).or_insert_with(|| {
                rows.push(group.name.clone());
                cells.push(vec![None; columns.len()]);
                rows.len() - 1
            });
            cells[row][*column] = Some(group.clone());
        }
        Cross {
            rows,
            columns: columns.clone(),
            cells,
        }
    }

    /// The group of a row and a column.
    pub fn cell(&self, row: usize, column: usize) -> Option<&Group> {
        self.cells.get(row)?.get(column)?.as_ref()
    }

    pub fn row_total(&self, row: usize) -> CrossTotal {
        let cells = self.cells.get(row).into_iter().flatten();
        CrossTotal::of(cells.flatten())
    }

    pub fn column_total(&self, column: usize) -> CrossTotal {
        let cells = self.cells.iter().filter_map(|cells| cells.get(column));
        CrossTotal::of(cells.flatten())
    }

    pub fn total(&self) -> CrossTotal {
        CrossTotal::of(self.cells.iter().flatten().flatten())
    }

    /// The indices of the rows, by name or by mean reward. Rows without a reward come last in either direction.
    pub fn ordered(&self, by: GroupOrder, direction: Direction) -> Vec<usize> {
        let turned = |order: Ordering| match direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        };
        let totals: Vec<Option<f64>> = (0..self.rows.len())
            .map(|row| self.row_total(row).mean)
            .collect();
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|&one, &other| match by {
            GroupOrder::Reward => match (totals[one], totals[other]) {
                (Some(one), Some(other)) => turned(one.total_cmp(&other)),
                (one, other) => other.is_some().cmp(&one.is_some()),
            },
            _ => turned(natural(&self.rows[one], &self.rows[other])),
        });
        order
    }

    /// The mean reward of a cell.
    fn mean(&self, row: usize, column: usize) -> Option<f64> {
        self.cell(row, column)?.mean_reward
    }

    /// The rows in which both columns have a reward, with both means.
    pub fn pairs(&self, first: usize, second: usize) -> Vec<Differing> {
        let rows = 0..self.rows.len();
        let pairs = rows.filter_map(|row| {
            Some(Differing {
                row,
                first: self.mean(row, first)?,
                second: self.mean(row, second)?,
            })
        });
        pairs.collect()
    }

    /// The paired comparison of two columns; `None` if no row has a reward in both.
    pub fn compare(&self, first: usize, second: usize, confidence: f64) -> Option<Paired> {
        let pairs = self.pairs(first, second);
        let pairs: Vec<(f64, f64)> = pairs.iter().map(|pair| (pair.first, pair.second)).collect();
        Paired::of(&pairs, confidence)
    }

    /// The rows in which two columns differ, by decreasing difference.
    pub fn differing(&self, first: usize, second: usize) -> Vec<Differing> {
        let mut pairs = self.pairs(first, second);
        let by = |pair: &Differing| (pair.first - pair.second).abs();
        pairs.retain(|pair| by(pair) > 1e-9);
        pairs.sort_by(|one, other| by(other).total_cmp(&by(one)));
        pairs
    }
}

#[cfg(test)]
mod tests {
    use volary_episode::TaskReference;

    use super::*;
    use crate::table::groups::{GroupBy, SUCCESS, grouped};
    use crate::table::{Column, Row};

    fn row(task: &str, model: &str, reward: Option<f64>) -> Row {
        Row {
            task: Some(TaskReference {
                dataset: "d".into(),
                id: task.into(),
            }),
            model: Some(model.into()),
            reward,
            ..Row::default()
        }
    }

    #[test]
    fn tasks_by_models() {
        let rows = [
            row("2", "b", Some(1.0)),
            row("2", "a", Some(0.0)),
            row("1", "a", Some(1.0)),
            row("1", "a", Some(0.0)),
            row("1", "b", Some(0.5)),
            row("3", "a", None),
            row("3", "b", Some(1.0)),
        ];
        let by = GroupBy::columns(&[Column::Task, Column::Model]).unwrap();
        let cross = Cross::of(&grouped(&rows, &by, SUCCESS));
        assert_eq!(
            cross.rows,
            ["2".into(), "1".into(), "3".into()] as [Text; 3]
        );
        assert_eq!(cross.columns, ["a".into(), "b".into()] as [Text; 2]);
        let cell = cross.cell(1, 0).unwrap();
        assert_eq!((cell.trials, cell.mean_reward), (2, Some(0.5)));
        // The standard deviation of 0 and 1 is sqrt(1/2), and the standard error of two is that over sqrt(2).
        assert!((cell.standard_error.unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(cross.cell(0, 2), None);
        let total = |count, mean| CrossTotal { count, mean };
        assert_eq!(cross.row_total(1), total(3, Some(0.5)));
        assert_eq!(cross.row_total(2), total(2, Some(1.0)));
        assert_eq!(cross.column_total(0), total(4, Some(1.0 / 3.0)));
        assert_eq!(cross.total().count, 7);
        assert_eq!(cross.row_total(9), CrossTotal::default());
        let paired = cross.compare(1, 0, 0.95).unwrap();
        assert_eq!((paired.wins, paired.ties, paired.losses), (1, 1, 0));
        assert_eq!(
            cross.differing(0, 1),
            [Differing {
                row: 0,
                first: 0.0,
                second: 1.0
            }]
        );
        assert_eq!(Cross::of(&[]), Cross::default());
    }

    #[test]
    fn rows_without_a_reward_come_last_in_either_direction() {
        let rows = [
            row("1", "a", None),
            row("2", "a", Some(0.0)),
            row("10", "a", Some(1.0)),
        ];
        let by = GroupBy::columns(&[Column::Task, Column::Model]).unwrap();
        let cross = Cross::of(&grouped(&rows, &by, SUCCESS));
        let (up, down) = (Direction::Ascending, Direction::Descending);
        assert_eq!(cross.ordered(GroupOrder::Reward, up), [1, 2, 0]);
        assert_eq!(cross.ordered(GroupOrder::Reward, down), [2, 1, 0]);
        assert_eq!(cross.ordered(GroupOrder::Name, up), [0, 1, 2]);
        assert_eq!(cross.ordered(GroupOrder::Name, down), [2, 1, 0]);
    }
}
