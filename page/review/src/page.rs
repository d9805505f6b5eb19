//! The page of Review: the library, or the part that the address names.

use std::time::Duration;

use leptos::prelude::*;
use volary_analysis::annotations::Target;
use volary_app::review::opening::{Opener, ReviewOpening};
use volary_connectivity::linked_file::Elsewhere;
use volary_view::route::{ReviewPlace, Route};

use super::KEYS;
use super::comparison::EpisodeComparison;
use super::episode_page::focus_find;
use super::file_in_address::{FileInAddress, replace_place};
use super::grid_page::Grid;
use super::library_page::LibraryPage;
use super::notes::Notes;
use super::notes_file;
use super::notes_panel;
use super::opened_pages;
use super::opening::Openings;
use super::quote::selected_passage;
use super::selection::Look;
use super::sequence::Sequence;
use super::training::Training;
use super::viewer::Viewer;
use volary_ask_page::AskHost;
use volary_browser::files::GivenFile;
use volary_browser::keys::KeyPress;
use volary_browser::lazy::DrawFn;
use volary_browser::{element, location, spawn, timers};
use volary_connections::tokenizer;
use volary_library_client::{LibraryClient, imports};
use volary_playground::start::load_all;
use volary_playground::state::{Playground, use_playground};
use volary_storage as storage;
use volary_ui::AlertBox;
use volary_ui::keep_alive::KeepAlive;
use volary_ui::lazy::lazy;
use volary_ui::navigation::{Hooks, Page, Pages, use_pages};
use volary_view::review::address::{self, ShownPlace};
use volary_view::review::screen::{KeyAction, ReviewScreen, TITLE, names_file_of_one};
use volary_view::review::side_panels::NOTES;

/// The time until the first rows are drawn. What only the playground and opened trajectories need is prepared after that.
const FIRST_ROWS: Duration = Duration::from_millis(500);
/// The page is built at the latest after this time.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Builds the page. Requests go to the worker first, so that it reads files while the page is being built.
pub fn page() -> AnyView {
    let client = LibraryClient::new();
    client.list();
    let is_reading = RwSignal::new(false);
    spawn(async move {
        imports::read_site(client).await;
        is_reading.set(true);
    });
    spawn(async move {
        timers::sleep(LONGEST_WAIT).await;
        is_reading.set(true);
    });
    view! {
        <Show when=move || is_reading.get()>
            <ReviewPage client/>
        </Show>
    }
    .into_any()
}

#[component]
fn ReviewPage(client: LibraryClient) -> impl IntoView {
    let review = Review::new(client);
    provide_context(review);
    review.file.follow();
    review.follow_address();
    review.follow_imports();
    review.follow_playground();
    review.follow_notes();
    let playground = review.playground;
    let agent_tools = RwSignal::new(None::<DrawFn>);
    spawn(async move {
        timers::sleep(FIRST_ROWS).await;
        load_all(playground);
        // If this fails, it is loaded and reported when something is opened. Agents then find no tools.
        if let Ok(offer) = opened_pages::load_agent_tools().await {
            agent_tools.set(Some(offer));
        }
    });
    notes_file::keep(review.client, review.notes);
    let is_asking = review.provide_ask();
    review.write_address();
    review.name_tab();
    review.pages.hook(Page::Review, review.hooks());
    let part = review.part;
    let has_opened = Memo::new(move |former: Option<&bool>| {
        former.is_some_and(|former| *former) || review.place.with(opened_pages::are_wanted)
    });
    // Notices come first, because the page is as high as the window and content below it is out of view.
    view! {
        <div class="notices review-notices">
            <AlertBox notice=client.notice/>
        </div>
        {move || review.question.get().map(|file| review.file.question(file))}
        {move || agent_tools.get().map(|offer| offer())}
        <KeepAlive is_wanted=Signal::derive(move || part.get() == ReviewScreen::Library)>
            <LibraryPage look=review.look training=review.training/>
        </KeepAlive>
        <Show when=move || has_opened.get()>
            {lazy("Review", opened_pages::load)}
        </Show>
        <div class="page" hidden=move || part.get() != ReviewScreen::Ask>
            <Show when=move || is_asking.get()>{lazy("Ask", volary_ask_page::load)}</Show>
        </div>
        <p class="news" role="status" aria-label="Notifications">
            {move || client.said.get()}
        </p>
    }
}

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct Review {
    pub(super) client: LibraryClient,
    pages: Pages,
    pub(super) playground: Playground,
    /// The last address of this page. The page keeps its state while another page is shown.
    pub(super) place: Memo<ReviewPlace>,
    pub(super) part: Memo<ReviewScreen>,
    pub(super) opening: RwSignal<ReviewOpening>,
    openings: Openings,
    pub(super) viewer: Viewer,
    pub(super) comparison: EpisodeComparison,
    pub(super) grid: Grid,
    pub(super) notes: Notes,
    /// The display state of the table.
    pub(super) look: Look,
    /// The position of the open episode in the table.
    pub(super) sequence: Sequence,
    /// The training runs among the rows of the table.
    pub(super) training: Training,
    /// The file in the address.
    file: FileInAddress,
    /// The file to ask about, unless the trajectory in the address is already in the library.
    pub(super) question: Memo<Option<Elsewhere>>,
}

