//! How episodes come into the library.

use volary_protocol::library::Origin;

/// The word for an origin, as rows store it.
pub const fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Imported => IMPORTED,
        Origin::Published => PUBLISHED,
        Origin::Linked => LINKED,
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
