//! Moves from one trajectory of the table to the next, in the table's order and through its filters, and from failure
//! to failure.
//!
//! Invariant: a move to a failure either opens one or says why there is none.

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_view::route::{ReviewPlace, Route};

use super::selection::Look;
use volary_browser::location;
use volary_view::review::table_neighbours::{
    has_neighbour, neighbour, no_failure_text, position_text,
};

/// The position of the open trajectory in the table.
#[derive(Clone, Copy)]
pub struct Sequence {
    look: Look,
    /// The id of the open trajectory.
    episode: Memo<Option<String>>,
    /// The index among the visible rows; `None` if the trajectory is not among them.
    at: Memo<Option<usize>>,
    /// The id of the trajectory to open at its failure.
    to_failure: RwSignal<Option<String>>,
    /// Why the last move to a failure led nowhere.
    said: RwSignal<Option<&'static str>>,
}

impl Sequence {
    /// Tracks the position of the open episode in the table.
    pub fn new(look: Look, episode: Memo<Option<String>>) -> Sequence {
        let at = Memo::new(move |_| episode.with(|id| look.place_of(id.as_ref()?)));
        // The table scrolls to it when the user comes back.
        Effect::new(move |_| {
            if let Some(at) = at.get() {
                look.opened.set(Some(at));
            }
        });
        let said = RwSignal::new(None);
        // It was about the trajectory that was open, among the rows that were shown.
        let about = Memo::new(move |_| (at.get(), look.shown.with(|rows| rows.len())));
        Effect::watch(
            move || about.get(),
            move |_, _, _| {
                let notification = look.client.said;
                let is_its_own =
                    notification.with_untracked(|text| said.get_untracked() == Some(text.as_str()));
                if is_its_own {
                    notification.set(String::new());
                }
                said.set(None);
            },
            false,
        );
        Sequence {
            look,
            episode,
            at,
            to_failure: RwSignal::new(None),
            said,
        }
    }

    /// Returns whether the trajectory that was just loaded should open at its failure. The request is cleared.
    pub fn takes_failure(self, id: &str) -> bool {
        let wanted = self.to_failure.get_untracked();
        self.to_failure.set(None);
        wanted.as_deref() == Some(id)
    }

    /// Opens the next or the previous trajectory. Returns `false` if there is none.
    fn go(self, forward: bool) -> bool {
        match self.next(forward, |_| true) {
            Some(id) => open(id),
            None => return false,
        }
        true
    }

    /// Opens the next or the previous failure, at the line that failed, or says why there is none.
    fn go_to_failure(self, forward: bool) {
        let Some(id) = self.next(forward, Row::failed) else {
            let reason = untrack(|| self.why_no_failure(forward));
            self.said.set(reason);
            if !self.has_bar() {
                let reason = reason.unwrap_or_default();
                self.look.client.said.set(reason.to_owned());
            }
            return;
        };
        self.to_failure.set(Some(id.clone()));
        open(id);
    }

    /// Whether [`SequenceBar`] is on screen.
    fn has_bar(self) -> bool {
        let is_open = self.episode.with_untracked(Option::is_some);
        is_open && self.look.shown.with_untracked(|rows| rows.len() > 1)
    }

    /// Why there is no next or previous failure.
    fn why_no_failure(self, forward: bool) -> Option<&'static str> {
        let at = self.at.get();
        self.look
            .shown
            .with(|rows| no_failure_text(rows, at, forward))
    }

    fn next(self, forward: bool, wanted: impl Fn(&Row) -> bool) -> Option<String> {
        let at = self.at.get_untracked();
        self.look.shown.with_untracked(|rows| {
            let found = neighbour(rows, at, forward, wanted)?;
            Some(found.id.to_string())
        })
    }

    /// Handles a key. Returns `false` if it has no function here.
    pub fn press(self, key: &str) -> bool {
        match key {
            "]" => self.go(true),
            "[" => self.go(false),
            "e" | "E" => {
                self.go_to_failure(key == "e");
                true
            }
            _ => false,
        }
    }
}

fn open(id: String) {
    let place = ReviewPlace {
        episode: Some(id),
        ..ReviewPlace::default()
    };
    location::go(&Route::Review(place).to_hash());
}

/// The position of the open trajectory in the table, and buttons to move to its neighbours.
#[component]
pub(super) fn SequenceBar(sequence: Sequence) -> impl IntoView {
    let count = Memo::new(move |_| sequence.look.shown.with(|rows| rows.len()));
    let words = move || position_text(count.get(), sequence.at.get());
    let has_next =
        move |forward: bool| move || has_neighbour(count.get(), sequence.at.get(), forward);
    let button =
        move |name: &'static str, keys: &'static str, mark: &'static str, forward: bool| {
            let has_next = has_next(forward);
            view! {
                <button
                    type="button"
                    class="quiet small"
                    aria-label=name
                    title=format!("{name} ({keys})")
                    disabled=move || !has_next()
                    on:click=move |_| {
                        sequence.go(forward);
                    }
                >
                    {mark}
                </button>
            }
        };
    let why_none = Memo::new(move |_| sequence.why_no_failure(true));
    view! {
        <Show when=move || { count.get() > 1 }>
            <div class="sequence button-row" role="group" aria-label="Trajectories of the table">
                {button("Previous trajectory", "[", "‹", false)}
                <span class="faint" role="status" aria-label="Position in the table">
                    {words}
                </span>
                {button("Next trajectory", "]", "›", true)}
                // It keeps the focus when there is none, and then says why.
                <button
                    type="button"
                    class="quiet small"
                    aria-disabled=move || why_none.get().is_some().to_string()
                    title=move || {
                        why_none.get().unwrap_or("Open the next failure at the failing line (e)")
                    }
                    on:click=move |_| sequence.go_to_failure(true)
                >
                    {"Next failure"}
                </button>
                <span class="faint" role="status" aria-label="Failures">
                    {move || sequence.said.get()}
                </span>
            </div>
        </Show>
    }
}
