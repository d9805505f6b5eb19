//! The progress of imports, with a button to cancel each.

use leptos::prelude::*;

use volary_app::library::readings::{Reading, ReadingNumber};
use volary_library_client::{LibraryClient, imports};

/// One progress bar per import, keyed so that it is preserved when imports before it end.
#[component]
pub(super) fn Progress(client: LibraryClient) -> impl IntoView {
    let numbers = Memo::new(move |_| {
        client.readings.with(|readings| {
            let numbers = readings.iter().map(|reading| reading.number);
            numbers.collect::<Vec<_>>()
        })
    });
    view! {
        <For each=move || numbers.get() key=|number| *number let(number)>
            <Bar client number/>
        </For>
    }
}

#[component]
fn Bar(client: LibraryClient, number: ReadingNumber) -> impl IntoView {
    let of = move |ask: fn(&Reading) -> Option<String>| {
        move || {
            client.readings.with(|readings| {
                let mut readings = readings.iter();
                let reading = readings.find(|reading| reading.number == number);
                reading.and_then(ask)
            })
        }
    };
    let doing = of(|reading| Some(reading.doing.to_string()));
    // Without a value the progress bar is indeterminate.
    let done = of(|reading| Some(format!("{:.3}", reading.done?)));
    let ending = of(|reading| reading.is_ending.then(String::new));
    view! {
        <div class="reading" role="status">
            <span>{move || doing().unwrap_or_default()}</span>
            <progress max="1" aria-label="Reading" value=done></progress>
            <button
                type="button"
                class="small"
                disabled=move || ending().is_some()
                on:click=move |_| imports::cancel(client, number)
            >
                {"Cancel"}
            </button>
        </div>
    }
}
