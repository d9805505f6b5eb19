//! The page's wasm, in parts: what a first visit needs, and what is loaded when it is asked for.
//!
//! Cargo links one binary. The splitter cuts it at the functions that are marked as split points: what
//! only these reach, code and data, becomes a part of its own. wasm-bindgen then writes the glue of
//! the main part, wasm-opt makes that small and the others fast, and esbuild the scripts small. Trunk calls
//! this before each build, and puts into the site what it finds in [`FOLDER`].

mod styles;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};
use data_encoding::{BASE64, HEXLOWER};
use fs_err as fs;
use hmac_sha256::Hash;

use crate::project::Project;
use crate::run::{output, output_aloud, run, timed};
use crate::setup::WasmStd;
use crate::{page, python_kit};

/// The name under which Trunk calls us before each build.
pub const HOOK: &str = "wasm";

/// `index.html` names what lies in here: `site/`, which is copied, `head.html`, which is inlined, and the styles.
const FOLDER: &str = "target/xtask/wasm";

/// The page for cargo, and its files.
const BINARY: &str = "volary-page";
const NAME: &str = "volary";
/// What the splitter calls the script that loads the other parts.
const LOADER: &str = "__wasm_split.js";

/// What Rust's compiler emits today, and every browser of the last years reads.
const FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// For whom it is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For whoever works on it.
    Debug,
    /// For everybody.
    Release,
}

/// Does what Trunk asks for.
pub fn hook(project: &Project) -> Result<()> {
    let release = std::env::var("TRUNK_PROFILE").is_ok_and(|profile| profile == "release");
    let profile = if release {
        Profile::Release
    } else {
        Profile::Debug
    };
    page::ensure_tools(project, profile)?;
    let mut cargo = compile(project, profile)?;
    cargo.arg("--message-format=json-render-diagnostics");
    let linked = timed("compile the page", || {
        linked(&output_aloud(relocatable(&mut cargo))?)
    })?;
    let folder = project.path(FOLDER);
    let site = folder.join("site");
    if site.exists() {
        fs::remove_dir_all(&site)?;
    }
    let parts = site.join("parts");
    fs::create_dir_all(&folder)?;
    timed("cut it into parts", || {
        split(project, &linked, &folder.join("split"), &parts)
    })?;
    timed("bundle the editor", || bundle_editor(project, &parts))?;
    if profile == Profile::Release {
        timed("optimise the parts", || shrink(project, &parts))?;
        timed("minify the scripts", || minify(project, &parts))?;
    }
    // All parts belong together: a folder that is named after what is in it holds them, so that a
    // host's cache never pairs the parts of two builds, and none has to know another's hash.
    let name = format!("{NAME}-{}", &HEXLOWER.encode(&fingerprint(&parts)?)[..16]);
    let named = site.join(&name);
    fs::rename(&parts, &named)?;
    timed("copy Python", || python_kit::write(project, &site))?;
    styles::join(project, &folder.join("first.css"))?;
    let head = folder.join("head.html");
    Ok(fs::write(&head, links(&named, &name)?)?)
}

/// The compilation of the page by itself, ahead of Trunk's call.
pub fn ahead(project: &Project, profile: Profile) -> Result<Command> {
    let mut cargo = compile(project, profile)?;
    relocatable(&mut cargo);
    Ok(cargo)
}

fn compile(project: &Project, profile: Profile) -> Result<Command> {
    let mut cargo = project.cargo("rustc");
    cargo.args(["--target", "wasm32-unknown-unknown", "--bin", BINARY]);
    if profile == Profile::Release {
        cargo.args(["--profile", "wasm-release"]);
        let flags: Vec<String> = renamed_paths(project)?
            .into_iter()
            .map(|(path, name)| format!("{:?}", format!("--remap-path-prefix={path}={name}")))
            .collect();
        let flags = flags.join(",");
        cargo.arg("--config");
        cargo.arg(format!("target.wasm32-unknown-unknown.rustflags=[{flags}]"));
    }
    WasmStd::here(project)?.apply(&mut cargo);
    Ok(cargo)
}

/// Linked in the way that the splitter wants; this comes after all other arguments.
fn relocatable(cargo: &mut Command) -> &mut Command {
    cargo.args(["--", "-Clink-arg=--emit-relocs"])
}

/// Folders of this machine, which are nobody's business, and what panics call them instead.
fn renamed_paths(project: &Project) -> Result<Vec<(String, &'static str)>> {
    let mut rustc = project.command("rustc");
    WasmStd::here(project)?.apply(&mut rustc);
    let sysroot = output_aloud(rustc.args(["--print", "sysroot"]))?;
    let library = Path::new(&sysroot).join("lib/rustlib/src/rust/library");
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let packages = home.map(|home| home.join("registry/src"));
    // The registry has a folder of its own in there.
    let registries = packages.iter().filter_map(|path| path.read_dir().ok());
    let registries = registries
        .flatten()
        .flatten()
        .map(|entry| (entry.path(), ""));
    let ours = [(library, "std"), (project.path(""), "")];
    let all = registries.chain(ours);
    Ok(all
        .map(|(path, name)| (path.to_string_lossy().into_owned(), name))
        .collect())
}

