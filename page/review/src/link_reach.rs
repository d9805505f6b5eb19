//! Determines who can open a link to a trajectory. Pure.

use volary_view::route::ReviewPlace;

use volary_storage::origin::PUBLISHED;

/// The reach of a link to a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkReach {
    /// Everyone: the link names a file that can be fetched, or a trajectory published with the site.
    Everybody,
    /// Only this browser: the trajectory is stored nowhere else.
    ThisBrowser,
}

impl LinkReach {
    /// The reach of a link to a place whose trajectory has this `origin`.
    pub fn of(place: &ReviewPlace, origin: Option<&str>) -> LinkReach {
        if place.url.is_some() || origin == Some(PUBLISHED) {
            LinkReach::Everybody
        } else {
            LinkReach::ThisBrowser
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_storage::origin::{EVALUATED, IMPORTED, LINKED, PLAYED};

    #[test]
    fn links_work_where_the_trajectory_can_be_had() {
        let alone = ReviewPlace {
            episode: Some("a".into()),
            ..ReviewPlace::default()
        };
        let with_file = ReviewPlace {
            url: Some("https://a.example/a.json".into()),
            ..alone.clone()
        };
        for origin in [IMPORTED, PLAYED, EVALUATED, LINKED] {
            assert_eq!(
                LinkReach::of(&alone, Some(origin)),
                LinkReach::ThisBrowser,
                "{origin}"
            );
            assert_eq!(
                LinkReach::of(&with_file, Some(origin)),
                LinkReach::Everybody,
                "{origin}"
            );
        }
        assert_eq!(LinkReach::of(&alone, None), LinkReach::ThisBrowser);
        assert_eq!(LinkReach::of(&alone, Some(PUBLISHED)), LinkReach::Everybody);
    }
}
