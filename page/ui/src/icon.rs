//! Icons, drawn in a square of 16 units in the text colour. A button with an icon always has an accessible name.

use leptos::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    Play,
    Pause,
    /// Go to the start.
    First,
    /// Go back by one.
    Previous,
    /// Go forward by one.
    Next,
    /// Go to the end.
    Last,
    Copy,
    /// Success.
    Check,
    /// Close or remove.
    Close,
    Add,
    /// Move up.
    Up,
    /// Move down.
    Down,
    /// Expand and collapse: points right, rotated when expanded.
    Chevron,
    Warning,
    /// A menu of further actions.
    More,
    /// Light theme.
    Sun,
    /// Dark theme.
    Moon,
    /// The system's theme.
    Screen,
}

impl Glyph {
    /// The strokes, as the `d` attribute of an SVG path.
    const fn path(self) -> &'static str {
        match self {
            Glyph::Play => "M5 3.2v9.6L12.6 8z",
            Glyph::Pause => "M5.5 3.5v9M10.5 3.5v9",
            Glyph::First => "M4 3.5v9M12.2 3.5 7 8l5.2 4.5",
            Glyph::Previous => "M10 3.5 5 8l5 4.5",
            Glyph::Next => "M6 3.5 11 8l-5 4.5",
            Glyph::Last => "M12 3.5v9M3.8 3.5 9 8l-5.2 4.5",
            Glyph::Copy => "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
            Glyph::Check => "M3 8.5l3.2 3.2L13 4.8",
            Glyph::Close => "M4 4l8 8M12 4l-8 8",
            Glyph::Add => "M8 3.5v9M3.5 8h9",
            Glyph::Up => "M8 12.5v-9M4 7.3 8 3.5l4 3.8",
            Glyph::Down => "M8 3.5v9M4 8.7l4 3.8 4-3.8",
            Glyph::Chevron => "M6 4l4 4-4 4",
            Glyph::Warning => "M8 2.2 14.4 13.5H1.6zM8 6.5v3.2M8 11.6v.2",
            Glyph::More => "M3.5 8h.01M8 8h.01M12.5 8h.01",
            Glyph::Sun => {
                "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M13 3l-1.2 1.2M4.2 11.8 3 13"
            }
            Glyph::Moon => "M13.3 9.6A5.8 5.8 0 0 1 6.4 2.7a5.8 5.8 0 1 0 6.9 6.9z",
            Glyph::Screen => "M2 3h12v8H2zM5.5 13.5h5M8 11v2.5",
        }
    }
}

/// An icon that is hidden from screen readers.
#[component]
pub fn Icon(
    /// The shape to draw.
    glyph: Glyph,
) -> impl IntoView {
    let class = match glyph {
        Glyph::Play => "icon filled",
        _ => "icon",
    };
    view! {
        <svg class=class viewBox="0 0 16 16" aria-hidden="true">
            <path d=glyph.path()></path>
        </svg>
    }
}

/// The mark of Volary: a bird in an aviary.
#[component]
pub fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
            <path class="cage" d={CAGE}/>
            <path class="bird" d={BIRD}/>
        </svg>
    }
}

const CAGE: &str = "M4.5 29V15.5a11.5 11.5 0 0 1 23 0V29zM16 4V1.5";
/// The bird of the mark, on its perch.
const BIRD: &str = "M7.3 24.2l4.2-1.3c.1-4.3 2.4-7.2 5.9-7.2 1.9 0 3.2.8 3.9 2.1l2.7.9-2.4 1.4c.1 4.4-2.6 7.2-6.4 7.2-1.6 0-3-.5-4-1.4z";

/// An icon with an accessible name.
#[component]
pub fn NamedIcon(
    /// The shape to draw.
    glyph: Glyph,
    name: &'static str,
) -> impl IntoView {
    view! {
        <Icon glyph/>
        <span class="visually-hidden">{name}</span>
    }
}
