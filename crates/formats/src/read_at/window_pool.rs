//! Read-ahead buffers for several regions of a file.

use std::ops::Range;
use std::rc::Rc;

use futures_util::future::try_join_all;

use super::window::{FIRST_PIECE, Window};
use super::{ReadAt, ReadError};

/// Read-ahead buffers for several regions of a file that are read in turn, such as the columns of a table.
pub struct WindowPool {
    source: Rc<dyn ReadAt>,
    /// The last used one is last.
    windows: Vec<Window>,
}

impl WindowPool {
    /// The maximum number of buffers…
    const MOST: usize = 16;
    /// …and that of bytes in each of them.
    const LARGEST: u64 = 1 << 19;

    /// Creates empty buffers for a file.
    pub fn on(source: Rc<dyn ReadAt>) -> WindowPool {
        WindowPool {
            source,
            windows: Vec::new(),
        }
    }

    /// Reads ranges of the file, those in different regions at once.
    pub async fn read(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, ReadError> {
        let mut parts = Vec::with_capacity(ranges.len());
        for ranges in ranges.chunks(Self::MOST) {
            let reads = self.regions(ranges).into_iter().map(Region::read);
            let mut read = Vec::with_capacity(ranges.len());
            for (window, parts) in try_join_all(reads).await? {
                self.windows.push(window);
                read.extend(parts);
            }
            let excess = self.windows.len().saturating_sub(Self::MOST);
            self.windows.drain(..excess);
            read.sort_by_key(|(number, _)| *number);
            parts.extend(read.into_iter().map(|(_, bytes)| bytes));
        }
        Ok(parts)
    }

    /// Groups ranges by the buffers that have them, or will have them after a first read.
    fn regions(&mut self, ranges: &[Range<u64>]) -> Vec<Region> {
        let mut regions: Vec<Region> = Vec::new();
        for (number, range) in ranges.iter().cloned().enumerate() {
            if let Some(region) = regions.iter_mut().find(|region| region.has(range.start)) {
                region.ranges.push((number, range));
                continue;
            }
            let mut windows = self.windows.iter();
            let window = match windows.position(|window| window.reaches(range.start)) {
                Some(index) => self.windows.remove(index),
                None => Window::on(Rc::clone(&self.source)).with_pieces_of(Self::LARGEST),
            };
            regions.push(Region {
                window,
                ranges: vec![(number, range)],
            });
        }
        regions
    }
}

/// A buffer, and the ranges to read with it, each with its number.
struct Region {
    window: Window,
    ranges: Vec<(usize, Range<u64>)>,
}

impl Region {
    fn has(&self, offset: u64) -> bool {
        let after_first = self
            .ranges
            .first()
            .and_then(|(_, range)| offset.checked_sub(range.start));
        self.window.reaches(offset) || after_first.is_some_and(|bytes| bytes < FIRST_PIECE)
    }

    async fn read(self) -> Result<(Window, Vec<(usize, Vec<u8>)>), ReadError> {
        let Region { window, ranges } = self;
        let mut parts = Vec::with_capacity(ranges.len());
        for (number, range) in ranges {
            parts.push((number, window.read(range).await?));
        }
        Ok((window, parts))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::super::tests::Noted;
    use super::*;

    #[test]
    fn columns_that_are_read_in_turn_are_read_once() {
        let size = 4 << 20;
        let bytes: Vec<u8> = (0..size).map(|at: u32| (at % 251) as u8).collect();
        let source = Noted::of(bytes.clone());
        let mut pool = WindowPool::on(Rc::clone(&source) as Rc<dyn ReadAt>);
        let (columns, cell) = (8, 16 << 10);
        let column = u64::from(size) / columns;
        for row in 0..column / cell {
            let cells = (0..columns).map(|number| number * column + row * cell);
            let cells: Vec<_> = cells.map(|at| at..at + cell).collect();
            let read = pool.read(&cells).now_or_never().unwrap().unwrap();
            for (cell, read) in cells.into_iter().zip(read) {
                assert_eq!(read, bytes[cell.start as usize..cell.end as usize]);
            }
        }
        assert!(source.length() <= u64::from(size) * 2);
    }

    #[test]
    fn ranges_of_one_region_are_read_once_and_in_their_order() {
        let bytes: Vec<u8> = (0..2 << 20).map(|at: u32| (at % 251) as u8).collect();
        let source = Noted::of(bytes.clone());
        let mut pool = WindowPool::on(Rc::clone(&source) as Rc<dyn ReadAt>);
        // Two regions, each with ranges beside one another, and more ranges than buffers.
        let ranges: Vec<_> = (0..50)
            .map(|number| (number % 2) * (1 << 20) + number * 100)
            .map(|at| at..at + 90)
            .collect();
        let read = pool.read(&ranges).now_or_never().unwrap().unwrap();
        for (range, read) in ranges.into_iter().zip(read) {
            assert_eq!(read, bytes[range.start as usize..range.end as usize]);
        }
        assert_eq!(source.length(), 2 * FIRST_PIECE);
        assert_eq!(pool.windows.len(), 2);
        assert_eq!(pool.read(&[]).now_or_never().unwrap(), Ok(Vec::new()));
    }

    #[test]
    fn the_buffers_that_were_not_used_for_longest_go() {
        let source = Noted::of(vec![7; 64 << 20]);
        let mut pool = WindowPool::on(Rc::clone(&source) as Rc<dyn ReadAt>);
        let range = |number: usize| {
            let at = number as u64 * (2 << 20);
            at..at + 10
        };
        for number in 0..WindowPool::MOST + 2 {
            pool.read(&[range(number)]).now_or_never().unwrap().unwrap();
        }
        assert_eq!(pool.windows.len(), WindowPool::MOST);
        source.read.take();
        pool.read(&[range(2)]).now_or_never().unwrap().unwrap();
        assert_eq!(source.read.borrow().len(), 0, "it is still there");
        pool.read(&[range(0)]).now_or_never().unwrap().unwrap();
        assert_eq!(source.read.borrow().len(), 1);
    }

    proptest! {
        #[test]
        fn each_range_gets_its_bytes(
            batches in proptest::collection::vec(
                proptest::collection::vec((0_u64..900_000, 1_u64..90_000), 0..24),
                1..4,
            ),
        ) {
            let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let mut pool = WindowPool::on(Noted::of(bytes.clone()));
            for batch in batches {
                let ranges: Vec<_> = batch.iter().map(|(at, length)| *at..at + length).collect();
                let read = pool.read(&ranges).now_or_never().expect("it is ready").expect("it is read");
                prop_assert_eq!(read.len(), ranges.len());
                for (range, read) in ranges.iter().zip(read) {
                    prop_assert!(read == bytes[range.start as usize..range.end as usize], "{:?}", range);
                }
                prop_assert!(pool.windows.len() <= WindowPool::MOST);
            }
        }
    }
}
