//! The state of an open episode, and its keyboard shortcuts.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::annotations::Target;
use volary_analysis::result::EpisodeResult;
use volary_analysis::sensitive;
use volary_analysis::timeline::{marks, next_mark, previous_mark};
use volary_app::playground::address::last_step;
use volary_app::playground::replay_check::ReplayCheck;
use volary_app::review::episode_search::{EpisodeSearch, SearchEffect};
use volary_episode::Episode;
use volary_view::highlight::Spot;

use super::spots::{HitPlace, spot_of};
use volary_library_client::{LibraryClient, requests};
use volary_playground::frame_pane::EpisodeSignals;
use volary_ui::playback::Playback;
use volary_ui::present::revealed::Revealed;
use volary_ui::present::{Deck, ShownSlide, SlideSteps};
use volary_ui::text::inert;
use volary_ui::transcript::passage;
use volary_ui::transcript::reading::ReadingOptions;
use volary_ui::transcript::reading_options;
use volary_view::review::side_panels::{DETAILS, RESULT, telling_panel};

/// Signals of an open episode.
#[derive(Clone, Copy)]
pub struct Viewer {
    /// The episode, its selected step, and its edition.
    pub shown: EpisodeSignals,
    /// The episode of `shown`.
    episode: RwSignal<Arc<Episode>>,
    /// The last step that can be selected.
    pub last: Memo<usize>,
    pub player: Playback,
    /// Display options of the transcript.
    pub reading: ReadingOptions,
    /// The index of the open side panel.
    pub panel: RwSignal<usize>,
    /// The panel that was opened automatically because of the episode's content, not by the user.
    first_panel: RwSignal<usize>,
    /// How the episode ended and why.
    pub result: Memo<Arc<EpisodeResult>>,
    /// The steps with a reward or an error.
    pub marks: Memo<Vec<usize>>,
    /// The search in the episode.
    pub search: RwSignal<EpisodeSearch>,
    /// The passage that a link names.
    pub linked: RwSignal<Option<Target>>,
    /// The check of the episode.
    pub check: RwSignal<ReplayCheck>,
    /// A copied text that contains sensitive data.
    pub copied: RwSignal<Option<Arc<str>>>,
    /// Whether a link was copied that works only in this browser.
    pub linked_alone: RwSignal<bool>,
    /// Goes to the next or previous token of a ranking. Returns `false` if there is none.
    pub token_jump: StoredValue<Option<Callback<bool, bool>>>,
    /// The place among its tokens that an address names, until it is shown.
    pub tokens_wanted: RwSignal<Option<String>>,
    /// The place among its tokens that is shown, for the address.
    pub tokens_shown: RwSignal<String>,
    /// The episode as a slide.
    pub deck: Deck,
    /// Whether it is presented.
    pub presenting: RwSignal<bool>,
}

impl Viewer {
    /// An empty viewer.
    pub fn new() -> Viewer {
        let episode = RwSignal::new(Arc::new(Episode::default()));
        let shown = EpisodeSignals {
            episode: episode.into(),
            edition: RwSignal::new(0),
            selected: RwSignal::new(0),
            path: RwSignal::default(),
        };
        let last = Memo::new(move |_| shown.episode.with(|episode| last_step(episode)));
        let presenting = RwSignal::new(false);
        let slide = ShownSlide {
            steps: Some(SlideSteps {
                selected: shown.selected,
                last: last.into(),
            }),
            draw: Box::new(move || presented(shown)),
        };
        let player = Playback::new(shown.selected, last.into());
        Viewer {
            shown,
            episode,
            last,
            player,
            reading: reading_options(),
            panel: RwSignal::new(RESULT),
            first_panel: RwSignal::new(RESULT),
            result: Memo::new(move |_| {
                shown
                    .episode
                    .with(|episode| Arc::new(EpisodeResult::of(episode)))
            }),
            marks: Memo::new(move |_| shown.episode.with(|episode| marks(episode))),
            search: RwSignal::default(),
            linked: RwSignal::new(None),
            check: RwSignal::default(),
            copied: RwSignal::new(None),
            linked_alone: RwSignal::new(false),
            token_jump: StoredValue::new(None),
            tokens_wanted: RwSignal::new(None),
            tokens_shown: RwSignal::default(),
            deck: Deck::new(
                vec![slide],
                0,
                Callback::new(move |()| presenting.set(false)),
            ),
            presenting,
        }
    }

