//! What one tab, or one worker, changed among the episodes, for all others of this browser.

use volary_core::json;
use volary_core::json::{Json, Text};

use crate::browser::broadcast;
use crate::browser::database::{Change, Store};

/// Which episodes changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedEpisodes {
    /// The ids of those that were kept.
    pub kept: Vec<Text>,
    /// The ids of those that were forgotten.
    pub gone: Vec<Text>,
    /// All whose ids begin so were forgotten.
    pub gone_from: Vec<Text>,
}

/// Tells the others.
pub(super) fn tell(changes: &[Change]) {
    let mut changed = ChangedEpisodes::default();
    for change in changes {
        match change {
            Change::AddRows(rows) | Change::PutRows(rows) => {
                changed.kept.extend(rows.ids().map(Text::from));
            }
            Change::ForgetRows(ids) => {
                changed.gone.extend(ids.iter().map(|id| id.as_str().into()));
            }
            Change::ForgetAll(Store::Rows, start) => changed.gone_from.push(start.as_str().into()),
            _ => {}
        }
    }
    changed.tell();
}

/// Hears what others changed from now on.
pub fn listen(heard: impl Fn(ChangedEpisodes) + 'static) {
    broadcast::listen(move |text| {
        if let Some(changed) = ChangedEpisodes::read(&text) {
            heard(changed);
        }
    });
}

impl ChangedEpisodes {
    fn tell(&self) {
        if *self != ChangedEpisodes::default() {
            broadcast::tell(&self.to_text());
        }
    }

    fn to_text(&self) -> String {
        let changed = json!({
            "kept": (self.kept.clone()),
            "gone": (self.gone.clone()),
            "gone_from": (self.gone_from.clone())
        });
        changed.to_python_text()
    }

    fn read(text: &str) -> Option<ChangedEpisodes> {
        let json = Json::parse(text).ok()?;
        let texts = |key: &str| -> Option<Vec<Text>> {
            let texts = json.get(key)?.as_list()?.iter();
            texts.map(|text| text.as_text().cloned()).collect()
        };
        Some(ChangedEpisodes {
            kept: texts("kept")?,
            gone: texts("gone")?,
            gone_from: texts("gone_from")?,
        })
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
