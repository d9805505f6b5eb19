//! Light, dark, or as the system has it.

use leptos::prelude::*;

use super::erased::{dynamic, words};
use super::icon::{Glyph, hidden_name, icon};
use super::markup::button;

/// A theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The name in `data-theme` and in what is stored; none for the system's.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Theme::System => None,
            Theme::Light => Some("light"),
            Theme::Dark => Some("dark"),
        }
    }

    /// The theme of such a name; the system's for any other.
    pub fn of_name(name: Option<&str>) -> Self {
        match name {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::System,
        }
    }

    const fn next(self) -> Self {
        match self {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }
    }
}

/// A button that goes from theme to theme.
#[component]
pub fn ThemeSwitch(
    /// The theme.
    theme: RwSignal<Theme>,
) -> impl IntoView {
    let name = words(move || {
        let name = match theme.get() {
            Theme::System => "Theme: system",
            Theme::Light => "Theme: light",
            Theme::Dark => "Theme: dark",
        };
        name.to_owned()
    });
    let glyph = dynamic(move || {
        icon(match theme.get() {
            Theme::System => Glyph::Screen,
            Theme::Light => Glyph::Sun,
            Theme::Dark => Glyph::Moon,
        })
    });
    button("quiet icon-button")
        .attr("title", name)
        .on_click(move || theme.update(|theme| *theme = theme.next()))
        .child(glyph)
        .child(hidden_name(name))
        .view()
}
