//! A keyed list: one view per key, which is preserved as long as its key is in the list.
//!
//! **Invariant:** while the order stays the same, preserved views are not moved in the DOM. An element that is removed
//! and inserted again has its whole subtree styled and laid out again and loses the focus; the `<For>` of leptos does
//! that to preserved views when several items are inserted or removed before them. Long lists, and lists whose buttons
//! keep the focus, use this list.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use leptos::attr::Attribute;
use leptos::attr::any_attribute::AnyAttribute;
use leptos::prelude::*;
use leptos::tachys::hydration::Cursor;
use leptos::tachys::reactive_graph::{OwnedView, OwnedViewState};
use leptos::tachys::renderer::Rndr;
use leptos::tachys::renderer::types::{Element, Node, Placeholder};
use leptos::tachys::view::any_view::AnyViewState;
use leptos::tachys::view::{Mountable, Position, PositionState, Render, RenderHtml};
use leptos::wasm_bindgen::JsCast;

/// A keyed list. Keys must be unique.
pub fn keyed(
    keys: impl Fn() -> Vec<u64> + Send + Sync + 'static,
    draw: impl Fn(u64) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    keyed_boxed(Box::new(keys), Arc::new(draw))
}

/// Hashes a value that identifies an item into its key.
pub fn key_of(name: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

fn keyed_boxed(
    keys: Box<dyn Fn() -> Vec<u64> + Send + Sync>,
    draw: Arc<dyn Fn(u64) -> AnyView + Send + Sync>,
) -> AnyView {
    // The views belong to the list's owner, so that they survive its next update.
    let owner = Owner::current().unwrap_or_default();
    let list = move || {
        let list = Keyed {
            keys: keys(),
            draw: Arc::clone(&draw),
            owner: owner.clone(),
        };
        list.into_any()
    };
    list.into_any()
}

struct Keyed {
    keys: Vec<u64>,
    draw: Arc<dyn Fn(u64) -> AnyView + Send + Sync>,
    owner: Owner,
}

struct MountedList {
    views: Vec<(u64, View)>,
    /// The node after the last view.
    end: Placeholder,
    owners: Owners,
}

/// A mounted view. It is dropped before its owner is cleaned up.
struct View {
    state: OwnedViewState<AnyViewState>,
    owner: Owner,
}

/// Owners of views that are gone, for views to come.
///
/// The owner of the list has an entry for each owner that was ever made below it, until it is cleaned up itself. So a list
/// that is drawn for hours makes only as many owners as it had views at the same time.
#[derive(Default)]
struct Owners {
    spare: Vec<Owner>,
}

impl Owners {
    /// An owner below this one.
    fn take(&mut self, list: &Owner) -> Owner {
        let spare = self.spare.pop();
        spare.unwrap_or_else(|| list.with(Owner::new))
    }

    /// Ends what belongs to a view that is gone.
    fn put_back(&mut self, owner: Owner) {
        owner.cleanup();
        self.spare.push(owner);
    }
}

/// The source of a view in the updated list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Stays in place. Holds its index in the previous list.
    Stays(usize),
    /// Moves. Holds its index in the previous list.
    Comes(usize),
    /// Is newly rendered.
    Drawn,
}

/// Determines the source of each view. The views that stay keep their relative order.
fn sources(former: &[u64], keys: &[u64]) -> Vec<Source> {
    let places: BTreeMap<u64, usize> = (0..).zip(former).map(|(at, key)| (*key, at)).collect();
    let mut passed = 0;
    let source = |key| match places.get(key) {
        None => Source::Drawn,
        Some(place) if *place < passed => Source::Comes(*place),
        Some(place) => {
            passed = place + 1;
            Source::Stays(*place)
        }
    };
    keys.iter().map(source).collect()
}

impl Keyed {
    fn draw(&self, key: u64, owners: &mut Owners) -> View {
        let owner = owners.take(&self.owner);
        let view = owner.with(|| (self.draw)(key));
        let state = OwnedView::new_with_owner(view, owner.clone()).build();
        View { state, owner }
    }
}

impl Render for Keyed {
    type State = MountedList;

    fn build(self) -> MountedList {
        let mut owners = Owners::default();
        let keys = self.keys.iter();
        let views = keys.map(|key| (*key, self.draw(*key, &mut owners)));
        MountedList {
            views: views.collect(),
            end: Rndr::create_placeholder(),
            owners,
        }
    }

