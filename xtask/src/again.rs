//! Journeys that failed beside others, and are run again alone: a browser on a machine that does other things too may
//! be late without anything being wrong. What then passes is named, so that somebody can look into it; what fails
//! again has failed, and so has everything where many fail.

/// More than so many are no accident.
const MOST: usize = 3;

/// What Node's `spec` reporter says of the tests that failed, read line by line.
#[derive(Debug, Default)]
pub struct Failures {
    is_reached: bool,
    file: Option<String>,
    found: Vec<Failure>,
}

/// A test that failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file, from the project's root.
    pub file: String,
    /// Its name.
    pub name: String,
}

impl Failures {
    /// A line of the reporter.
    pub fn read(&mut self, line: &str) {
        self.is_reached |= line.ends_with("failing tests:");
        if !self.is_reached {
            return;
        }
        if let Some(place) = line.strip_prefix("test at ") {
            self.file = place.split(':').next().map(str::to_owned);
        } else if let Some(said) = line.strip_prefix("✖ ")
            && let Some((name, _)) = said.rsplit_once(" (")
            && let Some(file) = self.file.take()
        {
            let name = name.to_owned();
            self.found.push(Failure { file, name });
        }
    }

    /// Those of a run in which so many failed, if they are few and all of them are known.
    pub fn few(self, failed: u64) -> Option<Vec<Failure>> {
        let is_whole = u64::try_from(self.found.len()) == Ok(failed);
        (is_whole && (1..=MOST).contains(&self.found.len())).then_some(self.found)
    }
}

impl Failure {
    /// The regular expression of JavaScript that finds this test and no other one.
    pub fn pattern(&self) -> String {
        let mut pattern = String::from("^");
        for letter in self.name.chars() {
            if letter.is_ascii_punctuation() && !"-_\"'<>=!@#%&,:;`~".contains(letter) {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern.push('$');
        pattern
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
✖ a key, refused (33050.5ms)
ℹ fail 2

✖ failing tests:

test at tests/e2e/evaluate.spec.mjs:203:1
✖ a key, refused (33050.5ms)
  AssertionError [ERR_ASSERTION]: the status says \"Paused (8)\"

test at tests/e2e/look.spec.mjs:3:1
✖ zoom (200 %): nothing is cut. Or is it? (12.1ms)
";

    fn failures() -> Failures {
        let mut failures = Failures::default();
        SAID.lines().for_each(|line| failures.read(line));
        failures
    }

    #[test]
    fn what_failed_is_known_by_file_and_name() {
        let found = failures().few(2).unwrap();
        assert_eq!(found[0].file, "tests/e2e/evaluate.spec.mjs");
        assert_eq!(found[0].pattern(), "^a key, refused$");
        assert_eq!(
            found[1].pattern(),
            r"^zoom \(200 %\): nothing is cut\. Or is it\?$"
        );
    }

    #[test]
    fn many_or_unknown_failures_are_no_accident() {
        assert_eq!(failures().few(3), None);
        assert_eq!(Failures::default().few(0), None);
        let mut many = failures();
        SAID.lines().for_each(|line| many.read(line));
        assert_eq!(many.few(4), None);
    }
}
