//! The **Prices** section: an editable table. The cost of models without a price is unknown.

use leptos::ev::Event;
use leptos::prelude::*;
use volary_agent::model::price::{PRICES_AS_OF, Price, Prices};
use volary_core::json::Text;

use super::section::Section;
use volary_browser::element;
use volary_connections::models::{connections, prices};
use volary_ui::UnsavedNotice;
use volary_ui::icon::{Glyph, NamedIcon};
use volary_ui::text::inert_name;

/// The price columns.
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

    /// Returns the price with a changed amount; `None` if a required amount is missing.
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

#[component]
pub(super) fn PriceTable() -> impl IntoView {
    let about = format!(
        "US dollars per million tokens, as of {PRICES_AS_OF}. Check them against your provider's \
         prices. If a provider reports the cost, that value is used. The cost of a model without a \
         price here is unknown."
    );
    let heads = Column::ALL.map(|column| view! { <th scope="col">{column.name()}</th> });
    let count = Memo::new(|_| prices::read(|prices| prices.rows().len()));
    view! {
        <Section id="settings-prices" title="Prices" about>
            <UnsavedNotice what="the prices" unsaved=prices::unsaved()/>
            <div class="price-table" tabindex="0" role="group" aria-label="Price table">
                <table aria-labelledby="settings-prices">
                    <thead>
                        <tr>
                            <th scope="col">{"Model"}</th>
                            {heads.into_iter().collect_view()}
                            <td></td>
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || 0..count.get() key=|place| *place let(place)>
                            <PriceRow place/>
                        </For>
                    </tbody>
                </table>
            </div>
            <NewPrice/>
        </Section>
    }
}

/// The row at an index, whichever model it currently shows.
#[component]
fn PriceRow(place: usize) -> impl IntoView {
    let model = Signal::derive(move || model_at(place).unwrap_or_default().to_string());
    let cells = Column::ALL.map(|column| {
        view! {
            <td data-label=column.short()>
                <Amount place model column/>
            </td>
        }
    });
    let remove = move |_| prices::change(|prices| prices.remove(&model.get_untracked()));
    view! {
        <tr>
            <th scope="row">{move || inert_name(&model.get())}</th>
            {cells.into_iter().collect_view()}
            <td>
                <button type="button" class="quiet small icon-button" on:click=remove>
                    <NamedIcon glyph=Glyph::Close name="Remove the price of "/>
                    <span class="visually-hidden">{model}</span>
                </button>
            </td>
        </tr>
    }
}

fn model_at(place: usize) -> Option<Text> {
    prices::read(|prices| prices.rows().get(place).map(|(model, _)| model.clone()))
}

fn price_at(prices: &Prices, place: usize) -> Option<(Text, Price)> {
    prices.rows().get(place).cloned()
}

#[component]
fn Amount(place: usize, model: Signal<String>, column: Column) -> impl IntoView {
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
    view! {
        <input
            inputmode="decimal"
            autocomplete="off"
            aria-label=move || format!("{} of {}", column.name(), model.get())
            prop:value=shown
            on:change=take
        />
    }
}

/// Parses a dollar amount, or blank as `Some(None)`; `None` if the text is neither.
fn amount_of(typed: &str) -> Option<Option<f64>> {
    let typed = typed.trim().trim_start_matches('$').replace(',', ".");
    if typed.is_empty() {
        return Some(None);
    }
    let amount = typed.parse::<f64>().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(Some(amount))
}

/// The model to add a price for: the one that was typed, or that of the default connection. An error says what to do.
fn new_model(typed: &str, default: Option<Text>, prices: &Prices) -> Result<Text, String> {
    let name = match typed.trim() {
        "" => default.unwrap_or_default(),
        typed => typed.into(),
    };
    if name.is_empty() {
        return Err("Enter the name of a model.".to_owned());
    }
    if prices.rows().iter().any(|(known, _)| *known == name) {
        Err(format!(
            "{name} has a price already. Change it in the table."
        ))
    } else {
        Ok(name)
    }
}

/// A form that adds a price, and a button that restores the built-in prices.
#[component]
fn NewPrice() -> impl IntoView {
    let model = RwSignal::new(String::new());
    let problem = RwSignal::new(None);
    let put = move |_| {
        let default = untrack(|| {
            connections::read(|all| {
                let default = all.default_one()?;
                Some(default.connection.model.clone())
            })
        });
        let typed = model.get_untracked();
        let new = untrack(|| prices::read(|prices| new_model(&typed, default, prices)));
        let name = match new {
            Ok(name) => name,
            Err(reason) => return problem.set(Some(reason)),
        };
        problem.set(None);
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
    view! {
        <div class="button-row">
            <input
                aria-label="Model name"
                autocomplete="off"
                class="price-name"
                placeholder="Model name"
                bind:value=model
            />
            <button type="button" class="quiet small" on:click=put>
                {"Add price"}
            </button>
            <span class={"stretch"}></span>
            <button type="button" class="quiet small" on:click=|_| prices::restore()>
                {"Restore built-in prices"}
            </button>
        </div>
        {move || problem.get().map(|reason| view! { <p class="error" role="alert">{reason}</p> })}
    }
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
    fn a_price_is_added_once_for_each_model() {
        let prices = Prices::default();
        let (known, _) = prices
            .rows()
            .first()
            .cloned()
            .expect("there are built-in prices");
        assert_eq!(new_model(" mine ", None, &prices).as_deref(), Ok("mine"));
        assert_eq!(
            new_model(" ", Some("default".into()), &prices).as_deref(),
            Ok("default")
        );
        assert!(new_model("", None, &prices).is_err());
        let again = new_model(&known, None, &prices).expect_err("it is known");
        assert!(again.starts_with(&*known), "{again}");
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
