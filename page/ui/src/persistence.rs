//! Whether the browser promised not to evict stored data, and a button that requests that promise.

use leptos::prelude::*;

use volary_browser::{self as browser, storage_quota};

#[component]
pub fn Persistence(
    is_promised: bool,
    /// Called after a request, when the state must be read again: the browser may have refused.
    on_request: Callback<()>,
) -> impl IntoView {
    let request = move |_| {
        browser::spawn(async move {
            storage_quota::ask_to_last().await;
            // The user may have left meanwhile.
            on_request.try_run(());
        });
    };
    if is_promised {
        view! {
            <p class="help">{"The browser keeps this data even when the disk is full."}</p>
        }
        .into_any()
    } else {
        view! {
            <p class="help">{"The browser may delete this data when the disk is full."}</p>
            <button type="button" on:click=request>
                {"Request persistent storage"}
            </button>
        }
        .into_any()
    }
}
