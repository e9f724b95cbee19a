//! Partitions of a window: found by key, in the order in which they began and in that of their last
//! use. Every call takes the same time however many there are.
//!
//! ```text
//!   key_ids: key -> id
//!   slots:   | partition, neighbours by age, neighbours by use | ... | free | ...
//! ```
//! A slot whose partition is closed keeps its memory for the next one.

use super::WindowPartition;
use super::key_ids::{KeyId, KeyIds};

/// Id of no partition: the end of a list.
const NO_PARTITION: KeyId = KeyId::MAX;

#[derive(Debug)]
pub struct Partitions<T> {
    key_ids: KeyIds,
    /// Slots by key id.
    slots: Vec<PartitionSlot<T>>,
    /// First and last partition of the two lists.
    ends: [ListEnds; 2],
    /// Number of partitions that were ever opened.
    opened: u64,
}

#[derive(Debug)]
struct PartitionSlot<T> {
    partition: WindowPartition<T>,
    neighbors: [ListNeighbors; 2],
}

#[derive(Clone, Copy, Debug)]
struct ListNeighbors {
    before: KeyId,
    after: KeyId,
}

#[derive(Clone, Copy, Debug)]
struct ListEnds {
    first: KeyId,
    last: KeyId,
}

/// The two orders in which partitions are linked.
#[derive(Clone, Copy)]
enum PartitionOrder {
    Age = 0,
    Use = 1,
}

impl<T> Partitions<T> {
    /// A window without partitions yet.
    pub fn new() -> Partitions<T> {
        let ends = ListEnds {
            first: NO_PARTITION,
            last: NO_PARTITION,
        };
        Partitions {
            key_ids: KeyIds::default(),
            slots: Vec::new(),
            ends: [ends; 2],
            opened: 0,
        }
    }

    /// Number of open partitions.
    pub fn len(&self) -> usize {
        self.key_ids.len()
    }

    /// Whether no partition is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Id of the partition of a key.
    pub fn find(&self, key: &[u8]) -> Option<KeyId> {
        self.key_ids.find(key)
    }

    /// Opens an empty partition for a key that has none; it is the youngest and the last used.
    pub fn open(&mut self, key: &[u8]) -> KeyId {
        let at = self.key_ids.assign(key);
        if at as usize == self.slots.len() {
            self.slots.push(PartitionSlot::default());
        }
        self.opened += 1;
        self.slots[at as usize].partition.set_serial(self.opened);
        self.append_to(PartitionOrder::Age, at);
        self.append_to(PartitionOrder::Use, at);
        at
    }

    /// The partition with an id.
    pub fn get(&self, at: KeyId) -> &WindowPartition<T> {
        &self.slots[at as usize].partition
    }

    /// The partition with an id, for changes.
    pub fn get_mut(&mut self, at: KeyId) -> &mut WindowPartition<T> {
        &mut self.slots[at as usize].partition
    }

    /// Notes that the partition is used: it is now the last that would be evicted.
    pub fn set_last_used(&mut self, at: KeyId) {
        if self.ends[PartitionOrder::Use as usize].last != at {
            self.remove_from(PartitionOrder::Use, at);
            self.append_to(PartitionOrder::Use, at);
        }
    }

    /// Closes a partition, and drops the items that are left in it.
    pub fn close(&mut self, at: KeyId) {
        self.remove_from(PartitionOrder::Age, at);
        self.remove_from(PartitionOrder::Use, at);
        self.slots[at as usize].partition.reset();
        self.key_ids.release(at);
    }

    /// Id of the oldest partition.
    pub fn oldest(&self) -> Option<KeyId> {
        to_option(self.ends[PartitionOrder::Age as usize].first)
    }

    /// Id of the partition that was not used for the longest time.
    pub fn least_used(&self) -> Option<KeyId> {
        to_option(self.ends[PartitionOrder::Use as usize].first)
    }

