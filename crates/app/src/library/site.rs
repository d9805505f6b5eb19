//! The library that is published with a site: its manifest, and the events about files that change.

use volary_core::json::{Json, Text};
use volary_protocol::library::{FileList, RemoteFile};

/// Resolves the addresses in the files of a site.
pub trait Addresses {
    /// The absolute address of a path that is relative to the file at `address`.
    fn beside(&self, address: &str, path: &str) -> String;
    /// An absolute address as the browser writes it; `None` if it is none.
    fn absolute(&self, address: &str) -> Option<String>;
}

/// The manifest of a site's library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The title that the site chose.
    pub title: Text,
    /// The address of the notes, if the server keeps them.
    pub notes: Option<Text>,
    /// The address of answers of models about these trajectories, if there are any.
    pub answers: Option<Text>,
    pub content: SiteContent,
}

/// Where the trajectories of a site are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteContent {
    /// In these files.
    Files(Vec<RemoteFile>),
    /// In the files of a list, which is read as it arrives.
    List {
        list: FileList,
        /// The address of the events of what changes, if there is one.
        events: Option<Text>,
        /// The addresses of files that were given besides the list.
        others: Vec<Text>,
    },
}

impl Site {
    /// Reads the manifest at an address; `None` if it is damaged.
    pub fn read(manifest: &str, text: &str, addresses: &impl Addresses) -> Option<Site> {
        let json = Json::parse(text).ok()?;
        let linked = |key: &str| {
            let path = json.get(key).and_then(Json::as_text)?;
            Some(Text::from(addresses.beside(manifest, path)))
        };
        let files = json.get("files")?.as_list()?.iter();
        let files = files.filter_map(|file| {
            let text = |key: &str| file.get(key)?.as_text();
            let url = match text("url") {
                Some(url) => addresses.absolute(url).filter(|url| is_on_the_web(url))?,
                None => addresses.beside(manifest, text("path")?),
            };
            Some(RemoteFile {
                name: text("name")?.clone(),
                url: url.into(),
            })
        });
        let content = match linked("list") {
            Some(url) => SiteContent::List {
                list: FileList {
                    url,
                    heads: linked("heads"),
                },
                events: linked("events"),
                others: files.map(|file| file.url).collect(),
            },
            None => SiteContent::Files(files.collect()),
        };
        Some(Site {
            title: json.get("title")?.as_text()?.clone(),
            notes: linked("notes"),
            answers: linked("answers"),
            content,
        })
    }
}

fn is_on_the_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// What an event of a site says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteEvent {
    /// Files changed.
    Changes(SiteChanges),
    /// Changes were missed, so that everything must be read again.
    Reload,
}

/// The changes of a site's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteChanges {
    /// The files that are new, or were written to.
    pub changed: Vec<RemoteFile>,
    /// The addresses of those that are gone, or of folders.
    pub gone: Vec<Text>,
    /// Whether the file of notes was written to.
    pub has_notes: bool,
}

impl SiteEvent {
    /// The names of the events.
    pub const NAMES: [&str; 2] = [SiteEvent::CHANGES, "reload"];
    const CHANGES: &str = "changes";

    /// Reads an event from the stream at an address. One that cannot be read is a reload: it may say anything.
    pub fn read(events: &str, name: &str, data: &str, addresses: &impl Addresses) -> SiteEvent {
        let changes = (name == SiteEvent::CHANGES)
            .then(|| SiteChanges::read(events, data, addresses))
            .flatten();
        changes.map_or(SiteEvent::Reload, SiteEvent::Changes)
    }

    /// Whether the file of notes may have changed.
    pub fn has_notes(&self) -> bool {
        match self {
            SiteEvent::Changes(changes) => changes.has_notes,
            SiteEvent::Reload => true,
        }
    }
}

