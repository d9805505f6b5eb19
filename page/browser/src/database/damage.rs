//! The ways in which a stored record can be damaged.

/// The reason why a stored record cannot be read. Such a record is only deleted on request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Damage {
    /// The value does not have the form of such a record.
    #[error("it is not a record of this page")]
    Shape,
    /// Another version wrote it.
    #[error("its format {0} is unknown to this version")]
    Format(f64),
    /// It names a store that does not exist.
    #[error("it belongs to a store that is unknown to this version")]
    Store(String),
    /// The keys, or the lengths of the texts, are damaged.
    #[error("its keys are damaged")]
    Keys,
    /// The texts are damaged.
    #[error("its contents are damaged")]
    Texts,
}
