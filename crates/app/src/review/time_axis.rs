//! The time axis of a run's samples: which part of it is shown, and the time that the reader points at.
//!
//! Invariants: the shown part is within the whole time, and no shorter than [`NARROWEST`] of it; a pointed-at time is within
//! the shown part.

/// The shortest part of the time that can be shown, as a share.
const NARROWEST: f64 = 1e-4;
/// The factor of a zoom.
const ZOOM: f64 = 2.0;
/// The number of steps of the arrow keys in the shown part.
const STEPS: f64 = 50.0;
/// The shortest drag that selects a part, as a share of what is shown. Shorter ones are clicks.
const DRAGGED: f64 = 0.01;

/// The state of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeAxis {
    /// The whole time, from 0.
    seconds: f64,
    from: f64,
    to: f64,
    cursor: Option<f64>,
    /// The time at which a drag began.
    dragged: Option<f64>,
}

/// What happens at an axis. Places are shares of the shown part, from 0 (left) to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeEvent {
    /// The pointer moved there.
    Pointed(f64),
    /// The pointer left.
    Left,
    /// The button of the pointer went down or up there.
    Pressed(f64),
    Released(f64),
    /// The cursor moves by this many steps.
    Moved(i32),
    /// The cursor moves to the start or the end of what is shown.
    Start,
    End,
    ZoomIn,
    ZoomOut,
    /// Everything is shown.
    Whole,
}

impl TimeEvent {
    /// The event of a key, as of a slider; `None` if it has none.
    pub fn of_key(key: &str) -> Option<TimeEvent> {
        Some(match key {
            "ArrowRight" | "ArrowUp" => TimeEvent::Moved(1),
            "ArrowLeft" | "ArrowDown" => TimeEvent::Moved(-1),
            "PageUp" => TimeEvent::Moved(10),
            "PageDown" => TimeEvent::Moved(-10),
            "Home" => TimeEvent::Start,
            "End" => TimeEvent::End,
            "+" | "=" => TimeEvent::ZoomIn,
            "-" => TimeEvent::ZoomOut,
            "0" => TimeEvent::Whole,
            _ => return None,
        })
    }
}

impl TimeAxis {
    /// The axis of a time that begins at 0, of which a part may be shown; see [`TimeAxis::to_text`].
    pub fn new(seconds: f64, shown: Option<&str>) -> TimeAxis {
        let mut axis = TimeAxis {
            seconds: seconds.max(0.0),
            from: 0.0,
            to: seconds.max(0.0),
            cursor: None,
            dragged: None,
        };
        let shown = shown.and_then(|text| {
            let (from, to) = text.split_once('-')?;
            Some((from.parse().ok()?, to.parse().ok()?))
        });
        if let Some((from, to)) = shown {
            axis.show(from, to);
        }
        axis
    }

