//! Merges the splitter's chunks.
//!
//! The splitter writes a file for each set of parts that share code: more than two hundred for ten parts, most of a few
//! kilobytes, and each part needs half of them. Two dozen files are fetched and compiled much sooner, so chunks that are
//! needed together become one, although some parts then load a little more than they need.
//!
//! Invariant: a part loads every chunk that the splitter says it needs, each of them once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use wasmparser::{Parser, Payload, TypeRef};

use crate::files::{FEATURES, LOADER, npm_program, on_all_processors, run};

/// A request takes about as long as loading this many more bytes of code: the browser answers, compiles and links each
/// file by itself.
const BYTES_PER_REQUEST: u64 = 24 << 10;

/// The parts that people wait for: those of the first step in the playground and of its worker, and those of a visit that
/// begins with Review, as with `volary view` or a link to a file. The others load after a click, when much of their code
/// is there already.
const AWAITED: [&str; 5] = ["play", "environments", "review", "library", "readers"];

/// How many other parts one of [`AWAITED`] counts for. With 8, and 24 KB for a request, page and worker need 486 KB after the
/// first load for a step, gzipped, in 13 files; with 48 KB for a request it was 555 KB in 10 files.
const AWAITED_WEIGHT: u64 = 8;

/// The splitter's name for what the first part gives the others: memory, table and globals.
const SHARED: &str = "__wasm_split";
/// The name by which merged chunks import the same.
const MERGED: &str = "merged";

/// A set of parts: a bit for each, in the order of their names.
type Parts = u64;

/// Chunks that are loaded together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    /// The parts that need it.
    parts: Parts,
    /// Of code and data.
    bytes: u64,
    /// The file stems of its chunks, and the name of the merged one first.
    chunks: Vec<String>,
}

impl Group {
    /// What the parts save if both are one file, in weighted bytes: a request for each part that needs both, less what
    /// each part loads without needing it.
    fn gain(&self, other: &Group, weights: &[u64]) -> i64 {
        let both = weight(self.parts & other.parts, weights);
        let only_here = weight(self.parts & !other.parts, weights);
        let only_there = weight(other.parts & !self.parts, weights);
        let saved = BYTES_PER_REQUEST * both;
        let wasted = self.bytes * only_there + other.bytes * only_here;
        saved.cast_signed() - wasted.cast_signed()
    }

    fn add(&mut self, other: Group) {
        self.parts |= other.parts;
        self.bytes += other.bytes;
        self.chunks.extend(other.chunks);
    }
}

/// The sum of the weights of parts. `weights` has those of all parts, in the order of their bits.
fn weight(mut parts: Parts, weights: &[u64]) -> u64 {
    let mut sum = 0;
    while parts != 0 {
        sum += weights[parts.trailing_zeros() as usize];
        parts &= parts - 1;
    }
    sum
}

/// The file stems of each part.
pub type Needs = HashMap<String, Vec<String>>;

/// Merges the chunks in `folder`. `needs` lists the files of each part, as the splitter returns them. Returns what each
/// part needs afterwards.
pub fn merge(folder: &Path, needs: &Needs) -> Result<Needs> {
    for name in AWAITED {
        ensure!(needs.contains_key(name), "there is no part {name}");
    }
    let names: BTreeSet<&String> = needs.keys().collect();
    ensure!(names.len() <= Parts::BITS as usize, "too many parts");
    let weights: Vec<u64> = names
        .iter()
        .map(|name| {
            if AWAITED.contains(&name.as_str()) {
                AWAITED_WEIGHT
            } else {
                1
            }
        })
        .collect();
    let mut parts = BTreeMap::<&str, Parts>::new();
    for (bit, name) in names.into_iter().enumerate() {
        for chunk in chunks_of(&needs[name]) {
            *parts.entry(chunk).or_default() |= 1 << bit;
        }
    }
    let mut chunks = Vec::new();
    for (chunk, parts) in parts {
        let bytes = loaded_bytes(&fs::read(wasm(folder, chunk))?)
            .with_context(|| format!("cannot read {chunk}"))?;
        chunks.push(Group {
            parts,
            bytes,
            chunks: vec![chunk.to_owned()],
        });
    }
    let groups = grouped(chunks, &weights);
    let loader = folder.join(LOADER);
    let script = merged_loader(fs::read_to_string(&loader)?, needs, &groups)?;
    fs::write(&loader, script)?;
    let merged = merged_needs(needs, &groups);
    on_all_processors(groups, |group| merge_group(folder, &group.chunks))?;
    Ok(merged)
}