    /// All partitions, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &WindowPartition<T>> {
        let after = |at: &KeyId| {
            to_option(self.slots[*at as usize].neighbors[PartitionOrder::Age as usize].after)
        };
        std::iter::successors(self.oldest(), after).map(|at| self.get(at))
    }

    fn append_to(&mut self, by: PartitionOrder, at: KeyId) {
        let by = by as usize;
        let before = std::mem::replace(&mut self.ends[by].last, at);
        self.slots[at as usize].neighbors[by] = ListNeighbors {
            before,
            after: NO_PARTITION,
        };
        match to_option(before) {
            Some(before) => self.slots[before as usize].neighbors[by].after = at,
            None => self.ends[by].first = at,
        }
    }

    fn remove_from(&mut self, by: PartitionOrder, at: KeyId) {
        let by = by as usize;
        let ListNeighbors { before, after } = self.slots[at as usize].neighbors[by];
        match to_option(before) {
            Some(before) => self.slots[before as usize].neighbors[by].after = after,
            None => self.ends[by].first = after,
        }
        match to_option(after) {
            Some(after) => self.slots[after as usize].neighbors[by].before = before,
            None => self.ends[by].last = before,
        }
    }
}

impl<T> Default for PartitionSlot<T> {
    fn default() -> PartitionSlot<T> {
        let none = ListNeighbors {
            before: NO_PARTITION,
            after: NO_PARTITION,
        };
        PartitionSlot {
            partition: WindowPartition::default(),
            neighbors: [none; 2],
        }
    }
}

fn to_option(at: KeyId) -> Option<KeyId> {
    (at != NO_PARTITION).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serials(partitions: &Partitions<i32>) -> Vec<u64> {
        partitions.iter().map(WindowPartition::serial).collect()
    }

    #[test]
    fn partitions_are_found_and_stand_in_the_order_of_their_beginning() {
        let mut partitions = Partitions::new();
        let ids: Vec<_> = (0..1000_u32)
            .map(|n| partitions.open(&n.to_ne_bytes()))
            .collect();
        for (n, at) in (0..1000_u32).zip(&ids) {
            assert_eq!(partitions.find(&n.to_ne_bytes()), Some(*at));
        }
        ids.iter().step_by(2).for_each(|&at| partitions.close(at));
        assert_eq!(partitions.len(), 500);
        assert_eq!(partitions.find(&0_u32.to_ne_bytes()), None);
        assert_eq!(partitions.find(&1_u32.to_ne_bytes()), Some(ids[1]));
        assert_eq!(serials(&partitions)[..3], [2, 4, 6]);
        let again = partitions.open(&0_u32.to_ne_bytes());
        assert_eq!(partitions.slots.len(), 1000, "its memory is used again");
        assert_eq!(partitions.get(again).serial(), 1001);
        assert_eq!(serials(&partitions).last(), Some(&1001));
    }

    #[test]
    fn the_least_used_is_the_one_that_was_not_touched() {
        let mut partitions = Partitions::<i32>::new();
        let [a, b, c] = [b"a", b"b", b"c"].map(|key| partitions.open(key));
        assert_eq!(partitions.least_used(), Some(a));
        partitions.set_last_used(a);
        assert_eq!(partitions.least_used(), Some(b));
        partitions.set_last_used(b);
        partitions.set_last_used(b);
        assert_eq!(partitions.least_used(), Some(c));
        partitions.close(c);
        assert_eq!(partitions.least_used(), Some(a));
        assert_eq!(partitions.oldest(), Some(a));
        partitions.close(a);
        partitions.close(b);
        assert!(partitions.is_empty());
        assert_eq!((partitions.oldest(), partitions.least_used()), (None, None));
    }

    #[test]
    fn an_empty_key_is_a_key() {
        let mut partitions = Partitions::<i32>::new();
        assert_eq!(partitions.find(b""), None);
        let at = partitions.open(b"");
        assert_eq!(partitions.find(b""), Some(at));
        assert_eq!(partitions.find(b"x"), None);
    }
}
