//! A table of functions whose code is loaded on demand, and the acts that wait for it.
//!
//! Invariant: acts run in the order in which they came, at once if the code is here. If loading fails, all acts that wait
//! are dropped; the next one loads again.

use futures_util::future::LocalBoxFuture;
use leptos::prelude::*;
use volary_browser::lazy::Loaded;

type Act<T> = Box<dyn FnOnce(&'static T)>;

/// The table, and what waits for it.
pub(super) struct LazyTable<T: 'static> {
    load: fn() -> LocalBoxFuture<'static, Loaded<&'static T>>,
    table: RwSignal<Option<&'static T>>,
    waiting: StoredValue<Vec<Act<T>>, LocalStorage>,
    is_loading: StoredValue<bool>,
    /// Whether the user waits for an act.
    is_awaited: RwSignal<bool>,
}

impl<T> Clone for LazyTable<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for LazyTable<T> {}

impl<T: Sync> LazyTable<T> {
    /// A table that `load` loads.
    pub fn new(load: fn() -> LocalBoxFuture<'static, Loaded<&'static T>>) -> Self {
        LazyTable {
            load,
            table: RwSignal::new(None),
            waiting: StoredValue::new_local(Vec::new()),
            is_loading: StoredValue::new(false),
            is_awaited: RwSignal::new(false),
        }
    }

    /// The table, if it is here. Tracks its arrival.
    pub fn get(self) -> Option<&'static T> {
        self.table.get()
    }

    /// Like [`LazyTable::get`], without tracking.
    pub fn get_untracked(self) -> Option<&'static T> {
        self.table.get_untracked()
    }

    /// Whether an act of the user waits for the code. Tracks changes.
    pub fn is_awaited(self) -> bool {
        self.is_awaited.get()
    }

    /// Runs an act of the user, now or once the code is here. Returns whether the caller has to load it.
    #[must_use]
    pub fn run(self, act: impl FnOnce(&'static T) + 'static) -> bool {
        if let Some(table) = self.get_untracked() {
            act(table);
            return false;
        }
        self.waiting
            .update_value(|waiting| waiting.push(Box::new(act)));
        if !self.is_awaited.get_untracked() {
            self.is_awaited.set(true);
        }
        self.must_load()
    }

    /// Returns whether the caller has to load the code: it is not here, and nobody loads it.
    #[must_use]
    pub fn must_load(self) -> bool {
        if self.get_untracked().is_some() || self.is_loading.get_value() {
            return false;
        }
        self.is_loading.set_value(true);
        true
    }

    /// Loads the table, without any other effect.
    pub fn load(self) -> LocalBoxFuture<'static, Loaded<&'static T>> {
        (self.load)()
    }

    /// Sets the table and runs the acts that wait.
    pub fn arrive(self, table: &'static T) {
        self.table.set(Some(table));
        self.stop_waiting();
        let waiting = self.waiting.try_update_value(std::mem::take);
        for act in waiting.into_iter().flatten() {
            act(table);
        }
    }

    /// Drops the acts that wait, because loading failed. Returns whether the user waited.
    pub fn give_up(self) -> bool {
        self.is_loading.set_value(false);
        self.waiting.update_value(Vec::clear);
        self.stop_waiting()
    }

    fn stop_waiting(self) -> bool {
        let was_awaited = self.is_awaited.get_untracked();
        if was_awaited {
            self.is_awaited.set(false);
        }
        was_awaited
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use futures_util::FutureExt;

    use super::*;

    struct Table(u32);

    static TABLE: Table = Table(7);

    fn with_table(test: impl FnOnce(LazyTable<Table>, Rc<RefCell<Vec<u32>>>)) {
        let load = || async { Ok(&TABLE) }.boxed_local();
        Owner::new().with(|| test(LazyTable::new(load), Rc::default()));
    }

    fn noting(done: &Rc<RefCell<Vec<u32>>>, number: u32) -> impl FnOnce(&'static Table) + 'static {
        let done = Rc::clone(done);
        move |table| done.borrow_mut().push(table.0 + number)
    }

    #[test]
    fn acts_wait_in_order_and_the_code_is_loaded_once() {
        with_table(|table, done| {
            assert!(table.run(noting(&done, 1)), "the first act loads");
            assert!(!table.run(noting(&done, 2)), "the second one waits");
            assert!(untrack(|| table.is_awaited()));
            let loaded = table.load().now_or_never();
            table.arrive(loaded.unwrap().unwrap());
            assert!(!untrack(|| table.is_awaited()));
            assert!(!table.run(noting(&done, 3)));
            assert_eq!(*done.borrow(), [8, 9, 10]);
        });
    }

    #[test]
    fn an_act_that_another_one_causes_runs_within_it() {
        with_table(|table, done| {
            let (first, nested) = (noting(&done, 1), noting(&done, 3));
            let _ = table.run(move |code| {
                first(code);
                let _ = table.run(nested);
            });
            let _ = table.run(noting(&done, 2));
            table.arrive(&TABLE);
            assert_eq!(*done.borrow(), [8, 10, 9], "an act runs completely");
        });
    }

    #[test]
    fn after_a_failure_the_next_act_loads_again() {
        with_table(|table, done| {
            assert!(table.must_load());
            assert!(!table.give_up(), "only the page waited");
            assert!(table.run(noting(&done, 1)));
            assert!(table.give_up(), "the user waited");
            assert!(table.run(noting(&done, 2)));
            table.arrive(&TABLE);
            assert_eq!(*done.borrow(), [9], "what was given up does not run");
        });
    }
}
