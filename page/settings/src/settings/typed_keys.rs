//! Keys typed into a form that is not yet submitted. Pure.

use volary_secrets::KeyOrigin;

/// Typed keys by the origin of the address at the time of typing. One of them is in the field.
#[derive(Clone, Default)]
pub struct TypedKeys {
    /// The origin of the key in the field; `None` before an address was entered.
    current: Option<KeyOrigin>,
    others: Vec<(KeyOrigin, String)>,
}

/// The effect of an address change on the key in the field.
#[derive(Clone, PartialEq, Eq)]
pub enum KeyField {
    /// The key in the field is kept.
    Stays,
    /// The key belongs to the previous origin and is replaced.
    Becomes {
        /// The key that was typed earlier for the new origin; empty if there is none.
        key: String,
        /// The origin that keeps the previous key, if there was one.
        former: Option<KeyOrigin>,
    },
}

impl TypedKeys {
    /// Records that the address now has this origin while the field contains this key.
    pub fn address_is(&mut self, origin: KeyOrigin, typed: String) -> KeyField {
        if self
            .current
            .as_ref()
            .is_none_or(|current| *current == origin)
        {
            self.current = Some(origin);
            return KeyField::Stays;
        }
        let found = self.others.iter().position(|(other, _)| *other == origin);
        let key = found.map_or_else(String::new, |place| self.others.remove(place).1);
        let former = self.current.replace(origin);
        let former = former.filter(|_| !typed.trim().is_empty());
        if let Some(former) = &former {
            self.others.push((former.clone(), typed));
        }
        KeyField::Becomes { key, former }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_key_stays_with_the_address_it_was_typed_for() {
        let (one, other) = (KeyOrigin::of("http://a:1/x"), KeyOrigin::of("http://b:1/x"));
        let mut keys = TypedKeys::default();
        // The key may be typed before the address.
        assert!(keys.address_is(one.clone(), "s3cret".into()) == KeyField::Stays);
        assert!(keys.address_is(KeyOrigin::of("http://a:1/y"), "s3cret".into()) == KeyField::Stays);
        let moved = KeyField::Becomes {
            key: String::new(),
            former: Some(one.clone()),
        };
        assert!(keys.address_is(other, "s3cret".into()) == moved);
        let back = KeyField::Becomes {
            key: "s3cret".into(),
            former: None,
        };
        assert!(keys.address_is(one, String::new()) == back);
    }
}
