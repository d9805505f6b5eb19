//! Two tabs that share a store, and hear of each other's changes late: nothing is lost, replaced or shown twice.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use futures_util::FutureExt;
use proptest::prelude::*;
use volary_episode::Episode;
use volary_protocol::library::Origin;

use super::keeping_tests::{text_in, two_tabs};
use super::tests::*;
use super::*;
use crate::repository::MemoryStore;
use crate::source::Source;
use volary_protocol::ChangedEpisodes;

fn hear(service: &LibraryService, news: ChangedEpisodes) -> Vec<Output> {
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let heard = listing::handle_changes(service, news, &say);
    assert!(heard.now_or_never().is_some());
    said.take()
}

fn forget(service: &LibraryService, ids: &[&str]) {
    let ids = ids.iter().map(|id| (*id).into()).collect();
    ask(service, Request::Forget { ids });
}

fn stored(ids: &[&str]) -> ChangedEpisodes {
    ChangedEpisodes {
        kept: ids.iter().map(|id| (*id).into()).collect(),
        ..ChangedEpisodes::default()
    }
}

fn deleted(ids: &[&str]) -> ChangedEpisodes {
    ChangedEpisodes {
        gone: ids.iter().map(|id| (*id).into()).collect(),
        ..ChangedEpisodes::default()
    }
}

fn listed(service: &LibraryService) -> Vec<String> {
    let mut ids = ids(&ask(service, Request::List));
    ids.sort();
    ids
}

#[test]
fn what_another_tab_stores_and_deletes_is_shown_here() {
    let [here, there] = two_tabs();
    read(
        &there,
        &[file("x.jsonl", &[episode("1", "one"), episode("2", "two")])],
    );
    let said = hear(&here, stored(&["1", "2", "unknown"]));
    let [Output::Event(Event::Changed { rows })] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(rows.len(), 2, "what is not in the store is no row");
    assert_eq!(text_in(&here, "2"), "two");
    forget(&there, &["1"]);
    let said = hear(&here, deleted(&["1", "unknown"]));
    let gone = vec!["1".into()];
    assert_eq!(said, [Output::Event(Event::Gone { ids: gone })]);
    assert_eq!(hear(&here, deleted(&["1"])), [], "it is gone only once");
}

#[test]
fn an_episode_that_was_stored_again_is_not_gone_when_late_news_say_so() {
    let [here, there] = two_tabs();
    let file = file("x.jsonl", &[episode("1", "one")]);
    read(&here, std::slice::from_ref(&file));
    hear(&there, stored(&["1"]));
    forget(&here, &["1"]);
    // The other tab imports it again before it hears of the deletion.
    assert_eq!(ids(&read(&there, &[file])), ["1"]);
    assert_eq!(hear(&there, deleted(&["1"])), []);
    assert_eq!(text_in(&there, "1"), "one");
    // Deletions by prefix are late in the same way.
    let news = ChangedEpisodes {
        gone_from: vec!["".into()],
        ..ChangedEpisodes::default()
    };
    assert_eq!(hear(&there, news), []);
    assert_eq!(listed(&there), ["1"]);
}

#[test]
fn news_of_stored_episodes_do_not_concern_those_that_this_tab_only_shows() {
    for origin in [Origin::Published, Origin::Linked] {
        let [here, there] = two_tabs();
        let own = file("x.jsonl", &[episode("1", "of the site")]);
        assert_eq!(ids(&read_as(&here, &[own], origin)), ["1"]);
        read(&there, &[file("y.jsonl", &[episode("1", "of the user")])]);
        let said = hear(&here, stored(&["1"]));
        assert_eq!(said, []);
        assert_eq!(text_in(&here, "1"), "of the site");
        forget(&there, &["1"]);
        assert_eq!(hear(&here, deleted(&["1"])), []);
        assert_eq!(text_in(&here, "1"), "of the site");
    }
}

