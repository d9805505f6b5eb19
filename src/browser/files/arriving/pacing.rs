//! Back-pressure: how far a file is fetched ahead of its reader. Pure.

/// So much is fetched before anybody asks for it…
const LEAD: u64 = 1 << 20;
/// …and so many times as much as was asked for: who goes through a file never waits for long.
const SHARE: u64 = 2;

/// How fast a file is to come.
#[derive(Default)]
pub struct Pace {
    /// Somebody asked for what is before this byte.
    wanted: u64,
}

impl Pace {
    /// Somebody asks for what is before a byte.
    pub fn want(&mut self, end: u64) {
        self.wanted = self.wanted.max(end);
    }

    /// Whether more is to be fetched, when so many bytes came.
    pub fn goes_on(&self, came: u64) -> bool {
        came < LEAD.saturating_add(self.wanted.saturating_mul(SHARE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_ahead_of_who_reads_it_and_not_far() {
        let mut pace = Pace::default();
        assert!(pace.goes_on(0) && pace.goes_on(LEAD - 1));
        assert!(!pace.goes_on(LEAD), "nobody wants more");
        pace.want(LEAD);
        assert!(pace.goes_on(SHARE * LEAD), "more than was asked for");
        pace.want(10);
        assert!(
            pace.goes_on(SHARE * LEAD),
            "who asks for less takes nothing back"
        );
        pace.want(u64::MAX);
        assert!(pace.goes_on(1 << 40));
    }
}
