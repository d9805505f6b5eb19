//! The places on the page in which blocks stand. Who jumps to another part of an episode sees none of the blocks that
//! stood there: then the places take the new ones in, and only what differs is drawn. To take elements away and
//! make others in their stead takes the browser several times as long.

use leptos::prelude::*;

/// The places, in order.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    /// Their numbers. Each is given once.
    pub(super) numbers: RwSignal<Vec<u64>>,
    slots: StoredValue<Vec<Slot>>,
    next: StoredValue<u64>,
    /// Whether places take other blocks in.
    may_change: bool,
}

/// A place.
#[derive(Clone)]
pub(super) struct Slot {
    number: u64,
    /// The block that stands there.
    pub(super) block: ArcRwSignal<u64>,
    /// Whether it belongs to the selected step. Each place is told, so that only those hear of a selection that
    /// it concerns.
    pub(super) selected: ArcRwSignal<bool>,
}

impl Slot {
    fn new(number: u64, block: u64) -> Self {
        Slot {
            number,
            block: ArcRwSignal::new(block),
            selected: ArcRwSignal::new(false),
        }
    }

    fn select(&self, is_selected: bool) {
        if self.selected.get_untracked() != is_selected {
            self.selected.set(is_selected);
        }
    }
}

impl Slots {
    /// None yet.
    pub(super) fn new(may_change: bool) -> Self {
        Slots {
            numbers: RwSignal::default(),
            slots: StoredValue::default(),
            next: StoredValue::new(0),
            may_change,
        }
    }

    /// Shows these blocks.
    pub(super) fn show(self, blocks: Vec<u64>, is_selected: impl Fn(u64) -> bool) {
        let former = self.slots.get_value();
        let slot_of = |block: u64| {
            let mut slots = former.iter();
            slots.find(|slot| slot.block.get_untracked() == block)
        };
        let is_jump = self.may_change && blocks.iter().all(|block| slot_of(*block).is_none());
        let slots = blocks.iter().enumerate().map(|(place, block)| {
            let slot = match is_jump {
                true => former.get(place),
                false => slot_of(*block),
            };
            slot.cloned().unwrap_or_else(|| self.fresh(*block))
        });
        let slots: Vec<Slot> = slots.collect();
        for (slot, block) in slots.iter().zip(blocks) {
            slot.select(is_selected(block));
            if is_jump {
                slot.block.set(block);
            }
        }
        let numbers = slots.iter().map(|slot| slot.number).collect();
        self.slots.set_value(slots);
        self.numbers.set(numbers);
    }

    /// Another step was selected.
    pub(super) fn select(self, is_selected: impl Fn(u64) -> bool) {
        for slot in self.slots.get_value() {
            slot.select(is_selected(slot.block.get_untracked()));
        }
    }

    fn fresh(self, block: u64) -> Slot {
        let number = self.next.get_value();
        self.next.set_value(number + 1);
        Slot::new(number, block)
    }

    /// The place of a number.
    pub(super) fn slot(self, number: u64) -> Slot {
        let slot = self.slots.with_value(|slots| {
            let mut slots = slots.iter();
            slots.find(|slot| slot.number == number).cloned()
        });
        // A number comes from there, so it is there.
        slot.unwrap_or_else(|| Slot::new(number, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(slots: Slots) -> Vec<(u64, u64)> {
        let numbers = slots.numbers.get_untracked().into_iter();
        numbers
            .map(|number| (number, slots.slot(number).block.get_untracked()))
            .collect()
    }

    #[test]
    fn blocks_keep_their_places_and_after_a_jump_others_take_them() {
        let owner = Owner::new();
        owner.set();
        let slots = Slots::new(true);
        slots.show(vec![10, 11, 12], |_| false);
        assert_eq!(shown(slots), [(0, 10), (1, 11), (2, 12)]);
        slots.show(vec![12, 13], |_| false);
        assert_eq!(shown(slots), [(2, 12), (3, 13)]);
        slots.show(vec![70, 71, 72], |_| false);
        assert_eq!(shown(slots), [(2, 70), (3, 71), (4, 72)]);
    }

    #[test]
    fn a_place_knows_whether_its_block_is_selected() {
        let owner = Owner::new();
        owner.set();
        let slots = Slots::new(true);
        let selected = |place| slots.slot(place).selected.get_untracked();
        slots.show(vec![10, 11], |block| block == 11);
        assert_eq!((selected(0), selected(1)), (false, true));
        slots.select(|block| block == 10);
        assert_eq!((selected(0), selected(1)), (true, false));
        slots.show(vec![70, 71], |block| block == 71);
        assert_eq!((selected(0), selected(1)), (false, true));
    }

    #[test]
    fn where_places_may_not_change_each_block_has_one_of_its_own() {
        let owner = Owner::new();
        owner.set();
        let slots = Slots::new(false);
        slots.show(vec![10, 11], |_| false);
        slots.show(vec![70, 71], |_| false);
        assert_eq!(shown(slots), [(2, 70), (3, 71)]);
    }
}
