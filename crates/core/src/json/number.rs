//! Numbers: integers of any size, float texts, numbers out of texts.

use super::Text;

/// A whole number. Small ones are machine integers; larger ones are kept as their canonical
/// decimal digits (`-?[1-9][0-9]*`), which is all that the core needs of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Integer {
    /// Fits 64 bits.
    Small(i64),
    /// Does not fit 64 bits.
    Large(Text),
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Integer::Small(value)
    }
}

impl std::fmt::Display for Integer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Integer::Small(value) => value.fmt(formatter),
            Integer::Large(digits) => formatter.write_str(digits),
        }
    }
}
