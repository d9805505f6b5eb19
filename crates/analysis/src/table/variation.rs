//! Finds columns that do not distinguish rows: they are empty or have the same value in all rows.

use super::{Cell, Column, Row};

/// A column with the same value in all rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    pub column: Column,
    /// The common value; `None` if it is unknown in all rows.
    pub value: Option<String>,
}

/// Tracks the columns with the same value in all rows so far. Rows may be added in any order.
#[derive(Clone, Debug)]
pub struct Variation {
    /// The remaining columns, with the value of the first row.
    uniform: Vec<Uniform>,
    rows: usize,
}

impl Variation {
    /// Starts with some columns.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Variation {
        let uniform = columns.into_iter().map(|column| Uniform {
            column,
            value: None,
        });
        Variation {
            uniform: uniform.collect(),
            rows: 0,
        }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row) {
        let is_first = self.rows == 0;
        self.rows += 1;
        self.uniform.retain_mut(|known| {
            let cell = row.cell(&known.column);
            if is_first {
                known.value = (cell != Cell::Empty).then(|| cell.to_text());
                return true;
            }
            match (&known.value, &cell) {
                (None, Cell::Empty) => true,
                (Some(value), Cell::Text(text)) => value == text,
                (Some(_), Cell::Empty) | (None, _) => false,
                (Some(value), cell) => *value == cell.to_text(),
            }
        });
    }

    /// The uniform columns, in order. For at most one row, only columns that say nothing count: empty ones, and no errors.
    pub fn done(mut self) -> Vec<Uniform> {
        if self.rows < 2 {
            self.uniform.retain(|known| match &known.value {
                Some(value) => known.column == Column::Errors && value == "0",
                None => true,
            });
        }
        if self.rows == 0 {
            self.uniform.clear();
        }
        self.uniform
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, model: Option<&str>, reward: Option<f64>) -> Row {
        Row {
            id: id.into(),
            name: id.into(),
            model: model.map(Into::into),
            reward,
            ..Row::default()
        }
    }

    fn uniform(rows: &[Row]) -> Vec<(Column, Option<String>)> {
        let mut variation =
            Variation::new([Column::Name, Column::Model, Column::Reward, Column::Cost]);
        rows.iter().for_each(|row| variation.add(row));
        let uniform = variation.done().into_iter();
        uniform.map(|known| (known.column, known.value)).collect()
    }

    #[test]
    fn columns_that_tell_nothing() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(uniform(&[]), []);
        let one = row("a", Some("m"), None);
        assert_eq!(
            uniform(std::slice::from_ref(&one)),
            [(Column::Reward, None), (Column::Cost, None)]
        );
        let other = row("b", Some("m"), Some(1.0));
        assert_eq!(
            uniform(&[one.clone(), other.clone()]),
            [(Column::Model, some("m")), (Column::Cost, None)]
        );
        let unknown = row("c", None, Some(1.0));
        assert_eq!(
            uniform(&[other, unknown]),
            [(Column::Reward, some("1")), (Column::Cost, None)]
        );
    }
}
