//! The partitions of a window: found by key, in the order in which they began and in that of their
//! last use. All of it takes the same time however many there are.
//!
//! ```text
//!   places: key -> place
//!   slots:  | partition, neighbours by age, neighbours by use | ... | free | ...
//! ```
//! A slot whose partition is gone keeps its memory for the next one.

use super::Partition;
use super::places::{Place, Places};

/// No place.
const NONE: Place = Place::MAX;

#[derive(Debug)]
pub struct Partitions<T> {
    places: Places,
    /// By place.
    slots: Vec<Slot<T>>,
    /// Ends of the two lists.
    ends: [Ends; 2],
    /// Partitions that were ever opened.
    opened: u64,
}

#[derive(Debug)]
struct Slot<T> {
    partition: Partition<T>,
    links: [Link; 2],
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: Place,
    after: Place,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Place,
    last: Place,
}

/// The two lists.
#[derive(Clone, Copy)]
enum By {
    Age = 0,
    Use = 1,
}

impl<T> Partitions<T> {
    /// None yet.
    pub fn new() -> Partitions<T> {
        let ends = Ends {
            first: NONE,
            last: NONE,
        };
        Partitions {
            places: Places::default(),
            slots: Vec::new(),
            ends: [ends; 2],
            opened: 0,
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the partition of a key is.
    pub fn find(&self, key: &[u8]) -> Option<Place> {
        self.places.find(key)
    }

    /// An empty partition for a key that has none; it is the youngest and the last used.
    pub fn open(&mut self, key: &[u8]) -> Place {
        let at = self.places.take(key);
        if at as usize == self.slots.len() {
            self.slots.push(Slot::default());
        }
        self.opened += 1;
        self.slots[at as usize].partition.set_serial(self.opened);
        self.append(By::Age, at);
        self.append(By::Use, at);
        at
    }

    /// The partition at a place.
    pub fn get(&self, at: Place) -> &Partition<T> {
        &self.slots[at as usize].partition
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, at: Place) -> &mut Partition<T> {
        &mut self.slots[at as usize].partition
    }

    /// The partition is used: it is the last now that would be evicted.
    pub fn touch(&mut self, at: Place) {
        if self.ends[By::Use as usize].last != at {
            self.unlink(By::Use, at);
            self.append(By::Use, at);
        }
    }

    /// The partition at a place is no more, and neither are items that are left in it.
    pub fn close(&mut self, at: Place) {
        self.unlink(By::Age, at);
        self.unlink(By::Use, at);
        self.slots[at as usize].partition.reset();
        self.places.give_back(at);
    }

    /// The oldest.
    pub fn oldest(&self) -> Option<Place> {
        some(self.ends[By::Age as usize].first)
    }

    /// The one that was not used for the longest time.
    pub fn least_used(&self) -> Option<Place> {
        some(self.ends[By::Use as usize].first)
    }

    /// All of them, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Partition<T>> {
        let after = |at: &Place| some(self.slots[*at as usize].links[By::Age as usize].after);
        std::iter::successors(self.oldest(), after).map(|at| self.get(at))
    }

    fn append(&mut self, by: By, at: Place) {
        let by = by as usize;
        let before = std::mem::replace(&mut self.ends[by].last, at);
        self.slots[at as usize].links[by] = Link {
            before,
            after: NONE,
        };
        match some(before) {
            Some(before) => self.slots[before as usize].links[by].after = at,
            None => self.ends[by].first = at,
        }
    }

    fn unlink(&mut self, by: By, at: Place) {
        let by = by as usize;
        let Link { before, after } = self.slots[at as usize].links[by];
        match some(before) {
            Some(before) => self.slots[before as usize].links[by].after = after,
            None => self.ends[by].first = after,
        }
        match some(after) {
            Some(after) => self.slots[after as usize].links[by].before = before,
            None => self.ends[by].last = before,
        }
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        let none = Link {
            before: NONE,
            after: NONE,
        };
        Slot {
            partition: Partition::default(),
            links: [none; 2],
        }
    }
}

fn some(at: Place) -> Option<Place> {
    (at != NONE).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serials(partitions: &Partitions<i32>) -> Vec<u64> {
        partitions.iter().map(Partition::serial).collect()
    }

    #[test]
    fn partitions_are_found_and_stand_in_the_order_of_their_beginning() {
        let mut partitions = Partitions::new();
        let places: Vec<_> = (0..1000_u32)
            .map(|n| partitions.open(&n.to_ne_bytes()))
            .collect();
        for (n, at) in (0..1000_u32).zip(&places) {
            assert_eq!(partitions.find(&n.to_ne_bytes()), Some(*at));
        }
        places
            .iter()
            .step_by(2)
            .for_each(|&at| partitions.close(at));
        assert_eq!(partitions.len(), 500);
        assert_eq!(partitions.find(&0_u32.to_ne_bytes()), None);
        assert_eq!(partitions.find(&1_u32.to_ne_bytes()), Some(places[1]));
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
        partitions.touch(a);
        assert_eq!(partitions.least_used(), Some(b));
        partitions.touch(b);
        partitions.touch(b);
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
