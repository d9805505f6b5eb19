//! What the **Storage** section shows, and whether a press deletes everything. Pure.
//!
//! Invariants: a summary is shown only if nothing was asked for or failed since it was requested. Everything is deleted
//! only by the second of two presses, with nothing in between.

use volary_browser::database::DatabaseError;
use volary_browser::storage_quota::Quota;
use volary_storage::unreadable::RecordLocation;

/// A summary of the stored data.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredSummary {
    pub episodes: usize,
    /// The total size of the episodes in bytes.
    pub size: f64,
    pub evaluations: usize,
    pub room: Option<Quota>,
    pub lasting: bool,
    pub unreadable: Vec<(RecordLocation, String)>,
    pub is_read_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum StorageContent {
    #[default]
    Looking,
    Known(StoredSummary),
    /// What the browser refused, and why.
    Refused {
        what: &'static str,
        error: DatabaseError,
    },
}

#[derive(Debug, Default)]
pub(super) struct StoragePage {
    content: StorageContent,
    /// The number of the last request for a summary, or of the last failure.
    last: u32,
    /// Whether the user is asked to confirm the deletion of everything.
    is_asking: bool,
}

impl StoragePage {
    pub fn content(&self) -> &StorageContent {
        &self.content
    }

    pub fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// Starts a request for a summary. Returns its number.
    pub fn look(&mut self) -> u32 {
        self.is_asking = false;
        self.last = self.last.wrapping_add(1);
        self.last
    }

    /// Takes a summary, or why there is none.
    pub fn looked(&mut self, number: u32, summary: Result<StoredSummary, DatabaseError>) {
        if number == self.last {
            self.content = match summary {
                Ok(summary) => StorageContent::Known(summary),
                Err(error) => StorageContent::Refused {
                    what: "Nothing can be stored.",
                    error,
                },
            };
        }
    }

    /// Shows that the browser refused something.
    pub fn refused(&mut self, what: &'static str, error: DatabaseError) {
        // A summary that arrives now would hide the reason.
        self.look();
        self.content = StorageContent::Refused { what, error };
    }

    /// Handles a press of the button that deletes everything. Returns whether to delete it now.
    pub fn pressed_delete(&mut self) -> bool {
        let is_sure = self.is_asking;
        self.is_asking = !is_sure;
        is_sure
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn summary(episodes: usize) -> StoredSummary {
        StoredSummary {
            episodes,
            size: 0.0,
            evaluations: 0,
            room: None,
            lasting: false,
            unreadable: Vec::new(),
            is_read_only: false,
        }
    }

    #[test]
    fn a_summary_from_before_a_deletion_is_not_shown_after_it() {
        let mut page = StoragePage::default();
        let before = page.look();
        let after = page.look();
        page.looked(after, Ok(summary(0)));
        page.looked(before, Ok(summary(5)));
        assert_eq!(*page.content(), StorageContent::Known(summary(0)));
    }

    #[test]
    fn a_failure_says_what_failed_until_the_next_look() {
        let mut page = StoragePage::default();
        let number = page.look();
        page.refused("The records were not deleted.", DatabaseError::Newer);
        let refused = StorageContent::Refused {
            what: "The records were not deleted.",
            error: DatabaseError::Newer,
        };
        page.looked(number, Ok(summary(5)));
        assert_eq!(*page.content(), refused);
        let number = page.look();
        assert_eq!(*page.content(), refused);
        page.looked(number, Ok(summary(5)));
        assert_eq!(*page.content(), StorageContent::Known(summary(5)));
    }

    #[test]
    fn a_database_that_cannot_be_read_stores_nothing() {
        let mut page = StoragePage::default();
        let number = page.look();
        page.looked(number, Err(DatabaseError::Absent));
        let refused = StorageContent::Refused {
            what: "Nothing can be stored.",
            error: DatabaseError::Absent,
        };
        assert_eq!(*page.content(), refused);
    }

    #[test]
    fn everything_is_deleted_by_the_second_press() {
        let mut page = StoragePage::default();
        assert!(!page.pressed_delete());
        assert!(page.is_asking());
        assert!(page.pressed_delete());
        // The next press asks again.
        assert!(!page.is_asking());
        assert!(!page.pressed_delete());
    }

    #[test]
    fn the_question_ends_when_the_page_is_left() {
        let mut page = StoragePage::default();
        page.pressed_delete();
        page.look();
        assert!(!page.is_asking());
        assert!(!page.pressed_delete());
    }

    proptest! {
        /// The summary that is shown is the one of the last request, whatever the order of answers.
        #[test]
        fn summaries_in_any_order(order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(), failed in 0..8_usize) {
            let mut page = StoragePage::default();
            let numbers: Vec<u32> = order.iter().map(|_| page.look()).collect();
            for (place, look) in order.iter().enumerate() {
                if place == failed {
                    page.refused("It failed.", DatabaseError::Full);
                }
                page.looked(numbers[*look], Ok(summary(*look)));
            }
            let is_refused = matches!(page.content(), StorageContent::Refused { .. });
            prop_assert_eq!(is_refused, failed < 6);
            if failed >= 6 {
                prop_assert_eq!(page.content(), &StorageContent::Known(summary(5)));
            }
        }
    }
}
