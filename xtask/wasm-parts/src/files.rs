//! The page's files: those of the first load, and those loaded on demand.
//!
//! Cargo links one binary. The splitter cuts it at the functions that are marked as split points: code and data that
//! only these reach become separate parts. wasm-bindgen then writes the glue of the main part, wasm-opt optimizes
//! that for size and removes names from the others, and esbuild minifies the scripts. Trunk copies the files in
//! [`FOLDER`] into the site.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use data_encoding::{BASE64, HEXLOWER};
use fs_err as fs;
use hmac_sha256::Hash;

use crate::profile::Profile;
use crate::{chunks, python_kit, step_files, styles};

/// `index.html` refers to its contents: `site/`, which is copied, `head.html`, which is inlined, and the styles.
const FOLDER: &str = "target/xtask/wasm";

const NAME: &str = "volary";
/// The splitter's name for the script that loads the other parts.
pub(crate) const LOADER: &str = "__wasm_split.js";

/// The features of the page's code: those that Rust's compiler emits by default, and vectors, which only the school uses.
/// Every browser since 2023 supports them.
pub(crate) const FEATURES: [&str; 8] = [
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
    "--enable-simd",
];

/// Writes the files of a linked binary.
pub fn write(linked: &Path, profile: Profile) -> Result<()> {
    let folder = Path::new(FOLDER);
    let site = folder.join("site");
    if site.exists() {
        fs::remove_dir_all(&site)?;
    }
    let parts = site.join("parts");
    fs::create_dir_all(folder)?;
    timed("cut it into parts", || {
        split(linked, &folder.join("split"), &parts, profile)
    })?;
    timed("bundle the editor", || bundle_editor(&parts))?;
    if profile.optimizes() {
        timed("optimise the parts", || shrink(&parts))?;
        timed("minify the scripts", || minify(&parts))?;
    }
    // All parts belong together: they are in a folder named by a hash of its contents, so that a
    // host's cache never mixes the parts of two builds, and no part has to know another's hash.
    let name = format!("{NAME}-{}", &HEXLOWER.encode(&fingerprint(&parts)?)[..16]);
    let named = site.join(&name);
    fs::rename(&parts, &named)?;
    timed("copy Python", || python_kit::write(&site))?;
    styles::join(&folder.join("first.css"))?;
    Ok(fs::write(folder.join("head.html"), links(&named, &name)?)?)
}

/// Splits the binary, and writes the glue and all loadable parts to `parts`.
fn split(linked: &Path, pieces: &Path, parts: &Path, profile: Profile) -> Result<()> {
    if pieces.exists() {
        fs::remove_dir_all(pieces)?;
    }
    let mut needs = crate::split(linked, pieces, NAME)?;
    if profile.merges() {
        needs = chunks::merge(pieces, &needs)?;
    }
    let [glue, wasm] = [format!("{NAME}.js"), format!("{NAME}_bg.wasm")];
    step_files::write(&needs, &[&glue, &wasm, LOADER])?;
    let main = pieces.join(NAME).with_extension("wasm");
    crate::bind(&main, parts, NAME)?;
    for piece in files(pieces)? {
        if let Some(name) = piece.file_name().filter(|_| piece != main) {
            fs::rename(&piece, parts.join(name))?;
        }
    }
    Ok(())
}

/// Optimizes the first part for size, and removes names from the others, on all processors; the largest first, because it
/// takes as long as all others.
fn shrink(parts: &Path) -> Result<()> {
    let mut wasm = files(parts)?;
    wasm.retain(|file| is_wasm(file));
    wasm.sort_by_key(|file| file.metadata().map_or(0, |data| data.len()));
    on_all_processors(wasm, |file| {
        let mut optimizer = npm_program("wasm-opt");
        // Everybody fetches the first part: optimized for speed and then for size, it is half a kilobyte smaller than
        // with -Oz alone. LLVM has optimized the others already: with -O1 they gzip 1.3 % smaller and are no faster, and
        // the page is built half a minute later.
        let is_first = file.ends_with(format!("{NAME}_bg.wasm"));
        // Sorted by name, similar functions are adjacent, which gzip compresses better: 2 % less to fetch.
        let passes: &[&str] = if is_first {
            &[
                "-O2",
                "-Oz",
                "--strip-producers",
                "--strip-target-features",
                "--reorder-functions-by-name",
            ]
        } else {
            &["--strip-debug", "--strip-producers"]
        };
        optimizer.args(passes).args(FEATURES).arg(&file);
        run(optimizer.arg("-o").arg(&file))
    })
}

