//! The page of Review: the library, or the part that the address names.

use leptos::prelude::*;
use volary_connectivity::linked_file::{Elsewhere, LinkedFile};
use volary_protocol::library::Origin;
use volary_trajectory::annotations::Target;

use super::KEYS;
use super::actions::Actions;
use super::compare_page::ComparePage;
use super::comparison::Comparison;
use super::episode_page::{EpisodePage, focus_find};
use super::evaluation_bar::EvaluationBar;
use super::fetch_question::FetchQuestion;
use super::grid_page::{Grid, GridPage};
use super::library_page::LibraryPage;
use super::notes::Notes;
use super::notes_file;
use super::notes_panel;
use super::opening::{Opening, Renewal, compare, compare_live, follow, line_up, renew};
use super::panels::NOTES;
use super::progress::Progress;
use super::quote::selected_passage;
use super::selection::Look;
use super::sequence::{Sequence, SequenceBar};
use super::training::trail::Trail;
use super::training::{Training, TrainingPage};
use super::viewer::Viewer;
use crate::browser::keys::KeyPress;
use crate::browser::{element, location, network, timers};
use crate::components::AlertBox;
use crate::components::keep_alive::KeepAlive;
use crate::library::client::LibraryClient;
use crate::navigation::{Hooks, Page, Pages, use_pages};
use crate::playground::state::{Playground, use_playground};
use crate::present::presenter::Presenter;
use crate::projection::notice::Notice;
use crate::route::{IN_PLAYGROUND, ReviewPlace, Route};

/// The tab title when nothing in particular is open.
const TITLE: &str = "Volary";

/// The page, as the router mounts it.
pub fn page() -> AnyView {
    view! { <ReviewPage/> }.into_any()
}

#[component]
fn ReviewPage() -> impl IntoView {
    let review = Review::new();
    // Start the worker's fetching and reading while the page is built.
    review.fetch_linked_file();
    review.client.list();
    review.client.read_site();
    review.follow_address();
    review.follow_imports();
    review.follow_playground();
    notes_file::keep(review.client, review.notes);
    review.write_address();
    review.name_tab();
    review.pages.hook(Page::Review, review.hooks());
    let Review { client, .. } = review;
    // Notices come first, because the page is as high as the window and content below it is out of view.
    view! {
        <div class="notices review-notices">
            <AlertBox notice=client.notice/>
        </div>
        {move || review.question.get().map(|file| view! { <Question review file/> })}
        <KeepAlive is_wanted=Signal::derive(move || review.part.get() == ReviewScreen::Library)>
            <LibraryPage look=review.look training=review.training/>
        </KeepAlive>
        <KeepAlive is_wanted=Signal::derive(move || review.part.get() == ReviewScreen::Training)>
            <TrainingPage training=review.training/>
        </KeepAlive>
        <Show when=move || review.is_arriving()>
            <div class="page">
                <Progress client/>
                <OpeningWords/>
            </div>
        </Show>
        <EvaluationBar place=review.place/>
        <Trail training=review.training place=review.place/>
        <Show when=move || review.is_presenting()>
            <Presenter deck=review.viewer.deck title="Episode"/>
        </Show>
        <Opened review part=ReviewScreen::Episode is_there=review.shows_episode()>
            <EpisodePage
                client
                viewer=review.viewer
                notes=review.notes
                playground=review.playground
                sequence=move || view! { <SequenceBar sequence=review.sequence/> }.into_any()
            >
                <Actions client viewer=review.viewer playground=review.playground/>
            </EpisodePage>
        </Opened>
        <Opened review part=ReviewScreen::Comparison is_there=review.shows_comparison()>
            <ComparePage comparison=review.comparison/>
        </Opened>
        <Opened review part=ReviewScreen::Grid is_there=review.shows_grid()>
            <GridPage grid=review.grid/>
        </Opened>
        <p class="news" role="status" aria-label="Notifications">
            {move || client.said.get()}
        </p>
    }
}

/// The parts of the page, one of which the address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReviewScreen {
    Library,
    /// A training run.
    Training,
    Episode,
    Comparison,
    Grid,
}

impl ReviewScreen {
    fn of(place: &ReviewPlace) -> ReviewScreen {
        match (place.episode.is_some(), place.beside.len()) {
            (true, 0) => ReviewScreen::Episode,
            (true, 1) => ReviewScreen::Comparison,
            (true, _) => ReviewScreen::Grid,
            // An episode of a file is loading; its page is built meanwhile.
            (false, _) if names_file_of_one(place) => ReviewScreen::Episode,
            (false, _) if !place.training.is_empty() => ReviewScreen::Training,
            (false, _) => ReviewScreen::Library,
        }
    }
}