/// Where cargo says that the binary lies.
fn linked(messages: &str) -> Result<PathBuf> {
    let start = "\"executable\":\"";
    let found = messages.lines().rev().find_map(|line| {
        let (_, path) = line.split_once(start)?;
        let (path, _) = path.split_once('"')?;
        Some(PathBuf::from(path.replace("\\\\", "\\")))
    });
    found.context("cargo does not say where it left the page's wasm")
}

/// Cuts the binary, and leaves in `parts` the glue and whatever can be loaded.
fn split(project: &Project, linked: &Path, pieces: &Path, parts: &Path) -> Result<()> {
    if pieces.exists() {
        fs::remove_dir_all(pieces)?;
    }
    self::parts(project, "split", linked, pieces, NAME)?;
    let main = pieces.join(NAME).with_extension("wasm");
    self::parts(project, "bind", &main, parts, NAME)?;
    for piece in files(pieces)? {
        if let Some(name) = piece.file_name().filter(|_| piece != main) {
            fs::rename(&piece, parts.join(name))?;
        }
    }
    Ok(())
}

/// Runs `xtask/wasm-parts`: a command of it, on a module, which leaves files of a name in a folder.
fn parts(project: &Project, command: &str, module: &Path, folder: &Path, name: &str) -> Result<()> {
    let mut cargo = project.cargo("run");
    cargo
        .args(["--quiet", "--package", "wasm-parts", "--", command])
        .args([module, folder])
        .arg(name);
    run(&mut cargo)
}

/// Makes the first part small and the others fast, as many at a time as there are processors; the largest first,
/// for it takes as long as all others.
fn shrink(project: &Project, parts: &Path) -> Result<()> {
    let mut wasm = files(parts)?;
    wasm.retain(|file| is_wasm(file));
    wasm.sort_by_key(|file| file.metadata().map_or(0, |data| data.len()));
    let left = Mutex::new(wasm);
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || -> Result<()> {
        while let Some(file) = next() {
            let mut optimizer = project.command(node_program("wasm-opt"));
            // The first part is fetched by everybody. The others run long loops, and are no larger for being fast.
            let is_first = file.ends_with(format!("{NAME}_bg.wasm"));
            let level = if is_first { "-Oz" } else { "-O3" };
            optimizer.arg(level).args(FEATURES).arg(&file);
            // What it says of every file is that it does not know the names of data.
            output(optimizer.arg("-o").arg(&file))?;
        }
        Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut ended = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ended.try_for_each(|ended| ended.unwrap_or_else(|_| bail!("wasm-opt was not waited for")))
    })
}

/// The name of a program from npm: on Windows it is a script, which has to be called by its full name.
fn node_program(name: &str) -> String {
    match cfg!(windows) {
        true => format!("{name}.cmd"),
        false => name.to_owned(),
    }
}

/// Joins the editor of code and the modules that it is made of.
fn bundle_editor(project: &Project, parts: &Path) -> Result<()> {
    let mut esbuild = project.command(node_program("esbuild"));
    let mut file = OsString::from("--outfile=");
    file.push(parts.join("editor.js"));
    esbuild
        .env("NODE_PATH", project.path("target/tools/npm/node_modules"))
        .args(["--bundle", "--format=esm", "--target=es2022"])
        .args(["--log-level=error", "--legal-comments=none"])
        .arg(file)
        .arg(project.path("public/editor/editor.js"));
    run(&mut esbuild)
}

/// Takes comments and long names out of the scripts.
fn minify(project: &Project, parts: &Path) -> Result<()> {
    let scripts = files(parts)?.into_iter().filter(|file| !is_wasm(file));
    let mut esbuild = project.command(node_program("esbuild"));
    let mut folder = OsString::from("--outdir=");
    folder.push(parts);
    esbuild
        .args(["--minify", "--format=esm", "--target=es2022"])
        .args(["--log-level=error", "--allow-overwrite"])
        .arg(folder);
    run(esbuild.args(scripts))
}

/// What the browser is to fetch at once, with digests. `src/start.js` takes the addresses from here as
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

/// As `integrity` wants it.
fn digest(file: &Path) -> Result<String> {
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

#[cfg(test)]
mod tests {
    use super::linked;

    #[test]
    fn the_binary_is_where_cargo_says() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"C:\\\\x\\\\volary.wasm\"}\n\
                        {\"reason\":\"build-finished\",\"success\":true}";
        let path = linked(messages).ok();
        assert_eq!(
            path.as_deref(),
            Some(std::path::Path::new("C:\\x\\volary.wasm"))
        );
        assert!(linked("{\"executable\":null}").is_err());
    }
}
