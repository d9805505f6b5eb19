//! The files of `dist/python/`: Pyodide, fhaviary and this project's sandbox, which the page fetches when a Python
//! environment is opened.
//!
//! All are in a folder named by a hash of their content, so that they can be cached forever; `kit.json`, which is
//! small, names the folder and the files. The sandboxed frame is one document with one inline script, whose hash
//! is in the frame's policy: the policy contains no address.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use data_encoding::{BASE64, HEXLOWER};
use fs_err as fs;
use hmac_sha256::Hash;
use serde_json::json;

const SOURCES: &str = "public/python";
/// The folder in which xtask puts the wheels.
const WHEELS: &str = "target/tools/wheels";
const PYODIDE: &str = "target/tools/pyodide/node_modules/pyodide";

/// The keys and names of this project's files. The page looks up these keys.
const OURS: [(&str, &str); 2] = [("boot", "boot.js"), ("host", "host.py")];
const THEIRS: [(&str, &str); 4] = [
    ("core", "pyodide.mjs"),
    ("asm", "pyodide.asm.mjs"),
    ("wasm", "pyodide.asm.wasm"),
    ("stdlib", "python_stdlib.zip"),
];

/// Writes the files into a folder of the site.
pub fn write(site: &Path) -> Result<()> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for (role, name) in OURS {
        files.push((role.to_owned(), Path::new(SOURCES).join(name)));
    }
    for (role, name) in THEIRS {
        files.push((role.to_owned(), Path::new(PYODIDE).join(name)));
    }
    let wheels = wheels(Path::new(WHEELS))?;
    let relay = fs::read_to_string(Path::new(SOURCES).join("relay.js"))?;
    let frame = frame(&relay);

    let mut hash = Hash::new();
    hash.update(&frame);
    let mut bytes = 0;
    let all = files.iter().map(|(_, path)| path).chain(&wheels);
    for path in all.clone() {
        let content = fs::read(path)?;
        bytes += content.len();
        hash.update(Hash::hash(&content));
    }
    let name = HEXLOWER.encode(&hash.finalize())[..16].to_owned();
    let folder = site.join("python").join(&name);
    fs::create_dir_all(&folder)?;
    for path in all {
        let file = path.file_name().context("a file without a name")?;
        fs::copy(path, folder.join(file))?;
    }
    fs::write(folder.join("python.html"), frame)?;

    let named = |path: &PathBuf| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let roles: serde_json::Map<_, _> = files
        .iter()
        .map(|(role, path)| (role.clone(), json!(named(path))))
        .collect();
    let kit = json!({
        "folder": name,
        "bytes": bytes,
        "files": roles,
        "wheels": wheels.iter().map(named).collect::<Vec<_>>(),
    });
    fs::write(site.join("python/kit.json"), kit.to_string())?;
    Ok(())
}

/// The wheels of a folder, sorted by name.
fn wheels(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|end| end == "whl"));
    files.sort();
    Ok(files)
}

/// The document of the sandboxed frame.
fn frame(relay: &str) -> String {
    let hash = BASE64.encode(&Hash::hash(relay.as_bytes()));
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src \
         'none'; script-src 'sha256-{hash}' blob: 'wasm-unsafe-eval'; worker-src blob:; base-uri 'none'; form-action \
         'none'\"><title>Python</title><script>{relay}</script>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_allows_its_own_script_and_no_address() {
        let frame = frame("postMessage(1)");
        let policy = volary_site::policies(&frame).concat();
        let hash = BASE64.encode(&Hash::hash(b"postMessage(1)"));
        assert!(policy.contains(&format!("'sha256-{hash}'")), "{policy}");
        assert!(
            !policy.contains("'self'") && !policy.contains("http"),
            "{policy}"
        );
    }

    #[test]
    fn the_relay_fits_inside_a_script_element() {
        let relay = include_str!("../../../public/python/relay.js");
        assert!(!relay.contains("</script"));
    }
}
