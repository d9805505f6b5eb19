//! The origins of episodes in the library.

use volary_protocol::library::Origin;

/// The name of an origin in stored rows.
pub const fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Imported => IMPORTED,
        Origin::Published => PUBLISHED,
        Origin::Linked => LINKED,
    }
}

/// Published with the site.
pub const PUBLISHED: &str = "published";
/// Imported from files.
pub const IMPORTED: &str = "imported";
/// Opened from a link, not stored.
pub const LINKED: &str = "linked";
/// Played here by a person or a policy.
pub const PLAYED: &str = "played";
/// Played for an evaluation.
pub const EVALUATED: &str = "evaluated";
