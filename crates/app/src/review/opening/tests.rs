//! What is opened after each event, and under events in any order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type TestOpener = Opener<&'static str, u32>;

fn open(attempt: Attempt, id: &str) -> Effect<&'static str, u32> {
    Effect::Open {
        attempt,
        id: id.to_owned(),
    }
}

#[test]
fn an_episode_is_shown_at_the_place_that_the_address_names_last() {
    let mut opener = TestOpener::default();
    assert_eq!(opener.open("a", 3), [open(1, "a")]);
    assert_eq!(*opener.opening(), ReviewOpening::Wanted("a".to_owned()));
    assert_eq!(opener.open("a", 5), [], "it is loading already");
    let shown = Effect::Show {
        id: "a".to_owned(),
        episode: "episode a",
        goal: 5,
    };
    assert_eq!(opener.opened(1, Ok("episode a")), [shown]);
    assert_eq!(opener.open("a", 7), [Effect::GoTo(7)]);
    assert_eq!(*opener.opening(), ReviewOpening::Shown("a".to_owned()));
}

#[test]
fn an_episode_that_was_left_is_not_shown() {
    let mut opener = TestOpener::default();
    opener.open("a", 0);
    assert_eq!(opener.open("b", 0), [open(2, "b")]);
    assert_eq!(opener.opened(1, Ok("episode a")), []);
    assert_eq!(opener.opened(1, Err("gone".to_owned())), []);
    assert_eq!(*opener.opening(), ReviewOpening::Wanted("b".to_owned()));
    opener.leave();
    assert_eq!(opener.opened(2, Ok("episode b")), []);
    assert_eq!(*opener.opening(), ReviewOpening::Nothing);
    // The user comes back before the first answer arrives.
    assert_eq!(opener.open("a", 0), [open(3, "a")]);
    assert_eq!(opener.opened(1, Err("gone".to_owned())), []);
    assert_eq!(opener.opened(3, Ok("episode a")).len(), 1);
}

#[test]
fn a_comparison_that_is_shown_ends_what_is_loading() {
    let mut opener = TestOpener::default();
    opener.open("a", 0);
    opener.set_aside();
    assert_eq!(*opener.opening(), ReviewOpening::Nothing);
    assert_eq!(opener.opened(1, Ok("episode a")), []);
    // The way back to a shown episode needs no request, and it is renewed meanwhile.
    opener.open("a", 0);
    opener.opened(2, Ok("episode a"));
    opener.set_aside();
    assert_eq!(opener.renamed("a", "a", true), [open(3, "a")]);
    assert_eq!(opener.open("a", 1), [Effect::GoTo(1)]);
}

#[test]
fn an_error_stays_until_the_next_attempt() {
    let mut opener = TestOpener::default();
    opener.open("a", 0);
    assert_eq!(opener.opened(1, Err("It was deleted.".to_owned())), []);
    assert_eq!(
        *opener.opening(),
        ReviewOpening::Failed("It was deleted.".to_owned())
    );
    // The user agreed to fetch its file.
    assert_eq!(opener.open("a", 0), [open(2, "a")]);
    assert_eq!(*opener.opening(), ReviewOpening::Wanted("a".to_owned()));
}

#[test]
fn several_episodes_are_opened_one_after_the_other() {
    let mut opener = TestOpener::default();
    let ids = ["a", "b"].map(str::to_owned).to_vec();
    assert_eq!(opener.open_all(ids.clone(), 9), [open(1, "a")]);
    assert_eq!(opener.opened(1, Ok("episode a")), [open(2, "b")]);
    let shown = Effect::ShowAll {
        episodes: vec!["episode a", "episode b"],
        goal: 9,
    };
    assert_eq!(opener.opened(2, Ok("episode b")), [shown]);
    assert_eq!(*opener.opening(), ReviewOpening::Nothing);
    // One that is missing ends it; none is opened after the user left.
    opener.open_all(ids.clone(), 9);
    assert_eq!(opener.opened(3, Err("gone".to_owned())), []);
    assert_eq!(*opener.opening(), ReviewOpening::Failed("gone".to_owned()));
    opener.open_all(ids, 9);
    opener.leave();
    assert_eq!(opener.opened(4, Ok("episode a")), []);
    assert_eq!(opener.open_all(Vec::new(), 9), []);
}

#[test]
fn an_episode_that_grows_quickly_is_opened_one_at_a_time() {
    let mut opener = TestOpener::default();
    opener.open("a", 0);
    opener.opened(1, Ok("one step"));
    assert_eq!(opener.renamed("a", "a", true), [open(2, "a")]);
    assert_eq!(opener.renamed("a", "a", true), []);
    assert_eq!(opener.renamed("a", "a", true), []);
    let renew = |episode| Effect::Renew {
        episode,
        is_live: true,
    };
    assert_eq!(
        opener.opened(2, Ok("two steps")),
        [renew("two steps"), open(3, "a")],
        "it has grown meanwhile"
    );
    assert_eq!(opener.opened(3, Ok("four steps")), [renew("four steps")]);
    assert_eq!(opener.renamed("b", "b", true), [], "another episode");
}

#[test]
fn a_partial_episode_gets_its_id() {
    let mut opener = TestOpener::default();
    opener.open("begun-1", 0);
    opener.opened(1, Ok("partial"));
    assert_eq!(
        opener.renamed("begun-1", "begun-1", false),
        [open(2, "begun-1")]
    );
    let effects = opener.renamed("begun-1", "a", false);
    assert_eq!(effects, [Effect::Rename("a".to_owned()), open(3, "a")]);
    assert_eq!(*opener.opening(), ReviewOpening::Shown("a".to_owned()));
    assert_eq!(opener.opened(2, Ok("partial")), [], "it is older");
    assert_eq!(opener.opened(3, Ok("whole")).len(), 1);
}

