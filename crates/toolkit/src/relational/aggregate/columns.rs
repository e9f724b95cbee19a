//! The values of a sliding window side by side, kept from one firing to the next.
//!
//! Between two firings a few tuples leave at the front and a few come at the end. Only their values
//! move, and the functions find packed columns instead of thousands of tuples.

use std::collections::VecDeque;

use runtime::window::Partition;
use tuple::{Layout, List};

use super::operator::Kept;

/// The columns of one partition.
pub struct Columns {
    /// A column an argument.
    pub lists: Vec<List>,
    /// The number of each row's tuple; it rises.
    numbers: VecDeque<u64>,
}

impl Columns {
    /// Columns without a row, one for each of these.
    pub fn new(like: &[List]) -> Columns {
        Columns {
            lists: like.iter().map(List::new_like).collect(),
            numbers: VecDeque::new(),
        }
    }

    /// Makes the rows those of the partition. Tuples that leave out of order (a window of a delta
    /// whose attribute falls) cost all of them.
    pub fn follow(&mut self, partition: &Partition<Kept>, layout: &Layout) {
        let first = partition.get(0).map_or(u64::MAX, |kept| kept.number);
        let gone = self.numbers.partition_point(|&number| number < first);
        self.forget(gone);
        self.add_newer(partition, layout);
        if self.numbers.len() != partition.len() {
            self.forget(self.numbers.len());
            self.add_newer(partition, layout);
        }
    }

    fn forget(&mut self, rows: usize) {
        self.numbers.drain(..rows);
        self.lists
            .iter_mut()
            .for_each(|list| list.remove_range(0, rows));
    }

    /// Appends the tuples that came after the last row.
    fn add_newer(&mut self, partition: &Partition<Kept>, layout: &Layout) {
        let last = self.numbers.back().copied();
        let is_new = |kept: &&Kept| last.is_none_or(|last| kept.number > last);
        let new = partition.iter().rev().take_while(is_new).count();
        let at = partition.len() - new..partition.len();
        for kept in at.filter_map(|at| partition.get(at)) {
            let values = kept.values.as_ref();
            for (at, list) in self.lists.iter_mut().enumerate() {
                list.push(values.get(layout, at));
            }
            self.numbers.push_back(kept.number);
        }
    }
}
