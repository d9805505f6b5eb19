//! Readings in progress, and the waiters for their trajectories.

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_protocol::RequestId;

/// Identifies a reading on the page. Numbers count up from 1; readings that are not shown have 0.
pub type ReadingNumber = u32;

/// A reading in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub number: ReadingNumber,
    /// The request to the worker; `None` until it is sent.
    request: Option<RequestId>,
    /// Description for the user.
    pub doing: Text,
    /// The progress, from 0 to 1; `None` if unknown.
    pub done: Option<f64>,
    /// Whether the user cancelled it.
    pub is_ending: bool,
}

/// All readings in progress.
#[derive(Debug, Default)]
pub struct Readings {
    last: ReadingNumber,
    list: Vec<Reading>,
    waiters: Vec<Waiter>,
}

/// Waits for one trajectory of a reading.
#[derive(Debug)]
struct Waiter {
    reading: ReadingNumber,
    /// The number of trajectories until the awaited one; 1 for the next one.
    left: usize,
}

impl Readings {
    /// The readings that are shown, oldest first.
    pub fn list(&self) -> &[Reading] {
        &self.list
    }

    /// Adds a reading. `doing` describes it for the user.
    pub fn begin(&mut self, doing: &str) -> ReadingNumber {
        self.last = self.last.wrapping_add(1);
        self.list.push(Reading {
            number: self.last,
            request: None,
            doing: doing.into(),
            done: None,
            is_ending: false,
        });
        self.last
    }

    /// Stores the request id of a reading, by which it can be cancelled.
    pub fn sent(&mut self, number: ReadingNumber, request: RequestId) {
        if let Some(reading) = self.get_mut(number) {
            reading.request = Some(request);
        }
    }

    /// Updates the progress of a reading, unless it was cancelled.
    pub fn progress(&mut self, number: ReadingNumber, doing: Text, done: Option<f64>) {
        if let Some(reading) = self.get_mut(number).filter(|reading| !reading.is_ending) {
            (reading.doing, reading.done) = (doing, done);
        }
    }

    /// Marks a reading as cancelled. Returns the request to cancel, if it was sent.
    pub fn cancel(&mut self, number: ReadingNumber) -> Option<RequestId> {
        let reading = self.get_mut(number)?;
        reading.is_ending = true;
        reading.doing = "Stopping".into();
        reading.request
    }

    /// Removes a finished reading. Returns whether a waiter for one of its trajectories was left.
    pub fn end(&mut self, number: ReadingNumber) -> bool {
        self.list.retain(|reading| reading.number != number);
        self.stop_waiting(number)
    }

    /// Hides all readings because their worker is gone. Waiters stay until [`Readings::end`] is called for each.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Waits for the trajectory of a reading at `place`, counted from 1.
    pub fn wait(&mut self, reading: ReadingNumber, place: usize) {
        let left = place.max(1);
        self.waiters.push(Waiter { reading, left });
    }

    /// Counts the rows of a reading. Returns the id of the awaited trajectory if it is among them.
    pub fn arrived(&mut self, number: ReadingNumber, rows: &[Row]) -> Option<Text> {
        let place = self.position(number)?;
        let waiter = self.waiters.get_mut(place)?;
        match rows.get(waiter.left - 1) {
            Some(row) => {
                self.waiters.swap_remove(place);
                Some(row.id.clone())
            }
            None => {
                waiter.left -= rows.len();
                None
            }
        }
    }

    /// Removes the waiter for a trajectory of a reading. Returns whether there was one.
    pub fn stop_waiting(&mut self, number: ReadingNumber) -> bool {
        let place = self.position(number);
        place.map(|place| self.waiters.swap_remove(place)).is_some()
    }

    fn position(&self, number: ReadingNumber) -> Option<usize> {
        let mut waiters = self.waiters.iter();
        waiters.position(|waiter| waiter.reading == number)
    }

    fn get_mut(&mut self, number: ReadingNumber) -> Option<&mut Reading> {
        let mut readings = self.list.iter_mut();
        readings.find(|reading| reading.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: &[&str]) -> Vec<Row> {
        let rows = ids.iter().map(|id| Row {
            id: (*id).into(),
            ..Row::default()
        });
        rows.collect()
    }

    #[test]
    fn a_trajectory_of_a_later_batch_is_waited_for() {
        let mut readings = Readings::default();
        let number = readings.begin("Reading");
        readings.wait(number, 3);
        assert_eq!(readings.arrived(number + 1, &rows(&["x"])), None);
        assert_eq!(readings.arrived(number, &rows(&["a", "b"])), None);
        assert_eq!(
            readings.arrived(number, &rows(&["c", "d"])),
            Some("c".into())
        );
        assert_eq!(readings.arrived(number, &rows(&["e"])), None, "only once");
        assert!(!readings.end(number), "nobody waits any more");
    }

    #[test]
    fn the_end_of_a_reading_notifies_its_waiters() {
        let mut readings = Readings::default();
        let first = readings.begin("Reading");
        let second = readings.begin("Fetching");
        readings.wait(second, 0);
        assert!(!readings.end(first));
        readings.clear();
        assert!(readings.list().is_empty());
        assert!(readings.end(second));
        assert!(!readings.end(second), "only once");
    }

    #[test]
    fn a_cancelled_reading_shows_no_further_progress() {
        let mut readings = Readings::default();
        let number = readings.begin("Reading");
        assert_eq!(readings.cancel(number), None, "nothing was sent");
        readings.progress(number, "Reading a.json".into(), Some(0.5));
        assert_eq!(&*readings.list()[0].doing, "Stopping");
        let other = readings.begin("Reading");
        readings.progress(other, "Reading b.json".into(), Some(0.5));
        assert_eq!(readings.list()[1].done, Some(0.5));
    }
}