    /// The shown part, in seconds.
    pub fn range(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// The time that the reader points at.
    pub fn cursor(&self) -> Option<f64> {
        self.cursor
    }

    /// The part that is being selected.
    pub fn selecting(&self) -> Option<(f64, f64)> {
        let (one, other) = (self.dragged?, self.cursor?);
        Some((one.min(other), one.max(other)))
    }

    /// Whether everything is shown.
    pub fn is_whole(&self) -> bool {
        self.from <= 0.0 && self.to >= self.seconds
    }

    /// The place of a time in the shown part, from 0 to 1.
    pub fn place(&self, time: f64) -> f64 {
        let span = self.to - self.from;
        if span > 0.0 {
            ((time - self.from) / span).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The shown part for an address, such as `1.5-20`; `None` if everything is shown.
    pub fn to_text(&self) -> Option<String> {
        let round = |time: f64| (time * 1e4).round() / 1e4;
        (!self.is_whole()).then(|| format!("{}-{}", round(self.from), round(self.to)))
    }

    /// Applies an event. Returns whether another part is shown.
    pub fn apply(&mut self, event: TimeEvent) -> bool {
        let before = self.range();
        match event {
            TimeEvent::Pointed(place) => self.cursor = Some(self.time(place)),
            TimeEvent::Left => (self.cursor, self.dragged) = (None, None),
            TimeEvent::Pressed(place) => {
                self.cursor = Some(self.time(place));
                self.dragged = self.cursor;
            }
            TimeEvent::Released(place) => {
                self.cursor = Some(self.time(place));
                let selected = self.selecting();
                self.dragged = None;
                if let Some((from, to)) = selected
                    && to - from >= DRAGGED * (self.to - self.from)
                {
                    self.show(from, to);
                }
            }
            TimeEvent::Moved(steps) => {
                let step = (self.to - self.from) / STEPS;
                let now = self.cursor.unwrap_or(if steps > 0 {
                    self.from - step
                } else {
                    self.to + step
                });
                let next = (now + step * f64::from(steps)).clamp(0.0, self.seconds);
                // What is shown follows the cursor.
                let over = (next - self.to).max(0.0) + (next - self.from).min(0.0);
                self.show(self.from + over, self.to + over);
                self.cursor = Some(next.clamp(self.from, self.to));
            }
            TimeEvent::Start => self.cursor = Some(self.from),
            TimeEvent::End => self.cursor = Some(self.to),
            TimeEvent::ZoomIn => self.zoom(1.0 / ZOOM),
            TimeEvent::ZoomOut => self.zoom(ZOOM),
            TimeEvent::Whole => self.show(0.0, self.seconds),
        }
        before != self.range()
    }

    fn time(&self, place: f64) -> f64 {
        self.from + place.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Shows a part that is longer by a factor; the cursor, or else the middle, keeps its place.
    fn zoom(&mut self, factor: f64) {
        let around = self.cursor.unwrap_or((self.from + self.to) / 2.0);
        let share = self.place(around);
        let span = (self.to - self.from) * factor;
        let from = around - share * span;
        self.show(from, from + span);
    }

    /// Shows a part, moved and shortened or lengthened to be within the bounds.
    fn show(&mut self, from: f64, to: f64) {
        let span = to - from;
        if !from.is_finite() || !span.is_finite() || span <= 0.0 {
            return;
        }
        let span = span.clamp(NARROWEST * self.seconds, self.seconds);
        self.from = from.clamp(0.0, self.seconds - span);
        self.to = (self.from + span).min(self.seconds);
        // All but rounding errors.
        if self.seconds - span <= NARROWEST * NARROWEST * self.seconds {
            (self.from, self.to) = (0.0, self.seconds);
        }
        self.cursor = self.cursor.map(|time| time.clamp(self.from, self.to));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(axis: &mut TimeAxis, events: &[TimeEvent]) -> (f64, f64) {
        for event in events {
            axis.apply(*event);
        }
        axis.range()
    }

    /// What the keys lead to, one after another: the cursor and the shown part.
    fn pressed(axis: &mut TimeAxis, keys: &[&str]) -> (Option<f64>, (f64, f64)) {
        for key in keys {
            axis.apply(TimeEvent::of_key(key).expect("it has an event"));
        }
        (axis.cursor(), axis.range())
    }

    #[test]
    fn keys_move_the_cursor_as_in_a_slider() {
        let mut axis = TimeAxis::new(100.0, None);
        assert_eq!(pressed(&mut axis, &["End"]).0, Some(100.0));
        assert_eq!(pressed(&mut axis, &["ArrowRight"]).0, Some(100.0));
        assert_eq!(pressed(&mut axis, &["Home"]).0, Some(0.0));
        assert_eq!(pressed(&mut axis, &["ArrowLeft"]).0, Some(0.0));
        let (one, _) = pressed(&mut axis, &["ArrowRight"]);
        assert!(one > Some(0.0), "{one:?}");
        assert_eq!(pressed(&mut axis, &["ArrowUp", "ArrowDown"]).0, one);
        let (ten, _) = pressed(&mut axis, &["Home", "PageUp"]);
        let expected = one.map(|one| 10.0 * one);
        assert!(
            ten.zip(expected)
                .is_some_and(|(ten, expected)| (ten - expected).abs() < 1e-9)
        );
        assert_eq!(pressed(&mut axis, &["PageDown"]).0, Some(0.0));
    }

    #[test]
    fn keys_zoom_and_others_stay_with_the_browser() {
        let mut axis = TimeAxis::new(100.0, None);
        let (_, (from, to)) = pressed(&mut axis, &["+", "="]);
        assert!(to - from < 100.0, "{from} to {to}");
        let (_, wider) = pressed(&mut axis, &["-"]);
        assert!(wider.1 - wider.0 > to - from);
        assert_eq!(pressed(&mut axis, &["0"]).1, (0.0, 100.0));
        for key in ["Tab", "a", "Enter"] {
            assert_eq!(TimeEvent::of_key(key), None, "{key}");
        }
    }

    #[test]
    fn a_drag_selects_a_part_and_a_click_does_not() {
        use TimeEvent::{Pointed, Pressed, Released};
        let mut axis = TimeAxis::new(10.0, None);
        axis.apply(Pressed(0.8));
        axis.apply(Pointed(0.2));
        assert_eq!(axis.selecting(), Some((2.0, 8.0)));
        assert_eq!(after(&mut axis, &[Released(0.2)]), (2.0, 8.0));
        assert_eq!((axis.selecting(), axis.cursor()), (None, Some(2.0)));
        assert_eq!(
            after(&mut axis, &[Pressed(0.5), Released(0.501)]),
            (2.0, 8.0)
        );
        assert!(axis.apply(TimeEvent::Whole) && axis.is_whole());
        assert_eq!(
            after(&mut axis, &[Pressed(0.5), TimeEvent::Left, Released(0.9)]),
            (0.0, 10.0)
        );
    }

    #[test]
    fn zoom_keeps_the_cursor_in_its_place() {
        use TimeEvent::{Pointed, ZoomIn, ZoomOut};
        let mut axis = TimeAxis::new(8.0, None);
        assert_eq!(after(&mut axis, &[ZoomIn]), (2.0, 6.0));
        assert_eq!(after(&mut axis, &[Pointed(0.25), ZoomIn]), (2.5, 4.5));
        assert_eq!(axis.cursor(), Some(3.0));
        assert_eq!(after(&mut axis, &[ZoomOut, ZoomOut, ZoomOut]), (0.0, 8.0));
        assert!(!axis.apply(ZoomOut));
    }

    #[test]
    fn arrows_move_the_cursor_and_what_is_shown() {
        use TimeEvent::{End, Moved, Start};
        let mut axis = TimeAxis::new(100.0, Some("40-50"));
        axis.apply(Moved(1));
        assert_eq!(axis.cursor(), Some(40.0));
        after(&mut axis, &[End, Moved(5)]);
        assert_eq!((axis.range(), axis.cursor()), ((41.0, 51.0), Some(51.0)));
        after(&mut axis, &[Start, Moved(-500)]);
        assert_eq!((axis.range(), axis.cursor()), ((0.0, 10.0), Some(0.0)));
    }

    #[test]
    fn an_address_names_the_part() {
        let axis = TimeAxis::new(10.0, Some("1.5-4.25"));
        assert_eq!(axis.to_text().as_deref(), Some("1.5-4.25"));
        for text in ["", "4", "4-1", "NaN-3", "a-b", "-5-90", "0-inf"] {
            assert!(TimeAxis::new(10.0, Some(text)).is_whole(), "{text}");
        }
        assert_eq!(TimeAxis::new(0.0, Some("1-2")).range(), (0.0, 0.0));
    }

    fn event() -> impl Strategy<Value = TimeEvent> {
        let place = -0.5..1.5_f64;
        prop_oneof![
            place.clone().prop_map(TimeEvent::Pointed),
            place.clone().prop_map(TimeEvent::Pressed),
            place.prop_map(TimeEvent::Released),
            (-60..60_i32).prop_map(TimeEvent::Moved),
            prop::sample::select(vec![
                TimeEvent::Left,
                TimeEvent::Start,
                TimeEvent::End,
                TimeEvent::ZoomIn,
                TimeEvent::ZoomOut,
                TimeEvent::Whole,
            ]),
        ]
    }

    proptest! {
        #[test]
        fn what_is_shown_is_within_the_whole(seconds in 0.0..1e6_f64, events in prop::collection::vec(event(), 0..60)) {
            let mut axis = TimeAxis::new(seconds, None);
            for event in events {
                axis.apply(event);
                let (from, to) = axis.range();
                prop_assert!(0.0 <= from && from <= to && to <= seconds, "{axis:?}");
                prop_assert!(to - from >= 0.9 * NARROWEST * seconds, "{axis:?}");
                prop_assert!(axis.cursor().is_none_or(|time| from <= time && time <= to), "{axis:?}");
                let again = TimeAxis::new(seconds, axis.to_text().as_deref()).range();
                prop_assert!((again.0 - from).abs() < 1e-3 + 2.0 * NARROWEST * seconds);
            }
        }
    }
}
