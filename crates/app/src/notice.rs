//! Error notices in three parts: what failed, why, and what to do.

/// An error notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What failed.
    pub what: String,
    pub why: String,
    /// What to do about it.
    pub advice: String,
}

impl Notice {
    pub fn new(what: impl Into<String>, why: impl Into<String>, advice: impl Into<String>) -> Self {
        Notice {
            what: what.into(),
            why: why.into(),
            advice: advice.into(),
        }
    }
}
