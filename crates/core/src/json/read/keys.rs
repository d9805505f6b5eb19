//! Keys that documents say again and again, kept once for as long as the program runs: the keys of a hundred
//! thousand lines are the same few, and making them anew costs as much as all else that is read.

use std::cell::Cell;

use crate::json::Key;

/// So many are kept; a power of two.
const PLACES: usize = 512;
/// Longer ones are mostly ids and paths, which don't come back.
const LONGEST: usize = 24;

thread_local! {
    /// Each at the place that its bytes give. Whoever comes first stays: what is kept is never let go, and takes
    /// twelve kilobytes at most.
    static KNOWN: [Cell<Option<&'static str>>; PLACES] = const { [const { Cell::new(None) }; PLACES] };
}

/// The key, from those that are kept if it is one of them or can become one.
pub(super) fn key(text: &str) -> Key {
    if text.len() > LONGEST {
        return Key::Owned(text.to_owned());
    }
    KNOWN.with(|known| {
        let place = &known[hash(text.as_bytes()) & (PLACES - 1)];
        match place.get() {
            Some(known) if known == text => Key::Borrowed(known),
            Some(_) => Key::Owned(text.to_owned()),
            None => {
                let kept: &'static str = Box::leak(text.into());
                place.set(Some(kept));
                Key::Borrowed(kept)
            }
        }
    })
}

fn hash(bytes: &[u8]) -> usize {
    let sum = bytes.iter().fold(bytes.len() as u32, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    (sum ^ (sum >> 15)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_was_read_however_many_come() {
        for round in 0..2 {
            for number in 0..4 * PLACES {
                let text = format!("key {number}");
                assert_eq!(key(&text), text, "{round}");
            }
        }
        assert!(matches!(key("key 0"), Key::Borrowed(_)));
        assert!(matches!(key(&"long".repeat(9)), Key::Owned(_)));
    }
}
