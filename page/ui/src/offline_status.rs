//! What of the page works without a connection, and the button that stores the rest.

use leptos::prelude::*;
use volary_browser::offline::{self, NotStored};
use volary_browser::spawn;
use volary_core::quantity::size_text;

/// How much of the page is stored in the browser.
#[derive(Clone, PartialEq)]
enum Stored {
    /// Not known yet.
    Unknown,
    Nothing,
    /// All but this many bytes.
    Partly(u64),
    /// This many bytes are left to be stored now.
    Storing(u64),
    /// Storing failed with this many bytes left.
    Failed(u64, NotStored),
    Whole,
}

impl Stored {
    fn with_missing(bytes: f64) -> Self {
        match bytes as u64 {
            0 => Stored::Whole,
            bytes => Stored::Partly(bytes),
        }
    }
}

/// Says what is stored, and offers to store the rest. It asks the browser when it is created.
#[component]
pub fn OfflineStatus() -> impl IntoView {
    let stored = RwSignal::new(Stored::Unknown);
    // The dialog may be closed meanwhile, and the signal disposed of.
    let show = move |state| drop(stored.try_set(state));
    spawn(async move {
        if offline::store().await {
            offline::missing(move |bytes| show(Stored::with_missing(bytes))).await;
        } else {
            show(Stored::Nothing);
        }
    });
    let store_rest = move |_| {
        spawn(async move {
            let ended = offline::store_whole(move |left| show(Stored::Storing(left as u64))).await;
            let left = match stored.try_get_untracked() {
                Some(Stored::Storing(left)) => left,
                _ => 0,
            };
            show(ended.map_or_else(|error| Stored::Failed(left, error), |()| Stored::Whole));
        });
    };
    let text = move || match stored.get() {
        Stored::Unknown => String::new(),
        Stored::Nothing => {
            "This page needs a connection: it is not stored in the browser.".to_owned()
        }
        Stored::Partly(_) => {
            "Without a connection, the playground works, and every page that you used before."
                .to_owned()
        }
        Stored::Storing(left) => format!("Storing: {} left.", size_text(left)),
        Stored::Failed(_, error) => {
            format!("{error}. What is stored stays; try again with a connection.")
        }
        Stored::Whole => {
            "This page is stored in the browser and works without a connection.".to_owned()
        }
    };
    let rest = move || match stored.get() {
        Stored::Partly(bytes) | Stored::Failed(bytes, _) => Some(view! {
            <button type="button" on:click=store_rest>
                {format!("Make available offline ({})", size_text(bytes))}
            </button>
        }),
        _ => None,
    };
    view! {
        <p role="status">{text}</p>
        {rest}
    }
}
