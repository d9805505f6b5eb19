//! A notice that changes of stored values last only as long as the page, with a button that stores them.

use leptos::prelude::*;

use super::alert_box::AlertWords;
use volary_browser::shared::{Unsaved, UnsavedCause};

/// Shows nothing while everything is stored.
#[component]
pub fn UnsavedNotice(
    /// The values, as the user calls them: "the price table".
    what: &'static str,
    unsaved: Unsaved,
) -> impl IntoView {
    let Unsaved { cause, store } = unsaved;
    move || {
        cause.get().map(|cause| {
            let (why, advice, button) = match cause {
                UnsavedCause::Unreadable => (
                    "Another version of this page stored data that this version cannot read in \
                     full. They are left unchanged.",
                    "Reload to get the newer version. Changes made here last until you leave, \
                     unless you replace the stored data with what is shown here.",
                    "Replace stored data",
                ),
                UnsavedCause::Refused => (
                    "The browser's storage is full or disabled.",
                    "Allow this page to store data, or delete what you do not need, and store \
                     again. Until then, changes last until you leave.",
                    "Store again",
                ),
            };
            view! {
                <div class="alert inline" role="alert">
                    <AlertWords what=format!("Changes of {what} are not stored.") why advice>
                        <div class="button-row">
                            <button type="button" on:click=move |_| store.run(())>
                                {button}
                            </button>
                        </div>
                    </AlertWords>
                </div>
            }
        })
    }
}
