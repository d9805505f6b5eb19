//! How episodes come into the library.

/// How episodes come into the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person gave files.
    Imported,
    /// They came with the site: they are not kept, since they are there at each visit.
    Published,
    /// A link named the file, and the user did not want it kept: it is there until the page is left.
    Linked,
}

impl Origin {
    /// All of them.
    pub const ALL: [Origin; 3] = [Origin::Imported, Origin::Published, Origin::Linked];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Origin::Imported => IMPORTED,
            Origin::Published => PUBLISHED,
            Origin::Linked => LINKED,
        }
    }
}

/// The origin of what a person gave as files.
pub const IMPORTED: &str = "imported";
/// The origin of what came with the site.
pub const PUBLISHED: &str = "published";
/// The origin of what a link named, and nobody kept.
pub const LINKED: &str = "linked";
/// The origin of what a person, or a policy, played here.
pub const PLAYED: &str = "played";
/// The origin of what was played for an evaluation.
pub const EVALUATED: &str = "evaluated";

impl Origin {
    /// The origin of a word.
    pub fn read(word: &str) -> Option<Origin> {
        Origin::ALL.into_iter().find(|origin| origin.word() == word)
    }
}
