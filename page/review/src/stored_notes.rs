//! The notes that the browser stores, which all tabs share. They are merged by revision, and those of a newer version are never
//! overwritten, so they are not a [`Shared`](volary_browser::shared::Shared) value, of which the last change wins.
//!
//! Invariant: a change keeps what other tabs stored. Annotations have revisions, so merging is safe in any order.

use volary_analysis::annotations::Annotations;
use volary_analysis::annotations::sidecar::{self, SidecarError};

/// Merges what is stored into the notes of a tab. What cannot be read changes nothing.
pub fn merge_stored(all: &mut Annotations, stored: Option<&str>) -> Result<(), SidecarError> {
    if let Some(text) = stored {
        all.merge(sidecar::read(text)?.annotations);
    }
    Ok(())
}

/// Changes the notes of a tab. Returns the text to store; an error if what is stored cannot be read, and would be lost.
pub fn change(
    all: &mut Annotations,
    stored: Option<&str>,
    change: impl FnOnce(&mut Annotations),
) -> Result<String, SidecarError> {
    let merged = merge_stored(all, stored);
    change(all);
    merged.map(|()| sidecar::to_text(all))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_analysis::annotations::Annotation;

    use super::*;

    fn note(id: &str, text: &str) -> Annotation {
        Annotation {
            id: id.into(),
            episode: "e".into(),
            text: text.into(),
            author: "ada".into(),
            ..Annotation::default()
        }
    }

    fn texts(all: &Annotations) -> Vec<(String, String)> {
        let notes = all.iter();
        let mut texts: Vec<_> = notes
            .map(|note| (note.id.to_string(), note.text.to_string()))
            .collect();
        texts.sort();
        texts
    }

    #[test]
    fn a_note_of_another_tab_is_kept() {
        let (mut one, mut other) = (Annotations::default(), Annotations::default());
        let stored = change(&mut one, None, |all| all.write(note("a", "first"), 1.0)).unwrap();
        // The other tab was opened before, and was not told yet.
        let stored = change(&mut other, Some(&stored), |all| {
            all.write(note("b", "second"), 2.0);
        });
        merge_stored(&mut one, stored.as_deref().ok()).unwrap();
        let both = [("a".into(), "first".into()), ("b".into(), "second".into())];
        assert_eq!(texts(&one), both);
        assert_eq!(texts(&other), both);
    }

    #[test]
    fn a_note_that_was_deleted_elsewhere_does_not_come_back() {
        let (mut one, mut other) = (Annotations::default(), Annotations::default());
        let stored = change(&mut one, None, |all| all.write(note("a", "first"), 1.0)).unwrap();
        merge_stored(&mut other, Some(&stored)).unwrap();
        let stored = change(&mut other, Some(&stored), |all| {
            all.delete("a", 2.0);
        });
        let stored = change(&mut one, stored.as_deref().ok(), |all| {
            all.write(note("b", "second"), 3.0);
        });
        let mut next = Annotations::default();
        merge_stored(&mut next, stored.as_deref().ok()).unwrap();
        assert_eq!(texts(&next), [("b".into(), "second".into())]);
    }

    #[test]
    fn what_cannot_be_read_is_not_overwritten() {
        let mut all = Annotations::default();
        let text = change(&mut all, Some("{\"format\": \"other\"}"), |all| {
            all.write(note("a", "first"), 1.0);
        });
        assert!(text.is_err());
        assert_eq!(texts(&all).len(), 1, "it works until the page is left");
    }

    proptest! {
        /// Each tab writes notes; the events about that arrive late or never.
        #[test]
        fn no_order_of_tabs_loses_a_note(turns in prop::collection::vec((0_usize..3, any::<bool>()), 1..20)) {
            let mut tabs = vec![Annotations::default(); 3];
            let mut stored: Option<String> = None;
            for (number, (tab, is_told)) in turns.iter().enumerate() {
                let id = format!("note-{number}");
                let text = change(&mut tabs[*tab], stored.as_deref(), |all| {
                    all.write(note(&id, "said"), number as f64);
                });
                stored = Some(text.unwrap());
                if *is_told {
                    let next = (tab + 1) % tabs.len();
                    merge_stored(&mut tabs[next], stored.as_deref()).unwrap();
                }
            }
            let mut visit = Annotations::default();
            merge_stored(&mut visit, stored.as_deref()).unwrap();
            prop_assert_eq!(texts(&visit).len(), turns.len());
        }
    }
}
