//! Compares a result with the expectation.
//!
//! Objects match in any order, lists in order, texts exactly, numbers by value; an integer matches a float only
//! where a case allows it. An object whose only key is `$any`, `$prefix`, `$contains`, `$regex` or `$subset` is
//! a matcher. Under the key `error`, `{"contains": …}` matches a text.

use volary_core::{Json, Object};

use crate::cases::contained;

/// Keys under which integers match floats of the same value.
const LOOSE: [&str; 7] = [
    "reward",
    "rewards",
    "correct_rewards",
    "score",
    "accuracy",
    "precision",
    "answers",
];

/// Where integers match floats of the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loose {
    /// Under keys that name rewards and scores.
    Named,
    /// Everywhere.
    Whole,
    /// Under those keys, and for the reward in a reply to `/step`: the second of four elements of a
    /// `body`.
    StepReward,
}

/// Returns the first difference between the found value and the expected one.
pub fn check(expected: &Json, found: &Json, loose: Loose) -> Result<(), String> {
    let mut matching = Matching {
        path: String::new(),
        step_reward: loose == Loose::StepReward,
    };
    matching.check(expected, found, loose == Loose::Whole)
}

struct Matching {
    path: String,
    step_reward: bool,
}

impl Matching {
    fn check(&mut self, expected: &Json, found: &Json, loose: bool) -> Result<(), String> {
        if let Some(matcher) = Matcher::of(expected) {
            return self.check_matcher(&matcher, found, loose);
        }
        match (expected, found) {
            (Json::Object(expected), Json::Object(found)) => {
                self.check_members(expected, found, loose)?;
                match found.keys().find(|key| !expected.contains_key(key)) {
                    Some(key) => Err(self.differs(format!("unexpected key {key:?}"))),
                    None => Ok(()),
                }
            }
            (Json::List(expected), Json::List(found)) => {
                if expected.len() != found.len() {
                    let reason = format!(
                        "expected {} elements, found {}: {}",
                        expected.len(),
                        found.len(),
                        Json::List(found.clone()).to_compact_text()
                    );
                    return Err(self.differs(reason));
                }
                let is_step =
                    self.step_reward && expected.len() == 4 && self.path.ends_with(".body");
                let mut pairs = expected.iter().zip(found).enumerate();
                pairs.try_for_each(|(index, (expected, found))| {
                    let loose = loose || (is_step && index == 1);
                    self.within(&format!("[{index}]"), |inner| {
                        inner.check(expected, found, loose)
                    })
                })
            }
            _ if equal(expected, found, loose) => Ok(()),
            _ => Err(self.unequal(&expected.to_python_text(), found)),
        }
    }

    fn check_members(
        &mut self,
        expected: &Object,
        found: &Object,
        loose: bool,
    ) -> Result<(), String> {
        for (key, expected) in expected.iter() {
            let Some(found) = found.get(key) else {
                return Err(self.differs(format!("the key {key:?} is missing")));
            };
            let loose = loose || LOOSE.contains(&&**key);
            self.within(&format!(".{key}"), |inner| match contained(expected) {
                Some(part) if key == "error" => {
                    let wanted = |text: &str| part.is_none_or(|part| text.contains(&*part));
                    inner.check_text(found, &expected.to_compact_text(), wanted)
                }
                _ => inner.check(expected, found, loose),
            })?;
        }
        Ok(())
    }

    fn check_matcher(
        &mut self,
        matcher: &Matcher<'_>,
        found: &Json,
        loose: bool,
    ) -> Result<(), String> {
        match matcher {
            Matcher::Any => Ok(()),
            Matcher::Prefix(prefix) => {
                let wanted = format!("a text that starts with {prefix:?}");
                self.check_text(found, &wanted, |text| text.starts_with(prefix))
            }
            Matcher::Contains(part) => {
                let wanted = format!("a text with {part:?} in it");
                self.check_text(found, &wanted, |text| text.contains(part))
            }
            Matcher::Regex(regex) => match known_regex(regex) {
                Some(matches) => self.check_text(found, regex, matches),
                None => Err(self.differs(format!("the expected $regex {regex:?} is not known"))),
            },
            Matcher::Subset(expected) => match found {
                Json::Object(found) => self.check_members(expected, found, loose),
                _ => Err(self.unequal("an object", found)),
            },
            Matcher::Malformed => Err(self.differs("the expected matcher is malformed".to_owned())),
        }
    }

