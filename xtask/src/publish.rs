//! `cargo xtask publish`: a static site that shows the trajectories of a folder.
//!
//! The page itself stays as it is. Beside it lie the trajectories, a list of them, and a line in `index.html` that
//! says where the list is.
//!
//! What always holds: nothing in the folder of trajectories changes; the site is put together beside its place and
//! takes it at the end, so a failure leaves the previous site as it was; a folder is replaced only if it is empty or
//! holds nothing but what publish wrote.

mod collect;
mod destination;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::page;
use crate::project::Project;
use collect::Collected;
use destination::Place;

/// What to publish, and where.
pub struct Options {
    /// The trajectories.
    pub folder: Option<PathBuf>,
    /// The folder of the site.
    pub out: PathBuf,
    /// What the library is called.
    pub title: Option<String>,
    /// Whether files that do not look like trajectories are published as well.
    pub all: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            folder: None,
            out: "published".into(),
            title: None,
            all: false,
        }
    }
}

/// The list, as the page finds it.
const LIST: &str = "library.json";
/// The folder of the trajectories.
const FOLDER: &str = "trajectories";
/// Opens the library rather than the playground.
const SCRIPT: (&str, &str) = (
    "library.js",
    "if (!location.hash) location.replace(\"#/review\");\n",
);

/// Builds the site.
pub fn publish(project: &Project, options: &Options) -> Result<()> {
    let Some(folder) = &options.folder else {
        bail!("say which folder of trajectories to publish: cargo xtask publish <folder>");
    };
    let folder = folder
        .canonicalize()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let dist = project.path("dist");
    let place = Place::find(&options.out, &[&folder, &dist])?;
    let collected = Collected::of(&folder, options.all)?;
    // Before the build, which takes minutes: whoever reads it can still stop.
    eprint!("{}", collected.report(options.all));
    if collected.files.is_empty() {
        bail!("there is no trajectory in {}", folder.display());
    }
    page::build(project)?;
    let title = match &options.title {
        Some(title) => title.clone(),
        None => name_of(&folder),
    };
    place.fill(|site| write_site(&dist, site, &folder, &collected.files, &title))?;
    eprintln!(
        "Published {} files ({:.1} MB) in {}/. Copy that folder to any static host.",
        collected.files.len(),
        collected.bytes() as f64 / 1e6,
        options.out.display()
    );
    Ok(())
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    name.to_string_lossy().into_owned()
}

fn write_site(
    dist: &Path,
    site: &Path,
    folder: &Path,
    files: &[(String, u64)],
    title: &str,
) -> Result<()> {
    copy_folder(dist, site)?;
    let target = site.join(FOLDER);
    for (name, _) in files {
        copy(&folder.join(name), &target.join(name))?;
    }
    let listed: Vec<_> = files
        .iter()
        .map(|(name, bytes)| json!({ "name": name, "path": format!("{FOLDER}/{name}"), "bytes": bytes }))
        .collect();
    let list = json!({ "title": title, "files": listed });
    write(&site.join(LIST), &format!("{list:#}\n"))?;
    write(&site.join(SCRIPT.0), SCRIPT.1)?;
    let index = site.join("index.html");
    let page =
        fs::read_to_string(&index).with_context(|| format!("cannot read {}", index.display()))?;
    let marked = page.replacen(
        "</head>",
        &format!(
            "<link rel=\"volary-library\" href=\"./{LIST}\"><script src=\"./{}\"></script></head>",
            SCRIPT.0
        ),
        1,
    );
    if marked == page {
        bail!("the page has no head to which the library could be added");
    }
    write(&index, &marked)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let unreadable = || format!("cannot read {}", from.display());
    for entry in from.read_dir().with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        match path.is_dir() {
            true => copy_folder(&path, &to.join(name))?,
            false => copy(&path, &to.join(name))?,
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A folder for a test, which is removed at its end.
#[cfg(test)]
struct TestFolder(PathBuf);

#[cfg(test)]
impl TestFolder {
    /// With these files in it, each holding its own name.
    fn with(name: &str, files: &[&str]) -> TestFolder {
        let path =
            std::env::temp_dir().join(format!("volary-publish-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let folder = TestFolder(path.canonicalize().unwrap());
        for file in files {
            copy_text(&folder.0.join(file), file);
        }
        folder
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.0.join(inside)
    }
}

#[cfg(test)]
fn copy_text(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[cfg(test)]
impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_the_page_the_trajectories_and_their_list() {
        let all = TestFolder::with("site", &["dist/parts/a.wasm", "runs/deep/a.json"]);
        copy_text(&all.path("dist/index.html"), "<head></head>");
        let files = [("deep/a.json".to_owned(), 11)];
        let title = "A \"title\"";
        write_site(
            &all.path("dist"),
            &all.path("out"),
            &all.path("runs"),
            &files,
            title,
        )
        .unwrap();
        let read = |name: &str| fs::read_to_string(all.path("out").join(name)).unwrap();
        assert_eq!(read("trajectories/deep/a.json"), "runs/deep/a.json");
        assert_eq!(read("parts/a.wasm"), "dist/parts/a.wasm");
        assert!(read("index.html").contains("rel=\"volary-library\" href=\"./library.json\""));
        let list: serde_json::Value = serde_json::from_str(&read(LIST)).unwrap();
        assert_eq!(list["title"], title);
        assert_eq!(list["files"][0]["path"], "trajectories/deep/a.json");
        assert_eq!(list["files"][0]["bytes"], 11);
    }
}
