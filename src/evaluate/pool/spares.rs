//! Workers that were started before anybody needed them: a worker takes longer to be ready than to play hundreds of
//! episodes. They are there while an evaluation is set up, and rehearse.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::worker_count;
use crate::evaluate::protocol::Order;
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
    SPARES.with_borrow_mut(|spares| {
        while spares.len() < worker_count() {
            let is_broken = Rc::new(Cell::new(false));
            let breaks = Rc::clone(&is_broken);
            // Where there are no workers, whoever needs one is told.
            let Ok(link) = WorkerLink::start(move |_| breaks.set(true)) else {
                return;
            };
            link.post(&Order::Rehearse.to_text());
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