/// Returns whether a place names an episode by its file, without knowing its id.
fn names_file_of_one(place: &ReviewPlace) -> bool {
    place.open.is_some() && place.url.is_some() && place.episode.is_none()
}

/// The state of the page.
#[derive(Clone, Copy)]
struct Review {
    client: LibraryClient,
    pages: Pages,
    playground: Playground,
    /// The last address of this page. The page keeps its state while another page is shown.
    place: Memo<ReviewPlace>,
    part: Memo<ReviewScreen>,
    opening: RwSignal<Opening>,
    viewer: Viewer,
    comparison: Comparison,
    grid: Grid,
    notes: Notes,
    /// The display state of the table.
    look: Look,
    /// The position of the open episode in the table.
    sequence: Sequence,
    /// The training runs among the rows of the table.
    training: Training,
    /// The file in the address that needs the user's consent before it is fetched.
    asked: RwSignal<Option<Elsewhere>>,
    /// `asked`, unless the trajectory in the address is already in the library.
    question: Memo<Option<Elsewhere>>,
    /// Incremented each time the user agrees.
    agreements: RwSignal<u32>,
}

impl Review {
    fn new() -> Review {
        let pages = use_pages();
        let place = Memo::new(move |former: Option<&ReviewPlace>| {
            let place = pages.route.with(|route| match route {
                Route::Review(place) => Some(place.clone()),
                _ => None,
            });
            place.or(former.cloned()).unwrap_or_default()
        });
        let asked = RwSignal::new(None);
        let opening = RwSignal::new(Opening::Nothing);
        let (client, notes) = (LibraryClient::new(), Notes::new());
        let look = Look::new(client, notes);
        look.apply(&place.with_untracked(|place| place.view.clone()));
        let episode = Memo::new(move |_| place.with(|place| place.episode.clone()));
        Review {
            client,
            look,
            sequence: Sequence::new(look, episode),
            training: Training::new(
                look,
                Memo::new(move |_| place.with(|place| place.training.clone())),
            ),
            pages,
            playground: use_playground(),
            place,
            part: Memo::new(move |_| place.with(ReviewScreen::of)),
            opening,
            viewer: Viewer::new(),
            comparison: Comparison::new(),
            grid: Grid::new(),
            notes,
            asked,
            question: Memo::new(move |_| {
                let is_named = place.with(|place| place.episode.is_some());
                let is_missing =
                    !is_named || opening.with(|opening| matches!(opening, Opening::Failed(_)));
                asked.get().filter(|_| is_missing)
            }),
            agreements: RwSignal::new(0),
        }
    }

    /// Returns whether an episode that is known only by its file is loading.
    fn is_arriving(self) -> bool {
        self.place.with(names_file_of_one) && self.question.with(Option::is_none)
    }

    fn is_presenting(self) -> bool {
        self.viewer.presenting.get() && self.part.get() == ReviewScreen::Episode
    }

    fn shows_episode(self) -> Signal<bool> {
        let opening = self.opening;
        Signal::derive(move || opening.with(|opening| matches!(opening, Opening::Shown(_))))
    }

    fn shows_comparison(self) -> Signal<bool> {
        Signal::derive(move || self.comparison.pair.with(Option::is_some))
    }

    fn shows_grid(self) -> Signal<bool> {
        Signal::derive(move || self.grid.episodes.with(|episodes| !episodes.is_empty()))
    }

    /// Opens what the address names, now and on every change.
    fn follow_address(self) {
        let Review {
            client, opening, ..
        } = self;
        Effect::new(move |_| {
            // An episode that could not be opened may be in a file that the user has since agreed to fetch.
            self.agreements.track();
            let place = self.place.get();
            match place.beside.as_slice() {
                [] => follow(client, self.viewer, opening, &place, self.sequence),
                [beside] if beside == IN_PLAYGROUND => {
                    compare_live(client, self.comparison, opening, &place, self.playground);
                }
                [beside] => compare(client, self.comparison, opening, &place, beside),
                _ => line_up(client, self.grid, opening, &place),
            }
        });
        let is_table = Memo::new(move |_| {
            self.place
                .with(|place| place.episode.is_none() && place.open.is_none())
        });
        Effect::new(move |_| client.show_table(is_table.get()));
    }

    /// Updates an episode when more of its file is read, and applies changes recorded by other pages.
    fn follow_imports(self) {
        let renewal = Renewal::default();
        Effect::new(move |_| {
            self.client.grown.track();
            for (begun, whole) in self.client.take_grown() {
                let renamed = untrack(|| {
                    renew(
                        self.client,
                        self.viewer,
                        self.opening,
                        renewal,
                        &begun,
                        &whole,
                    )
                });
                if renamed {
                    self.replace_place(ReviewPlace {
                        episode: Some(whole.to_string()),
                        ..self.place.get_untracked()
                    });
                }
            }
        });
        Effect::new(move |_| {
            if self.pages.shown.get() == Page::Review {
                self.client.take_unkept();
            }
        });
    }

