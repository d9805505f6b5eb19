//! Which part of Review the address names, what the tab is called, and what a key does there. Pure.

use crate::route::ReviewPlace;

/// The parts of the page, one of which the address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewScreen {
    Library,
    /// A training run.
    Training,
    Episode,
    Comparison,
    Grid,
    /// Questions to models.
    Ask,
}

impl ReviewScreen {
    pub fn of(place: &ReviewPlace) -> ReviewScreen {
        match (place.episode.is_some(), place.beside.len()) {
            (true, 0) => ReviewScreen::Episode,
            (true, 1) => ReviewScreen::Comparison,
            (true, _) => ReviewScreen::Grid,
            // An episode of a file is loading; its page is built meanwhile.
            (false, _) if names_file_of_one(place) => ReviewScreen::Episode,
            (false, _) if place.ask.is_some() => ReviewScreen::Ask,
            (false, _) if !place.training.is_empty() => ReviewScreen::Training,
            (false, _) => ReviewScreen::Library,
        }
    }

    /// The title of the tab. `episode` is the name of the open one, if it is open, and `training` that of the run.
    pub fn title(self, episode: Option<&str>, training: &str) -> String {
        let words = match self {
            ReviewScreen::Library => "Trajectories",
            ReviewScreen::Training => training,
            ReviewScreen::Comparison => "Comparison",
            ReviewScreen::Grid => "Grid",
            ReviewScreen::Ask => "Ask",
            ReviewScreen::Episode => match episode.map(str::trim) {
                Some("") | None => "Episode",
                Some(name) => name,
            },
        };
        format!("{words} – Review – {TITLE}")
    }

    /// What a key does, if anything.
    pub fn action(self, key: &str) -> Option<KeyAction> {
        match (key, self) {
            ("/", ReviewScreen::Episode) => Some(KeyAction::FindInEpisode),
            (_, ReviewScreen::Ask) => None,
            ("/", _) => Some(KeyAction::SearchTrajectories),
            ("a", ReviewScreen::Episode) => Some(KeyAction::BeginNote),
            (_, ReviewScreen::Episode) if matches!(key.as_bytes(), [b'1'..=b'9']) => {
                Some(KeyAction::ToggleLabel)
            }
            // From the table, the next trajectory is the first one.
            (_, ReviewScreen::Library) => Some(KeyAction::Sequence),
            (_, ReviewScreen::Training) => Some(KeyAction::Training),
            (_, ReviewScreen::Comparison) => Some(KeyAction::Comparison),
            (_, ReviewScreen::Episode) => Some(KeyAction::SequenceOrViewer),
            (_, ReviewScreen::Grid) => None,
        }
    }
}

/// The tab title when nothing in particular is open.
pub const TITLE: &str = "Volary";

/// What a key does, or the part of the page that decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    FindInEpisode,
    SearchTrajectories,
    BeginNote,
    ToggleLabel,
    Sequence,
    Training,
    Comparison,
    SequenceOrViewer,
}

/// Returns whether a place names an episode by its file, without knowing its id.
pub fn names_file_of_one(place: &ReviewPlace) -> bool {
    place.open.is_some() && place.url.is_some() && place.episode.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_names_a_part_of_the_page() {
        let place = |episode: Option<&str>, beside: &[&str]| ReviewPlace {
            episode: episode.map(str::to_owned),
            beside: beside.iter().map(|id| (*id).to_owned()).collect(),
            ..ReviewPlace::default()
        };
        assert_eq!(ReviewScreen::of(&place(None, &[])), ReviewScreen::Library);
        assert_eq!(
            ReviewScreen::of(&place(Some("a"), &[])),
            ReviewScreen::Episode
        );
        assert_eq!(
            ReviewScreen::of(&place(Some("a"), &["b"])),
            ReviewScreen::Comparison
        );
        assert_eq!(
            ReviewScreen::of(&place(Some("a"), &["b", "c"])),
            ReviewScreen::Grid
        );
        let file = ReviewPlace {
            url: Some("a.jsonl".to_owned()),
            ..place(None, &[])
        };
        assert_eq!(ReviewScreen::of(&file), ReviewScreen::Library);
        let run = ReviewPlace {
            training: "run=a".to_owned(),
            ..place(None, &[])
        };
        assert_eq!(ReviewScreen::of(&run), ReviewScreen::Training);
        let sample = ReviewPlace {
            training: "run=a".to_owned(),
            ..place(Some("a"), &[])
        };
        assert_eq!(ReviewScreen::of(&sample), ReviewScreen::Episode);
        let ask = ReviewPlace {
            ask: Some("new".to_owned()),
            ..place(None, &[])
        };
        assert_eq!(ReviewScreen::of(&ask), ReviewScreen::Ask);
        let one_of_file = ReviewPlace {
            open: Some(1),
            ..file
        };
        assert_eq!(ReviewScreen::of(&one_of_file), ReviewScreen::Episode);
    }

    #[test]
    fn the_tab_is_called_after_what_is_open() {
        let title = |screen: ReviewScreen, episode| screen.title(episode, "Run 7, step 3");
        assert_eq!(
            title(ReviewScreen::Episode, Some(" Refund ")),
            "Refund – Review – Volary"
        );
        for unnamed in [None, Some(""), Some("  ")] {
            assert_eq!(
                title(ReviewScreen::Episode, unnamed),
                "Episode – Review – Volary"
            );
        }
        assert_eq!(
            title(ReviewScreen::Library, Some("Refund")),
            "Trajectories – Review – Volary",
            "the last episode is not open any more"
        );
        assert_eq!(
            title(ReviewScreen::Training, None),
            "Run 7, step 3 – Review – Volary"
        );
    }

    #[test]
    fn keys_that_change_notes_work_on_an_open_episode_only() {
        use ReviewScreen::{Comparison, Episode, Grid, Library, Training};
        for screen in [Library, Training, Comparison, Grid] {
            assert_eq!(screen.action("/"), Some(KeyAction::SearchTrajectories));
            for key in ["a", "1", "9"] {
                let action = screen.action(key);
                assert_ne!(action, Some(KeyAction::BeginNote), "{screen:?} {key}");
                assert_ne!(action, Some(KeyAction::ToggleLabel), "{screen:?} {key}");
            }
        }
        assert_eq!(Episode.action("/"), Some(KeyAction::FindInEpisode));
        assert_eq!(Episode.action("a"), Some(KeyAction::BeginNote));
        for (key, is_label) in [("1", true), ("9", true), ("0", false), ("12", false)] {
            let expected = if is_label {
                KeyAction::ToggleLabel
            } else {
                KeyAction::SequenceOrViewer
            };
            assert_eq!(Episode.action(key), Some(expected), "{key}");
        }
        assert_eq!(Library.action("]"), Some(KeyAction::Sequence));
        assert_eq!(Grid.action("]"), None);
    }
}
