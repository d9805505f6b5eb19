//! Counts passed and failed tests, parsed from each test runner's summary.

use std::fmt;
use std::ops::AddAssign;

/// Numbers of passed and failed tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    pub failed: u64,
}

impl Count {
    /// The count of a single check.
    pub fn of(fine: bool) -> Count {
        Count {
            passed: u64::from(fine),
            failed: u64::from(!fine),
        }
    }

    /// Adds the counts in a line: cargo's `test result: ok. 3 passed; 1 failed; …`, nextest's `Summary [ 1.2s] 4
    /// tests run: 3 passed, 1 failed, …`, the golden harness's `golden cases: 3 passed, 1 failed, …`,
    /// pytest's `=== 1 failed, 3 passed in 0.1s ===`.
    pub fn read(&mut self, line: &str) {
        let words: Vec<&str> = line
            .split([' ', ';', ','])
            .filter(|word| !word.is_empty())
            .collect();
        let cargo = line.starts_with("test result: ") || line.starts_with("golden cases: ");
        let nextest = line.trim_start().starts_with("Summary [");
        let pytest = line.starts_with("==") && line.contains(" in ");
        if cargo || nextest || pytest {
            for pair in words.windows(2) {
                match (pair[0].parse::<u64>(), pair[1]) {
                    (Ok(number), "passed") => self.passed += number,
                    (Ok(number), "failed" | "error" | "errors" | "exec" | "timed") => {
                        self.failed += number;
                    }
                    _ => {}
                }
            }
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn every_runner_is_understood() {
        let mut count = Count::default();
        for line in [
            "running 4 tests",
            "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 5 filtered out",
            "golden cases: 20 passed, 0 failed, 3 left out, 4 pending",
            "     Summary [   0.5s] 9 tests run: 6 passed (1 slow), 2 failed, 1 timed out, 3 skipped",
            "=== 1 failed, 4 passed, 1 warning in 0.12s ===",
            "we passed 9 failed 9",
        ] {
            count.read(line);
        }
        assert_eq!(
            count,
            Count {
                passed: 33,
                failed: 5
            }
        );
    }
}
