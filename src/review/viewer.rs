//! One episode that is read: its signals, and what keys do there.

use std::sync::Arc;

use leptos::prelude::*;
use volary_trace::Episode;
use volary_trace::annotations::Target;
use volary_trace::passages::Part;
use volary_trace::timeline::{marks, next_mark, previous_mark};

use crate::components::playback::Player;
use crate::components::transcript::reading::Reading;
use crate::library::client::Shelf;
use crate::library::findings::Finding;
use crate::playground::frame_pane::Shown;
use crate::playground::state::length;
use crate::projection::marks::Spot;

/// One episode that is read.
#[derive(Clone, Copy)]
pub struct Viewer {
    /// The episode, which step of it is selected, and when steps are replaced.
    pub shown: Shown,
    /// The last step that can be selected.
    pub last: Memo<usize>,
    /// Plays along the timeline.
    pub player: Player,
    /// How it is read.
    pub reading: Reading,
    /// Which of the panels beside the transcript is open.
    pub panel: RwSignal<usize>,
    /// The steps with a reward or an error.
    pub marks: Memo<Vec<usize>>,
    /// What is looked for in the episode.
    pub wanted: RwSignal<String>,
    /// Where it stands.
    pub findings: RwSignal<Arc<Vec<Finding>>>,
    /// The finding at which the reader is.
    pub at_finding: RwSignal<usize>,
    /// The passage to which a link led.
    pub linked: RwSignal<Option<Target>>,
    /// What came of running the episode again.
    pub checked: RwSignal<Option<Checked>>,
    /// Whether a link was copied that works in this browser alone.
    pub linked_alone: RwSignal<bool>,
}

/// What came of running an episode again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// In words.
    pub words: String,
    /// The first step that gave something else; 0 is the reset, `None` if none did.
    pub step: Option<usize>,
}

/// Where on the page a finding is.
pub fn spot_of_finding(finding: &Finding) -> Spot {
    Spot {
        place: finding.place,
        range: finding.start..finding.start + finding.length,
        quote: finding.words.to_string(),
        before: finding.before,
    }
}

impl Viewer {
    /// A viewer of nothing yet.
    pub fn new() -> Viewer {
        let shown = Shown {
            episode: RwSignal::new(Arc::new(Episode::default())),
            edition: RwSignal::new(0),
            selected: RwSignal::new(0),
            path: RwSignal::default(),
        };
        let last = Memo::new(move |_| shown.episode.with(|episode| length(episode)));
        let player = Player::new(shown.selected, last.into());
        player.play_along();
        Viewer {
            shown,
            last,
            player,
            reading: Reading::new(),
            panel: RwSignal::new(0),
            marks: Memo::new(move |_| shown.episode.with(|episode| marks(episode))),
            wanted: RwSignal::default(),
            findings: RwSignal::default(),
            at_finding: RwSignal::new(0),
            linked: RwSignal::new(None),
            checked: RwSignal::new(None),
            linked_alone: RwSignal::new(false),
        }
    }

    /// Shows an episode, at a step: its start if none is named.
    pub fn show(self, episode: Arc<Episode>, step: Option<usize>) {
        self.player.playing.set(false);
        self.wanted.set(String::new());
        self.findings.set(Arc::default());
        self.linked.set(None);
        self.checked.set(None);
        self.linked_alone.set(false);
        self.reading.begin();
        self.shown.episode.set(episode);
        self.shown.edition.update(|edition| *edition += 1);
        let last = self.last.get_untracked();
        self.shown.selected.set(step.unwrap_or(0).min(last));
    }

    /// Shows more of the same episode; whoever reads it stays where they are.
    pub fn renew(self, episode: Arc<Episode>) {
        let known = self.shown.episode.get_untracked();
        if let Some(reader) = self.reading.reader.get_untracked() {
            reader.stay();
        }
        let goes_on = known.is_beginning_of(&episode);
        self.shown.episode.set(episode);
        if !goes_on {
            self.shown.edition.update(|edition| *edition += 1);
        }
        let last = self.last.get_untracked();
        // Whoever hears of it goes to the step, even if it is the same.
        if self.shown.selected.get_untracked() > last {
            self.shown.selected.set(last);
        }
    }

    /// Selects a step, the last one if it lies beyond.
    pub fn select(self, step: usize) {
        self.shown.selected.set(step.min(self.last.get_untracked()));
    }