/// What each part needs once each group is the file of its first chunk.
fn merged_needs(needs: &Needs, groups: &[Group]) -> Needs {
    let mut first_of = HashMap::<&str, &str>::new();
    for group in groups {
        if let Some(first) = group.chunks.first() {
            first_of.extend(group.chunks.iter().map(|chunk| (&**chunk, &**first)));
        }
    }
    let merged = |files: &Vec<String>| {
        let first = files
            .iter()
            .map(|file| first_of.get(&**file).copied().unwrap_or(file).to_owned());
        let merged: BTreeSet<String> = first.collect();
        merged.into_iter().collect()
    };
    needs
        .iter()
        .map(|(part, files)| (part.clone(), merged(files)))
        .collect()
}

/// The size of a chunk's code and data. Names are removed before the page loads it, and merged chunks share their types.
fn loaded_bytes(chunk: &[u8]) -> Result<u64> {
    let mut bytes = 0;
    for payload in Parser::new(0).parse_all(chunk) {
        bytes += match payload? {
            Payload::CodeSectionStart { range, .. } => range.len(),
            Payload::DataSection(section) => section.range().len(),
            _ => 0,
        };
    }
    Ok(bytes as u64)
}

fn chunks_of(files: &[String]) -> impl Iterator<Item = &str> {
    let files = files.iter().map(String::as_str);
    files.filter(|file| file.starts_with("chunk_"))
}

fn wasm(folder: &Path, stem: &str) -> std::path::PathBuf {
    folder.join(stem).with_extension("wasm")
}

/// Merges the two groups that gain most, again and again, until no merge gains anything.
fn grouped(mut groups: Vec<Group>, weights: &[u64]) -> Vec<Group> {
    loop {
        let pairs = (0..groups.len()).flat_map(|right| (0..right).map(move |left| (left, right)));
        let gains =
            pairs.map(|(left, right)| (groups[left].gain(&groups[right], weights), left, right));
        match gains.max() {
            Some((gain, left, right)) if gain > 0 => {
                let group = groups.remove(right);
                groups[left].add(group);
            }
            _ => return groups,
        }
    }
}

/// The splitter's script, changed so that it loads each group once.
fn merged_loader(mut script: String, needs: &Needs, groups: &[Group]) -> Result<String> {
    let mut first_of = HashMap::<&str, &str>::new();
    for group in groups {
        let Some((first, others)) = group.chunks.split_first() else {
            continue;
        };
        first_of.extend(group.chunks.iter().map(|chunk| (&**chunk, &**first)));
        for chunk in others {
            remove(
                &mut script,
                &format!("const __{chunk} = makeLoad("),
                ", []);\n",
            )?;
        }
    }
    let lists: BTreeSet<Vec<&str>> = needs
        .values()
        .map(|files| chunks_of(files).collect())
        .collect();
    for chunks in lists.into_iter().filter(|chunks| !chunks.is_empty()) {
        let first: BTreeSet<&str> = chunks
            .iter()
            .filter_map(|chunk| first_of.get(chunk).copied())
            .collect();
        let list = |chunks: &mut dyn Iterator<Item = &str>| {
            let names: Vec<String> = chunks.map(|chunk| format!("__{chunk}")).collect();
            format!("[{}]", names.join(", "))
        };
        let old = list(&mut chunks.into_iter());
        ensure!(script.contains(&old), "the loader does not load {old}");
        script = script.replace(&old, &list(&mut first.into_iter()));
    }
    let end = "return sharedImports;";
    ensure!(
        script.matches(end).count() == 1,
        "the loader shares its imports in another way"
    );
    Ok(script.replace(
        end,
        &format!("sharedImports.{MERGED} = sharedImports.{SHARED};\n{end}"),
    ))
}

