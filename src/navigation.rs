//! Which page is shown, and what the pages besides the playground tell the layout.

use leptos::prelude::*;

use crate::browser::files::GivenFile;
use crate::browser::keys::KeyPress;
use crate::route::Route;

/// What stands below the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Environments are run.
    Playground,
    /// Episodes are read.
    Review,
    /// Policies are compared over many tasks.
    Evaluate,
    /// Environments: all of them, and the user's own.
    Environments,
    /// Lessons.
    Learn,
    /// Models, servers, keys.
    Settings,
    /// What a chat template makes of messages. Environments links to it; the header has no room for it.
    Template,
}

impl Page {
    /// The pages with their names and addresses. A page that is not built yet is not among them.
    pub const ALL: [(Page, &'static str, &'static str); 7] = [
        (Page::Playground, "Playground", "#/"),
        (Page::Review, "Review", "#/review"),
        (Page::Evaluate, "Evaluate", "#/evaluate"),
        (Page::Environments, "Environments", "#/environments"),
        (Page::Learn, "Learn", "#/learn"),
        (Page::Settings, "Settings", "#/settings"),
        (Page::Template, "Template lab", "#/template"),
    ];

    /// Whether the header links to it.
    pub fn is_in_header(self) -> bool {
        self != Page::Template
    }

    /// The page of a route.
    pub fn of(route: &Route) -> Page {
        match route {
            // The playground says that an address leads nowhere.
            Route::Playground(_) | Route::Unknown { .. } => Page::Playground,
            Route::Review(_) => Page::Review,
            Route::Evaluate { .. } => Page::Evaluate,
            Route::Environments { .. } => Page::Environments,
            Route::Settings => Page::Settings,
            Route::Learn { .. } => Page::Learn,
            Route::Template { .. } => Page::Template,
        }
    }
}

/// Keys, and what they do.
pub type Keys = &'static [(&'static str, &'static str)];

/// What a page does with what happens anywhere in the window while it is shown.
pub struct Hooks {
    /// The keys that work, as the overlay lists them.
    pub keys: Keys,
    /// A key was pressed; false if it does nothing here.
    pub press: Box<dyn Fn(&KeyPress) -> bool>,
    /// Files were dropped.
    pub take_files: Box<dyn Fn(Vec<GivenFile>)>,
    /// What a page says while files hang above it.
    pub drop_words: &'static str,
}

/// What pages and layout share; in the context of every page.
#[derive(Clone, Copy)]
pub struct Pages {
    /// Where the person is.
    pub route: RwSignal<Route>,
    /// The page that is shown.
    pub shown: Memo<Page>,
    hooks: StoredValue<Vec<(Page, Hooks)>, LocalStorage>,
    hooked: RwSignal<usize>,
}

impl Pages {
    /// Makes it, at a route, and gives it to everything below.
    pub fn provide(route: Route) -> Pages {
        let route = RwSignal::new(route);
        let pages = Pages {
            route,
            shown: Memo::new(move |_| route.with(Page::of)),
            hooks: StoredValue::new_local(Vec::new()),
            hooked: RwSignal::new(0),
        };
        provide_context(pages);
        pages
    }

    /// A page, once it is made, says what it does with keys and files.
    pub fn hook(self, page: Page, hooks: Hooks) {
        self.hooks.update_value(|known| known.push((page, hooks)));
        self.hooked.update(|hooked| *hooked += 1);
    }

    /// Asks the hooks of the page that is shown; `None` if it has none (yet).
    pub fn with_hooks<T>(self, ask: impl FnOnce(&Hooks) -> T) -> Option<T> {
        let shown = self.shown.get_untracked();
        self.hooks.with_value(|hooks| {
            let of_page = hooks.iter().find(|(page, _)| *page == shown);
            of_page.map(|(_, hooks)| ask(hooks))
        })
    }

    /// The keys of the page that is shown.
    pub fn keys(self) -> Option<Keys> {
        self.hooked.track();
        self.shown.track();
        self.with_hooks(|hooks| hooks.keys)
    }
}

/// The pages of the component that asks.
pub fn use_pages() -> Pages {
    expect_context()
}
