//! The presenter: slides in large type, moved by a key or a clicker.
//!
//! - [`Deck`]: the slides and the position, in signals. [`presenter`]: draws it.
//! - [`revealed`]: an episode up to the selected step.
//! - `volary_app::present` decides where a key leads.
//!
//! Invariant: the presenter covers the page, and Escape leaves it. Nothing is requested that the page would not request
//! without it.

pub mod presenter;
pub mod revealed;

use leptos::prelude::*;
use volary_app::present::{PresenterCommand, PresenterMove, SlidePosition};

use volary_browser::keys::KeyPress;
use volary_browser::{element, full_screen};

/// What is shown at once: a text, a question, or an episode step by step.
pub struct ShownSlide {
    /// Draws it, whenever it is shown.
    pub draw: Box<dyn Fn() -> AnyView>,
    /// The steps of its episode, if it has one.
    pub steps: Option<SlideSteps>,
}

/// The steps of a slide's episode.
#[derive(Clone, Copy)]
pub struct SlideSteps {
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    pub last: Signal<usize>,
}

/// The slides of a presentation, and the position in them.
#[derive(Clone, Copy)]
pub struct Deck {
    slides: StoredValue<Vec<ShownSlide>, LocalStorage>,
    /// The index of the shown slide.
    pub at: RwSignal<usize>,
    leave: Callback<()>,
}

impl Deck {
    /// A presentation that starts at a slide. `leave` closes it.
    pub fn new(slides: Vec<ShownSlide>, at: usize, leave: Callback<()>) -> Deck {
        let at = RwSignal::new(at.min(slides.len().saturating_sub(1)));
        Deck {
            slides: StoredValue::new_local(slides),
            at,
            leave,
        }
    }

    /// The position, tracked.
    pub fn position(self) -> SlidePosition {
        let slide = self.at.get();
        self.slides.with_value(|slides| SlidePosition {
            slide,
            slides: slides.len(),
            steps: slides
                .get(slide)
                .and_then(|slide| slide.steps)
                .map(|steps| (steps.selected.get(), steps.last.get())),
        })
    }

    /// Carries out a command.
    pub fn go(self, command: PresenterCommand) {
        let position = untrack(|| self.position());
        match position.after(command) {
            None => {}
            Some(PresenterMove::Step(step)) => {
                if let Some(steps) = self.steps(position.slide) {
                    steps.selected.set(step);
                }
            }
            Some(PresenterMove::Slide(slide)) => {
                if let Some(steps) = self.steps(slide) {
                    steps.selected.set(0);
                }
                self.at.set(slide);
            }
            Some(PresenterMove::EndOfSlide(slide)) => {
                if let Some(steps) = self.steps(slide) {
                    steps.selected.set(steps.last.get_untracked());
                }
                self.at.set(slide);
            }
        }
    }

    /// Handles a key. Returns `false` if it has no function here.
    pub fn press(self, press: &KeyPress) -> bool {
        // A clicker works whatever has the focus; other keys are also for fields and buttons.
        let is_of_clicker = matches!(press.key.as_str(), "PageDown" | "PageUp");
        if press.command || press.typing && !is_of_clicker {
            return false;
        }
        match press.key.as_str() {
            "Escape" => self.leave(),
            "f" => full_screen::toggle(),
            " " if element::is_control_focused() => return false,
            key => match PresenterCommand::of_key(key) {
                Some(command) => self.go(command),
                None => return false,
            },
        }
        true
    }

    /// Closes the presentation.
    pub fn leave(self) {
        full_screen::leave();
        self.leave.run(());
    }

    fn steps(self, slide: usize) -> Option<SlideSteps> {
        self.slides
            .with_value(|slides| slides.get(slide).and_then(|slide| slide.steps))
    }

    fn draw(self, slide: usize) -> Option<AnyView> {
        self.slides
            .with_value(|slides| slides.get(slide).map(|slide| (slide.draw)()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deck of slides, of which those with a number are episodes with that last step.
    fn deck(slides: &[Option<usize>], at: usize) -> (Deck, Vec<Option<RwSignal<usize>>>) {
        let selected: Vec<_> = slides
            .iter()
            .map(|last| last.map(|_| RwSignal::new(0)))
            .collect();
        let shown = slides.iter().zip(&selected).map(|(last, selected)| {
            let steps = last.zip(*selected).map(|(last, selected)| SlideSteps {
                selected,
                last: Signal::stored(last),
            });
            ShownSlide {
                draw: Box::new(|| ().into_any()),
                steps,
            }
        });
        let deck = Deck::new(shown.collect(), at, Callback::new(|()| {}));
        (deck, selected)
    }

    fn press(deck: Deck, key: &str, typing: bool, command: bool) -> bool {
        deck.press(&KeyPress {
            key: key.to_owned(),
            typing,
            command,
        })
    }

    #[test]
    fn a_slide_that_does_not_exist_is_the_last() {
        Owner::new().with(|| {
            assert_eq!(deck(&[None, None], 7).0.at.get_untracked(), 1);
            assert_eq!(deck(&[], 7).0.at.get_untracked(), 0);
        });
    }

    #[test]
    fn the_steps_of_an_episode_come_before_the_next_slide() {
        Owner::new().with(|| {
            let (deck, selected) = deck(&[None, Some(2), None], 0);
            let step = || selected[1].map(|step| step.get_untracked());
            let mut seen = Vec::new();
            for _ in 0..5 {
                deck.go(PresenterCommand::Next);
                seen.push((deck.at.get_untracked(), step()));
            }
            assert_eq!(
                seen,
                [
                    (1, Some(0)),
                    (1, Some(1)),
                    (1, Some(2)),
                    (2, Some(2)),
                    (2, Some(2))
                ]
            );
        });
    }

    #[test]
    fn going_back_shows_the_end_of_an_episode() {
        Owner::new().with(|| {
            let (deck, selected) = deck(&[Some(3), None], 1);
            deck.go(PresenterCommand::Previous);
            let step = selected[0].map(|step| step.get_untracked());
            assert_eq!((deck.at.get_untracked(), step), (0, Some(3)));
        });
    }

    #[test]
    fn an_episode_that_is_entered_again_begins_at_its_start() {
        Owner::new().with(|| {
            let (deck, selected) = deck(&[None, Some(2)], 0);
            if let Some(selected) = selected[1] {
                selected.set(2);
            }
            deck.go(PresenterCommand::Next);
            assert_eq!(selected[1].map(|step| step.get_untracked()), Some(0));
        });
    }

    #[test]
    fn a_clicker_works_while_typing_and_letters_do_not() {
        Owner::new().with(|| {
            let (deck, _) = deck(&[None, None, None], 0);
            assert!(press(deck, "PageDown", true, false));
            assert_eq!(deck.at.get_untracked(), 1);
            assert!(
                !press(deck, "ArrowRight", true, false),
                "it moves the cursor"
            );
            assert!(!press(deck, "ArrowRight", false, true), "the browser's own");
            assert!(press(deck, "ArrowRight", false, false));
            assert_eq!(deck.at.get_untracked(), 2);
            assert!(!press(deck, "x", false, false));
        });
    }

    #[test]
    fn a_deck_without_slides_stays_where_it_is() {
        Owner::new().with(|| {
            let (deck, _) = deck(&[], 0);
            deck.go(PresenterCommand::Next);
            deck.go(PresenterCommand::Previous);
            assert_eq!(deck.at.get_untracked(), 0);
            assert!(deck.draw(0).is_none());
        });
    }
}
