//! The page that `view` serves and `publish` copies: a folder, or the one in this program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::routing::MethodRouter;
use volary_site::packed::{self, PackedFile};

/// Where `cargo xtask build` writes the page, relative to the clone.
const DIST: &str = "dist";
/// The document of a page.
const INDEX: &str = "index.html";

/// The files in this program, sorted by path; none without the feature `page`.
#[cfg(feature = "page")]
static INSIDE: &[PackedFile] = include!(concat!(env!("OUT_DIR"), "/page.rs"));
#[cfg(not(feature = "page"))]
static INSIDE: &[PackedFile] = &[];

/// Where the files of the page are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageSource {
    /// A folder, which may be rebuilt meanwhile.
    Folder(PathBuf),
    /// The one in this program.
    Inside,
}

impl PageSource {
    /// The page in the given folder; otherwise the one in this program, or one in `dist/`.
    pub fn find(folder: Option<&Path>) -> Result<PageSource> {
        match folder {
            Some(folder) if !folder.join(INDEX).is_file() => bail!(
                "there is no page in {}; `cargo xtask build` writes one to dist/",
                folder.display()
            ),
            Some(folder) => Ok(PageSource::Folder(folder.to_owned())),
            None if !INSIDE.is_empty() => Ok(PageSource::Inside),
            None if Path::new(DIST).join(INDEX).is_file() => Ok(PageSource::Folder(DIST.into())),
            None => bail!(
                "this `volary` was built without its page. `pip install volary` has one; in a clone, run \
                 `cargo xtask build`, and then `cargo install --locked --path crates/cli --features page`, \
                 or name the folder of a page with --page"
            ),
        }
    }

    /// The folder, unless the page is in this program.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            PageSource::Folder(folder) => Some(folder),
            PageSource::Inside => None,
        }
    }

    /// The routes of its files; the document has these elements at the end of its head.
    pub fn routes(&self, head: &'static str, not_found: MethodRouter) -> Result<Router> {
        match self {
            PageSource::Folder(folder) => volary_site::page_with_head(folder, head, not_found),
            PageSource::Inside => packed::page_with_head(INSIDE, head, not_found),
        }
        .context("the page cannot be served")
    }

    /// Writes its files into another folder, with the function that copies one folder to another.
    pub fn copy_to(
        &self,
        target: &Path,
        copy_folder: impl FnOnce(&Path, &Path) -> Result<()>,
    ) -> Result<()> {
        match self {
            PageSource::Folder(folder) => copy_folder(folder, target),
            PageSource::Inside => packed::write(INSIDE, target),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_comes_before_the_page_inside() {
        let absent = PageSource::find(Some(Path::new("/absent"))).unwrap_err();
        assert!(
            absent
                .to_string()
                .starts_with("there is no page in /absent")
        );
        let folder = std::env::temp_dir().join(format!("volary-page-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(INDEX), "").unwrap();
        assert_eq!(
            PageSource::find(Some(&folder)).unwrap(),
            PageSource::Folder(folder.clone())
        );
        std::fs::remove_dir_all(&folder).unwrap();
        // Tests run in the package's folder, which has no `dist`.
        if INSIDE.is_empty() {
            let none = PageSource::find(None).unwrap_err().to_string();
            assert!(none.contains("--features page") && none.contains("--page"));
        } else {
            assert_eq!(PageSource::find(None).unwrap(), PageSource::Inside)
        }
    }
}
