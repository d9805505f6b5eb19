//! `cargo xtask publish`: a static site that shows the trajectories of a folder.
//!
//! The page itself stays as it is. Beside it lie the trajectories, a list of them, and a line in `index.html` that
//! says where the list is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::page;
use crate::project::Project;

/// What to publish, and where.
pub struct Options {
    /// The trajectories.
    pub folder: Option<PathBuf>,
    /// The folder of the site.
    pub out: PathBuf,
    /// What the library is called.
    pub title: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            folder: None,
            out: "published".into(),
            title: None,
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
    let files = trajectories(folder)?;
    page::build(project)?;
    if options.out.join("index.html").exists() && !options.out.join(LIST).exists() {
        bail!(
            "{} holds another site; choose another folder with --out",
            options.out.display()
        );
    }
    let title = match &options.title {
        Some(title) => title.clone(),
        None => name_of(folder)?,
    };
    write_site(&project.path("dist"), options, &files, &title)?;
    let size: u64 = files.iter().map(|(_, size)| size).sum();
    eprintln!(
        "Published {} files ({:.1} MB) in {}/. Copy that folder to any static host.",
        files.len(),
        size as f64 / 1e6,
        options.out.display()
    );
    Ok(())
}

/// The paths of the files within the folder, with slashes, and their sizes, in order.
fn trajectories(folder: &Path) -> Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new())];
    while let Some((path, within)) = open.pop() {
        let unreadable = || format!("cannot read {}", path.display());
        for entry in path.read_dir().with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let data = entry.metadata().with_context(unreadable)?;
            match data.is_dir() {
                true => open.push((entry.path(), format!("{within}{name}/"))),
                false => files.push((format!("{within}{name}"), data.len())),
            }
        }
    }
    if files.is_empty() {
        bail!("there is no file in {}", folder.display());
    }
    files.sort();
    Ok(files)
}

fn name_of(folder: &Path) -> Result<String> {
    let whole = folder
        .canonicalize()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let name = whole.file_name().unwrap_or(whole.as_os_str());
    Ok(name.to_string_lossy().into_owned())
}

fn write_site(dist: &Path, options: &Options, files: &[(String, u64)], title: &str) -> Result<()> {
    let out = &options.out;
    copy_folder(dist, out)?;
    let target = out.join(FOLDER);
    if target.exists() {
        // Of a site that was published before.
        std::fs::remove_dir_all(&target)
            .with_context(|| format!("cannot renew {}", target.display()))?;
    }
    let folder = options.folder.as_deref().unwrap_or(Path::new("."));
    for (name, _) in files {
        copy(&folder.join(name), &target.join(name))?;
    }
    let listed: Vec<String> = files
        .iter()
        .map(|(name, size)| {
            let (name, path) = (quoted(name), quoted(&format!("{FOLDER}/{name}")));
            format!("    {{ \"name\": {name}, \"path\": {path}, \"bytes\": {size} }}")
        })
        .collect();
    let list = format!(
        "{{\n  \"title\": {},\n  \"files\": [\n{}\n  ]\n}}\n",
        quoted(title),
        listed.join(",\n")
    );
    write(&out.join(LIST), &list)?;
    write(&out.join(SCRIPT.0), SCRIPT.1)?;
    let index = out.join("index.html");
    let page = std::fs::read_to_string(&index)
        .with_context(|| format!("cannot read {}", index.display()))?;
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

/// A text as JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", control as u32)),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
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
    make_folder(to)?;
    std::fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    make_folder(path)?;
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn make_folder(of: &Path) -> Result<()> {
    match of.parent() {
        Some(folder) => std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }
}
