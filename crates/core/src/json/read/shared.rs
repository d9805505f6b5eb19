//! Interns long strings that a document repeats: logs contain the same message in the list of messages, in the
//! events, and in the input of the model.

use crate::json::Text;

/// Shorter texts are not interned: a look-up costs more than it saves.
const LONG: usize = 96;
/// One slot for this many bytes of the document,
const BYTES_A_SLOT: usize = 1 << 10;
/// but never more slots than this.
const MOST_SLOTS: usize = 1 << 16;

/// The long strings of a document, hashed by a sample of their bytes. A string replaces another one in the same
/// slot, so the cost of a look-up does not depend on their number.
#[derive(Clone, Debug)]
pub struct SharedTexts {
    slots: Vec<Option<Text>>,
    wanted: usize,
}

impl SharedTexts {
    /// For documents of this total size in bytes.
    pub fn new(length: usize) -> SharedTexts {
        let wanted = (length / BYTES_A_SLOT).clamp(1, MOST_SLOTS);
        SharedTexts {
            slots: Vec::new(),
            wanted: wanted.next_power_of_two(),
        }
    }

    /// The text, shared with an equal earlier one.
    pub(super) fn text(&mut self, text: &str) -> Text {
        if text.len() < LONG || self.wanted == 1 {
            return text.into();
        }
        self.slots.resize(self.wanted, None);
        let slot = &mut self.slots[hash(text.as_bytes()) & (self.wanted - 1)];
        match slot {
            Some(known) if **known == *text => known.clone(),
            slot => slot.insert(text.into()).clone(),
        }
    }
}

/// The hash of the length and of bytes sampled from the whole text.
fn hash(bytes: &[u8]) -> usize {
    const SAMPLES: usize = 32;
    let step = bytes.len() / SAMPLES;
    let samples = (0..SAMPLES).map(|sample| bytes[sample * step]);
    let sum = samples.fold(bytes.len() as u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // The upper bits depend on all samples.
    (sum ^ (sum >> 29)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    #[test]
    fn equal_texts_are_one_and_others_stay_others() {
        let long = |letter: &str| letter.repeat(3 * LONG);
        let texts: Vec<String> = (0..400).map(|n| format!("{}{n}", long("x"))).collect();
        let twice: Vec<&str> = texts.iter().chain(&texts).map(String::as_str).collect();
        let json = Json::from(
            twice
                .iter()
                .map(|text| Json::from(*text))
                .collect::<Vec<_>>(),
        );
        let read = Json::parse(&json.to_compact_text()).unwrap();
        assert_eq!(read, json);

        let pair = format!(
            "[\"{0}\", \"{0}\", \"{1}\"]",
            long("a\\n").repeat(9),
            long("b")
        );
        let read = Json::parse(&pair).unwrap();
        let text = |index: usize| read.as_list().unwrap()[index].as_text().unwrap().clone();
        assert!(Text::ptr_eq(&text(0), &text(1)));
        assert!(!Text::ptr_eq(&text(0), &text(2)));
    }
}