/// The tags in the last row that was sent.
fn shown_tags(said: &[Output]) -> Vec<Text> {
    let mut rows = said.iter().filter_map(|said| match said {
        Output::Event(Event::Added { rows } | Event::Changed { rows }) => rows.last(),
        _ => None,
    });
    rows.next_back().unwrap().tags.clone()
}

#[test]
fn reading_a_large_file_again_keeps_the_tags_of_its_episodes() {
    let service = service();
    let file = large("x.jsonl", &["1", "2"]);
    read(&service, std::slice::from_ref(&file));
    let tag = Request::Tag {
        ids: vec!["1".into()],
        tag: "good".into(),
        on: true,
    };
    ask(&service, tag);
    // The file has to be read again, because one of its episodes is missing.
    forget(&service, &["2"]);
    let mut read = ids(&read(&service, &[file]));
    read.sort();
    read.dedup();
    assert_eq!(read, ["1", "2"]);
    let rows = service.rows_of(&["1".into()]).now_or_never().unwrap();
    assert_eq!(rows[0].tags, ["good".into()]);
}

#[test]
fn importing_an_episode_again_keeps_its_tags() {
    let [here, there] = two_tabs();
    let once = file("x.json", &[episode("1", "one")]);
    read(&here, std::slice::from_ref(&once));
    let tag = Request::Tag {
        ids: vec!["1".into()],
        tag: "good".into(),
        on: true,
    };
    ask(&here, tag);
    // The other tab has not heard of the episode, so the store refuses it at first.
    for tab in [&here, &there] {
        let said = read(tab, std::slice::from_ref(&once));
        assert_eq!(ids(&said), ["1"]);
        assert_eq!(shown_tags(&said), ["good".into()]);
        let rows = tab.rows_of(&["1".into()]).now_or_never().unwrap();
        assert_eq!(rows[0].tags, ["good".into()]);
    }
    // Those of the file are added, once.
    let mut tagged = episode("1", "one");
    volary_analysis::annotations::tags::put(&mut tagged, vec!["new".into(), "good".into()]);
    assert_eq!(ids(&read(&here, &[file("y.json", &[tagged])])), ["1"]);
    let rows = here.rows_of(&["1".into()]).now_or_never().unwrap();
    assert_eq!(rows[0].tags, ["new".into(), "good".into()]);
}

#[test]
fn importing_a_linked_episode_does_not_replace_one_that_another_tab_stored() {
    let [here, there] = two_tabs();
    let linked = file("x.jsonl", &[episode("1", "linked")]);
    read_as(&here, std::slice::from_ref(&linked), Origin::Linked);
    // The news of this one are on the way.
    read(&there, &[file("y.jsonl", &[episode("1", "stored")])]);
    assert_eq!(ids(&read(&here, &[linked])), ["1 (2)"]);
    assert_eq!(text_in(&there, "1"), "stored");
    hear(&there, stored(&["1 (2)"]));
    assert_eq!(listed(&there), ["1", "1 (2)"]);
    assert_eq!(text_in(&there, "1 (2)"), "linked");
}

/// The texts of episodes. Some files have the same ids, some the same episodes.
const FILES: [&[(&str, &str)]; 6] = [
    &[("1", "ant"), ("2", "bee")],
    &[("1", "cat"), ("3", "dog")],
    &[("2", "bee"), ("1", "ant")],
    &[("1 (2)", "elk"), ("1", "elk")],
    &[("", "fox")],
    &[("4", "gnu"), ("4", "gnu"), ("4", "hen")],
];

fn numbered(number: usize) -> MemorySource {
    let episodes = FILES[number].iter().map(|(id, text)| episode(id, text));
    file(&format!("{number}.jsonl"), &episodes.collect::<Vec<_>>())
}

/// What happens in one of two tabs.
#[derive(Clone, Debug)]
enum Act {
    Import {
        file: usize,
    },
    /// A link to a file is opened.
    Link {
        file: usize,
    },
    Forget {
        index: usize,
    },
    Tag {
        index: usize,
        on: bool,
    },
    /// News from the other tab arrive.
    Hear,
    Reload,
}

