//! The panels next to an episode, and which of them is opened first.

use volary_analysis::result::{EpisodeResult, TaskOutcome};
use volary_episode::Episode;

/// The tabs of an episode without tokens.
pub const NAMES: &[&str] = &["Result", "State", "Notes", "Details", "Raw"];
/// The tabs of an episode with tokens.
pub const WITH_TOKENS: &[&str] = &["Result", "State", "Notes", "Details", "Raw", "Tokens"];
/// Index of the tab of the result panel.
pub const RESULT: usize = 0;
/// Index of the tab of the state panel.
pub const STATE: usize = 1;
/// Index of the tab of the notes panel.
pub const NOTES: usize = 2;
/// Index of the tab of the details panel.
pub const DETAILS: usize = 3;
/// Index of the tab of the raw step.
pub const RAW: usize = 4;
/// Index of the tab of the tokens.
pub const TOKENS: usize = 5;

/// The most informative panel of an episode: the result of a failure, else the state of an environment that was played here,
/// else the result. The states of other tools are details such as the working folder.
pub fn telling_panel(result: &EpisodeResult, episode: &Episode) -> usize {
    let has_state = !episode.frames.is_empty();
    let is_empty = result.is_empty(episode);
    if result.verdict == Some(TaskOutcome::Failed) {
        RESULT
    } else if has_state && (is_empty || episode.source.is_none()) {
        STATE
    } else if is_empty {
        DETAILS
    } else {
        RESULT
    }
}

#[cfg(test)]
mod tests {
    use volary_core::Frame;
    use volary_core::json::Text;

    use super::*;

    #[test]
    fn the_panel_that_tells_most_is_opened() {
        let told = |verdict| EpisodeResult {
            verdict,
            expected: vec![("target".to_owned(), Text::from("42"))],
            ..EpisodeResult::default()
        };
        let untold = |verdict| EpisodeResult {
            verdict,
            ..EpisodeResult::default()
        };
        let plain = Episode::default();
        let mut with_frames = Episode::default();
        with_frames.frames.push(Frame::default());
        assert_eq!(
            telling_panel(&told(Some(TaskOutcome::Failed)), &with_frames),
            RESULT
        );
        // A failure is shown there even if nothing but the failure is known.
        assert_eq!(
            telling_panel(&untold(Some(TaskOutcome::Failed)), &with_frames),
            RESULT
        );
        assert_eq!(
            telling_panel(&untold(Some(TaskOutcome::Failed)), &plain),
            RESULT
        );
        assert_eq!(
            telling_panel(&told(Some(TaskOutcome::Succeeded)), &with_frames),
            STATE
        );
        let imported = Episode {
            source: Some(volary_episode::Source::default()),
            ..with_frames.clone()
        };
        assert_eq!(
            telling_panel(&told(Some(TaskOutcome::Succeeded)), &imported),
            RESULT
        );
        assert_eq!(telling_panel(&untold(None), &imported), STATE);
        assert_eq!(telling_panel(&told(None), &plain), RESULT);
        assert_eq!(telling_panel(&untold(None), &plain), DETAILS);
    }

    #[test]
    fn tabs_have_the_places_of_their_panels() {
        let names = [
            (RESULT, "Result"),
            (STATE, "State"),
            (NOTES, "Notes"),
            (DETAILS, "Details"),
            (RAW, "Raw"),
        ];
        for (place, name) in names {
            assert_eq!((NAMES[place], WITH_TOKENS[place]), (name, name));
        }
        assert_eq!(WITH_TOKENS[TOKENS], "Tokens");
        assert_eq!(NAMES.get(TOKENS), None);
    }
}
