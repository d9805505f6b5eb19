//! Asks for confirmation before a file of another origin that the address names is fetched.

use leptos::prelude::*;
use volary_connectivity::linked_file::Elsewhere;
use volary_protocol::library::Origin;

use crate::components::text::inert;

#[component]
pub(super) fn FetchQuestion(
    file: Elsewhere,
    /// Fetches the file; its argument says whether to store the contents.
    #[prop(into)]
    fetch: Callback<Origin>,
    /// Continues without the file.
    #[prop(into)]
    decline: Callback<()>,
) -> impl IntoView {
    let keeps = RwSignal::new(false);
    let origin = move || match keeps.get_untracked() {
        true => Origin::Imported,
        false => Origin::Linked,
    };
    let warning = file.warning();
    view! {
        <section class="fetch-question" aria-label="Fetch a file">
            <h2>{format!("Fetch a file from {}?", file.host)}</h2>
            <code dir="auto">{inert(&file.url)}</code>
            <p>
                {"The address of this page refers to this file. Nothing has been requested yet. If \
                  you agree, your browser downloads the file from that host, without cookies and \
                  up to 2 GB. Its size is shown when the host reports it, and you can cancel."}
            </p>
            {warning.map(|warning| view! { <p class="near-address">{warning}</p> })}
            <label class="flag-line">
                <input
                    type="checkbox"
                    prop:checked=keeps
                    on:change=move |event| keeps.set(event_target_checked(&event))
                />
                <span>{"Store its trajectories in this browser"}</span>
            </label>
            <p class="help">{"Otherwise they are available until you leave or reload the page."}</p>
            <div class="button-row">
                <button type="button" on:click=move |_| decline.run(())>
                    {"Don't fetch"}
                </button>
                <button type="button" class="primary" on:click=move |_| fetch.run(origin())>
                    {"Fetch"}
                </button>
            </div>
        </section>
    }
}
