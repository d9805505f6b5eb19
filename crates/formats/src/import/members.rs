//! Removes known members from an object one by one. The remainder was not understood and is preserved.

use volary_core::json::{Json, Object, Text, float_from_text};
use volary_episode::episode::Episode;
use volary_episode::time;

use super::reader::Sink;

/// Removal of typed members from objects. A member of another type than requested stays; null counts as missing and is
/// removed.
pub(crate) trait Members {
    /// Removes a member that is not null.
    fn take(&mut self, key: &str) -> Option<Json>;
    /// Removes a member that satisfies a predicate.
    fn take_if(&mut self, key: &str, test: impl Fn(&Json) -> bool) -> Option<Json>;

    fn take_text(&mut self, key: &str) -> Option<Text> {
        match self.take_if(key, |value| value.as_text().is_some()) {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Removes a text, or an integer as text: ids are either.
    fn take_id(&mut self, key: &str) -> Option<Text> {
        let value = self.take_if(key, |value| id(value).is_some())?;
        id(&value)
    }

    /// Removes the number of a step, as text. Tables with gaps make floats of all numbers of a column.
    fn take_step(&mut self, key: &str) -> Option<Text> {
        let step = self.take_id(key)?;
        Some(match step.strip_suffix(".0") {
            Some(whole) => whole.into(),
            None => step,
        })
    }

    /// Removes a number, or a text that is one.
    fn take_number(&mut self, key: &str) -> Option<f64> {
        let value = self.take_if(key, |value| number(value).is_some())?;
        number(&value)
    }

    /// Removes a reward: a number, a text that is one, or true (1) and false (0).
    fn take_reward(&mut self, key: &str) -> Option<f64> {
        let value = self.take_if(key, |value| reward(value).is_some())?;
        reward(&value)
    }

    /// Removes a boolean.
    fn take_flag(&mut self, key: &str) -> Option<bool> {
        self.take_if(key, |value| value.as_bool().is_some())?
            .as_bool()
    }

    fn take_list(&mut self, key: &str) -> Option<Vec<Json>> {
        match self.take_if(key, |value| value.as_list().is_some()) {
            Some(Json::List(list)) => Some(list),
            _ => None,
        }
    }

    fn take_object(&mut self, key: &str) -> Option<Object> {
        match self.take_if(key, |value| value.as_object().is_some()) {
            Some(Json::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Removes a point in time, in seconds since 1970: formatted, or a number.
    fn take_time(&mut self, key: &str) -> Option<f64> {
        let value = self.take_if(key, |value| moment(value).is_some())?;
        moment(&value)
    }
}

impl Members for Object {
    fn take(&mut self, key: &str) -> Option<Json> {
        self.remove(key).filter(|value| !value.is_null())
    }

    fn take_if(&mut self, key: &str, test: impl Fn(&Json) -> bool) -> Option<Json> {
        let value = self.get(key)?;
        if value.is_null() || test(value) {
            self.take(key)
        } else {
            None
        }
    }
}

/// A text or a number as text.
pub(crate) fn id(value: &Json) -> Option<Text> {
    match value {
        Json::Text(text) => Some(text.clone()),
        Json::Integer(_) | Json::Float(_) => Some(value.to_compact_text().into()),
        _ => None,
    }
}

/// A number, or a text that is one: spreadsheets and configurations make texts of numbers.
pub(crate) fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Text(text) => float_from_text(text),
        other => other.as_f64(),
    }
}

/// A reward: a number, or true (1) and false (0).
pub(crate) fn reward(value: &Json) -> Option<f64> {
    match value {
        Json::Bool(value) => Some(f64::from(u8::from(*value))),
        other => number(other),
    }
}

/// A non-negative number.
pub(crate) fn count(value: &Json) -> Option<u64> {
    let count = number(value).filter(|count| *count >= 0.0)?;
    Some(count as u64)
}

/// A point in time, in seconds since 1970: formatted, or a number of seconds, milliseconds, microseconds or
/// nanoseconds, distinguished by magnitude.
pub(crate) fn moment(value: &Json) -> Option<f64> {
    if let Json::Text(text) = value
        && let Some(time) = time::parse(text)
    {
        return Some(time);
    }
    // The year 5000 in seconds; larger numbers are in smaller units.
    const LATEST: f64 = 1e11;
    let mut time = number(value).filter(|time| time.is_finite())?;
    for _ in 0..3 {
        if time.abs() >= LATEST {
            time /= 1000.0;
        }
    }
    Some(time)
}

/// A value, or the JSON that its text contains: some tools write lists and objects as texts.
pub(crate) fn unpacked(value: Json) -> Json {
    match &value {
        Json::Text(text) if text.trim_start().starts_with(['[', '{']) => {
            Json::parse(text).unwrap_or(value)
        }
        _ => value,
    }
}

/// The value at a path.
pub(crate) fn at<'a>(value: &'a Json, path: &[&str]) -> Option<&'a Json> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The text at a path.
pub(crate) fn text_at(value: &Json, path: &[&str]) -> Option<Text> {
    at(value, path)?.as_text().cloned()
}

/// Removes the members of settings that contain secrets, by their names: keys, and headers of requests.
pub(crate) fn remove_secrets(settings: &mut Object) {
    const NAMES: [&str; 7] = [
        "api_key",
        "apikey",
        "access_token",
        "authorization",
        "headers",
        "password",
        "secret",
    ];
    settings.retain(|key, _| {
        let name = key.to_ascii_lowercase().replace('-', "_");
        !NAMES.iter().any(|secret| name.contains(secret))
    });
    for value in settings.values_mut() {
        if let Json::Object(inner) = value {
            remove_secrets(inner);
        }
    }
}

/// Preserves the members of an episode that were not understood, and reports them.
pub(crate) fn keep_rest(episode: &mut Episode, mut rest: Object, sink: &mut Sink<'_>) {
    rest.retain(|_, value| !value.is_null());
    if rest.is_empty() {
        return;
    }
    sink.kept(format!("Kept unchanged: {}.", names(&rest)));
    episode.raw.extend(rest);
}

/// The names of members for display: the first few, and the number of others.
pub(crate) fn names(object: &Object) -> String {
    const MOST: usize = 20;
    let names: Vec<&str> = object.keys().take(MOST).map(AsRef::as_ref).collect();
    let names = names.join(", ");
    match object.len().saturating_sub(MOST) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