/// Removes the only text from `start` to the next `end`.
fn remove(script: &mut String, start: &str, end: &str) -> Result<()> {
    let from = script
        .find(start)
        .with_context(|| format!("the loader has no {start}"))?;
    let length = script[from..]
        .find(end)
        .with_context(|| format!("{start} does not end in the loader"))?;
    script.replace_range(from..from + length + end.len(), "");
    Ok(())
}

/// Merges the chunks into the first one's file.
fn merge_group(folder: &Path, chunks: &[String]) -> Result<()> {
    let [first, others @ ..] = chunks else {
        return Ok(());
    };
    if others.is_empty() {
        return Ok(());
    }
    // wasm-merge treats each imported memory as a separate one, unless one of the merged modules exports it. So a module
    // that exports what the chunks import is merged with them.
    let mut imports = BTreeMap::new();
    for chunk in chunks {
        add_imports(&fs::read(wasm(folder, chunk))?, &mut imports)
            .with_context(|| format!("cannot merge {chunk}"))?;
    }
    let shared = folder.join(format!("{first}-shared.wat"));
    fs::write(&shared, module_of(&imports)?)?;
    let mut merge = npm_program("wasm-merge");
    merge.arg(&shared).arg(SHARED);
    for chunk in chunks {
        merge.arg(wasm(folder, chunk)).arg(chunk);
    }
    merge.args(FEATURES).arg("--skip-export-conflicts");
    run(merge.arg("-o").arg(wasm(folder, first)))?;
    fs::remove_file(shared)?;
    others
        .iter()
        .try_for_each(|chunk| Ok(fs::remove_file(wasm(folder, chunk))?))
}

/// Adds what a chunk imports, by name, and its type as WebAssembly text writes it.
fn add_imports(chunk: &[u8], imports: &mut BTreeMap<String, String>) -> Result<()> {
    for payload in Parser::new(0).parse_all(chunk) {
        let Payload::ImportSection(section) = payload? else {
            continue;
        };
        for import in section.into_imports() {
            let import = import?;
            ensure!(
                import.module == SHARED,
                "it imports {} from {}",
                import.name,
                import.module
            );
            imports.insert(import.name.to_owned(), type_text(import.ty)?);
        }
    }
    Ok(())
}

fn type_text(import: TypeRef) -> Result<String> {
    let limits = |initial: u64, maximum: Option<u64>| {
        maximum.map_or(initial.to_string(), |maximum| {
            format!("{initial} {maximum}")
        })
    };
    Ok(match import {
        TypeRef::Memory(memory) if !memory.shared && !memory.memory64 => {
            format!("memory {}", limits(memory.initial, memory.maximum))
        }
        TypeRef::Table(table) if !table.table64 => {
            format!(
                "table {} {}",
                limits(table.initial, table.maximum),
                table.element_type
            )
        }
        TypeRef::Global(global) if global.mutable => {
            format!("global (mut {})", global.content_type)
        }
        TypeRef::Global(global) => format!("global {}", global.content_type),
        other => bail!("it imports {other:?}"),
    })
}

