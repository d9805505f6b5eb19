//! Back-pressure: limits how far a download is ahead of its readers. Pure.

/// This many bytes are received before the first read…
const LEAD: u64 = 1 << 20;
/// …and this many times as many as were read, so that a sequential reader never waits for long.
const SHARE: u64 = 2;

/// The progress of the readers.
#[derive(Default)]
pub struct Backpressure {
    /// A reader wants the bytes before this one.
    wanted: u64,
}

impl Backpressure {
    /// A reader wants all bytes before `end`.
    pub fn want(&mut self, end: u64) {
        self.wanted = self.wanted.max(end);
    }

    /// Whether more should be received.
    pub fn wants_more(&self, received: u64) -> bool {
        received < LEAD.saturating_add(self.wanted.saturating_mul(SHARE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_stays_a_little_ahead_of_its_readers() {
        let mut backpressure = Backpressure::default();
        assert!(backpressure.wants_more(0) && backpressure.wants_more(LEAD - 1));
        assert!(!backpressure.wants_more(LEAD), "nobody reads");
        backpressure.want(LEAD);
        assert!(backpressure.wants_more(SHARE * LEAD), "more than was read");
        backpressure.want(10);
        assert!(
            backpressure.wants_more(SHARE * LEAD),
            "a smaller range changes nothing"
        );
        backpressure.want(u64::MAX);
        assert!(backpressure.wants_more(1 << 40));
    }
}
