//! `volary publish`: writes a static site that shows the trajectories of a folder.
//!
//! The site is a copy of the page, the trajectories, a list of them, and an element in `index.html` with the address of
//! the list.
//!
//! Invariants: nothing in the folder of trajectories changes. The site is built in a temporary folder and moved to its
//! place at the end, so a failure leaves the previous site unchanged. A folder is replaced only if it is empty or
//! contains only files that publish wrote.

mod collect;
mod destination;
mod masking;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;

use collect::Collected;
use destination::Destination;
use masking::Masking;

use crate::ExitStatus;
use crate::output;
use crate::page::PageSource;

const EXAMPLES: &str = "\
Examples:
  volary publish runs/ --out site --title \"Our runs\"
      then copy site/ to any static host
Everything that is published is public. Look at the folder first.

Exit status:
  0  the site was written
  1  the site was written without the files that --mask could not mask
  2  nothing was written
  3  the site was written, but keys, tokens or passwords were found in it. E-mail addresses are only listed";

/// Writes a static site that shows the trajectories of a folder.
///
/// Symbolic links and names that begin with a dot are left out, and so are files that do not look like trajectories
/// unless --all is given. The command lists what it leaves out.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Publish {
    /// The folder of trajectories
    folder: PathBuf,

    /// The folder of the site. It must not overlap the trajectories
    #[arg(long, value_name = "FOLDER", default_value = "published")]
    out: PathBuf,

    /// The title of the library; by default the name of the folder
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Publish files that do not look like trajectories too
    #[arg(long)]
    all: bool,

    /// Mask API keys, tokens, passwords, private keys and e-mail addresses in the copies. Files that cannot be masked, such
    /// as archives, are left out. Without it what is found is listed with its places
    #[arg(long)]
    mask: bool,

    /// A folder with another build of the page, such as `cargo xtask build` writes
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,

    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
}

/// The file name of the list, which the page loads.
const LIST: &str = "library.json";
/// The folder of the trajectories.
const FOLDER: &str = "trajectories";
/// A script that opens the library instead of the playground.
const SCRIPT: (&str, &str) = (
    "library.js",
    "if (!location.hash) location.replace(\"#/review\");\n",
);

impl Publish {
    /// Builds and writes the site.
    pub fn run(&self) -> Result<ExitStatus> {
        let folder = existing(&self.folder)?;
        let page = PageSource::find(self.page.as_deref())?;
        let inputs: Vec<&Path> = page.folder().into_iter().chain([&*folder]).collect();
        let destination = Destination::find(&self.out, &inputs)?;
        let collected = Collected::of(&folder, self.all)?;
        let masking = Masking::of(&folder, &collected.files, self.mask)?;
        if !self.json {
            eprint!("{}{}", collected.report(self.all), masking.report());
        }
        let secrets = masking.has_secrets();
        let files = masking.files(collected.files.clone());
        if files.is_empty() {
            bail!("there is no trajectory to publish in {}", folder.display());
        }
        let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        let title = match &self.title {
            Some(title) => title.clone(),
            None => name_of(&folder),
        };
        destination.fill(|site| write_site(&page, site, &folder, &files, &title, &masking))?;
        if self.json {
            let left_out = collected.left_out(self.all).chain(masking.left_out());
            let left_out: Vec<&String> = left_out.collect();
            output::json(&json!({
                "out": self.out.to_string_lossy(), "title": title, "files": files.len(), "bytes": bytes,
                "left_out": left_out, "sensitive": masking.found(),
            }))?;
        } else {
            eprintln!(
                "Published {} files ({:.1} MB) in {}/. Copy that folder to any static host.",
                files.len(),
                bytes as f64 / 1e6,
                self.out.display()
            );
        }
        Ok(match (secrets, !masking.left_out().is_empty()) {
            (true, _) => ExitStatus::Sensitive,
            (false, true) => ExitStatus::Bad,
            (false, false) => ExitStatus::Good,
        })
    }
}

fn existing(path: &Path) -> Result<PathBuf> {
    path.canonicalize()
        .with_context(|| format!("cannot read {}", path.display()))
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    name.to_string_lossy().into_owned()
}

fn write_site(
    page: &PageSource,
    site: &Path,
    folder: &Path,
    files: &[(String, u64)],
    title: &str,
    masking: &Masking,
) -> Result<()> {
    page.copy_to(site, copy_folder)?;
    let target = site.join(FOLDER);
    for (name, _) in files {
        match masking.text_of(name) {
            Some(text) => write_new(&target.join(name), text)?,
            None => copy(&folder.join(name), &target.join(name))?,
        }
    }
    let listed: Vec<_> = files
        .iter()
        .map(|(name, bytes)| json!({ "name": name, "path": format!("{FOLDER}/{name}"), "bytes": bytes }))
        .collect();
    let list = json!({ "title": title, "files": listed });
    write(&site.join(LIST), &format!("{list:#}\n"))?;
    write(&site.join(SCRIPT.0), SCRIPT.1)?;
    let index = site.join("index.html");
    let html =
        fs::read_to_string(&index).with_context(|| format!("cannot read {}", index.display()))?;
    let marked = html.replacen(
        "</head>",
        &format!(
            "<link rel=\"volary-library preload\" as=\"fetch\" crossorigin href=\"./{LIST}\"><script src=\"./{}\"></script></head>",
            SCRIPT.0
        ),
        1,
    );
    if marked == html {
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
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?
        } else {
            copy(&path, &to.join(name))?
        }
    }
    Ok(())
}

/// Writes a file, creating its folder if necessary.
fn write_new(path: &Path, text: &str) -> Result<()> {
    make_folder_of(path)?;
    write(path, text)
}

fn make_folder_of(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_folder_of(to)?;
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A temporary folder for a test, removed on drop.
#[cfg(test)]
pub struct TestFolder(PathBuf);

#[cfg(test)]
impl TestFolder {
    /// Creates the folder with these files, each containing its own name.
    pub fn with(name: &str, files: &[&str]) -> TestFolder {
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

    /// A path within the folder.
    pub fn path(&self, inside: &str) -> PathBuf {
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
            &PageSource::Folder(all.path("dist")),
            &all.path("out"),
            &all.path("runs"),
            &files,
            title,
            &Masking::of(&all.path("runs"), &files, false).unwrap(),
        )
        .unwrap();
        let read = |name: &str| fs::read_to_string(all.path("out").join(name)).unwrap();
        assert_eq!(read("trajectories/deep/a.json"), "runs/deep/a.json");
        assert_eq!(read("parts/a.wasm"), "dist/parts/a.wasm");
        assert!(read("index.html").contains(
            "rel=\"volary-library preload\" as=\"fetch\" crossorigin href=\"./library.json\""
        ));
        let list: serde_json::Value = serde_json::from_str(&read(LIST)).unwrap();
        assert_eq!(list["title"], title);
        assert_eq!(list["files"][0]["path"], "trajectories/deep/a.json");
        assert_eq!(list["files"][0]["bytes"], 11);
    }
}