    fn check_text(
        &self,
        found: &Json,
        wanted: &str,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<(), String> {
        match found {
            Json::Text(text) if fits(text) => Ok(()),
            _ => Err(self.unequal(wanted, found)),
        }
    }

    fn within<T>(&mut self, step: &str, check: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.path.len();
        self.path.push_str(step);
        let checked = check(self);
        self.path.truncate(before);
        checked
    }

    fn unequal(&self, expected: &str, found: &Json) -> String {
        self.differs(format!(
            "expected {expected}, found {}",
            found.to_python_text()
        ))
    }

    fn differs(&self, reason: String) -> String {
        format!("at ${}: {reason}", self.path)
    }
}

enum Matcher<'a> {
    Any,
    Prefix(&'a str),
    Contains(&'a str),
    Regex(&'a str),
    Subset(&'a Object),
    Malformed,
}

impl<'a> Matcher<'a> {
    fn of(expected: &'a Json) -> Option<Self> {
        let object = expected.as_object()?;
        let (key, value) = object.iter().next()?;
        if object.len() != 1 {
            return None;
        }
        let matcher = match (&**key, value) {
            ("$any", Json::Bool(true)) => Matcher::Any,
            ("$prefix", Json::Text(prefix)) => Matcher::Prefix(prefix),
            ("$contains", Json::Text(part)) => Matcher::Contains(part),
            ("$regex", Json::Text(regex)) => Matcher::Regex(regex),
            ("$subset", Json::Object(subset)) => Matcher::Subset(subset),
            ("$any" | "$prefix" | "$contains" | "$regex" | "$subset", _) => Matcher::Malformed,
            _ => return None,
        };
        Some(matcher)
    }
}

/// The only two expressions in use, so that no regex engine is needed.
fn known_regex(regex: &str) -> Option<fn(&str) -> bool> {
    match regex {
        "^[a-zA-Z0-9]{9}$" => {
            Some(|text| text.len() == 9 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        }
        "^([1-9]|10)$" => Some(|text| matches!(text.as_bytes(), [b'1'..=b'9'] | [b'1', b'0'])),
        _ => None,
    }
}

fn equal(expected: &Json, found: &Json, loose: bool) -> bool {
    match (expected, found) {
        (Json::Float(expected), Json::Float(found)) => same_float(*expected, *found),
        (Json::Integer(_), Json::Float(_)) | (Json::Float(_), Json::Integer(_)) if loose => {
            match (expected.as_f64(), found.as_f64()) {
                (Some(expected), Some(found)) => same_float(expected, found),
                _ => false,
            }
        }
        (expected, found) => expected == found,
    }
}

/// -0.0 equals 0.0, and nan equals nan.
fn same_float(expected: f64, found: f64) -> bool {
    expected == found || (expected.is_nan() && found.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use volary_core::json;

    fn matches(expected: Json, found: Json) -> bool {
        check(&expected, &found, Loose::Named).is_ok()
    }

    #[test]
    fn plain_values() {
        assert!(matches(
            json!({"a": 1, "b": [null]}),
            json!({"b": [null], "a": 1})
        ));
        assert!(matches(json!({"$defs": 1}), json!({"$defs": 1})));
        assert!(matches(json!(0.0), json!(-0.0)));
        assert!(!matches(json!([1, 2]), json!([2, 1])));
        assert!(!matches(json!([1]), json!([1, 2])));
        assert!(!matches(json!({"a": 1}), json!({"a": 1, "b": 2})));
        assert!(!matches(json!({"a": 1, "b": 2}), json!({"a": 1})));
        assert!(!matches(json!("a "), json!("a")));
    }

    #[test]
    fn integers_and_floats() {
        assert!(!matches(json!(1), json!(1.0)));
        assert!(matches(json!({"reward": 1}), json!({"reward": 1.0})));
        assert!(matches(
            json!({"answers": [1, {"x": 2}]}),
            json!({"answers": [1.0, {"x": 2.0}]})
        ));
        assert!(!matches(json!({"reward": 1}), json!({"reward": 2.0})));
        assert!(check(&json!(1), &json!(1.0), Loose::Whole).is_ok());
        let reply = |reward: Json| json!([{"status": 200, "body": [[], reward, true, false]}]);
        assert!(check(&reply(json!(1)), &reply(json!(1.0)), Loose::StepReward).is_ok());
        assert!(check(&reply(json!(1)), &reply(json!(1.0)), Loose::Named).is_err());
        assert!(!matches(json!({"rewarded": 1}), json!({"rewarded": 1.0})));
    }

    #[test]
    fn matchers() {
        assert!(matches(json!({"a": {"$any": true}}), json!({"a": null})));
        assert!(!matches(json!({"a": {"$any": true}}), json!({})));
        assert!(matches(json!({"$prefix": "ab"}), json!("abc")));
        assert!(!matches(json!({"$prefix": "b"}), json!("abc")));
        assert!(!matches(json!({"$prefix": "1"}), json!(1)));
        assert!(matches(json!({"$contains": "b"}), json!("abc")));
        assert!(matches(json!({"$regex": "^([1-9]|10)$"}), json!("10")));
        assert!(!matches(json!({"$regex": "^([1-9]|10)$"}), json!("11")));
        assert!(!matches(json!({"$regex": ".*"}), json!("11")));
        assert!(matches(
            json!({"$subset": {"a": {"$any": true}}}),
            json!({"a": 1, "b": 2})
        ));
        assert!(!matches(json!({"$subset": {"c": 1}}), json!({"a": 1})));
        assert!(!matches(json!({"$any": false}), json!({"$any": false})));
    }

    #[test]
    fn errors_contain() {
        let expected = json!({"error": {"contains": "b"}, "frame": 1});
        assert!(matches(
            expected.clone(),
            json!({"error": "abc", "frame": 1})
        ));
        assert!(!matches(expected, json!({"error": "ac", "frame": 1})));
        assert!(matches(
            json!({"error": {"contains": null}}),
            json!({"error": "x"})
        ));
    }
}