impl SiteChanges {
    fn read(events: &str, text: &str, addresses: &impl Addresses) -> Option<SiteChanges> {
        let json = Json::parse(text).ok()?;
        let changed = json.get("changed")?.as_list()?.iter().filter_map(|file| {
            let text = |key: &str| file.get(key)?.as_text();
            Some(RemoteFile {
                name: text("name")?.clone(),
                url: addresses.beside(events, text("path")?).into(),
            })
        });
        let gone = json
            .get("gone")?
            .as_list()?
            .iter()
            .filter_map(Json::as_text);
        Some(SiteChanges {
            changed: changed.collect(),
            gone: gone
                .map(|path| addresses.beside(events, path).into())
                .collect(),
            has_notes: json.get("notes") == Some(&Json::Bool(true)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses below one folder.
    struct Folder;

    impl Addresses for Folder {
        fn beside(&self, _: &str, path: &str) -> String {
            format!("https://site.example/{path}")
        }

        fn absolute(&self, address: &str) -> Option<String> {
            address.contains(':').then(|| address.to_owned())
        }
    }

    fn file(name: &str, url: &str) -> RemoteFile {
        RemoteFile {
            name: name.into(),
            url: url.into(),
        }
    }

    fn site(text: &str) -> Option<Site> {
        Site::read("https://site.example/library.json", text, &Folder)
    }

    #[test]
    fn files_are_beside_the_manifest_or_on_the_web() {
        let text = r#"{"title": "Runs", "notes": "notes.json", "answers": "answers", "files": [
            {"name": "a", "path": "a.jsonl"},
            {"name": "b", "url": "https://other.example/b.jsonl"},
            {"name": "script", "url": "javascript:alert(1)"},
            {"name": "disk", "url": "file:///etc/passwd"},
            {"name": "none", "url": "no address"},
            {"path": "nameless.jsonl"}
        ]}"#;
        let expected = Site {
            title: "Runs".into(),
            notes: Some("https://site.example/notes.json".into()),
            answers: Some("https://site.example/answers".into()),
            content: SiteContent::Files(vec![
                file("a", "https://site.example/a.jsonl"),
                file("b", "https://other.example/b.jsonl"),
            ]),
        };
        assert_eq!(site(text), Some(expected));
    }

    #[test]
    fn a_site_with_a_list_reads_other_files_too() {
        let text = r#"{"title": "Runs", "list": "list.jsonl", "heads": "heads", "events": "events", "files": [
            {"name": "b", "url": "https://other.example/b.jsonl"}
        ]}"#;
        let content = site(text).map(|site| site.content);
        let expected = SiteContent::List {
            list: FileList {
                url: "https://site.example/list.jsonl".into(),
                heads: Some("https://site.example/heads".into()),
            },
            events: Some("https://site.example/events".into()),
            others: vec!["https://other.example/b.jsonl".into()],
        };
        assert_eq!(content, Some(expected));
    }

    #[test]
    fn a_damaged_manifest_is_no_library() {
        for text in ["", "<html>", "[]", r#"{"files": []}"#, r#"{"title": "A"}"#] {
            assert_eq!(site(text), None, "{text}");
        }
    }

    #[test]
    fn an_event_names_what_changed() {
        let read = |name, data| SiteEvent::read("https://site.example/events", name, data, &Folder);
        let data =
            r#"{"changed": [{"name": "a", "path": "a.jsonl"}], "gone": ["old"], "notes": true}"#;
        let changes = SiteChanges {
            changed: vec![file("a", "https://site.example/a.jsonl")],
            gone: vec!["https://site.example/old".into()],
            has_notes: true,
        };
        let event = read("changes", data);
        assert!(event.has_notes());
        assert_eq!(event, SiteEvent::Changes(changes));
        let quiet = read("changes", r#"{"changed": [], "gone": []}"#);
        assert!(!quiet.has_notes());
        // What is missed may be anything.
        for (name, data) in [("reload", data), ("changes", "{}"), ("changes", "")] {
            let event = read(name, data);
            assert_eq!(event, SiteEvent::Reload);
            assert!(event.has_notes());
        }
    }
}