fn act() -> impl Strategy<Value = Act> {
    let file = || 0..FILES.len();
    prop_oneof![
        4 => file().prop_map(|file| Act::Import { file }),
        1 => file().prop_map(|file| Act::Link { file }),
        2 => (0usize..8).prop_map(|index| Act::Forget { index }),
        1 => (0usize..8, any::<bool>()).prop_map(|(index, on)| Act::Tag { index, on }),
        3 => Just(Act::Hear),
        1 => Just(Act::Reload),
    ]
}

struct Tab {
    service: LibraryService,
    /// The texts of the linked episodes, by id.
    linked: BTreeMap<String, String>,
    news: VecDeque<ChangedEpisodes>,
}

impl Tab {
    /// The ids of the episodes that the tab shows, sorted.
    fn ids(&self) -> Vec<Text> {
        let known = self.service.known.borrow();
        let mut ids: Vec<Text> = known.episodes.keys().cloned().collect();
        ids.sort();
        ids
    }
}

struct Tabs {
    store: MemoryStore,
    tabs: [Tab; 2],
    /// The texts of the stored episodes, by id.
    stored: BTreeMap<String, String>,
    tagged: BTreeMap<String, bool>,
}

fn opened(store: &MemoryStore) -> Tab {
    let service = service_of(store.clone());
    ask(&service, Request::List);
    Tab {
        service,
        linked: BTreeMap::new(),
        news: VecDeque::new(),
    }
}

impl Tabs {
    fn new() -> Tabs {
        let store = MemoryStore::default();
        let tabs = [opened(&store), opened(&store)];
        Tabs {
            store,
            tabs,
            stored: BTreeMap::new(),
            tagged: BTreeMap::new(),
        }
    }

    fn act(&mut self, number: usize, act: &Act) -> Result<(), TestCaseError> {
        let tab = &mut self.tabs[number];
        let mut news = ChangedEpisodes::default();
        match *act {
            Act::Import { file } => {
                let ids = ids(&read(&tab.service, &[numbered(file)]));
                prop_assert_eq!(ids.len(), FILES[file].len());
                for (id, (_, text)) in ids.iter().zip(FILES[file]) {
                    if tab.linked.contains_key(id) {
                        prop_assert_eq!(&tab.linked[id], text, "a linked episode was replaced");
                    }
                    let former = self.stored.insert(id.clone(), (*text).to_owned());
                    prop_assert!(
                        former.is_none_or(|former| former == *text),
                        "{} was replaced",
                        id
                    );
                    news.kept.push(id.as_str().into());
                }
            }
            Act::Link { file } => {
                let ids = ids(&read_as(&tab.service, &[numbered(file)], Origin::Linked));
                prop_assert_eq!(ids.len(), FILES[file].len());
                for (id, (_, text)) in ids.into_iter().zip(FILES[file]) {
                    let former = tab.linked.insert(id, (*text).to_owned());
                    prop_assert!(former.is_none_or(|former| former == *text));
                }
            }
            Act::Forget { index } => {
                let known = tab.ids();
                if let Some(id) = known.get(index) {
                    forget(&tab.service, &[id]);
                    tab.linked.remove(&**id);
                    self.stored.remove(&**id);
                    self.tagged.remove(&**id);
                    news.gone.push(id.clone());
                }
            }
            Act::Tag { index, on } => {
                let stored: Vec<String> = self.stored.keys().cloned().collect();
                if let Some(id) = stored.get(index).filter(|id| !tab.linked.contains_key(*id)) {
                    let ids = vec![id.as_str().into()];
                    let tag = "good".into();
                    ask(&tab.service, Request::Tag { ids, tag, on });
                    self.tagged.insert(id.clone(), on);
                    news.kept.push(id.as_str().into());
                }
            }
            Act::Hear => {
                if let Some(news) = tab.news.pop_front() {
                    hear(&tab.service, news);
                }
            }
            Act::Reload => *tab = opened(&self.store),
        }
        if news != ChangedEpisodes::default() {
            self.tabs[1 - number].news.push_back(news);
        }
        Ok(())
    }

