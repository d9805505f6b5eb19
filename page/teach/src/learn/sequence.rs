//! The links of a sequence, as a presenter pastes them, and the button under the episode of a slide. Pure.

use volary_app::embed::content::OpenedKind;
use volary_core::quantity::plural;

/// A pasted text: one link in each line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PastedLinks {
    pub links: Vec<String>,
    /// The number of lines that are no links.
    ignored: usize,
}

impl PastedLinks {
    pub fn read(text: &str) -> PastedLinks {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty());
        let (links, others): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains('#'));
        PastedLinks {
            links: links.into_iter().map(str::to_owned).collect(),
            ignored: others.len(),
        }
    }

    /// How many slides they make, and how many lines are left out.
    pub fn count_words(&self) -> String {
        let slides = match self.links.len() {
            0 => "No link yet.".to_owned(),
            count => plural(count, "slide"),
        };
        match (self.links.len(), self.ignored) {
            (_, 0) => slides,
            (0, ignored) => format!("{slides} {} left out.", ignored_words(ignored)),
            (_, ignored) => format!("{slides}. {} left out.", ignored_words(ignored)),
        }
    }
}

fn ignored_words(count: usize) -> String {
    match count {
        1 => "1 line without a # is".to_owned(),
        count => format!("{count} lines without a # are"),
    }
}

/// The label of the button with which the presenter begins to act; `None` without a button.
pub(super) fn begin_words(
    opened: Option<OpenedKind>,
    is_playing: bool,
    is_at_end: bool,
    is_over: bool,
) -> Option<&'static str> {
    match opened {
        _ if is_playing => None,
        Some(OpenedKind::Task) => Some("Play"),
        Some(OpenedKind::Replayed) if is_at_end && !is_over => Some("Continue from here"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_with_a_link_is_a_slide() {
        for (text, links, words) in [
            ("", &[][..], "No link yet."),
            (" \n\t\n", &[], "No link yet."),
            ("#/run/counter", &["#/run/counter"], "1 slide"),
            (
                "  https://volary.example/#/run/a \r\n\n#/run/b\r\n",
                &["https://volary.example/#/run/a", "#/run/b"],
                "2 slides",
            ),
            (
                "https://volary.example/",
                &[],
                "No link yet. 1 line without a # is left out.",
            ),
            (
                "First\n#/run/a\nSecond\n#/run/b",
                &["#/run/a", "#/run/b"],
                "2 slides. 2 lines without a # are left out.",
            ),
        ] {
            let pasted = PastedLinks::read(text);
            assert_eq!(pasted.links, links, "{text}");
            assert_eq!(pasted.count_words(), words, "{text}");
        }
    }

    #[test]
    fn a_presenter_acts_in_tasks_and_at_the_end_of_unfinished_episodes() {
        let (task, replayed) = (Some(OpenedKind::Task), Some(OpenedKind::Replayed));
        for (opened, is_at_end, is_over, words) in [
            (None, true, false, None),
            (task, true, false, Some("Play")),
            (replayed, true, false, Some("Continue from here")),
            (replayed, false, false, None),
            (replayed, true, true, None),
            (Some(OpenedKind::Recording), true, false, None),
        ] {
            assert_eq!(begin_words(opened, false, is_at_end, is_over), words);
            assert_eq!(begin_words(opened, true, is_at_end, is_over), None);
        }
    }
}