    /// Goes to the next step with a reward or an error, or to the one before. False if there is none.
    pub fn go_to_mark(self, forward: bool) -> bool {
        let from = self.shown.selected.get_untracked();
        let step = self.marks.with_untracked(|marks| match forward {
            true => next_mark(marks, from),
            false => previous_mark(marks, from),
        });
        step.is_some_and(|step| {
            self.select(step);
            true
        })
    }

    /// Looks for what is wanted.
    pub fn find(self, shelf: Shelf) {
        self.at_finding.set(0);
        let wanted = self.wanted.get_untracked();
        if wanted.trim().is_empty() {
            self.findings.set(Arc::default());
            return;
        }
        let id = self
            .shown
            .episode
            .with_untracked(|episode| episode.id.clone());
        shelf.find(&id, &wanted.clone(), move |found| {
            // Something else is wanted meanwhile, or nothing.
            if self.wanted.get_untracked() != wanted {
                return;
            }
            self.findings.set(Arc::new(found));
            self.show_finding();
        });
    }

    /// Goes to the next place at which what is looked for stands, or to the one before.
    pub fn go_to_finding(self, forward: bool) {
        let count = self.findings.with_untracked(|findings| findings.len());
        if count == 0 {
            return;
        }
        let at = self.at_finding.get_untracked().min(count - 1);
        let at = match forward {
            true => (at + 1) % count,
            false => (at + count - 1) % count,
        };
        self.at_finding.set(at);
        self.show_finding();
    }

    /// Goes to the finding at which the reader is.
    pub fn show_finding(self) {
        let at = self.at_finding.get_untracked();
        let finding = self
            .findings
            .with_untracked(|findings| findings.get(at).cloned());
        let Some(finding) = finding else {
            return;
        };
        match finding.place.part {
            // Said of the whole: it stands among the details.
            Part::Name | Part::Score(_) => self.panel.set(super::panels::DETAILS),
            Part::Error(_) if finding.place.step == 0 => self.panel.set(super::panels::DETAILS),
            _ => self.go_to_words(spot_of_finding(&finding)),
        }
    }

    /// Goes to words in a text of the episode.
    pub fn go_to_words(self, spot: Spot) {
        match self.reading.reader.get_untracked() {
            Some(reader) => {
                reader.choose(spot.place.step.min(self.last.get_untracked()));
                reader.go_to_words(spot);
            }
            None => self.select(spot.place.step),
        }
    }

    /// Goes to what a note or a link is about.
    pub fn go_to(self, target: &Target) {
        let spot = self
            .shown
            .episode
            .with_untracked(|episode| spot_of(target, episode));
        match (spot, target.step()) {
            (Some(spot), _) => self.go_to_words(spot),
            (None, Some(step)) => self.select(step),
            (None, None) => {}
        }
    }

    /// What a key does; false if it does nothing here.
    pub fn press(self, key: &str) -> bool {
        let selected = self.shown.selected.get_untracked();
        match key {
            "j" => self.select(selected + 1),
            "k" => self.select(selected.saturating_sub(1)),
            "g" => self.select(0),
            "G" => self.select(usize::MAX),
            "n" => return self.go_to_mark(true),
            "N" => return self.go_to_mark(false),
            "h" => self.fold(true),
            "l" => self.fold(false),
            "J" => self.go_to_message(true),
            "K" => self.go_to_message(false),
            "p" => self.player.playing.update(|playing| *playing = !*playing),
            _ => return false,
        }
        true
    }
}

impl Viewer {
    fn fold(self, fold: bool) {
        if let Some(reader) = self.reading.reader.get_untracked() {
            reader.fold_step(self.shown.selected.get_untracked(), fold);
        }
    }

    fn go_to_message(self, forward: bool) {
        if let Some(reader) = self.reading.reader.get_untracked() {
            reader.go_to_message(forward);
        }
    }
}

/// Where the passage stands that something is about; `None` if it is about no passage, or the passage is
/// gone.
pub fn spot_of(target: &Target, episode: &Episode) -> Option<Spot> {
    let range = target.locate(episode)?;
    let Target::Passage { place, quote, .. } = target else {
        return None;
    };
    let before = match place.part {
        // Calls are laid out: there words are looked for, and of several the right one is to be found.
        Part::Call(_) => {
            let text = volary_trace::passages::passage(episode, *place)?;
            let start = text
                .char_indices()
                .nth(range.start)
                .map_or(text.len(), |(byte, _)| byte);
            text.get(..start)?.matches(&**quote).count()
        }
        _ => 0,
    };
    Some(Spot {
        place: *place,
        range,
        quote: quote.to_string(),
        before,
    })
}

impl Default for Viewer {
    fn default() -> Self {
        Viewer::new()
    }
}