/// The state of the page that a view is part of.
pub(super) fn use_review() -> Review {
    expect_context()
}

impl Review {
    fn new(client: LibraryClient) -> Review {
        let pages = use_pages();
        let place = Memo::new(move |former: Option<&ReviewPlace>| {
            let place = pages.route.with(|route| match route {
                Route::Review(place) => Some(place.clone()),
                _ => None,
            });
            place.or(former.cloned()).unwrap_or_default()
        });
        let opening = RwSignal::new(ReviewOpening::Nothing);
        let notes = Notes::new();
        let file = FileInAddress::new(client, pages, place);
        let look = Look::new(client, notes);
        look.apply(&place.with_untracked(|place| place.view.clone()));
        let episode = Memo::new(move |_| place.with(|place| place.episode.clone()));
        let viewer = Viewer::new();
        viewer.player.play_along();
        let openings = Openings {
            client,
            viewer,
            comparison: EpisodeComparison::new(),
            grid: Grid::new(),
            playground: use_playground(),
            sequence: Sequence::new(look, episode),
            opening,
            opener: StoredValue::new_local(Opener::default()),
            rename: Callback::new(move |id| {
                let place = place.get_untracked();
                let episode = Some(id);
                replace_place(pages, ReviewPlace { episode, ..place });
            }),
        };
        Review {
            client,
            look,
            sequence: openings.sequence,
            training: Training::new(
                look,
                Memo::new(move |_| place.with(|place| place.training.clone())),
            ),
            pages,
            playground: openings.playground,
            place,
            part: Memo::new(move |_| place.with(ReviewScreen::of)),
            opening,
            openings,
            viewer: openings.viewer,
            comparison: openings.comparison,
            grid: openings.grid,
            notes,
            file,
            question: Memo::new(move |_| {
                let (place, opening) = (place.get(), opening.get());
                address::question(file.asked.get(), &place, &opening)
            }),
        }
    }

    /// Gives Ask what it needs. Its code is needed on its pages, and for answers in the table: the memo says whether it is.
    fn provide_ask(self) -> Memo<bool> {
        let look = self.look;
        provide_context(AskHost {
            client: self.client,
            rows: look.rows.into(),
            shown: look.shown.into(),
            place: self.place,
            answers: look.answers,
        });
        let has_answers = RwSignal::new(false);
        spawn(async move {
            if storage::answers::is_any().await {
                has_answers.set(true);
            }
        });
        let (part, given) = (self.part, self.client.given_answers);
        Memo::new(move |former: Option<&bool>| {
            former == Some(&true)
                || has_answers.get()
                || given.with(|given| !given.is_empty())
                || part.get() == ReviewScreen::Ask
        })
    }

    /// Returns whether an episode that is known only by its file is loading.
    pub(super) fn is_arriving(self) -> bool {
        self.place.with(names_file_of_one) && self.question.with(Option::is_none)
    }

    /// Whether this page is shown.
    pub(super) fn is_shown(self) -> bool {
        self.pages.shown.get() == Page::Review
    }

    /// Whether the address names an episode.
    pub(super) fn names(self, id: &str) -> bool {
        self.place
            .with_untracked(|place| place.episode.as_deref() == Some(id))
    }

    pub(super) fn is_presenting(self) -> bool {
        self.viewer.presenting.get() && self.part.get() == ReviewScreen::Episode
    }

    pub(super) fn shows_episode(self) -> Signal<bool> {
        let opening = self.opening;
        Signal::derive(move || opening.with(|opening| matches!(opening, ReviewOpening::Shown(_))))
    }

    pub(super) fn shows_comparison(self) -> Signal<bool> {
        Signal::derive(move || self.comparison.pair.with(Option::is_some))
    }

    pub(super) fn shows_grid(self) -> Signal<bool> {
        Signal::derive(move || self.grid.episodes.with(|episodes| !episodes.is_empty()))
    }

    /// Opens what the address names, now and on every change.
    fn follow_address(self) {
        Effect::new(move |_| {
            // An episode that could not be opened may be in a file that the user has since agreed to fetch.
            self.file.agreements.track();
            let place = self.place.get();
            untrack(|| self.openings.follow(&place));
        });
        let is_table = Memo::new(move |_| self.place.with(address::is_table));
        Effect::new(move |_| self.client.show_table(is_table.get()));
    }

    /// Updates an episode when more of its file is read, and applies changes recorded by other pages.
    fn follow_imports(self) {
        Effect::new(move |_| {
            self.client.renamed.track();
            for (partial, whole) in self.client.take_renamed_ids() {
                untrack(|| self.openings.renamed(&partial, &whole));
            }
        });
        Effect::new(move |_| {
            storage::track_refusals();
            if self.pages.shown.get() == Page::Review {
                spawn(imports::show_unstored(self.client));
            }
        });
    }

    /// Updates a comparison with the playground's episode as that episode grows.
    fn follow_playground(self) {
        Effect::new(move |_| {
            let now = self.playground.episode().get();
            if self.comparison.live.get_untracked() {
                self.comparison.go_on(now);
            }
        });
    }