    /// Shows an episode at a step, or at its start if none is given.
    pub fn show(self, episode: Arc<Episode>, step: Option<usize>) {
        self.player.playing.set(false);
        self.search.update(EpisodeSearch::leave);
        self.linked.set(None);
        self.check.update(|check| check.show(&episode.id));
        self.copied.set(None);
        self.linked_alone.set(false);
        self.presenting.set(false);
        self.reading.begin();
        self.episode.set(episode);
        self.shown.edition.update(|edition| *edition += 1);
        let last = self.last.get_untracked();
        self.shown.selected.set(step.unwrap_or(0).min(last));
        self.choose_panel();
    }

    /// Shows a place among the tokens, as written in an address. One without such a place changes nothing.
    pub fn show_tokens(self, place: &str) {
        if !place.is_empty() && self.tokens_shown.with_untracked(|shown| *shown != *place) {
            self.tokens_shown.set(place.to_owned());
            self.tokens_wanted.set(Some(place.to_owned()));
        }
    }

    /// Opens the most informative panel: the reason of a failure, else the state, else the result. A panel that the
    /// user chose stays open.
    fn choose_panel(self) {
        if self.panel.get_untracked() != self.first_panel.get_untracked() {
            return;
        }
        let result = self.result.get_untracked();
        let panel = self
            .shown
            .episode
            .with_untracked(|episode| telling_panel(&result, episode));
        self.first_panel.set(panel);
        self.panel.set(panel);
    }

    /// Selects the most informative step of the failure. Returns the passage that shows it, if there is one.
    pub fn show_failure(self) -> Option<Target> {
        let result = self.result.get_untracked();
        self.select(result.step);
        result.last_error.as_ref()?.line()
    }

    /// Updates the same episode with more data and preserves the reader's position.
    pub fn renew(self, episode: Arc<Episode>) {
        let known = self.shown.episode.get_untracked();
        if let Some(context) = self.reading.context.get_untracked() {
            context.stay();
        }
        let goes_on = known.is_beginning_of(&episode);
        self.episode.set(episode);
        if !goes_on {
            self.shown.edition.update(|edition| *edition += 1);
        }
        let last = self.last.get_untracked();
        // Set it only if necessary: subscribers are notified even if the step is the same, and scroll to it.
        if self.shown.selected.get_untracked() > last {
            self.shown.selected.set(last);
        }
    }

    /// Returns whether the last step is selected.
    pub fn is_at_end(self) -> bool {
        self.shown.selected.get_untracked() >= self.last.get_untracked()
    }

    /// Selects a step, clamped to the last one.
    pub fn select(self, step: usize) {
        self.shown.selected.set(step.min(self.last.get_untracked()));
    }

    /// Selects the next or previous step with a reward or error. Returns `false` if there is none.
    pub fn go_to_mark(self, forward: bool) -> bool {
        let from = self.shown.selected.get_untracked();
        let step = self.marks.with_untracked(|marks| {
            if forward {
                next_mark(marks, from)
            } else {
                previous_mark(marks, from)
            }
        });
        step.is_some_and(|step| {
            self.select(step);
            true
        })
    }

    /// Records a copied text if it contains sensitive data. Returns the text.
    pub fn note_copied(self, text: String) -> String {
        let is_sensitive = !sensitive::find(&text).is_empty();
        self.copied.set(is_sensitive.then(|| text.as_str().into()));
        text
    }

    /// Looks for words in the episode.
    pub fn find(self, client: LibraryClient, words: String) {
        let effect = self.search.try_update(|search| search.look_for(words));
        let Some(SearchEffect::Find { number, words }) = effect.flatten() else {
            return;
        };
        let id = self
            .shown
            .episode
            .with_untracked(|episode| episode.id.clone());
        requests::find(client, &id, &words, move |hits| {
            let effect = self.search.try_update(|search| search.found(number, hits));
            self.carry_out(effect.flatten());
        });
    }

