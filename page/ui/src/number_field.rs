//! A text field for a number.

use leptos::prelude::*;

use volary_browser::element;

/// A text field for a number. What is not an allowed number is not used, and is replaced by the value in use.
#[component]
pub fn NumberField(
    id: &'static str,
    label: &'static str,
    #[prop(into)] value: Signal<f64>,
    /// Whether a number can be used.
    allows: fn(f64) -> bool,
    change: impl Fn(f64) + 'static,
) -> impl IntoView {
    let changed = move |event| {
        let given = event_target_value(&event).trim().parse::<f64>();
        if let Some(given) = given.ok().filter(|given| allows(*given)) {
            change(given);
        }
        element::set_value(&event, &value.get_untracked().to_string());
    };
    view! {
        <span class="number-field">
            <label for=id>{label}</label>
            <input
                id=id
                type="text"
                inputmode="decimal"
                prop:value=move || value.get().to_string()
                on:change=changed
            />
        </span>
    }
}
