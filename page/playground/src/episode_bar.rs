//! The bar above the panes: Run and Step, episode status, timeline, import and export.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::files::{pick_file, share, show_export};
use super::forks::CompareFork;
use super::run_controls::RunControls;
use super::state::use_playground;
use volary_app::playground::Event;
use volary_app::playground::address::last_step;
use volary_app::playground::session::Phase;
use volary_ui::term::Terms;
use volary_ui::{EpisodeStatus, Glyph, Icon, Timeline};

#[component]
pub(super) fn EpisodeBar() -> impl IntoView {
    let playground = use_playground();
    let transfer = playground.transfer();
    let length = Memo::new(move |_| playground.episode().with(|episode| last_step(episode)));
    let is_empty = Memo::new(move |_| {
        playground.with(|machine| matches!(machine.session().phase(), Phase::Empty))
    });
    let shows_files = RwSignal::new(false);
    let close_on_escape = move |press: KeyboardEvent| {
        if press.key() == "Escape" {
            shows_files.set(false);
        }
    };
    let import = move || {
        if transfer.reading.get() {
            "Importing…"
        } else {
            "Import"
        }
    };
    view! {
        <section class="episode-bar" aria-label="Episode and timeline">
            <RunControls/>
            <div class="status-area">
                <EpisodeStatus episode=playground.episode() edition=playground.edition()/>
                <Terms place="status" terms=&["reward", "done", "truncated"]/>
            </div>
            <div class="episode-actions button-row">
                <CompareFork/>
                <Show when=move || playground.former().with(Option::is_some)>
                    <button
                        type="button"
                        class="quiet"
                        on:click=move |_| playground.update(Event::BringBack)
                    >
                        {"Previous episode"}
                    </button>
                </Show>
                // On a phone a menu.
                <button
                    type="button"
                    class="icon-button files-menu"
                    aria-label="Files"
                    aria-controls="files"
                    aria-expanded=move || shows_files.get().to_string()
                    on:click=move |_| shows_files.update(|shows| *shows = !*shows)
                    on:keydown=close_on_escape
                >
                    <Icon glyph=Glyph::More/>
                </button>
                <div
                    id="files"
                    class="button-row files"
                    class:open=shows_files
                    on:click=move |_| shows_files.set(false)
                    on:keydown=close_on_escape
                >
                    <button
                        type="button"
                        class="quiet"
                        on:click=move |_| pick_file(playground)
                    >
                        {import}
                    </button>
                    <button
                        type="button"
                        disabled=is_empty
                        on:click=move |_| show_export(playground)
                    >
                        {"Export"}
                    </button>
                    <button
                        type="button"
                        disabled=is_empty
                        on:click=move |_| share(playground)
                    >
                        {"Share"}
                    </button>
                </div>
            </div>
            <p class="news" role="status" aria-label="Notifications">
                {move || playground.said().get()}
            </p>
            <Timeline
                length
                selected=playground.selected()
                playing=transfer.playing
                speed=transfer.speed
            />
        </section>
    }
}
