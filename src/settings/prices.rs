//! Model prices: an editable table. The cost of models without a price is unknown.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_agent::model::price::{PRICES_AS_OF, Price, Prices};
use volary_core::json::Text;

use super::section::{section as settings_section, small};
use crate::browser::element;
use crate::components::erased::words;
use crate::components::icon::{Glyph, named_icon};
use crate::components::markup::{El, all, button, el, keyed};
use crate::components::text::inert_name;
use crate::models::{connections, prices};
use crate::playground::controls::typed;

/// The columns of prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Input,
    Output,
    Cached,
    CacheWrite,
}

impl Column {
    const ALL: [Column; 4] = [
        Column::Input,
        Column::Output,
        Column::Cached,
        Column::CacheWrite,
    ];

    const fn name(self) -> &'static str {
        match self {
            Column::Input => "Input",
            Column::Output => "Output",
            Column::Cached => "Cached input",
            Column::CacheWrite => "Cache write",
        }
    }

    /// The short label, for narrow screens.
    const fn short(self) -> &'static str {
        match self {
            Column::Cached => "Cached",
            Column::CacheWrite => "Written",
            _ => self.name(),
        }
    }

    fn of(self, price: &Price) -> Option<f64> {
        match self {
            Column::Input => Some(price.input),
            Column::Output => Some(price.output),
            Column::Cached => price.cached,
            Column::CacheWrite => price.cache_write,
        }
    }

    /// The price with another amount; `None` if a required amount is missing.
    fn with(self, price: &Price, amount: Option<f64>) -> Option<Price> {
        let mut changed = *price;
        match self {
            Column::Input => changed.input = amount?,
            Column::Output => changed.output = amount?,
            Column::Cached => changed.cached = amount,
            Column::CacheWrite => changed.cache_write = amount,
        }
        Some(changed)
    }
}

/// The section.
pub fn section() -> El {
    let about = format!(
        "US dollars per million tokens, as of {PRICES_AS_OF}. Check them against your provider's \
         prices. If a provider reports the cost, that value is used. The cost of a model without a \
         price here is unknown."
    );
    let heads = Column::ALL.map(|column| el("th").attr("scope", "col").child(column.name()).view());
    let head = el("tr")
        .child(el("th").attr("scope", "col").child("Model"))
        .child(all(heads.into()))
        .child(el("td"));
    let rows = keyed(
        || prices::read(|prices| (0..prices.rows().len() as u64).collect()),
        |place| row(place as usize),
    );
    let table = el("table")
        .attr("aria-labelledby", "settings-prices")
        .child(el("thead").child(head))
        .child(el("tbody").child(rows));
    settings_section("settings-prices", "Prices", about)
        .child(
            el("div")
                .class("price-table")
                .attr("tabindex", "0")
                .attr("role", "group")
                .attr("aria-label", "Price table")
                .child(table),
        )
        .child(add())
}

/// The row at an index, whatever it currently shows.
fn row(place: usize) -> AnyView {
    let model = words(move || model_at(place).unwrap_or_default().to_string());
    let name = crate::components::erased::dynamic(move || inert_name(&model.get()));
    let cells = Column::ALL.map(|column| {
        el("td")
            .attr("data-label", column.short())
            .child(cell(place, model, column))
            .view()
    });
    let remove = button("quiet small icon-button")
        .on_click(move || prices::change(|prices| prices.remove(&model.get_untracked())))
        .child(named_icon(Glyph::Close, "Remove the price of "))
        .child(el("span").class("visually-hidden").child(model));
    el("tr")
        .child(el("th").attr("scope", "row").child(name))
        .child(all(cells.into()))
        .child(el("td").child(remove))
        .view()
}

fn model_at(place: usize) -> Option<Text> {
    prices::read(|prices| prices.rows().get(place).map(|(model, _)| model.clone()))
}

fn price_at(prices: &Prices, place: usize) -> Option<(Text, Price)> {
    prices.rows().get(place).cloned()
}

fn cell(place: usize, model: Signal<String>, column: Column) -> El {
    let shown = move || {
        let price = prices::read(|prices| price_at(prices, place));
        let amount = price.and_then(|(_, price)| column.of(&price));
        amount.map_or_else(String::new, |amount| amount.to_string())
    };
    let take = move |event: Event| {
        let typed = amount_of(&event_target_value(&event));
        let row = untrack(|| prices::read(|prices| price_at(prices, place)));
        if let (Some(amount), Some((model, price))) = (typed, row)
            && let Some(changed) = column.with(&price, amount)
        {
            prices::change(|prices| prices.set(model, changed));
        }
        // Invalid input is discarded.
        element::set_value(&event, &untrack(shown));
    };
    el("input")
        .attr("inputmode", "decimal")
        .attr("autocomplete", "off")
        .attr(
            "aria-label",
            words(move || format!("{} of {}", column.name(), model.get())),
        )
        .text_property("value", words(shown))
        .on("change", take)
}

/// A dollar amount or blank; `None` if it is neither.
fn amount_of(typed: &str) -> Option<Option<f64>> {
    let typed = typed.trim().trim_start_matches('$').replace(',', ".");
    if typed.is_empty() {
        return Some(None);
    }
    let amount = typed.parse::<f64>().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(Some(amount))
}

/// A new row, and the button that restores the built-in prices.
fn add() -> El {
    let model = RwSignal::new(String::new());
    let put = move || {
        let name = model.get_untracked().trim().to_owned();
        let chosen = untrack(|| {
            connections::read(|all| {
                all.default_one()
                    .map(|saved| saved.connection.model.clone())
            })
        });
        let name = if name.is_empty() {
            chosen.unwrap_or_default()
        } else {
            name.into()
        };
        if name.is_empty()
            || untrack(|| {
                prices::read(|prices| prices.rows().iter().any(|(known, _)| *known == name))
            })
        {
            return;
        }
        prices::change(|prices| {
            prices.set(
                name,
                Price {
                    input: 0.0,
                    output: 0.0,
                    cached: None,
                    cache_write: None,
                },
            );
        });
        model.set(String::new());
    };
    let input = typed(
        el("input")
            .attr("aria-label", "Model name")
            .attr("autocomplete", "off"),
        model,
    );
    el("div")
        .class("button-row")
        .child(input.class("price-name").attr("placeholder", "Model name"))
        .child(small("Add price", put))
        .child(el("span").class("stretch"))
        .child(small("Restore built-in prices", prices::restore))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (typed, amount) in [
            ("", None),
            (" 2.5 ", Some(2.5)),
            ("$0,1", Some(0.1)),
            ("0", Some(0.0)),
        ] {
            assert_eq!(amount_of(typed), Some(amount), "{typed}");
        }
        for none in ["-1", "x", "inf", "NaN", "1.2.3"] {
            assert_eq!(amount_of(none), None, "{none}");
        }
    }

    #[test]
    fn a_price_needs_its_two_amounts() {
        let price = Price {
            input: 1.0,
            output: 2.0,
            cached: None,
            cache_write: None,
        };
        assert_eq!(Column::Input.with(&price, None), None);
        assert_eq!(Column::Output.with(&price, None), None);
        for column in Column::ALL {
            let changed = column.with(&price, Some(7.0)).unwrap();
            assert_eq!(column.of(&changed), Some(7.0));
        }
        assert_eq!(Column::Cached.with(&price, None), Some(price));
    }
}
