//! Where a presentation goes next: through the steps of a slide, then to the next slide.

/// The position in a presentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlidePosition {
    /// The index of the slide.
    pub slide: usize,
    /// The number of slides.
    pub slides: usize,
    /// The shown step and the last one, on a slide with an episode.
    pub steps: Option<(usize, usize)>,
}

/// A key or a button of the presenter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresenterCommand {
    Next,
    Previous,
    First,
    Last,
}

/// A change of the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresenterMove {
    /// Shows a step of the same slide.
    Step(usize),
    /// Shows a slide from its start.
    Slide(usize),
    /// Shows a slide at its last step: going back comes from what followed.
    EndOfSlide(usize),
}

impl PresenterCommand {
    /// The command of a key; clickers send `PageDown` and `PageUp`.
    pub fn of_key(key: &str) -> Option<PresenterCommand> {
        match key {
            "PageDown" | "ArrowRight" | " " | "j" | "n" => Some(PresenterCommand::Next),
            "PageUp" | "ArrowLeft" | "k" => Some(PresenterCommand::Previous),
            "Home" | "g" => Some(PresenterCommand::First),
            "End" | "G" => Some(PresenterCommand::Last),
            _ => None,
        }
    }
}

impl SlidePosition {
    /// The change that a command makes; `None` at either end.
    pub fn after(self, command: PresenterCommand) -> Option<PresenterMove> {
        let SlidePosition {
            slide,
            slides,
            steps,
        } = self;
        let (step, last) = steps.unwrap_or_default();
        match command {
            PresenterCommand::Next if step < last => Some(PresenterMove::Step(step + 1)),
            PresenterCommand::Next if slide + 1 < slides => Some(PresenterMove::Slide(slide + 1)),
            PresenterCommand::Previous if step > 0 => Some(PresenterMove::Step(step - 1)),
            PresenterCommand::Previous => Some(PresenterMove::EndOfSlide(slide.checked_sub(1)?)),
            PresenterCommand::First => Some(PresenterMove::Slide(0)),
            PresenterCommand::Last => Some(PresenterMove::Slide(slides.checked_sub(1)?)),
            PresenterCommand::Next => None,
        }
    }

    /// The position in words.
    pub fn in_words(self) -> String {
        let SlidePosition {
            slide,
            slides,
            steps,
        } = self;
        let of_slides = match slides {
            0 | 1 => String::new(),
            _ => format!("{} of {slides}", slide + 1),
        };
        let of_steps = match steps {
            None | Some((_, 0)) => String::new(),
            Some((step, last)) => format!("step {step} of {last}"),
        };
        match (of_slides.is_empty(), of_steps.is_empty()) {
            (false, false) => format!("{of_slides} · {of_steps}"),
            _ => of_slides + &of_steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(slide: usize, steps: Option<(usize, usize)>) -> SlidePosition {
        SlidePosition {
            slide,
            slides: 3,
            steps,
        }
    }

    #[test]
    fn steps_come_before_slides() {
        for (position, next, previous) in [
            (at(0, None), Some(PresenterMove::Slide(1)), None),
            (
                at(1, Some((0, 2))),
                Some(PresenterMove::Step(1)),
                Some(PresenterMove::EndOfSlide(0)),
            ),
            (
                at(1, Some((1, 2))),
                Some(PresenterMove::Step(2)),
                Some(PresenterMove::Step(0)),
            ),
            (
                at(1, Some((2, 2))),
                Some(PresenterMove::Slide(2)),
                Some(PresenterMove::Step(1)),
            ),
            (at(2, None), None, Some(PresenterMove::EndOfSlide(1))),
        ] {
            assert_eq!(position.after(PresenterCommand::Next), next, "{position:?}");
            assert_eq!(
                position.after(PresenterCommand::Previous),
                previous,
                "{position:?}"
            );
        }
        assert_eq!(
            at(2, Some((1, 1))).after(PresenterCommand::First),
            Some(PresenterMove::Slide(0))
        );
        assert_eq!(
            at(0, None).after(PresenterCommand::Last),
            Some(PresenterMove::Slide(2))
        );
        assert_eq!(SlidePosition::default().after(PresenterCommand::Last), None);
    }

    #[test]
    fn positions_in_words() {
        assert_eq!(at(0, None).in_words(), "1 of 3");
        assert_eq!(at(1, Some((2, 5))).in_words(), "2 of 3 · step 2 of 5");
        assert_eq!(at(1, Some((0, 0))).in_words(), "2 of 3");
        let alone = SlidePosition {
            slides: 1,
            ..at(0, Some((1, 4)))
        };
        assert_eq!(alone.in_words(), "step 1 of 4");
    }
}
