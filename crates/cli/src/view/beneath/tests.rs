//! Both ways to open folders, with links and folders that take the place of others meanwhile.

use std::ffi::OsStr;
#[cfg(unix)]
use std::fs;
use std::io::Read;
#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::publish::TestFolder;

/// The tests of one way.
macro_rules! tests {
    ($name:ident, $Folder:ty) => {
        mod $name {
            use super::*;

            fn read(folder: &$Folder, name: &str) -> Option<String> {
                let mut text = String::new();
                let mut file = folder.file(OsStr::new(name)).ok()?;
                file.read_to_string(&mut text).unwrap();
                Some(text)
            }

            #[test]
            fn entries_are_opened_and_listed() {
                let all = TestFolder::with(
                    concat!("beneath-", stringify!($name)),
                    &["runs/a.json", "runs/deep/b.json"],
                );
                let parent = <$Folder>::parent_at(&all.path("")).unwrap();
                let runs = parent.folder(OsStr::new("runs")).unwrap();
                let entries = runs.entries().unwrap();
                let names = entries
                    .iter()
                    .map(|(name, kind)| (name.to_str().unwrap(), *kind));
                assert_eq!(
                    names.collect::<Vec<_>>(),
                    [("a.json", EntryKind::File), ("deep", EntryKind::Folder)]
                );
                assert_eq!(read(&runs, "a.json").unwrap(), "runs/a.json");
                let deep = runs.folder(OsStr::new("deep")).unwrap().again().unwrap();
                assert_eq!(read(&deep, "b.json").unwrap(), "runs/deep/b.json");
                let status = runs.status(OsStr::new("a.json")).unwrap();
                assert_eq!((status.kind, status.bytes), (EntryKind::File, 11));
                let opened = Status::of(&runs.file(OsStr::new("a.json")).unwrap()).unwrap();
                assert_eq!((opened.bytes, opened.modified), (11, status.modified));
                assert!(runs.file(OsStr::new("deep")).is_err());
                assert!(runs.folder(OsStr::new("a.json")).is_err());
                assert!(runs.file(OsStr::new("absent")).is_err());
                let made = runs.make_folder(OsStr::new("new")).unwrap();
                drop(made.append_to(OsStr::new("c.json")).unwrap());
                assert_eq!(read(&made, "c.json").unwrap(), "");
            }

            #[cfg(unix)]
            #[test]
            fn no_link_is_followed() {
                use std::os::unix::fs::symlink;
                let all = TestFolder::with(
                    concat!("beneath-links-", stringify!($name)),
                    &["runs/a.json", "secret/key.json"],
                );
                symlink(all.path("secret"), all.path("runs/folder")).unwrap();
                symlink("a.json", all.path("runs/inside.json")).unwrap();
                symlink(all.path("secret/key.json"), all.path("runs/key.json")).unwrap();
                let runs = <$Folder>::at(&all.path("runs")).unwrap();
                assert!(runs.folder(OsStr::new("folder")).is_err());
                assert!(runs.make_folder(OsStr::new("folder")).is_err());
                for name in ["inside.json", "key.json"] {
                    let status = runs.status(OsStr::new(name)).unwrap();
                    assert_eq!(status.kind, EntryKind::Link, "{name}");
                    assert_eq!(read(&runs, name), None, "{name}");
                    assert!(runs.append_to(OsStr::new(name)).is_err(), "{name}");
                }
            }

            #[cfg(unix)]
            #[test]
            fn a_folder_that_turns_into_a_link_and_back_leaks_nothing() {
                let all = TestFolder::with(
                    concat!("beneath-race-", stringify!($name)),
                    &["runs/deep/a.json", "secret/a.json"],
                );
                let runs = <$Folder>::at(&all.path("runs")).unwrap();
                let reads = turning(&all, &all.path("runs/deep"), || {
                    let deep = runs.folder(OsStr::new("deep")).ok();
                    deep.and_then(|deep| read(&deep, "a.json"))
                });
                assert!(
                    reads.iter().all(|text| text == "runs/deep/a.json"),
                    "{reads:?}"
                );
            }
        }
    };
}

