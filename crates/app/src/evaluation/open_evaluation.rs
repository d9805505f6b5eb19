//! Which evaluation the page shows: the one in the address, once it is loaded, or one that was left and still finishes
//! its last requests.
//!
//! Invariants: an evaluation that was loaded is shown only if the address still names it. One that this page still plays
//! is never loaded a second time: two copies would compete for its lock.

/// An effect for the page to carry out. `R` is an evaluation that the page has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenEffect<R> {
    /// Play no more of it: the user no longer sees what it spends.
    Leave(R),
    /// Show this evaluation, or the form for a new one.
    Show(Option<R>),
    /// Show whether an evaluation is loading.
    Loading(bool),
    /// Load an evaluation; [`OpenEvaluation::expects`] says whether its arrival counts.
    Load(String),
    /// List the stored evaluations.
    List,
}

/// What is left of a deleted evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted<R> {
    /// The evaluation, if this page plays it.
    pub run: Option<R>,
    /// Whether it was shown.
    pub was_open: bool,
}

/// The evaluation that the page shows, and those that it left.
#[derive(Debug)]
pub struct OpenEvaluation<R> {
    /// The id in the address.
    wanted: Option<String>,
    open: Option<(String, R)>,
    left: Vec<(String, R)>,
}

impl<R> Default for OpenEvaluation<R> {
    fn default() -> Self {
        OpenEvaluation {
            wanted: None,
            open: None,
            left: Vec::new(),
        }
    }
}

impl<R: Clone> OpenEvaluation<R> {
    /// Handles a change of the address. `is_busy` says whether an evaluation that was left still plays.
    pub fn follow(
        &mut self,
        id: Option<String>,
        is_busy: impl Fn(&R) -> bool,
    ) -> Vec<OpenEffect<R>> {
        let former = std::mem::replace(&mut self.wanted, id.clone());
        let is_shown = match &self.open {
            Some((open, _)) => Some(open) == id.as_ref(),
            // Not if the user goes back to the form while an evaluation is loading.
            None => id.is_none() && former.is_none(),
        };
        if is_shown {
            return Vec::new();
        }
        let mut effects = Vec::new();
        // One that has ended may have been played by another tab since.
        self.left.retain(|(_, run)| is_busy(run));
        if let Some((open, run)) = self.open.take() {
            effects.push(OpenEffect::Leave(run.clone()));
            self.left.push((open, run));
        }
        let Some(id) = id else {
            effects.extend([
                OpenEffect::Loading(false),
                OpenEffect::Show(None),
                OpenEffect::List,
            ]);
            return effects;
        };
        let place = self.left.iter().position(|(left, _)| *left == id);
        self.open = place.map(|place| self.left.remove(place));
        let run = self.open.as_ref().map(|(_, run)| run.clone());
        effects.push(OpenEffect::Loading(run.is_none()));
        effects.push(OpenEffect::Show(run.clone()));
        if run.is_none() {
            effects.push(OpenEffect::Load(id));
        }
        effects
    }

    /// Whether an evaluation that was loaded, or could not be, is the one that the page waits for.
    pub fn expects(&self, id: &str) -> bool {
        self.wanted.as_deref() == Some(id) && self.open.is_none()
    }

    /// Handles that the page opened an evaluation: one that was loaded, or a new one.
    pub fn opened(&mut self, id: &str, run: R) -> Vec<OpenEffect<R>> {
        self.wanted = Some(id.to_owned());
        self.open = Some((id.to_owned(), run.clone()));
        vec![OpenEffect::Loading(false), OpenEffect::Show(Some(run))]
    }

