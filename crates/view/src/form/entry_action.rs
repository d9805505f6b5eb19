//! What the buttons of an entry do: of an element of a list, or of a member of a map.

use super::{FieldDraft, MoveDirection};

/// The action of a button of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryAction {
    Move(MoveDirection),
    Remove,
}

impl EntryAction {
    /// All, in the order of their buttons.
    pub const ALL: [EntryAction; 3] = [
        EntryAction::Move(MoveDirection::Up),
        EntryAction::Move(MoveDirection::Down),
        EntryAction::Remove,
    ];

    /// The name of the button. `number` is counted from 1.
    pub fn text(self, list: &str, number: usize) -> String {
        match self {
            EntryAction::Move(MoveDirection::Up) => format!("Move {list} {number} up"),
            EntryAction::Move(MoveDirection::Down) => format!("Move {list} {number} down"),
            EntryAction::Remove => format!("Remove {list} {number}"),
        }
    }

    /// Changes the draft of the list that has an entry with this key.
    pub fn apply(self, draft: &mut FieldDraft, key: u32) {
        match self {
            EntryAction::Move(direction) => draft.move_entry(key, direction),
            EntryAction::Remove => draft.remove_entry(key),
        }
    }

    /// Whether it changes nothing: the first entry cannot move up, nor the last one down.
    pub fn is_idle(self, place: usize, count: usize) -> bool {
        match self {
            EntryAction::Move(MoveDirection::Up) => place == 0,
            EntryAction::Move(MoveDirection::Down) => place + 1 == count,
            EntryAction::Remove => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::draft::Entry;
    use super::*;

    fn list(count: u32) -> FieldDraft {
        let entries = (0..count).map(|key| Entry::new(key, FieldDraft::Text(key.to_string())));
        FieldDraft::Entries(entries.collect())
    }

    fn keys(draft: &FieldDraft) -> Vec<u32> {
        draft.entries().iter().map(|entry| entry.key).collect()
    }

    #[test]
    fn entries_move_and_go() {
        let mut draft = list(3);
        EntryAction::Move(MoveDirection::Up).apply(&mut draft, 2);
        assert_eq!(keys(&draft), [0, 2, 1]);
        EntryAction::Move(MoveDirection::Down).apply(&mut draft, 0);
        assert_eq!(keys(&draft), [2, 0, 1]);
        EntryAction::Remove.apply(&mut draft, 0);
        assert_eq!(keys(&draft), [2, 1]);
        assert_eq!(draft.entries()[1].draft, FieldDraft::Text("1".to_owned()));
    }

    #[test]
    fn buttons_are_named_by_what_they_change() {
        let texts = EntryAction::ALL.map(|action| action.text("Items", 2));
        assert_eq!(
            texts,
            ["Move Items 2 up", "Move Items 2 down", "Remove Items 2"]
        );
    }

    proptest! {
        /// A button that is shown as disabled must not act, and one that is not must.
        #[test]
        fn an_idle_action_changes_nothing_and_others_do(count in 1_u32..6, at in 0_usize..6) {
            let at = at % count as usize;
            for action in EntryAction::ALL {
                let mut draft = list(count);
                action.apply(&mut draft, at as u32);
                prop_assert_eq!(action.is_idle(at, count as usize), draft == list(count));
            }
        }
    }
}