#[cfg(unix)]
tests!(relative, unix::Folder);
tests!(by_handle, handles::Folder);

/// What a function reads in 2,000 calls while a folder becomes a link to `secret` and a folder again, many times.
#[cfg(unix)]
fn turning(
    all: &TestFolder,
    folder: &Path,
    mut read: impl FnMut() -> Option<String>,
) -> Vec<String> {
    use std::os::unix::fs::symlink;
    let is_over = AtomicBool::new(false);
    let (away, link) = (all.path("away"), all.path("link"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::rename(folder, &away).unwrap();
                symlink(all.path("secret"), &link).unwrap();
                fs::rename(&link, folder).unwrap();
                std::thread::yield_now();
                fs::remove_file(folder).unwrap();
                fs::rename(&away, folder).unwrap();
                std::thread::yield_now();
            }
        });
        let reads = (0..2_000).filter_map(|_| read()).collect();
        is_over.store(true, Ordering::Relaxed);
        reads
    })
}

#[cfg(unix)]
#[test]
fn a_root_that_turns_into_a_link_and_back_leaks_nothing() {
    let all = TestFolder::with("root-race", &["runs/a.json", "secret/a.json"]);
    let root = RootFolder::find(&all.path("runs")).unwrap();
    let reads = turning(&all, &all.path("runs"), || {
        let mut text = String::new();
        let mut file = root.open().ok()?.file(OsStr::new("a.json")).ok()?;
        file.read_to_string(&mut text).unwrap();
        Some(text)
    });
    assert!(reads.iter().all(|text| text == "runs/a.json"), "{reads:?}");
}

#[cfg(unix)]
#[test]
fn a_root_stays_in_its_parent() {
    use std::os::unix::fs::symlink;
    let all = TestFolder::with("root", &["home/runs/a.json", "secret/runs/a.json"]);
    let read = |root: &RootFolder| {
        let mut text = String::new();
        let mut file = root.open().ok()?.file(OsStr::new("a.json")).ok()?;
        file.read_to_string(&mut text).unwrap();
        Some(text)
    };
    let root = RootFolder::find(&all.path("home/runs")).unwrap();
    assert_eq!(read(&root).as_deref(), Some("home/runs/a.json"));
    // The root itself becomes a link.
    fs::rename(all.path("home/runs"), all.path("home/old")).unwrap();
    symlink(all.path("secret/runs"), all.path("home/runs")).unwrap();
    assert_eq!(read(&root), None);
    // It is made again.
    fs::remove_file(all.path("home/runs")).unwrap();
    fs::create_dir(all.path("home/runs")).unwrap();
    fs::write(all.path("home/runs/a.json"), "again").unwrap();
    assert_eq!(read(&root).as_deref(), Some("again"));
    // A folder above it becomes a link.
    fs::rename(all.path("home"), all.path("moved")).unwrap();
    symlink(all.path("secret"), all.path("home")).unwrap();
    assert_eq!(read(&root).as_deref(), Some("again"));
    // The root of the file system has no parent.
    let top = RootFolder::find(Path::new("/")).unwrap();
    assert!(top.open().unwrap().entries().unwrap().len() > 1);
}

/// Where users may pass through a folder and not read it, as in `/home` of many machines.
#[cfg(target_os = "linux")]
#[test]
fn the_parent_of_a_root_need_not_be_readable() {
    use std::os::unix::fs::PermissionsExt;
    let all = TestFolder::with("root-closed", &["home/me/a.json"]);
    let mode = |mode| fs::set_permissions(all.path("home"), fs::Permissions::from_mode(mode));
    mode(0o111).unwrap();
    let root = RootFolder::find(&all.path("home/me")).unwrap();
    assert!(matches!(root, RootFolder::InParent { .. }));
    assert!(root.open().unwrap().file(OsStr::new("a.json")).is_ok());
    mode(0o755).unwrap();
}