    /// Handles that an evaluation is deleted.
    pub fn deleted(&mut self, id: &str) -> Deleted<R> {
        let open = self.open.take_if(|(open, _)| open == id);
        let was_open = open.is_some();
        if was_open {
            self.wanted = None;
        }
        let mut left = self.left.extract_if(.., |(left, _)| left == id);
        let run = open.or(left.next()).map(|(_, run)| run);
        Deleted { run, was_open }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    type Page = OpenEvaluation<&'static str>;

    fn some(id: &str) -> Option<String> {
        Some(id.to_owned())
    }

    #[test]
    fn an_evaluation_is_loaded_and_shown_once() {
        let mut page = Page::default();
        let effects = page.follow(some("a"), |_| false);
        let expected = [
            OpenEffect::Loading(true),
            OpenEffect::Show(None),
            OpenEffect::Load("a".to_owned()),
        ];
        assert_eq!(effects, expected);
        assert!(page.expects("a"));
        let shown = page.opened("a", "run a");
        assert!(shown.contains(&OpenEffect::Show(Some("run a"))));
        assert!(
            !page.expects("a"),
            "the user came back while it was loading"
        );
        assert_eq!(page.follow(some("a"), |_| false), []);
    }

    #[test]
    fn an_evaluation_that_arrives_late_is_not_shown() {
        let mut page = Page::default();
        page.follow(some("a"), |_| false);
        page.follow(some("b"), |_| false);
        assert!(!page.expects("a"));
        assert!(page.expects("b"));
        let effects = page.follow(None, |_| false);
        assert!(effects.contains(&OpenEffect::Loading(false)), "{effects:?}");
        assert!(!page.expects("b"));
    }

    #[test]
    fn an_evaluation_that_still_plays_is_shown_again() {
        let mut page = Page::default();
        page.opened("a", "run a");
        let effects = page.follow(some("b"), |_| true);
        assert_eq!(effects[0], OpenEffect::Leave("run a"));
        page.opened("b", "run b");
        // It is not the one that was left last.
        let effects = page.follow(some("a"), |_| true);
        let expected = [
            OpenEffect::Leave("run b"),
            OpenEffect::Loading(false),
            OpenEffect::Show(Some("run a")),
        ];
        assert_eq!(effects, expected);
        // One that has ended is loaded: another tab may have played it.
        let effects = page.follow(some("b"), |_| false);
        assert_eq!(effects.last(), Some(&OpenEffect::Load("b".to_owned())));
    }

    #[test]
    fn a_deleted_evaluation_is_stopped_wherever_it_is() {
        let mut page = Page::default();
        page.opened("a", "run a");
        page.follow(some("b"), |_| true);
        page.opened("b", "run b");
        let deleted = |page: &mut Page, id| {
            let Deleted { run, was_open } = page.deleted(id);
            (run, was_open)
        };
        assert_eq!(deleted(&mut page, "c"), (None, false), "a row of the list");
        assert_eq!(deleted(&mut page, "a"), (Some("run a"), false));
        assert_eq!(deleted(&mut page, "b"), (Some("run b"), true));
        assert_eq!(deleted(&mut page, "b"), (None, false));
    }

    /// Something that happens to the page.
    #[derive(Clone, Debug)]
    enum Step {
        Follow(Option<u8>),
        /// One of the evaluations that are being loaded arrives.
        Arrive(usize),
        /// One that was left finishes its last requests.
        End(usize),
        Delete(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => prop::option::of(0u8..3).prop_map(Step::Follow),
            4 => (0usize..4).prop_map(Step::Arrive),
            1 => (0usize..4).prop_map(Step::End),
            1 => (0u8..3).prop_map(Step::Delete),
        ]
    }

    proptest! {
        #[test]
        fn the_page_shows_what_the_address_names(steps in prop::collection::vec(step(), 0..40)) {
            let mut page = OpenEvaluation::<(u8, u32)>::default();
            let mut address = None;
            let mut shown = None::<(u8, u32)>;
            let mut is_loading = false;
            let (mut loading, mut runs) = (Vec::new(), 0);
            // The evaluations that this page plays.
            let mut busy = BTreeSet::<(u8, u32)>::new();
            for step in steps {
                let effects = match step {
                    Step::Follow(id) => {
                        address = id;
                        page.follow(id.map(|id| id.to_string()), |run| busy.contains(run))
                    }
                    Step::Arrive(place) => {
                        let Some(place) = place.checked_rem(loading.len()) else {
                            continue;
                        };
                        let id: u8 = loading.swap_remove(place);
                        if !page.expects(&id.to_string()) {
                            continue;
                        }
                        runs += 1;
                        busy.insert((id, runs));
                        page.opened(&id.to_string(), (id, runs))
                    }
                    Step::End(place) => {
                        let mut left = busy.iter().filter(|run| Some(**run) != shown);
                        let ended = left.nth(place).copied();
                        ended.map(|run| busy.remove(&run));
                        continue;
                    }
                    Step::Delete(id) => {
                        let deleted = page.deleted(&id.to_string());
                        busy.retain(|run| run.0 != id);
                        if deleted.was_open {
                            // The page goes to the form.
                            (address, shown) = (None, None);
                            page.follow(None, |run| busy.contains(run))
                        } else {
                            continue;
                        }
                    }
                };
                for effect in effects {
                    match effect {
                        OpenEffect::Show(run) => shown = run,
                        OpenEffect::Load(id) => {
                            let id = id.parse().expect("a number");
                            prop_assert!(busy.iter().all(|run| run.0 != id), "it is played here");
                            loading.push(id);
                        }
                        OpenEffect::Leave(run) => prop_assert!(busy.contains(&run)),
                        OpenEffect::Loading(now) => is_loading = now,
                        OpenEffect::List => {}
                    }
                }
                prop_assert_eq!(is_loading, address.is_some() && shown.is_none());
                if let Some((id, _)) = shown {
                    prop_assert_eq!(Some(id), address, "another one is shown");
                }
            }
        }
    }
}
