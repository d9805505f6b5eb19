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

#[derive(Clone)]
struct Slot {
    number: u64,
    block: ArcRwSignal<u64>,
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
    pub(super) fn show(self, blocks: Vec<u64>) {
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
        if is_jump {
            for (slot, block) in slots.iter().zip(blocks) {
                slot.block.set(block);
            }
        }
        let numbers = slots.iter().map(|slot| slot.number).collect();
        self.slots.set_value(slots);
        self.numbers.set(numbers);
    }

    fn fresh(self, block: u64) -> Slot {
        let number = self.next.get_value();
        self.next.set_value(number + 1);
        Slot {
            number,
            block: ArcRwSignal::new(block),
        }
    }

    /// The block that stands in a place.
    pub(super) fn block(self, number: u64) -> ArcRwSignal<u64> {
        let slot = self.slots.with_value(|slots| {
            let mut slots = slots.iter();
            slots.find(|slot| slot.number == number).cloned()
        });
        // A number comes from there, so it is there.
        slot.map_or_else(|| ArcRwSignal::new(0), |slot| slot.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(slots: Slots) -> Vec<(u64, u64)> {
        let numbers = slots.numbers.get_untracked().into_iter();
        numbers
            .map(|number| (number, slots.block(number).get_untracked()))
            .collect()
    }

    #[test]
    fn blocks_keep_their_places_and_after_a_jump_others_take_them() {
        let owner = Owner::new();
        owner.set();
        let slots = Slots::new(true);
        slots.show(vec![10, 11, 12]);
        assert_eq!(shown(slots), [(0, 10), (1, 11), (2, 12)]);
        slots.show(vec![12, 13]);
        assert_eq!(shown(slots), [(2, 12), (3, 13)]);
        slots.show(vec![70, 71, 72]);
        assert_eq!(shown(slots), [(2, 70), (3, 71), (4, 72)]);
    }

    #[test]
    fn where_places_may_not_change_each_block_has_one_of_its_own() {
        let owner = Owner::new();
        owner.set();
        let slots = Slots::new(false);
        slots.show(vec![10, 11]);
        slots.show(vec![70, 71]);
        assert_eq!(shown(slots), [(2, 70), (3, 71)]);
    }
}
