//! JSON objects as the engine's values, with Jinja2's rule that the methods of a mapping precede its members: `schema.items`
//! is Python's method, also if the schema has such a member, and `schema['items']` is the member.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{DynObject, Enumerator, Object};
use minijinja::{Error, State, Value};

/// The methods of a mapping that the sandbox of Jinja2 allows.
const METHODS: [&str; 6] = ["copy", "fromkeys", "get", "items", "keys", "values"];

/// A mapping with the members of a JSON object.
#[derive(Debug)]
pub(super) struct Mapping(DynObject);

impl Mapping {
    /// Members in order, as a value.
    pub fn value<'a>(members: impl Iterator<Item = (&'a str, Value)>) -> Value {
        let value = Value::from_pairs(members);
        match value.as_object() {
            Some(object) => Value::from_object(Mapping(object.clone())),
            None => value,
        }
    }
}

impl Object for Mapping {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get_value(key)
    }

    /// Reads an attribute.
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match METHODS.into_iter().find(|name| *name == key) {
            Some(name) => Some(Value::from_object(Method {
                mapping: Arc::clone(self),
                name,
            })),
            None => self.0.get_value_by_str(key),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.0.enumerate()
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.0.enumerator_len()
    }
}

/// A method that is not called yet.
#[derive(Debug)]
struct Method {
    mapping: Arc<Mapping>,
    name: &'static str,
}

impl Object for Method {
    fn repr(self: &Arc<Self>) -> minijinja::value::ObjectRepr {
        minijinja::value::ObjectRepr::Plain
    }

    fn call(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        arguments: &[Value],
    ) -> Result<Value, Error> {
        let mapping = Value::from_dyn_object(Arc::clone(&self.mapping));
        mapping.call_method(state, self.name, arguments)
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "<built-in method {} of dict object>", self.name)
    }
}
