//! Exports that nobody calls, taken out of the module: what they alone reach is then in no part.
//!
//! A crate among our dependencies' dependencies turns Rust's streams into the browser's. What it exports for that
//! (classes with methods, each a promise) would be a thirtieth of the first load, and nothing here is such a stream.

use anyhow::{Context, Result, bail};

use super::binary::{EXPORTS, Reader, push_number, with_section};

/// What the names of these exports hold.
const UNUSED: &[u8] = b"intounderlying";
/// What the glue would have if something used them.
const USE: &str = "new_with_into_underlying";

/// The module without them.
pub fn without_unused(module: &[u8]) -> Result<Vec<u8>> {
    with_section(module, EXPORTS, used).context("the wasm has exports of an unknown form")
}

/// Fails if the glue is of a module that needs them after all.
pub fn check(glue: &str) -> Result<()> {
    if glue.contains(USE) {
        bail!(
            "something makes a stream of the browser's out of one of Rust's: leave its exports in (xtask/src/wasm/exports.rs)"
        );
    }
    Ok(())
}

fn used(section: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader(section);
    let mut kept: Vec<u8> = Vec::new();
    let mut count = 0;
    for _ in 0..reader.number()? {
        let start = reader.0;
        let name = reader.name()?;
        // What kind of thing it is, and which.
        reader.byte()?;
        reader.number()?;
        if !name.windows(UNUSED.len()).any(|part| part == UNUSED) {
            kept.extend(start.get(..start.len() - reader.0.len())?);
            count += 1;
        }
    }
    let mut section = Vec::with_capacity(kept.len() + 5);
    push_number(&mut section, count);
    section.extend(kept);
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::super::binary::{module_of, push_name};
    use super::*;

    fn module(names: &[&str]) -> Vec<u8> {
        module_of(EXPORTS, names, |section, name| {
            push_name(section, name.as_bytes());
            section.extend([0, 7]);
        })
    }

    #[test]
    fn what_nobody_calls_is_not_exported() {
        let all = ["main", "__wbg_intounderlyingsink_free_1", "memory"];
        let left = without_unused(&module(&all)).unwrap();
        assert_eq!(left, module(&["main", "memory"]));
        assert!(check("new_with_into_underlying_sink: 1").is_err());
        assert!(check("{}").is_ok());
    }
}
