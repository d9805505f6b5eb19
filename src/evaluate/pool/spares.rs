//! Workers that nobody needs yet, or no longer: a worker takes longer to be ready than to play hundreds of episodes.
//! Those of a finished evaluation are there for the next one; others are started while one is set up.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::worker_count;
use crate::shell::worker_link::{Report, WorkerLink};

struct Spare {
    link: WorkerLink,
    /// It said something, which only those say that broke down.
    is_broken: Rc<Cell<bool>>,
}

thread_local! {
    static SPARES: RefCell<Vec<Spare>> = const { RefCell::new(Vec::new()) };
}

/// Starts as many as an evaluation needs.
pub fn start() {
    while SPARES.with_borrow(Vec::len) < worker_count() {
        // Where there are no workers, whoever needs one is told.
        let Ok(link) = WorkerLink::start(|_| ()) else {
            break;
        };
        give(link);
    }
}

/// Takes one back that has nothing to do, unless there are enough.
pub(super) fn give(link: WorkerLink) {
    SPARES.with_borrow_mut(|spares| {
        if spares.len() < worker_count() {
            let is_broken = Rc::new(Cell::new(false));
            let breaks = Rc::clone(&is_broken);
            link.set_report(move |_| breaks.set(true));
            spares.push(Spare { link, is_broken });
        }
    });
}

/// Ends those that nobody took.
pub fn end() {
    SPARES.take();
}

/// One of them, whom `report` hears from now on.
pub(super) fn take(report: impl Fn(Report) + 'static) -> Option<WorkerLink> {
    let spare = SPARES.with_borrow_mut(|spares| {
        spares.retain(|spare| !spare.is_broken.get());
        spares.pop()
    })?;
    spare.link.set_report(report);
    Some(spare.link)
}
