//! Pinned scales, by the name of the stream: the next episode uses them too. They last until the tab is closed.

use leptos::prelude::*;

use volary_browser::storage::{self, Keep};

/// The name of the stored pins.
const KEY: &str = "token-scales";

/// The scales that are pinned.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pins(Vec<(String, f64, f64)>);

impl Pins {
    /// Reads the stored pins.
    fn read(text: &str) -> Pins {
        let lines = text.lines().filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            let (low, high) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let is_range = f64::is_finite(low) && f64::is_finite(high) && low <= high;
            is_range.then_some((parts.next()?.to_owned(), low, high))
        });
        Pins(lines.collect())
    }

    fn write(&self) -> String {
        let lines = self.0.iter();
        let lines = lines.map(|(name, low, high)| format!("{low} {high} {name}\n"));
        lines.collect()
    }

    /// The range of a stream, if its scale is pinned.
    pub(super) fn range(&self, name: &str) -> Option<(f64, f64)> {
        let pin = self.0.iter().find(|(pinned, ..)| pinned == name)?;
        Some((pin.1, pin.2))
    }

    fn set(&mut self, name: &str, range: Option<(f64, f64)>) {
        self.0.retain(|(pinned, ..)| pinned != name);
        if let Some((low, high)) = range {
            self.0.push((name.to_owned(), low, high));
        }
    }
}

thread_local! {
    static PINS: ArcRwSignal<Pins> = ArcRwSignal::new(
        storage::get(Keep::Tab, KEY).map(|text| Pins::read(&text)).unwrap_or_default(),
    );
}

/// The pins. Tracks changes.
pub(super) fn pins() -> Pins {
    PINS.with(ArcRwSignal::clone).get()
}

/// Pins the scale of a stream, or releases it.
pub(super) fn pin(name: &str, range: Option<(f64, f64)>) {
    let pins = PINS.with(ArcRwSignal::clone);
    pins.update(|pins| pins.set(name, range));
    storage::set(Keep::Tab, KEY, &pins.with_untracked(Pins::write));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_stored_with_names_of_any_form() {
        let mut pins = Pins::default();
        pins.set("trainer − sampler", Some((-1.0, 1.0)));
        pins.set("kl", Some((0.0, 2.5)));
        pins.set("kl", Some((0.0, 3.5)));
        let again = Pins::read(&pins.write());
        assert_eq!(again, pins);
        assert_eq!(again.range("trainer − sampler"), Some((-1.0, 1.0)));
        assert_eq!(again.range("kl"), Some((0.0, 3.5)));
        pins.set("kl", None);
        assert_eq!(pins.range("kl"), None);
        assert_eq!(Pins::read("x\n1 0 a\nNaN 1 b\n"), Pins::default());
    }
}
