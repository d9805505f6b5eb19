//! The change feed: notifies the other tabs and workers of this browser which episodes were stored or deleted.

use volary_core::json::{self, Text, from_json, to_json};
use volary_protocol::ChangedEpisodes;

use volary_browser::broadcast;
use volary_browser::database::{DatabaseChange, Store};

/// Notifies the other tabs and workers.
pub(super) fn notify(changes: &[DatabaseChange]) {
    let mut changed = ChangedEpisodes::default();
    for change in changes {
        match change {
            DatabaseChange::AddRows(rows) | DatabaseChange::PutRows(rows) => {
                changed.kept.extend(rows.ids().map(Text::from));
            }
            DatabaseChange::DeleteRows(ids) => {
                changed.gone.extend(ids.iter().map(|id| id.as_str().into()));
            }
            DatabaseChange::DeletePrefix(Store::Rows, start) => {
                changed.gone_from.push(start.as_str().into())
            }
            _ => {}
        }
    }
    send(&changed);
}

/// Calls `heard` with each later change that another tab or worker makes.
pub fn listen(heard: impl Fn(ChangedEpisodes) + 'static) {
    broadcast::listen(move |text| {
        if let Some(changed) = read(&text) {
            heard(changed);
        }
    });
}

fn send(changed: &ChangedEpisodes) {
    if *changed != ChangedEpisodes::default() {
        broadcast::send(&to_text(changed));
    }
}

fn to_text(changed: &ChangedEpisodes) -> String {
    // Strings can always be serialized.
    to_json(changed).unwrap_or_default().to_compact_text()
}

fn read(text: &str) -> Option<ChangedEpisodes> {
    from_json(&json::read(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_come_back() {
        let changed = ChangedEpisodes {
            kept: vec!["a".into()],
            gone: vec!["b".into(), "c".into()],
            gone_from: vec!["".into()],
        };
        assert_eq!(read(&to_text(&changed)), Some(changed));
        assert_eq!(read("[]"), None);
    }
}