#[test]
fn growth_while_an_episode_is_loading_is_not_missed() {
    let mut opener = TestOpener::default();
    opener.open("begun-1", 4);
    assert_eq!(opener.renamed("begun-1", "begun-1", false), []);
    assert_eq!(opener.renamed("begun-1", "a", false), []);
    let effects = opener.opened(1, Ok("partial"));
    assert!(matches!(effects[0], Effect::Show { .. }));
    assert_eq!(effects[1..], [Effect::Rename("a".to_owned()), open(2, "a")]);
    // The worker no longer knows the first id.
    let mut opener = TestOpener::default();
    opener.open("begun-1", 4);
    opener.renamed("begun-1", "a", false);
    let effects = opener.opened(1, Err("unknown".to_owned()));
    assert_eq!(effects, [Effect::Rename("a".to_owned()), open(2, "a")]);
    let [Effect::Show { goal: 4, .. }] = opener.opened(2, Ok("whole"))[..] else {
        panic!("it is shown at its place");
    };
}

/// Something that happens to Review.
#[derive(Clone, Debug)]
enum Step {
    Leave,
    Open(u8),
    OpenAll(u8, u8),
    /// One of the open requests is answered.
    Answer {
        request: usize,
        is_ok: bool,
    },
    Grow(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Leave),
        3 => (0u8..3).prop_map(Step::Open),
        1 => (0u8..3, 0u8..3).prop_map(|(one, other)| Step::OpenAll(one, other)),
        6 => (0usize..8, prop::bool::weighted(0.9))
            .prop_map(|(request, is_ok)| Step::Answer { request, is_ok }),
        4 => (0u8..3).prop_map(Step::Grow),
    ]
}

/// The page and the worker. An episode is its id and its number of steps.
#[derive(Default)]
struct World {
    opener: Opener<(String, u32), u32>,
    /// What the address names.
    address: Vec<String>,
    /// The requests without an answer, each with the answer as of its arrival.
    requests: Vec<(Attempt, (String, u32))>,
    lengths: BTreeMap<String, u32>,
    shown: Option<(String, u32)>,
    goal: u32,
}

impl World {
    fn take(&mut self, step: Step) {
        let effects = match step {
            Step::Leave => {
                self.address.clear();
                self.shown = None;
                self.opener.leave();
                Vec::new()
            }
            Step::Open(id) => {
                let id = id.to_string();
                if self.shown.as_ref().is_some_and(|shown| shown.0 != id) {
                    self.shown = None;
                }
                self.address = vec![id.clone()];
                self.goal += 1;
                self.opener.open(&id, self.goal)
            }
            Step::OpenAll(one, other) => {
                self.address = vec![one.to_string(), other.to_string()];
                self.shown = None;
                self.goal += 1;
                self.opener.open_all(self.address.clone(), self.goal)
            }
            Step::Answer { request, is_ok } => {
                let Some(index) = request.checked_rem(self.requests.len()) else {
                    return;
                };
                let (attempt, episode) = self.requests.swap_remove(index);
                let answer = is_ok.then_some(episode);
                self.opener
                    .opened(attempt, answer.ok_or_else(|| "gone".to_owned()))
            }
            Step::Grow(id) => {
                let id = id.to_string();
                *self.lengths.entry(id.clone()).or_default() += 1;
                self.opener.renamed(&id, &id, true)
            }
        };
        for effect in effects {
            self.carry_out(effect);
        }
        if let ReviewOpening::Failed(_) = self.opener.opening() {
            self.shown = None;
        }
    }

    fn carry_out(&mut self, effect: Effect<(String, u32), u32>) {
        match effect {
            Effect::Open { attempt, id } => {
                assert!(self.address.contains(&id), "{id} was left");
                let length = self.lengths.get(&id).copied().unwrap_or_default();
                self.requests.push((attempt, (id, length)));
            }
            Effect::Show { id, episode, goal } => {
                assert_eq!(
                    self.address,
                    std::slice::from_ref(&episode.0),
                    "it was left"
                );
                assert_eq!(id, episode.0);
                assert_eq!(goal, self.goal, "an older place");
                self.shown = Some(episode);
            }
            Effect::GoTo(goal) => {
                assert_eq!(goal, self.goal);
                assert!(self.shown.is_some());
            }
            Effect::ShowAll { episodes, goal } => {
                let ids = episodes.into_iter().map(|(id, _)| id);
                assert_eq!(self.address, ids.collect::<Vec<_>>());
                assert_eq!(goal, self.goal);
            }
            Effect::Renew { episode, .. } => {
                let shown = self.shown.as_mut().expect("an episode is shown");
                assert_eq!(shown.0, episode.0, "another episode is shown");
                assert!(shown.1 <= episode.1, "an older version");
                *shown = episode;
            }
            Effect::Rename(_) => panic!("no episode gets another id here"),
        }
    }
}

proptest! {
    #[test]
    fn a_late_answer_reaches_no_other_episode(steps in prop::collection::vec(step(), 0..60)) {
        let mut world = World::default();
        for step in steps {
            world.take(step);
        }
        // All answers arrive, the latest first.
        while let Some(request) = world.requests.len().checked_sub(1) {
            world.take(Step::Answer { request, is_ok: true });
        }
        match world.opener.opening() {
            ReviewOpening::Wanted(id) => panic!("{id} never arrives"),
            ReviewOpening::Shown(id) => {
                let length = world.lengths.get(id).copied().unwrap_or_default();
                prop_assert_eq!(world.shown, Some((id.clone(), length)), "its last steps are missing");
            }
            ReviewOpening::Nothing | ReviewOpening::Failed(_) => prop_assert_eq!(world.shown, None),
        }
    }
}
