//! Navigation: the page that is shown, and the hooks through which pages other than the playground handle keys and
//! files.

use leptos::prelude::*;
use volary_view::route::Route;

use volary_browser::files::GivenFile;
use volary_browser::keys::KeyPress;

/// A page of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Runs environments.
    Playground,
    /// Shows trajectories.
    Review,
    /// Compares policies over many tasks.
    Evaluate,
    /// Lists all environments, including the user's own.
    Environments,
    /// Shows lessons.
    Learn,
    /// Assignments, a pupil's work on one, and the teacher's board. Learn links to it.
    Class,
    /// A small agent learns by reinforcement. Learn links to it.
    School,
    /// Model connections, servers, API keys.
    Settings,
    /// Shows what a chat template makes of messages. Environments links to it; the header has no space for it.
    Template,
}

impl Page {
    /// The pages with their names and addresses. A page that is not built yet is not included.
    pub const ALL: [(Page, &'static str, &'static str); 9] = [
        (Page::Playground, "Playground", "#/"),
        (Page::Review, "Review", "#/review"),
        (Page::Evaluate, "Evaluate", "#/evaluate"),
        (Page::Environments, "Environments", "#/environments"),
        (Page::Learn, "Learn", "#/learn"),
        (Page::Settings, "Settings", "#/settings"),
        (Page::Template, "Template lab", "#/template"),
        (Page::Class, "Class", "#/class"),
        (Page::School, "School", "#/learn/school"),
    ];

    /// What the page is for, in words that need no others.
    pub fn purpose(self) -> &'static str {
        match self {
            Page::Playground => "Solve a task step by step, or let an agent solve it",
            Page::Review => "Read and compare recordings of agents",
            Page::Evaluate => "Let agents solve many tasks, and compare how well they do",
            Page::Environments => "The worlds in which agents act: tasks, tools and rewards",
            Page::Learn => "Lessons on agents",
            Page::Settings => "AI models, servers, keys and stored data",
            Page::Template => "See how messages become the text that a model reads",
            Page::Class => "Give tasks to a class",
            Page::School => "Train a small agent",
        }
    }

    /// Returns whether the header links to the page.
    pub fn is_in_header(self) -> bool {
        !matches!(self, Page::Template | Page::Class | Page::School)
    }

    /// The page that shows a route.
    pub fn of(route: &Route) -> Page {
        match route {
            // The playground reports an unknown address.
            Route::Playground(_) | Route::Unknown { .. } => Page::Playground,
            Route::Review(_) => Page::Review,
            Route::Evaluate { .. } => Page::Evaluate,
            Route::Environments { .. } => Page::Environments,
            Route::Settings => Page::Settings,
            Route::Learn { path } if Route::is_school(path) => Page::School,
            Route::Learn { .. } => Page::Learn,
            Route::Class { .. } => Page::Class,
            Route::Template { .. } => Page::Template,
        }
    }
}

/// Keyboard shortcuts: each key with a description of its effect.
pub type Keys = &'static [(&'static str, &'static str)];

/// Handlers of a page for window-level events while the page is shown.
pub struct Hooks {
    /// The keyboard shortcuts, as the help overlay lists them.
    pub keys: Keys,
    /// Handles a key press. Returns `false` if the key has no function here.
    pub press: Box<dyn Fn(&KeyPress) -> bool>,
    /// Handles dropped files.
    pub take_files: Box<dyn Fn(Vec<GivenFile>)>,
    /// The text that the page shows while files are dragged over it.
    pub drop_words: &'static str,
}

/// State that pages and layout share, in the context of every page.
#[derive(Clone, Copy)]
pub struct Pages {
    /// The current route.
    pub route: RwSignal<Route>,
    pub shown: Memo<Page>,
    hooks: StoredValue<Vec<(Page, Hooks)>, LocalStorage>,
    hooked: RwSignal<usize>,
}

impl Pages {
    /// Creates the state at a route and provides it as context.
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

    /// Registers the hooks of a page once it is built.
    pub fn hook(self, page: Page, hooks: Hooks) {
        self.hooks.update_value(|known| known.push((page, hooks)));
        self.hooked.update(|hooked| *hooked += 1);
    }

    /// Calls a function with the hooks of the shown page. Returns `None` if it has none, or none yet.
    pub fn with_hooks<T>(self, ask: impl FnOnce(&Hooks) -> T) -> Option<T> {
        let shown = self.shown.get_untracked();
        self.hooks.with_value(|hooks| {
            let of_page = hooks.iter().find(|(page, _)| *page == shown);
            of_page.map(|(_, hooks)| ask(hooks))
        })
    }

    /// The keyboard shortcuts of the shown page.
    pub fn keys(self) -> Option<Keys> {
        self.hooked.track();
        self.shown.track();
        self.with_hooks(|hooks| hooks.keys)
    }
}

/// Returns the pages from the context.
pub fn use_pages() -> Pages {
    expect_context()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hooks(keys: Keys, key: &'static str) -> Hooks {
        Hooks {
            keys,
            press: Box::new(move |press| press.key == key),
            take_files: Box::new(|_| {}),
            drop_words: "",
        }
    }

    fn press(key: &str) -> KeyPress {
        KeyPress {
            key: key.to_owned(),
            command: false,
            typing: false,
        }
    }

    /// Whether the shown page handles a key; `None` if nothing does.
    fn handles(pages: Pages, key: &str) -> Option<bool> {
        pages.with_hooks(|hooks| (hooks.press)(&press(key)))
    }

    #[test]
    fn each_address_leads_to_its_page() {
        for (page, name, address) in Page::ALL {
            assert_eq!(Page::of(&Route::parse(address)), page, "{name}");
        }
        assert_eq!(Page::of(&Route::parse("#/nowhere")), Page::Playground);
    }

    #[test]
    fn keys_go_to_the_page_that_is_shown() {
        let owner = Owner::new();
        owner.set();
        let pages = Pages::provide(Route::parse("#/review"));
        assert_eq!(handles(pages, "x"), None, "it is not built yet");
        pages.hook(Page::Review, hooks(&[("x", "Remove")], "x"));
        pages.hook(Page::Learn, hooks(&[("y", "Go on")], "y"));
        assert_eq!(handles(pages, "x"), Some(true));
        assert_eq!(handles(pages, "y"), Some(false));
        assert_eq!(pages.keys(), Some(&[("x", "Remove")][..]));
        pages.route.set(Route::parse("#/learn"));
        assert_eq!(handles(pages, "y"), Some(true));
        assert_eq!(handles(pages, "x"), Some(false));
        pages.route.set(Route::parse("#/settings"));
        assert_eq!(handles(pages, "x"), None);
        assert_eq!(pages.keys(), None);
    }

    #[test]
    fn the_help_overlay_lists_the_keys_of_a_page_once_it_is_built() {
        let owner = Owner::new();
        owner.set();
        let pages = Pages::provide(Route::parse("#/learn/first"));
        let listed = Memo::new(move |_| pages.keys().map(<[_]>::len));
        assert_eq!(listed.get(), None);
        pages.hook(Page::Learn, hooks(&[("y", "Go on")], "y"));
        assert_eq!(listed.get(), Some(1));
    }
}