    /// Goes to the next or previous hit.
    pub fn go_to_hit(self, forward: bool) {
        let effect = self.search.try_update(|search| search.go(forward));
        self.carry_out(effect.flatten());
    }

    fn carry_out(self, effect: Option<SearchEffect>) {
        if let Some(SearchEffect::Show(hit)) = effect {
            match HitPlace::of(&hit) {
                HitPlace::Details => self.panel.set(DETAILS),
                HitPlace::Transcript(spot) => self.go_to_words(spot),
            }
        }
    }

    /// Scrolls to a passage of the episode.
    pub fn go_to_words(self, spot: Spot) {
        match self.reading.context.get_untracked() {
            Some(context) => {
                context.choose(spot.place.step.min(self.last.get_untracked()));
                passage::go_to_words(context, spot);
            }
            None => self.select(spot.place.step),
        }
    }

    /// Goes to the target of a note or link.
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

    /// Handles a key. Returns `false` if it has no function here.
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
            "t" => return self.go_to_token(true),
            "T" => return self.go_to_token(false),
            "p" => self.player.playing.update(|playing| *playing = !*playing),
            _ => return false,
        }
        true
    }
}

impl Viewer {
    fn fold(self, fold: bool) {
        if let Some(context) = self.reading.context.get_untracked() {
            passage::fold_step(context, self.shown.selected.get_untracked(), fold);
        }
    }

    fn go_to_token(self, forward: bool) -> bool {
        let jump = self.token_jump.get_value();
        jump.is_some_and(|jump| jump.run(forward))
    }

    fn go_to_message(self, forward: bool) {
        if let Some(context) = self.reading.context.get_untracked() {
            passage::go_to_message(context, forward);
        }
    }
}

/// The slide of an episode.
fn presented(shown: EpisodeSignals) -> AnyView {
    let name = move || shown.episode.with(|episode| inert(&episode.name));
    view! {
        <section class="presenter-stage" aria-label="Episode">
            <p class="presenter-name" dir="auto">
                {name}
            </p>
            <Revealed episode=shown.episode edition=shown.edition selected=shown.selected/>
        </section>
    }
    .into_any()
}

impl Default for Viewer {
    fn default() -> Self {
        Viewer::new()
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, Role};
    use volary_episode::{Ending, Outcome, StepRecord};

    use super::*;
    use volary_view::review::side_panels::NOTES;

    /// An episode with an id and this many steps, of which the marked ones failed.
    fn episode(id: &str, steps: usize, failed: &[usize]) -> Arc<Episode> {
        let step = |number: usize| {
            let outcome = if failed.contains(&number) {
                Outcome::Failed {
                    message: "It is broken.".into(),
                }
            } else {
                Outcome::Observed {
                    messages: vec![Message::user("seen").into()],
                    reward: 0.0,
                    done: false,
                    truncated: false,
                }
            };
            let said = format!("step {number}");
            StepRecord::new(Message::new(Role::Assistant, &*said).into(), outcome)
        };
        Arc::new(Episode {
            id: id.into(),
            steps: (1..=steps).map(step).collect(),
            ..Episode::default()
        })
    }

    fn with_viewer(test: impl FnOnce(Viewer)) {
        Owner::new().with(|| test(Viewer::new()));
    }

    fn step(viewer: Viewer) -> usize {
        viewer.shown.selected.get_untracked()
    }