/// A module that exports what it imports.
fn module_of(imports: &BTreeMap<String, String>) -> Result<String> {
    let mut module = String::from("(module\n");
    for (name, kind) in imports {
        let (kind, rest) = kind.split_once(' ').context("a type has two words")?;
        writeln!(
            module,
            "({kind} (export {name:?}) (import {MERGED:?} {name:?}) {rest})"
        )?;
    }
    module.push_str(")\n");
    Ok(module)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Group, Parts, grouped, merged_loader, merged_needs};

    const A: Parts = 1;
    const B: Parts = 2;
    const C: Parts = 4;
    const D: Parts = 8;
    const EQUAL: [u64; 4] = [1; 4];

    fn group(chunk: &str, parts: Parts, kilobytes: u64) -> Group {
        Group {
            parts,
            bytes: kilobytes << 10,
            chunks: vec![chunk.to_owned()],
        }
    }

    fn chunks(groups: &[Group]) -> Vec<String> {
        groups.iter().map(|group| group.chunks.join("+")).collect()
    }

    #[test]
    fn chunks_of_the_same_parts_are_one_file() {
        let same = vec![group("chunk_1", A | B, 100), group("chunk_2", A | B, 200)];
        let groups = grouped(same, &EQUAL);
        assert_eq!(chunks(&groups), ["chunk_1+chunk_2"]);
    }

    #[test]
    fn a_part_does_not_load_much_that_it_does_not_need() {
        let overlapping = vec![
            group("chunk_1", A | B, 40),
            group("chunk_2", A | C, 400),
            group("chunk_3", A | B | C, 8),
        ];
        let groups = grouped(overlapping, &EQUAL);
        assert_eq!(chunks(&groups), ["chunk_1+chunk_3", "chunk_2"]);
    }

    #[test]
    fn a_part_that_weighs_more_loads_less_that_it_does_not_need() {
        let two = vec![group("chunk_1", A | B, 20), group("chunk_2", B, 20)];
        let equal = grouped(two.clone(), &EQUAL);
        assert_eq!(chunks(&equal), ["chunk_1+chunk_2"]);
        assert_eq!(grouped(two.clone(), &[8, 1, 1, 1]), two);
    }

    #[test]
    fn parts_without_common_chunks_are_kept_apart() {
        let apart = vec![group("chunk_1", A | B, 1), group("chunk_2", C | D, 1)];
        assert_eq!(grouped(apart.clone(), &EQUAL), apart);
    }

    #[test]
    fn the_loader_loads_each_group_once() {
        let script = "function getSharedImports() {\n    return sharedImports;\n}\n\
                      const __chunk_1 = makeLoad(() => one, []);\n\
                      const __chunk_2 = makeLoad(() => two, []);\n\
                      const __chunk_3 = makeLoad(() => three, []);\n\
                      export const a = makeLoad(x, [__chunk_1, __chunk_2, __chunk_3]);\n\
                      export const b = makeLoad(y, [__chunk_2, __chunk_3]);\n";
        let needs = |files: &[&str]| files.iter().copied().map(str::to_owned).collect();
        let needs = HashMap::from([
            (
                "a".to_owned(),
                needs(&["chunk_1", "chunk_2", "chunk_3", "split_a"]),
            ),
            ("b".to_owned(), needs(&["chunk_2", "chunk_3", "split_b"])),
        ]);
        let mut merged = group("chunk_1", A | B, 1);
        merged.add(group("chunk_2", A | B, 1));
        let groups = [merged, group("chunk_3", A | B, 1)];
        let after = merged_needs(&needs, &groups);
        assert_eq!(after["a"], ["chunk_1", "chunk_3", "split_a"]);
        assert_eq!(after["b"], ["chunk_1", "chunk_3", "split_b"]);
        let loader =
            merged_loader(script.to_owned(), &needs, &groups).expect("it is the splitter's");
        assert!(!loader.contains("two"), "{loader}");
        assert!(
            loader.contains("a = makeLoad(x, [__chunk_1, __chunk_3])"),
            "{loader}"
        );
        assert!(
            loader.contains("b = makeLoad(y, [__chunk_1, __chunk_3])"),
            "{loader}"
        );
        assert!(loader.contains("sharedImports.merged"), "{loader}");
        assert!(merged_loader("another script".to_owned(), &needs, &groups).is_err());
    }
}
