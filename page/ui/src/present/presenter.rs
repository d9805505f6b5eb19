//! Draws a presentation over the whole window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leptos::html;
use leptos::prelude::*;
use volary_app::present::PresenterCommand;

use super::Deck;
use volary_browser::{appearance, element, full_screen, timers};

/// The id of the shown slide, which has the focus at first.
const SLIDE: &str = "slide";

/// The shown slide, and a quiet bar with the position below it.
#[component]
pub fn Presenter(deck: Deck, #[prop(into)] title: String) -> impl IntoView {
    let slide = move || deck.draw(deck.at.get());
    let position = Memo::new(move |_| deck.position());
    let is_at =
        move |command: PresenterCommand| position.get().after(command).is_none().to_string();
    let has_full_screen = full_screen::is_supported();
    timers::next_frame(|| {
        element::focus_id(SLIDE);
    });
    let section = NodeRef::<html::Section>::new();
    cover_while_seen(section);
    view! {
        <section node_ref=section class="presenter" aria-label=format!("Presentation: {title}")>
            <div class="presenter-slide" id=SLIDE tabindex="-1">
                {slide}
            </div>
            <div class="presenter-bar">
                <progress
                    aria-hidden="true"
                    max=move || position.get().slides.to_string()
                    value=move || (position.get().slide + 1).to_string()
                ></progress>
                <p aria-live="polite">{move || position.get().in_words()}</p>
                <div class="button-row">
                    <button
                        type="button"
                        class="quiet small"
                        aria-disabled=move || is_at(PresenterCommand::Previous)
                        on:click=move |_| deck.go(PresenterCommand::Previous)
                    >
                        {"Previous"}
                    </button>
                    <button
                        type="button"
                        class="quiet small"
                        aria-disabled=move || is_at(PresenterCommand::Next)
                        on:click=move |_| deck.go(PresenterCommand::Next)
                    >
                        {"Next"}
                    </button>
                    {has_full_screen
                        .then(|| {
                            view! {
                                <button
                                    type="button"
                                    class="quiet small"
                                    title="f"
                                    on:click=|_| full_screen::toggle()
                                >
                                    {"Full screen"}
                                </button>
                            }
                        })}
                    <button
                        type="button"
                        class="quiet small"
                        title="Escape"
                        on:click=move |_| deck.leave()
                    >
                        {"Leave"}
                    </button>
                </div>
            </div>
        </section>
    }
}

/// Hides what is around the page while the presentation is seen. Pages stay mounted: a presentation that was left by an
/// address is hidden, and has no height.
fn cover_while_seen(section: NodeRef<html::Section>) {
    let covers = Arc::new(AtomicBool::new(false));
    let set = move |is_seen: bool| {
        if covers.swap(is_seen, Ordering::Relaxed) != is_seen {
            appearance::cover(is_seen);
        }
    };
    let leave = set.clone();
    on_cleanup(move || leave(false));
    let sizes = StoredValue::new_local(None);
    Effect::new(move |_| {
        let Some(section) = section.get() else {
            return;
        };
        let (seen, set) = (section.clone(), set.clone());
        let resized = move || set(element::height(&seen) > 0.0);
        sizes.set_value(element::watch_size(&[&section], resized));
    });
}
