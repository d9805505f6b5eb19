//! Asks for consent before a file of another origin that the address names is fetched.

use leptos::prelude::*;
use volary_connectivity::linked_file::Elsewhere;

use super::text::inert;

/// The question, without a heading.
#[component]
pub fn FetchQuestion(
    file: Elsewhere,
    /// What the file contains, such as "a lesson".
    content: &'static str,
    /// The rest of the sentence "Your browser downloads the file without cookies".
    then: &'static str,
    #[prop(into)] fetch: Callback<()>,
    /// Continues without the file.
    #[prop(into)]
    decline: Callback<()>,
    /// Choices about the file.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let warning = file.warning();
    view! {
        <p>
            {format!(
                "The address of this page refers to {content} on {}. Nothing has been requested yet. If you agree, your \
                 browser downloads the file without cookies{then}",
                file.host,
            )}
        </p>
        <code dir="auto">{inert(&file.url)}</code>
        {warning.map(|warning| view! { <p class="near-address">{warning}</p> })}
        {children.map(|children| children())}
        <div class="button-row">
            <button type="button" on:click=move |_| decline.run(())>
                {"Don't fetch"}
            </button>
            <button type="button" class="primary" on:click=move |_| fetch.run(())>
                {"Fetch"}
            </button>
        </div>
    }
}