    fn rebuild(self, list: &mut MountedList) {
        let former = std::mem::take(&mut list.views);
        let (stood, former): (Vec<u64>, Vec<View>) = former.into_iter().unzip();
        let mut former: Vec<Option<View>> = former.into_iter().map(Some).collect();
        let sources = sources(&stood, &self.keys);
        let kept = sources.iter().map(|source| match source {
            Source::Stays(place) | Source::Comes(place) => former.get_mut(*place)?.take(),
            Source::Drawn => None,
        });
        let kept: Vec<Option<View>> = kept.collect();
        for View { mut state, owner } in former.into_iter().flatten() {
            state.unmount();
            drop(state);
            list.owners.put_back(owner);
        }
        // Iterate from the end: each view is inserted before one that is already in place.
        let parent = Rndr::get_parent(&list.end).and_then(|parent| parent.dyn_into().ok());
        let parent: Option<Element> = parent;
        let wanted = self.keys.iter().zip(sources).zip(kept);
        for ((key, source), kept) in wanted.rev() {
            let stays = matches!(source, Source::Stays(_)) && kept.is_some();
            let mut view = kept.unwrap_or_else(|| self.draw(*key, &mut list.owners));
            if let Some(parent) = parent.as_ref().filter(|_| !stays) {
                let (state, end) = (&mut view.state, Some::<&Node>(&list.end));
                match list.views.last() {
                    Some((_, next)) => next.state.insert_before_this_or_marker(parent, state, end),
                    None => state.mount(parent, end),
                }
            }
            list.views.push((*key, view));
        }
        list.views.reverse();
    }
}

impl Mountable for MountedList {
    fn unmount(&mut self) {
        for (_, view) in &mut self.views {
            view.state.unmount();
        }
        Rndr::remove(&self.end);
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        for (_, view) in &mut self.views {
            view.state.mount(parent, marker);
        }
        Rndr::insert_node(parent, &self.end, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        match self.views.first() {
            Some((_, first)) => first.state.insert_before_this(child),
            None => {
                let parent = Rndr::get_parent(&self.end);
                let parent = parent.and_then(|parent| parent.dyn_into::<Element>().ok());
                if let Some(parent) = &parent {
                    child.mount(parent, Some(&self.end));
                }
                parent.is_some()
            }
        }
    }

    fn elements(&self) -> Vec<Element> {
        let views = self.views.iter();
        views.flat_map(|(_, view)| view.state.elements()).collect()
    }
}

impl AddAnyAttr for Keyed {
    type Output<Added: Attribute> = Self;

    /// A list has no element that could have attributes.
    fn add_any_attr<Added: Attribute>(self, _: Added) -> Self {
        self
    }
}

/// The page is rendered in browsers only: neither server rendering nor hydration is supported.
impl RenderHtml for Keyed {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    fn resolve(self) -> impl Future<Output = Self> + Send {
        std::future::ready(self)
    }

    fn to_html_with_buf(
        self,
        _: &mut String,
        _: &mut Position,
        _: bool,
        _: bool,
        _: Vec<AnyAttribute>,
    ) {
    }

    fn hydrate<const FROM_SERVER: bool>(self, _: &Cursor, _: &PositionState) -> Self::State {
        self.build()
    }

    fn into_owned(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_makes_as_many_owners_as_it_has_views() {
        let list = Owner::new();
        let mut owners = Owners::default();
        let mut made = std::collections::BTreeSet::new();
        for number in 0..1000 {
            let views = [owners.take(&list), owners.take(&list)];
            made.extend(views.iter().map(Owner::debug_id));
            let signal = views[0].with(|| RwSignal::new(number));
            assert_eq!(signal.get_untracked(), number);
            views.into_iter().for_each(|owner| owners.put_back(owner));
            assert!(signal.is_disposed(), "the view is gone");
        }
        assert_eq!(made.len(), 2);
    }

    #[test]
    fn elements_that_keep_their_order_are_not_moved() {
        use Source::{Comes, Drawn, Stays};
        for (former, keys, expected) in [
            (vec![], vec![1, 2], vec![Drawn, Drawn]),
            (
                vec![8, 9, 10, 11],
                vec![6, 7, 8, 9],
                vec![Drawn, Drawn, Stays(0), Stays(1)],
            ),
            (
                vec![6, 7, 8, 9],
                vec![8, 9, 10, 11],
                vec![Stays(2), Stays(3), Drawn, Drawn],
            ),
            (vec![1, 2, 3, 4], vec![1, 4], vec![Stays(0), Stays(3)]),
            (
                vec![1, 2, 3],
                vec![3, 1, 2],
                vec![Stays(2), Comes(0), Comes(1)],
            ),
            (vec![1, 2, 3], vec![], vec![]),
        ] {
            assert_eq!(sources(&former, &keys), expected, "{former:?} to {keys:?}");
        }
    }

    proptest! {
        #[test]
        fn no_view_is_taken_twice_and_those_that_stay_are_in_order(
            former in proptest::collection::btree_set(0_u64..20, 0..12),
            keys in Just((0_u64..20).collect::<Vec<u64>>()).prop_shuffle(),
            length in 0_usize..20,
        ) {
            let former: Vec<u64> = former.into_iter().collect();
            let keys = &keys[..length];
            let sources = sources(&former, keys);
            let mut taken = Vec::new();
            let mut stay = Vec::new();
            for (source, key) in sources.iter().zip(keys) {
                match source {
                    Source::Drawn => prop_assert!(!former.contains(key)),
                    Source::Comes(place) | Source::Stays(place) => {
                        prop_assert_eq!(former[*place], *key);
                        taken.push(*place);
                    }
                }
                if let Source::Stays(place) = source {
                    stay.push(*place);
                }
            }
            prop_assert!(stay.is_sorted());
            taken.sort_unstable();
            let count = taken.len();
            taken.dedup();
            prop_assert_eq!(taken.len(), count);
        }
    }
}
