//! The change feed: notifies the other tabs and workers of this browser which episodes were stored or deleted.

use serde::{Deserialize, Serialize};
use volary_core::json::{self, Text, from_json, to_json};

use volary_browser::broadcast;
use volary_browser::database::{DatabaseChange, Store};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedEpisodes {
    /// The ids of the stored episodes.
    pub kept: Vec<Text>,
    /// The ids of the deleted episodes.
    pub gone: Vec<Text>,
    /// Prefixes. All episodes whose ids begin with one of them were deleted.
    pub gone_from: Vec<Text>,
}

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
    changed.send();
}

/// Calls `heard` with each later change that another tab or worker makes.
pub fn listen(heard: impl Fn(ChangedEpisodes) + 'static) {
    broadcast::listen(move |text| {
        if let Some(changed) = ChangedEpisodes::read(&text) {
            heard(changed);
        }
    });
}

impl ChangedEpisodes {
    fn send(&self) {
        if *self != ChangedEpisodes::default() {
            broadcast::send(&self.to_text());
        }
    }

    fn to_text(&self) -> String {
        // Strings can always be serialized.
        to_json(self).unwrap_or_default().to_compact_text()
    }

    fn read(text: &str) -> Option<ChangedEpisodes> {
        from_json(&json::read(text).ok()?).ok()
    }
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
        assert_eq!(ChangedEpisodes::read(&changed.to_text()), Some(changed));
        assert_eq!(ChangedEpisodes::read("[]"), None);
    }
}