    /// The form for a note is about the shown episode and its selected step.
    fn follow_notes(self) {
        let id = Memo::new(move |_| {
            let episode = self.viewer.shown.episode;
            episode.with(|episode| episode.id.clone())
        });
        Effect::watch(
            move || id.get(),
            move |id, _, _| self.notes.draft.update(|draft| draft.show(id)),
            false,
        );
        Effect::new(move |_| {
            let step = self.viewer.shown.selected.get();
            if self
                .notes
                .draft
                .with(|draft| draft.next_target(step).is_some())
            {
                self.notes.draft.update(|draft| draft.follow(step));
            }
        });
    }

    /// Writes the view of the table, the selected step and the look of a training run into the address.
    fn write_address(self) {
        // An address without a view keeps the current view, so that links within the page need not repeat it.
        let named = Memo::new(move |_| self.place.with(|place| place.view.clone()));
        Effect::watch(
            move || named.get(),
            move |named, _, _| {
                if !named.is_empty() && untrack(|| self.look.query()) != *named {
                    self.look.apply(named);
                }
            },
            false,
        );
        let view = Memo::new(move |_| self.look.query());
        Effect::new(move |_| {
            let step = self.viewer.shown.selected.get();
            let view = view.get();
            let now = self.place.get();
            if self.pages.shown.get() != Page::Review {
                return;
            }
            let shown = ShownPlace {
                step,
                tokens: self.viewer.tokens_shown.get(),
                training: self.training.written(),
                view,
            };
            let written = self
                .opening
                .with(|opening| address::written(&now, opening, shown));
            let current = Route::parse(&location::hash());
            if let Some(place) = written.filter(|_| !address::is_left(&now, &current)) {
                location::replace(&Route::Review(place).to_hash());
            }
        });
    }

    /// Sets the tab title to the name of what is open.
    fn name_tab(self) {
        Effect::new(move |_| {
            if self.pages.shown.get() != Page::Review {
                return location::set_title(TITLE);
            }
            let episode = self.viewer.shown.episode.get();
            let name = self.shows_episode().get().then_some(&*episode.name);
            let training = self.training.title();
            location::set_title(&self.part.get().title(name, &training));
        });
    }

    fn hooks(self) -> Hooks {
        Hooks {
            keys: KEYS,
            drop_words: "Drop trajectories from any common tool: files, folders or archives. They \
                 stay in your browser.",
            press: Box::new(move |press| self.press(press)),
            take_files: Box::new(move |files| take_files(self.client, files)),
        }
    }

    /// Handles a key. Returns `false` if it has no function here.
    fn press(self, press: &KeyPress) -> bool {
        if untrack(|| self.is_presenting()) {
            return self.viewer.deck.press(press);
        }
        if press.command || press.typing {
            return false;
        }
        let key = press.key.as_str();
        let Some(action) = self.part.get_untracked().action(key) else {
            return false;
        };
        match action {
            KeyAction::FindInEpisode => focus_find(),
            KeyAction::SearchTrajectories => return element::focus_id("search-trajectories"),
            KeyAction::BeginNote => self.begin_note(),
            KeyAction::ToggleLabel => self.toggle_label(key),
            KeyAction::Sequence => return self.sequence.press(key),
            KeyAction::Training => return self.training.press(key),
            KeyAction::Comparison => return self.comparison.press(key),
            KeyAction::SequenceOrViewer => {
                let place = self.place.get_untracked();
                return self.training.press_at_sample(key, &place)
                    || self.sequence.press(key)
                    || self.viewer.press(key);
            }
        }
        true
    }

    /// Toggles the label of a key on the selected step. If the key has no label, asks for one.
    fn toggle_label(self, key: &str) {
        if notes_panel::toggle(self.viewer, self.notes, key) {
            return;
        }
        self.viewer.panel.set(NOTES);
        let free = self
            .notes
            .labels
            .with_untracked(|labels| labels.list().len())
            + 1;
        timers::next_frame(move || {
            element::focus_id(&format!("label-{free}"));
        });
    }

    /// Starts a note on the selected text, or on the selected step if no text is selected.
    fn begin_note(self) {
        let shown = self.viewer.shown;
        let step = shown.selected.get_untracked();
        let passage = shown
            .episode
            .with_untracked(|episode| selected_passage(episode));
        self.notes.begin(passage.unwrap_or(Target::Step { step }));
        self.viewer.panel.set(NOTES);
        timers::next_frame(|| {
            element::focus_id("note-text");
        });
    }
}

/// Imports dropped files. A tokenizer among them shows the texts of tokens; what is none after all is imported, too, so that
/// the report names it.
fn take_files(client: LibraryClient, files: Vec<GivenFile>) {
    let is_tokenizer = |file: &GivenFile| tokenizer::is_name(&file.name);
    let (tokenizers, files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_tokenizer);
    imports::read(client, files);
    for file in tokenizers {
        spawn(async move {
            if tokenizer::give(&file).await.is_err() {
                imports::read(client, vec![file]);
            }
        });
    }
}
