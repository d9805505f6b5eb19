//! The colour theme: light, dark, or the system's.

use leptos::prelude::*;

use super::icon::{Glyph, Icon};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The theme of the operating system.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    /// The value for `data-theme` and for the browser's storage; `None` for the system's theme.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Theme::System => None,
            Theme::Light => Some("light"),
            Theme::Dark => Some("dark"),
        }
    }

    /// Parses a name. Anything unknown is the system's theme.
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

/// A button that switches to the next theme.
#[component]
pub fn ThemeSwitch(theme: RwSignal<Theme>) -> impl IntoView {
    let name = move || match theme.get() {
        Theme::System => "Theme: system",
        Theme::Light => "Theme: light",
        Theme::Dark => "Theme: dark",
    };
    let glyph = move || match theme.get() {
        Theme::System => Glyph::Screen,
        Theme::Light => Glyph::Sun,
        Theme::Dark => Glyph::Moon,
    };
    view! {
        <button
            type="button"
            class="quiet icon-button"
            title=name
            on:click=move |_| theme.update(|theme| *theme = theme.next())
        >
            {move || view! { <Icon glyph=glyph()/> }}
            <span class="visually-hidden">{name}</span>
        </button>
    }
}
