//! An assignment that was made: its link, its QR code and its file; and the list of all that were made here.

use leptos::prelude::*;
use volary_app::class::download_name::download_name;
use volary_classroom::Assignment;
use volary_core::quantity::plural;
use volary_view::route::ClassPlace;

use super::board_view::KINDS;
use super::given::Given;
use super::qr;
use volary_browser::files::{self, GivenFile};
use volary_browser::location;
use volary_ui::field::Field;
use volary_ui::icon::NamedIcon;
use volary_ui::text::inert;
use volary_ui::{CopyButton, Glyph, UnsavedNotice};

/// What a teacher gives to the pupils.
#[component]
pub(super) fn GivenView(assignment: Assignment) -> impl IntoView {
    let title = assignment.title.to_string();
    let save = {
        let assignment = assignment.clone();
        move |_| {
            let name = download_name(&[assignment.title.as_str()]);
            let text = assignment.to_text();
            files::download(&format!("{name}.json"), "application/json", text.as_bytes());
        }
    };
    let file = view! {
        <button type="button" on:click=save>
            {"Save as a file"}
        </button>
    };
    let body = match assignment.to_link() {
        Ok(text) => {
            let work = ClassPlace::Work(text.clone()).to_hash();
            let board = ClassPlace::Board(Some(text)).to_hash();
            let link = location::address_with(&work);
            let copied = link.clone();
            view! {
                <div class="class-given">
                    {picture(&link)}
                    <div class="class-given-words">
                        <Field id="class-given-link" label="Link for your pupils">
                            <input type="text" id="class-given-link" readonly value=link/>
                        </Field>
                        <div class="button-row">
                            <CopyButton text=move || copied.clone() label="Copy link"/>
                        </div>
                        <div class="button-row">
                            <a class="button primary" href=board>
                                {"Open the board"}
                            </a>
                            <a class="button" href=work>
                                {"See it as a pupil"}
                            </a>
                            {file}
                        </div>
                    </div>
                </div>
            }
            .into_any()
        }
        Err(error) => view! {
            <p role="alert">{error.to_string()}</p>
            <div class="button-row">{file}</div>
        }
        .into_any(),
    };
    view! {
        <section class="class-result" aria-label="The assignment">
            <h2 dir="auto">{inert(&title)}</h2>
            {body}
        </section>
    }
}

fn picture(link: &str) -> AnyView {
    match qr::picture(link) {
        Some(picture) => {
            let size = picture.size;
            view! {
                <svg
                    class="class-qr"
                    role="img"
                    aria-label="QR code of the link"
                    viewBox=format!("0 0 {size} {size}")
                >
                    <path d=picture.path></path>
                </svg>
            }
            .into_any()
        }
        None => view! {
            <p class="help">{"The link is too long for a QR code. Send the link or the file."}</p>
        }
        .into_any(),
    }
}

/// The assignments that were made in this browser.
#[component]
pub(super) fn GivenList(
    given: Given,
    /// Shows the assignment with this id.
    show: Callback<String>,
    /// Takes files that were picked.
    take: Callback<Vec<GivenFile>>,
) -> impl IntoView {
    let row = move |assignment: Assignment| {
        let (shown, removed) = (assignment.id.clone(), assignment.id.clone());
        let board = assignment
            .to_link()
            .ok()
            .map(|text| ClassPlace::Board(Some(text)).to_hash());
        let board = board.map(|board| view! { <a href=board>{"Board"}</a> });
        let place = match &assignment.class {
            Some(class) => class.url.clone(),
            None => "files".to_owned(),
        };
        let facts = format!("{} · {place}", plural(assignment.tasks.len(), "task"));
        view! {
            <li>
                <span class="class-given-title" dir="auto">
                    {inert(assignment.title.as_str())}
                </span>
                <span class="help" dir="auto">
                    {inert(&facts)}
                </span>
                <span class="button-row">
                    {board}
                    <button
                        type="button"
                        class="quiet small"
                        on:click=move |_| show.run(shown.clone())
                    >
                        {"Show link"}
                    </button>
                    <button
                        type="button"
                        class="quiet small icon-button"
                        on:click=move |_| given.remove(&removed)
                    >
                        <NamedIcon glyph=Glyph::Close name="Remove from the list"/>
                    </button>
                </span>
            </li>
        }
    };
    view! {
        <section class="class-list" aria-label="Your assignments">
            <h2>{"Your assignments"}</h2>
            <UnsavedNotice what="this list" unsaved=Given::unsaved()/>
            <Show
                when=move || !given.all.with(Vec::is_empty)
                fallback=|| {
                    view! {
                        <p class="help">
                            {"The assignments that you make are listed here, in this browser only."}
                        </p>
                    }
                }
            >
                <ul role="list">
                    <For
                        each=move || given.all.get()
                        key=|assignment| assignment.id.clone()
                        children=row
                    />
                </ul>
            </Show>
            <p>
                <a href="#/class/board">{"Open a board"}</a>
                {" of hand-ins that you have as files or on a server. "}
                <button
                    type="button"
                    class="quiet small"
                    on:click=move |_| files::pick(KINDS, move |files| take.run(files))
                >
                    {"Open an assignment's file"}
                </button>
            </p>
        </section>
    }
}
