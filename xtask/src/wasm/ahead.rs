//! The parts that Review wants, as one file: an address of Review fetches it at once, beside the first part. Part by
//! part, they would be asked for once the page is there, and by its worker again.
//!
//! The file is a module without code, and the parts are its custom sections: the browser takes it apart, compiles
//! it as it comes, and hands it to workers without a copy.

use anyhow::{Context, Result, bail};

use super::binary::{push_name, push_number};

/// What the file is called; `src/start.js` fetches it.
pub const FILE: &str = "review.wasm";

/// The split points whose parts are in it.
const WANTED: [&str; 3] = ["review", "playground", "engine"];

/// What begins each WebAssembly module.
const MAGIC: &[u8] = b"\0asm\x01\0\0\0";
/// The number of a custom section.
const CUSTOM: u8 = 0;

/// What fetches a part, in the splitter's words, around its name.
const FETCH: [&str; 2] = [
    "() => {\n    const src = fetch(new URL(\"./",
    ".wasm\", import.meta.url));\n    src.catch(() => {});\n    \
     return async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n}\n",
];

/// What takes it from the file, if that was fetched, and otherwise fetches it.
const PART: &str = r"
function part(name) {
    return () => load(name);
}
function load(name) {
    const src = (async () => {
        const ahead = await globalThis.ahead;
        const [bytes] = ahead ? WebAssembly.Module.customSections(ahead, name) : [];
        return bytes ?? fetch(new URL(`./${name}.wasm`, import.meta.url));
    })();
    src.catch(() => {});
    return async (imports) => {
        const found = await src;
        return found instanceof Response
            ? WebAssembly.instantiateStreaming(found, imports)
            : WebAssembly.instantiate(found, imports);
    };
}
";

/// The loader that looks into the file first, and the names of the parts in it.
pub fn loader(text: &str) -> Result<(String, Vec<String>)> {
    let [before, after] = FETCH;
    let mut changed = text.to_owned();
    while let Some((start, rest)) = changed.split_once(before) {
        let (name, end) = rest
            .split_once(after)
            .context("the loader fetches parts in an unknown way")?;
        changed = format!("{start}part(\"{name}\"){end}");
    }
    let names = wanted(&changed).context("the loader has not the split points that are known")?;
    if names.is_empty() || changed.contains("instantiateStreaming") {
        bail!("the loader fetches parts in an unknown way");
    }
    Ok((changed + PART, names))
}

fn wanted(loader: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for split in WANTED {
        let mut add = |name: &str| {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        let (_, from) = loader.split_once(&format!("__wasm_split_load_{split} = "))?;
        let (line, _) = from.split_once(';')?;
        let (_, chunks) = line.split_once('[')?;
        let (chunks, _) = chunks.split_once(']')?;
        for chunk in chunks.split(", ").filter(|chunk| !chunk.is_empty()) {
            let (_, of) = loader.split_once(&format!("const {chunk} = makeLoad(part(\""))?;
            add(of.split_once('"')?.0);
        }
        if let Some((_, own)) = line.split_once("part(\"") {
            add(own.split_once('"')?.0);
        }
    }
    Some(names)
}

/// The file, of the names and bytes of parts.
pub fn module<'a>(parts: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    let mut module = MAGIC.to_vec();
    for (name, bytes) in parts {
        let mut section = Vec::with_capacity(bytes.len() + name.len() + 5);
        push_name(&mut section, name.as_bytes());
        section.extend(bytes);
        module.push(CUSTOM);
        push_number(&mut module, section.len());
        module.extend(section);
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetcher(name: &str) -> String {
        FETCH.join(name)
    }

    fn split(name: &str, chunks: &str) -> String {
        let own = fetcher(&format!("split_{name}"));
        format!(
            "export const __wasm_split_load_{name} = wrapAsyncCb(makeLoad({own}, [{chunks}]));\n"
        )
    }

    #[test]
    fn the_parts_that_review_wants_are_found_and_no_others() {
        let chunk = |number: usize| {
            let fetcher = fetcher(&format!("chunk_{number}"));
            format!("/* x */\nconst __chunk_{number} = makeLoad({fetcher}, []);\n")
        };
        let text: String = (1..4).map(chunk).collect();
        let text = text
            + &split("settings", "__chunk_2")
            + &split("review", "__chunk_1, __chunk_3")
            + &split("playground", "__chunk_1")
            + &split("engine", "");
        let (changed, names) = loader(&text).unwrap();
        let expected = [
            "chunk_1",
            "chunk_3",
            "split_review",
            "split_playground",
            "split_engine",
        ];
        assert_eq!(names, expected);
        assert!(changed.contains("const __chunk_2 = makeLoad(part(\"chunk_2\"), []);"));
        assert!(loader("something else").is_err());
    }

    #[test]
    fn parts_are_sections_of_a_module() {
        let module = module([("a", vec![1, 2]), ("b", vec![])]);
        assert_eq!(
            module,
            [MAGIC, &[0, 4, 1, b'a', 1, 2, 0, 2, 1, b'b']].concat()
        );
    }
}
