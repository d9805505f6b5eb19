//! Short names between the wasm and its glue.
//!
//! wasm-bindgen names each of the browser's functions that the wasm calls after what it is, with a digest:
//! some three hundred long names, which both files carry. Nobody reads them.

use anyhow::{Context, Result, bail};

use super::binary::{IMPORTS, Reader, push_name, push_number, with_section};

/// What wasm-bindgen's names begin with. All names of the glue that begin so and that the wasm imports are
/// its own, and each of them is unique.
const START: &[u8] = b"__wb";

/// The module and its glue with short names.
pub fn shortened(module: &[u8], glue: &str) -> Result<(Vec<u8>, String)> {
    let (module, mut names) = rename(module).context("the wasm has imports of an unknown form")?;
    let mut glue = glue.to_owned();
    // Long ones first: one may be the start of another.
    names.sort_by_key(|(long, _)| std::cmp::Reverse(long.len()));
    for (long, short) in names {
        if !glue.contains(&long) {
            bail!("the glue does not give {long}, which the wasm wants");
        }
        glue = glue.replace(&long, &short);
    }
    Ok((module, glue))
}

/// The names that were given up, with those that they have now.
type Names = Vec<(String, String)>;

fn rename(module: &[u8]) -> Option<(Vec<u8>, Names)> {
    let mut names = Vec::new();
    let renamed = with_section(module, IMPORTS, |section| imports(section, &mut names))?;
    Some((renamed, names))
}

fn imports(section: &[u8], names: &mut Names) -> Option<Vec<u8>> {
    let mut reader = Reader(section);
    let mut renamed = Vec::with_capacity(section.len());
    let count = reader.number()?;
    push_number(&mut renamed, count);
    for _ in 0..count {
        let from = reader.name()?;
        let name = reader.name()?;
        push_name(&mut renamed, from);
        if name.starts_with(START) {
            let short = format!("${}", names.len());
            push_name(&mut renamed, short.as_bytes());
            names.push((String::from_utf8(name.to_vec()).ok()?, short));
        } else {
            push_name(&mut renamed, name);
        }
        let what = reader.0;
        reader.import()?;
        renamed.extend(what.get(..what.len() - reader.0.len())?);
    }
    Some(renamed)
}

#[cfg(test)]
mod tests {
    use super::super::binary::module_of;
    use super::*;

    /// A module that imports these functions from `a`, and then has a section of its own.
    fn module(names: &[&str]) -> Vec<u8> {
        let mut module = module_of(IMPORTS, names, |section, name| {
            push_name(section, b"a");
            push_name(section, name.as_bytes());
            section.extend([0, 5]);
        });
        module.extend([11, 1, 7]);
        module
    }

    #[test]
    fn names_are_short_on_both_sides() {
        let long = ["__wbg_a_12", "memory", "__wbg_a_123"];
        let glue = "{__wbg_a_12: 1, __wbg_a_123: 2, memory: 3}";
        let (short, glue) = shortened(&module(&long), glue).unwrap();
        assert_eq!(short, module(&["$0", "memory", "$1"]));
        assert_eq!(glue, "{$0: 1, $1: 2, memory: 3}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(shortened(&module(&["__wbg_a"]), "{}").is_err());
        assert!(shortened(b"\0asm\x01\0\0\0\x02\x05\x09", "").is_err());
    }
}