    /// Updates a comparison with the playground's episode as that episode grows.
    fn follow_playground(self) {
        Effect::new(move |_| {
            let now = self.playground.episode.get();
            if self.comparison.live.get_untracked() {
                self.comparison.go_on(now);
            }
        });
    }

    /// Writes the view of the table and the selected step into the address.
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
            let tokens = self.viewer.tokens_shown.get();
            let (step, at, words, tokens) = match self.opening.get() {
                Opening::Shown(id)
                    if now.episode.as_ref() == Some(&id) && now.beside.is_empty() =>
                {
                    let step = (step > 0).then_some(step);
                    // Selecting another step drops the passage of a link.
                    match now.step == step {
                        true => (step, now.at.clone(), now.words.clone(), tokens),
                        false => (step, None, None, tokens),
                    }
                }
                _ if ReviewScreen::of(&now) == ReviewScreen::Library => {
                    (None, None, None, String::new())
                }
                // The episode in this address is still loading, or it is a comparison.
                _ => return,
            };
            let route = Route::Review(ReviewPlace {
                step,
                at,
                words,
                view,
                tokens,
                ..now
            });
            location::replace(&route.to_hash());
        });
    }

    /// Sets the tab title to the name of what is open.
    fn name_tab(self) {
        Effect::new(move |_| {
            if self.pages.shown.get() != Page::Review {
                return location::set_title(TITLE);
            }
            let name = self
                .viewer
                .shown
                .episode
                .with(|episode| episode.name.trim().to_owned());
            let is_episode = self.shows_episode().get();
            let training = self.training.title();
            let words = match self.part.get() {
                ReviewScreen::Library => "Trajectories",
                ReviewScreen::Training => &*training,
                ReviewScreen::Comparison => "Comparison",
                ReviewScreen::Grid => "Grid",
                ReviewScreen::Episode if is_episode && !name.is_empty() => &*name,
                ReviewScreen::Episode => "Episode",
            };
            location::set_title(&format!("{words} – Review – {TITLE}"));
        });
    }

    /// Fetches the file in the address, now and on every change.
    fn fetch_linked_file(self) {
        let wanted = Memo::new(move |_| self.place.with(|place| (place.url.clone(), place.open)));
        Effect::watch(
            move || wanted.get(),
            move |now, former, _| {
                // Once the episode is opened, the address names it, and the file is available.
                let is_opened = now.1.is_none() && former.is_some_and(|former| former.0 == now.0);
                if !is_opened {
                    untrack(|| self.fetch_wanted());
                }
            },
            false,
        );
        self.fetch_wanted();
    }

    /// Fetches the file in the address if that needs no consent; otherwise sets `asked`.
    fn fetch_wanted(self) {
        self.asked.set(None);
        let Some(url) = self.place.get_untracked().url else {
            return;
        };
        let whole = location::whole(&url).unwrap_or_default();
        match LinkedFile::of(&whole, &network::page().origin) {
            LinkedFile::SameOrigin { url } => self.fetch_file(&url, Origin::Imported),
            LinkedFile::Elsewhere(file) => self.asked.set(Some(file)),
            LinkedFile::Refused(why) => {
                self.client.notice.set(Some(Notice::new(
                    "The file in this address was not fetched.",
                    why.to_string(),
                    "To read it, download it and import it here.",
                )));
                self.leave_file();
            }
        }
    }

    /// Fetches a file and opens the trajectory in it that the address names.
    fn fetch_file(self, url: &str, origin: Origin) {
        let wanted = self.place.get_untracked();
        let Some(open) = wanted.open.filter(|_| wanted.episode.is_none()) else {
            return self.client.fetch(url, origin);
        };
        self.client.fetch_one(url, origin, open, move |id| {
            // The user may have navigated away before the page was notified.
            let is_here = match Route::parse(&location::hash()) {
                // The view of the table is irrelevant here.
                Route::Review(here) => {
                    here == ReviewPlace {
                        view: here.view.clone(),
                        ..wanted.clone()
                    }
                }
                _ => false,
            };
            if is_here {
                self.replace_place(ReviewPlace {
                    episode: id.map(|id| id.to_string()),
                    open: None,
                    ..wanted
                });
            }
        });
    }

    /// Continues without the file in the address.
    fn leave_file(self) {
        self.replace_place(ReviewPlace {
            url: None,
            open: None,
            ..self.place.get_untracked()
        });
    }

    /// Replaces the current history entry.
    fn replace_place(self, place: ReviewPlace) {
        let route = Route::Review(place);
        location::replace(&route.to_hash());
        self.pages.route.set(route);
    }

    fn hooks(self) -> Hooks {
        Hooks {
            keys: KEYS,
            drop_words: "Drop trajectories from any common tool: files, folders or archives. They \
                 stay in your browser.",
            press: Box::new(move |press| self.press(press)),
            take_files: Box::new(move |files| self.client.read(files)),
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
        match (press.key.as_str(), self.part.get_untracked()) {
            ("/", ReviewScreen::Episode) => {
                focus_find();
                true
            }
            ("/", _) => element::focus_id("search-trajectories"),
            // From the table, the next trajectory is the first one.
            (key, ReviewScreen::Library) => self.sequence.press(key),
            (key, ReviewScreen::Training) => self.training.press(key),
            (key, ReviewScreen::Comparison) => self.comparison.press(key),
            ("a", ReviewScreen::Episode) => {
                self.begin_note();
                true
            }
            (
                key @ ("1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"),
                ReviewScreen::Episode,
            ) => {
                self.toggle_label(key);
                true
            }
            (key, ReviewScreen::Episode) => self.sequence.press(key) || self.viewer.press(key),
            _ => false,
        }
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

/// The dialog that asks whether to fetch the file in the address.
#[component]
fn Question(review: Review, file: Elsewhere) -> impl IntoView {
    let url = file.url.clone();
    let fetch = move |origin| {
        review.asked.set(None);
        review.fetch_file(&url, origin);
        review.agreements.update(|count| *count += 1);
    };
    let decline = move |()| {
        review.asked.set(None);
        review.leave_file();
    };
    view! { <FetchQuestion file fetch decline/> }
}

/// A part of the page that is built on first use. Shows its content once it is loaded, or why it could not be opened.
#[component]
fn Opened(
    review: Review,
    part: ReviewScreen,
    is_there: Signal<bool>,
    children: ChildrenFn,
) -> impl IntoView {
    let is_wanted =
        Signal::derive(move || review.part.get() == part && review.question.with(Option::is_none));
    let state = move || match review.opening.get() {
        Opening::Failed(reason) => view! { <Failed reason/> }.into_any(),
        Opening::Wanted(_) => view! { <OpeningWords/> }.into_any(),
        Opening::Nothing | Opening::Shown(_) => ().into_any(),
    };
    view! {
        <KeepAlive is_wanted>
            {state}
            <div class="page" hidden=move || !is_there.get()>
                {children()}
            </div>
        </KeepAlive>
    }
}

#[component]
fn OpeningWords() -> impl IntoView {
    view! {
        <p class="opening" role="status">
            "Opening…"
        </p>
    }
}

#[component]
fn Failed(reason: String) -> impl IntoView {
    view! {
        <div class="empty-state" role="alert">
            <h1>{"This trajectory cannot be shown."}</h1>
            <p>{reason}</p>
            <a class="button" href="#/review">
                {"All trajectories"}
            </a>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_names_a_part_of_the_page() {
        let place = |episode: Option<&str>, beside: &[&str]| ReviewPlace {
            episode: episode.map(str::to_owned),
            beside: beside.iter().map(|id| (*id).to_owned()).collect(),
            ..ReviewPlace::default()
        };
        assert_eq!(ReviewScreen::of(&place(None, &[])), ReviewScreen::Library);
        assert_eq!(
            ReviewScreen::of(&place(Some("a"), &[])),
            ReviewScreen::Episode
        );
        assert_eq!(
            ReviewScreen::of(&place(Some("a"), &["b"])),
            ReviewScreen::Comparison
        );
        assert_eq!(
            ReviewScreen::of(&place(Some("a"), &["b", "c"])),
            ReviewScreen::Grid
        );
        let file = ReviewPlace {
            url: Some("a.jsonl".to_owned()),
            ..place(None, &[])
        };
        assert_eq!(ReviewScreen::of(&file), ReviewScreen::Library);
        let run = ReviewPlace {
            training: "run=a".to_owned(),
            ..place(None, &[])
        };
        assert_eq!(ReviewScreen::of(&run), ReviewScreen::Training);
        let sample = ReviewPlace {
            training: "run=a".to_owned(),
            ..place(Some("a"), &[])
        };
        assert_eq!(ReviewScreen::of(&sample), ReviewScreen::Episode);
        let one_of_file = ReviewPlace {
            open: Some(1),
            ..file
        };
        assert_eq!(ReviewScreen::of(&one_of_file), ReviewScreen::Episode);
    }
}
