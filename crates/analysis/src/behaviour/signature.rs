//! An episode as a short sequence of symbols: its acts, each with the kind of its error, and equal neighbours folded.
//!
//! Symbols are numbers of an [`Alphabet`] that all rows share, so that sequences are compared quickly.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::acts::Act;

/// The symbols of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Alphabet {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Alphabet {
    fn number(&mut self, name: String) -> u32 {
        // Fewer than 2^32 names fit into memory.
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let names = &mut self.names;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            next
        })
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: u32) -> &str {
        self.names.get(symbol as usize).map_or("", String::as_str)
    }
}

impl From<Vec<String>> for Alphabet {
    fn from(names: Vec<String>) -> Alphabet {
        let mut alphabet = Alphabet::default();
        for name in names {
            alphabet.number(name);
        }
        alphabet
    }
}

impl From<Alphabet> for Vec<String> {
    fn from(alphabet: Alphabet) -> Vec<String> {
        alphabet.names
    }
}

/// The symbols of an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Signature {
    /// The symbols without repetitions of neighbours.
    pub symbols: Vec<u32>,
    /// How often each symbol follows itself.
    pub counts: Vec<u32>,
    /// The step at which each symbol begins.
    pub steps: Vec<u32>,
}

impl Signature {
    /// The signature of acts.
    pub fn of(acts: &[Act<'_>], alphabet: &mut Alphabet) -> Signature {
        let mut signature = Signature::default();
        for act in acts {
            let name = match &act.error {
                Some(error) => format!("{} ✗ {error}", act.name),
                None => act.name.to_string(),
            };
            let symbol = alphabet.number(name);
            match (signature.symbols.last(), signature.counts.last_mut()) {
                (Some(last), Some(count)) if *last == symbol => *count += 1,
                _ => {
                    signature.symbols.push(symbol);
                    signature.counts.push(1);
                    signature
                        .steps
                        .push(u32::try_from(act.step).unwrap_or(u32::MAX));
                }
            }
        }
        signature
    }

    /// The same signature in the symbols of another alphabet.
    pub fn translated(&self, from: &Alphabet, to: &mut Alphabet) -> Signature {
        let symbols = self.symbols.iter();
        Signature {
            symbols: symbols
                .map(|symbol| to.number(from.name(*symbol).to_owned()))
                .collect(),
            ..self.clone()
        }
    }

    /// The sequence for display: `look ×3 → take → take ✗ KeyError`.
    pub fn to_text(&self, alphabet: &Alphabet) -> String {
        let symbols = self.symbols.iter().zip(&self.counts);
        let symbols = symbols.map(|(symbol, count)| {
            let name = alphabet.name(*symbol);
            if *count > 1 {
                format!("{name} ×{count}")
            } else {
                name.to_owned()
            }
        });
        symbols.collect::<Vec<_>>().join(" → ")
    }

    /// The sorted digests of its sequences of three, with marks for start and end.
    pub(super) fn grams(&self) -> Vec<u64> {
        const START: u32 = u32::MAX;
        const END: u32 = u32::MAX - 1;
        let mut padded = vec![START, START];
        padded.extend(&self.symbols);
        padded.push(END);
        let mut grams: Vec<u64> = padded
            .array_windows::<3>()
            .map(|gram| {
                gram.iter()
                    .fold(0, |digest, symbol| mix(digest ^ u64::from(*symbol)))
            })
            .collect();
        grams.sort_unstable();
        grams.dedup();
        grams
    }
}

/// A bijection whose results look random (the finalizer of SplitMix64).
pub(super) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