/// Does work on all processors, the last of `jobs` first.
pub(crate) fn on_all_processors<T: Send>(
    jobs: Vec<T>,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    let left = Mutex::new(jobs);
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let worker = || -> Result<()> {
        while let Some(job) = next() {
            work(job)?;
        }
        Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let mut ended = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ended.try_for_each(|ended| ended.unwrap_or_else(|_| bail!("a job did not come to its end")))
    })
}

/// A program from npm. On Windows it is a script, which must be called by its full name.
pub(crate) fn npm_program(name: &str) -> Command {
    if cfg!(windows) {
        Command::new(format!("{name}.cmd"))
    } else {
        Command::new(name)
    }
}

/// Runs a program whose output is shown if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} failed ({})\n{}", output.status, errors.trim());
    }
    Ok(())
}

/// Runs a slow operation, and prints its duration.
fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let done = work()?;
    eprintln!("  {:>6.1} s  {what}", start.elapsed().as_secs_f64());
    Ok(done)
}

/// Bundles the code editor with its modules.
fn bundle_editor(parts: &Path) -> Result<()> {
    let mut esbuild = npm_program("esbuild");
    let mut file = OsString::from("--outfile=");
    file.push(parts.join("editor.js"));
    esbuild
        .env(
            "NODE_PATH",
            std::path::absolute("target/tools/npm/node_modules")?,
        )
        .args(["--bundle", "--format=esm", "--target=es2022"])
        .args(["--log-level=error", "--legal-comments=none"])
        .arg(file)
        .arg("public/editor/editor.js");
    run(&mut esbuild)
}

/// Minifies the scripts.
fn minify(parts: &Path) -> Result<()> {
    let scripts = files(parts)?.into_iter().filter(|file| !is_wasm(file));
    let mut esbuild = npm_program("esbuild");
    let mut folder = OsString::from("--outdir=");
    folder.push(parts);
    esbuild
        .args(["--minify", "--format=esm", "--target=es2022"])
        .args(["--log-level=error", "--allow-overwrite"])
        .arg(folder);
    run(esbuild.args(scripts))
}

/// The preload links with digests. `src/start.js` takes the addresses from here as
/// well, the glue's first. The loader, whose digest is here too, names the other parts; their own digests
/// would be a hundredth of the first load.
fn links(parts: &Path, folder: &str) -> Result<String> {
    let wasm = format!("{NAME}_bg.wasm");
    let glue = format!("{NAME}.js");
    // What is fetched by a script is checked by that script: browsers warn of a digest at such a link.
    let kinds = [
        (glue.as_str(), "rel=\"modulepreload\" integrity"),
        (LOADER, "rel=\"modulepreload\" integrity"),
        (
            &wasm,
            "rel=\"preload\" as=\"fetch\" type=\"application/wasm\" data-integrity",
        ),
    ];
    let mut links = String::new();
    for (name, kind) in kinds {
        let digest = digest(&parts.join(name))?;
        writeln!(
            links,
            "<link href=\"./{folder}/{name}\" crossorigin=\"anonymous\" {kind}=\"{digest}\">"
        )?;
    }
    Ok(links)
}

/// The digest in the format of the attribute `integrity`.
pub(crate) fn digest(file: &Path) -> Result<String> {
    let bytes = fs::read(file)?;
    Ok(format!("sha256-{}", BASE64.encode(&Hash::hash(&bytes))))
}

fn fingerprint(folder: &Path) -> Result<[u8; 32]> {
    let mut hash = Hash::new();
    for file in files(folder)? {
        hash.update(digest(&file)?);
    }
    Ok(hash.finalize())
}

fn is_wasm(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "wasm")
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}