    #[test]
    fn an_episode_is_shown_at_the_step_of_the_address_or_at_its_last() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 4, &[]), Some(2));
            assert_eq!(step(viewer), 2);
            viewer.show(episode("e", 4, &[]), Some(9));
            assert_eq!(step(viewer), 4, "the episode has become shorter");
            viewer.show(episode("f", 4, &[]), None);
            assert_eq!(step(viewer), 0);
        });
    }

    #[test]
    fn keys_move_within_the_episode() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 2, &[]), None);
            let press = |key| (viewer.press(key), step(viewer));
            assert_eq!(press("k"), (true, 0));
            assert_eq!(press("j"), (true, 1));
            assert_eq!(press("G"), (true, 2));
            assert_eq!(press("j"), (true, 2));
            assert_eq!(press("g"), (true, 0));
            assert_eq!(press("t"), (false, 0), "no tokens");
            assert_eq!(press("x"), (false, 0));
        });
    }

    #[test]
    fn n_goes_from_failure_to_failure() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 5, &[2, 4]), None);
            let press = |key| (viewer.press(key), step(viewer));
            assert_eq!(press("n"), (true, 2));
            assert_eq!(press("n"), (true, 4));
            assert_eq!(press("N"), (true, 2));
            assert_eq!(press("N"), (false, 2), "the first one");
        });
    }

    #[test]
    fn an_episode_that_grows_keeps_the_place_of_the_reader() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 3, &[]), Some(2));
            let edition = viewer.shown.edition.get_untracked();
            assert!(!viewer.is_at_end());
            viewer.renew(episode("e", 5, &[]));
            assert_eq!((step(viewer), viewer.last.get_untracked()), (2, 5));
            assert_eq!(
                viewer.shown.edition.get_untracked(),
                edition,
                "the steps that are drawn stay"
            );
        });
    }

    #[test]
    fn an_episode_that_was_written_anew_is_drawn_anew() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 3, &[]), Some(3));
            let edition = viewer.shown.edition.get_untracked();
            viewer.renew(episode("e", 1, &[1]));
            assert_eq!(step(viewer), 1, "the selected step is gone");
            assert_ne!(viewer.shown.edition.get_untracked(), edition);
        });
    }

    #[test]
    fn another_episode_forgets_what_was_about_the_former() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 3, &[]), None);
            viewer.linked.set(Some(Target::Episode));
            viewer.linked_alone.set(true);
            viewer.presenting.set(true);
            let key = format!("sk-ant-api03-{}", "a1B2".repeat(20));
            viewer.note_copied(key);
            assert!(viewer.copied.get_untracked().is_some(), "it has a key");
            viewer.note_copied("plain".to_owned());
            assert!(viewer.copied.get_untracked().is_none());
            viewer.note_copied(format!("sk-ant-api03-{}", "a1B2".repeat(20)));
            viewer.show(episode("f", 3, &[]), None);
            assert!(viewer.linked.get_untracked().is_none());
            assert!(viewer.copied.get_untracked().is_none());
            assert!(!viewer.linked_alone.get_untracked() && !viewer.presenting.get_untracked());
        });
    }

    #[test]
    fn the_tokens_of_an_address_are_gone_to_once() {
        with_viewer(|viewer| {
            viewer.show_tokens("");
            assert_eq!(viewer.tokens_wanted.get_untracked(), None);
            viewer.show_tokens("3.entropy");
            assert_eq!(
                viewer.tokens_wanted.get_untracked().as_deref(),
                Some("3.entropy")
            );
            // The panel went there. The address is still the same.
            viewer.tokens_wanted.set(None);
            viewer.show_tokens("3.entropy");
            assert_eq!(viewer.tokens_wanted.get_untracked(), None);
        });
    }

    #[test]
    fn a_panel_that_the_reader_chose_stays() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 1, &[]), None);
            viewer.panel.set(NOTES);
            viewer.show(episode("f", 3, &[2]), None);
            assert_eq!(viewer.panel.get_untracked(), NOTES);
        });
    }

    #[test]
    fn the_last_error_is_found_in_an_episode_that_failed() {
        with_viewer(|viewer| {
            let mut failed = Episode::clone(&episode("e", 4, &[3]));
            failed.ending = Ending::Crashed {
                message: "It is broken.".into(),
            };
            viewer.show(Arc::new(failed), None);
            viewer.show_failure();
            assert_eq!(step(viewer), viewer.result.get_untracked().step);
            assert!(step(viewer) > 0);
        });
    }

    #[test]
    fn a_target_without_words_leads_to_its_step() {
        with_viewer(|viewer| {
            viewer.show(episode("e", 4, &[]), None);
            viewer.go_to(&Target::Step { step: 3 });
            assert_eq!(step(viewer), 3);
            viewer.go_to(&Target::Step { step: 30 });
            assert_eq!(step(viewer), 4);
            viewer.go_to(&Target::Episode);
            assert_eq!(step(viewer), 4, "the whole episode has no place");
        });
    }
}
