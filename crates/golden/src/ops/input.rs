//! Reads the inputs of cases, and runs futures.

use std::fmt::Display;
use std::future::Future;

use volary_core::environment::Setting;
use volary_core::fields::{self, FieldError};
use volary_core::virtual_clock::VirtualClock;
use volary_core::{Json, Object, Text};

/// The text of an error, which cases compare.
pub(super) fn told(error: impl Display) -> String {
    error.to_string()
}

/// The value under a required key.
pub(super) fn required<'a>(input: &'a Json, key: &str) -> Result<&'a Json, String> {
    fields::object("input", input)
        .and_then(|object| fields::required(object, key))
        .map_err(told)
}

/// The text under a required key.
pub(super) fn text(input: &Json, key: &str) -> Result<Text, String> {
    fields::text(key, required(input, key)?).map_err(told)
}

/// The list under a required key.
pub(super) fn list<'a>(input: &'a Json, key: &str) -> Result<&'a [Json], String> {
    fields::list(key, required(input, key)?).map_err(told)
}

/// The object under a key; an empty one if it is missing or null.
pub(super) fn object(input: &Json, key: &str) -> Result<Object, String> {
    match given(input, key) {
        Some(value) => fields::object(key, value).cloned().map_err(told),
        None => Ok(Object::new()),
    }
}

/// The value under a key, unless it is missing or null.
pub(super) fn given<'a>(input: &'a Json, key: &str) -> Option<&'a Json> {
    input.get(key).filter(|value| !value.is_null())
}

/// The flag under a key, or the default.
pub(super) fn flag(input: &Json, key: &str, default: bool) -> Result<bool, String> {
    match given(input, key) {
        Some(value) => fields::flag(key, value).map_err(told),
        None => Ok(default),
    }
}

/// The integer under a required key.
pub(super) fn whole(input: &Json, key: &str) -> Result<i64, String> {
    required(input, key)?
        .as_i64()
        .ok_or_else(|| told(FieldError::new(key, "a whole number is needed")))
}

/// The inputs of a case's environments: a clock on which waiting takes no time.
pub(super) struct World {
    clock: VirtualClock,
}

impl World {
    pub(super) fn new() -> Self {
        World {
            clock: VirtualClock::new(),
        }
    }

    pub(super) fn setting(&self) -> Setting {
        Setting {
            seed: 0,
            clock: std::rc::Rc::new(self.clock.clone()),
            outside: std::rc::Rc::new(volary_core::outside::Closed),
        }
    }

    pub(super) fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// Runs a future to its end.
    pub(super) fn run<T, E: Display>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, String> {
        self.clock.run(future).map_err(told)?.map_err(told)
    }
}