    /// Checks what both tabs show once all news have arrived.
    fn check(&mut self) -> Result<(), TestCaseError> {
        for tab in &mut self.tabs {
            while let Some(news) = tab.news.pop_front() {
                hear(&tab.service, news);
            }
            let mut expected = self.stored.clone();
            expected.extend(tab.linked.clone());
            let known = tab.ids();
            let ids: Vec<&str> = known.iter().map(|id| &**id).collect();
            let wanted: Vec<&str> = expected.keys().map(String::as_str).collect();
            prop_assert_eq!(ids, wanted);
            for (id, text) in &expected {
                prop_assert_eq!(&text_in(&tab.service, id), text);
                let words = text.as_str().into();
                let said = ask(&tab.service, Request::Search { words });
                let Some(Output::Event(Event::Found { matches })) = said.last() else {
                    return Err(TestCaseError::fail("no answer to a search"));
                };
                prop_assert!(
                    matches.iter().any(|found| *found.id == **id),
                    "{} is not found",
                    id
                );
            }
            let rows = tab
                .service
                .rows_of(&known)
                .now_or_never()
                .unwrap_or_default();
            prop_assert_eq!(rows.len(), expected.len());
            for row in rows.iter().filter(|row| !tab.linked.contains_key(&*row.id)) {
                let is_tagged = self.tagged.get(&*row.id).copied().unwrap_or_default();
                prop_assert_eq!(!row.tags.is_empty(), is_tagged, "{}", row.id);
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn two_tabs_show_the_same_episodes_once_they_heard_of_each_other(
        acts in prop::collection::vec((0usize..2, act()), 0..20),
    ) {
        let mut tabs = Tabs::new();
        for (tab, act) in &acts {
            tabs.act(*tab, act)?;
        }
        tabs.check()?;
    }
}

/// Shows an episode that the page could not store, as its worker does.
fn show_unstored(service: &LibraryService, episode: &Episode) -> Vec<Output> {
    let said = RefCell::new(Vec::new());
    let say = |output| said.borrow_mut().push(output);
    let row = Row::of(episode, Vec::new());
    let text: Rc<dyn Source> = Rc::new(file("x.json", std::slice::from_ref(episode)));
    let shown = unstored::show(service, vec![row], vec![text], &say);
    assert!(shown.now_or_never().is_some());
    said.take()
}

#[test]
fn an_episode_that_the_page_could_not_store_is_shown_until_it_is_stored() {
    let [here, there] = two_tabs();
    for text in ["one", "two"] {
        show_unstored(&here, &episode("1", text));
        assert_eq!(text_in(&here, "1"), text, "the latest state is shown");
        assert_eq!(listed(&here), ["1"]);
    }
    let (ids, tag) = (vec!["1".into()], "good".into());
    ask(&here, Request::Tag { ids, tag, on: true });
    // The page stores it, which this worker hears of.
    read(&there, &[file("x.jsonl", &[episode("1", "three")])]);
    hear(&here, stored(&["1"]));
    assert_eq!(text_in(&here, "1"), "three");
    assert_eq!(listed(&here), ["1"]);
    let rows = here.rows_of(&["1".into()]).now_or_never();
    let tags = rows.map(|mut rows| rows.remove(0).tags);
    assert_eq!(tags, Some(vec!["good".into()]));
}

#[test]
fn an_episode_of_which_an_earlier_state_is_stored_is_listed_once() {
    let [here, there] = two_tabs();
    read(&there, &[file("x.jsonl", &[episode("1", "one")])]);
    show_unstored(&here, &episode("1", "two"));
    assert_eq!(text_in(&here, "1"), "two");
    assert_eq!(listed(&here), ["1"]);
    forget(&here, &["1"]);
    assert_eq!(listed(&here), [""; 0]);
}
