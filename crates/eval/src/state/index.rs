//! Index of a table: ids of entries by the hashes of their keys.
//!
//! ```text
//!  directory   address and number of a segment, by the first `depth` bits of the hash
//!  segment     up to 1,024 slots: 32 bits of the hash, 32 bits of the id (0: free)
//! ```
//! A segment grows by doubling up to 1,024 slots, then it is split by one more bit of the hash, so
//! an insertion moves at most as many slots as one segment has. Within a segment a hash begins at
//! its last bits and goes on to the next free slot. Only hashes that are equal in many bits, which
//! a seed makes rare, let a segment grow beyond that.

use std::collections::TryReserveError;

/// Slots of a segment that is split when it is full.
const SEGMENT_SLOTS: usize = 1024;

/// Slots of the first segment.
const FIRST_SLOTS: usize = 16;

/// Entries of two segments at which they become one.
const MERGED_MAX: u32 = SEGMENT_SLOTS as u32 / 4;

/// Entries for each address in the directory, at least: a directory of more is of no use.
const DIRECTORY_SHARE: usize = 64;

/// Depths of directories: at most as many as a hash has bits.
const DEPTHS: usize = 33;

#[derive(Debug)]
pub(super) struct Index {
    /// `1 << depth` entries.
    directory: Vec<DirectoryEntry>,
    depth: u32,
    /// Segments by number. Those that were merged into others have no slots.
    segments: Vec<Segment>,
    vacant: Vec<u32>,
    /// How many segments there are of each depth.
    of_depth: [u32; DEPTHS],
    len: usize,
    /// Slots of all segments.
    slots: usize,
    /// The most slots that an insertion has moved.
    #[cfg(test)]
    pub(super) moved_max: usize,
}

/// Place of the segment of a hash, as compiled code reads it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct DirectoryEntry {
    /// Address of the first slot.
    pub slots: usize,
    /// Number of slots less 1.
    pub mask: u32,
    segment: u32,
}

/// Slots of the hashes that begin with the same bits.
#[derive(Debug, Default)]
struct Segment {
    slots: Vec<u64>,
    used: u32,
    /// How many bits of the hash are the same.
    depth: u32,
}

fn slot_of(hash: u32, id: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(id)
}

fn hash_of(slot: u64) -> u32 {
    (slot >> 32) as u32
}

/// The first bits of a slot's hash.
fn prefix_of(slot: u64, depth: u32) -> u32 {
    (u64::from(hash_of(slot)) << depth >> 32) as u32
}

fn free_slots(count: usize) -> Result<Vec<u64>, TryReserveError> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(count)?;
    slots.resize(count, 0);
    Ok(slots)
}

impl Segment {
    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    /// Whether another entry would make searches long.
    fn is_full(&self) -> bool {
        self.used as usize >= self.slots.len() / 8 * 7
    }

    fn find(&self, hash: u32, mut has_key: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = hash as usize & self.mask();
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if hash_of(slot) == hash && has_key(slot as u32) {
                return Some(slot as u32);
            }
            at = (at + 1) & self.mask();
        }
    }

    /// Puts a slot into the first free place; there is one.
    fn put(&mut self, slot: u64) {
        let mask = self.mask();
        let mut at = hash_of(slot) as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
        self.used += 1;
    }

    /// Removes a slot, and closes the gap, so that no search ends at it too early.
    fn remove(&mut self, slot: u64) {
        let mask = self.mask();
        let mut gap = hash_of(slot) as usize & mask;
        while self.slots[gap] != slot {
            debug_assert_ne!(self.slots[gap], 0, "there is no such slot");
            gap = (gap + 1) & mask;
        }
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let moved = self.slots[at];
            if moved == 0 {
                break;
            }
            // Searches for it begin at or before the gap.
            let distance = at.wrapping_sub(hash_of(moved) as usize) & mask;
            if distance >= at.wrapping_sub(gap) & mask {
                self.slots[gap] = moved;
                gap = at;
            }
        }
        self.slots[gap] = 0;
        self.used -= 1;
    }

    /// Puts the slots into twice as many.
    fn double(&mut self) -> Result<(), TryReserveError> {
        let slots = free_slots(self.slots.len() * 2)?;
        let old = std::mem::replace(&mut self.slots, slots);
        self.used = 0;
        old.into_iter()
            .filter(|&slot| slot != 0)
            .for_each(|slot| self.put(slot));
        Ok(())
    }
}

impl Index {
    /// An index without entries.
    pub(super) fn new() -> Index {
        let mut index = Index {
            directory: vec![DirectoryEntry::default()],
            depth: 0,
            segments: Vec::new(),
            vacant: Vec::new(),
            of_depth: [0; DEPTHS],
            len: 0,
            slots: 0,
            #[cfg(test)]
            moved_max: 0,
        };
        index.clear();
        index
    }

    /// Number of entries in the index.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory that the index takes.
    pub(super) fn bytes(&self) -> usize {
        self.slots * size_of::<u64>()
            + self.segments.capacity() * size_of::<Segment>()
            + self.directory.capacity() * size_of::<DirectoryEntry>()
            + self.vacant.capacity() * size_of::<u32>()
    }

    /// Removes all entries, and gives back the memory of all segments but one.
    pub(super) fn clear(&mut self) {
        let first = self.segments.first_mut().map(std::mem::take);
        let mut first = first.unwrap_or_default();
        first
            .slots
            .resize(first.slots.len().clamp(FIRST_SLOTS, SEGMENT_SLOTS), 0);
        first.slots.fill(0);
        (first.used, first.depth) = (0, 0);
        self.slots = first.slots.len();
        self.segments.clear();
        self.segments.push(first);
        self.directory.truncate(1);
        self.vacant.clear();
        self.of_depth = [0; DEPTHS];
        self.of_depth[0] = 1;
        (self.depth, self.len) = (0, 0);
        self.direct(0, 0, 0);
    }

    /// Address of the directory, and by how many bits a hash is shifted to be an index of it.
    pub(super) fn directory(&self) -> (usize, u32) {
        let address = self.directory.as_ptr().expose_provenance();
        (address, 32 - self.depth)
    }

    /// Id of the entry with a hash for which `has_key` holds.
    pub(super) fn find(&self, hash: u32, has_key: impl FnMut(u32) -> bool) -> Option<u32> {
        self.segments[self.segment_of(hash)].find(hash, has_key)
    }

    /// Adds an entry that is not there. Its id is not 0.
    ///
    /// # Errors
    /// Memory is missing; nothing has changed that a search sees.
    pub(super) fn insert(&mut self, hash: u32, id: u32) -> Result<(), TryReserveError> {
        debug_assert_ne!(id, 0, "a slot of a free entry");
        while self.segments[self.segment_of(hash)].is_full() {
            self.make_room(self.segment_of(hash))?;
        }
        let at = self.segment_of(hash);
        self.segments[at].put(slot_of(hash, id));
        self.len += 1;
        Ok(())
    }

    /// Removes an entry that is there.
    pub(super) fn remove(&mut self, hash: u32, id: u32) {
        let at = self.segment_of(hash);
        self.segments[at].remove(slot_of(hash, id));
        self.len -= 1;
        self.merge_if_sparse(hash);
    }

    /// Ids of all entries, in no order that means anything.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        let slots = self.segments.iter().flat_map(|segment| &segment.slots);
        slots.filter(|&&slot| slot != 0).map(|&slot| slot as u32)
    }

    fn segment_of(&self, hash: u32) -> usize {
        let prefix = (u64::from(hash) << self.depth) >> 32;
        self.directory[prefix as usize].segment as usize
    }

    /// Makes a full segment larger, or two of it.
    fn make_room(&mut self, at: usize) -> Result<(), TryReserveError> {
        let segment = &self.segments[at];
        #[cfg(test)]
        {
            self.moved_max = self.moved_max.max(segment.used as usize);
        }
        let is_split = segment.slots.len() >= SEGMENT_SLOTS
            && (segment.depth < self.depth || self.may_deepen());
        match is_split {
            true => self.split(at),
            false => self.double(at),
        }
    }

    /// Doubles a segment that has entries.
    fn double(&mut self, at: usize) -> Result<(), TryReserveError> {
        let segment = &mut self.segments[at];
        segment.double()?;
        self.slots += segment.slots.len() / 2;
        let (depth, some) = (segment.depth, segment.slots.iter().find(|&&slot| slot != 0));
        let prefix = some.map_or(0, |&slot| prefix_of(slot, depth));
        self.direct(prefix, depth, at);
        Ok(())
    }

    /// Whether there are entries enough for a directory of twice the length.
    fn may_deepen(&self) -> bool {
        self.depth < 31 && self.len / DIRECTORY_SHARE >= self.directory.len() * 2
    }

    /// Divides a segment by one more bit of the hash. Either half has room for all of it.
    fn split(&mut self, at: usize) -> Result<(), TryReserveError> {
        let count = self.segments[at].slots.len();
        let (low, high) = (free_slots(count)?, free_slots(count)?);
        if self.segments[at].depth == self.depth {
            self.deepen()?;
        }
        let new = self.add_segment(high)?;
        self.slots += count;
        let segment = &mut self.segments[at];
        let old = std::mem::replace(&mut segment.slots, low);
        segment.used = 0;
        segment.depth += 1;
        let depth = segment.depth;
        self.segments[new].depth = depth;
        self.of_depth[depth as usize - 1] -= 1;
        self.of_depth[depth as usize] += 2;
        let mut prefix = 0;
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            prefix = prefix_of(slot, depth);
            let half = if prefix & 1 == 1 { new } else { at };
            self.segments[half].put(slot);
        }
        self.direct(prefix & !1, depth, at);
        self.direct(prefix | 1, depth, new);
        Ok(())
    }

    /// Doubles the directory: a further bit of the hash counts.
    fn deepen(&mut self) -> Result<(), TryReserveError> {
        let len = self.directory.len();
        self.directory.try_reserve_exact(len)?;
        self.directory.resize(2 * len, DirectoryEntry::default());
        for at in (0..len).rev() {
            let entry = self.directory[at];
            self.directory[2 * at..2 * at + 2].fill(entry);
        }
        self.depth += 1;
        Ok(())
    }

    /// Adds a segment without entries, and returns its number.
    fn add_segment(&mut self, slots: Vec<u64>) -> Result<usize, TryReserveError> {
        let segment = Segment {
            slots,
            ..Segment::default()
        };
        if let Some(number) = self.vacant.pop() {
            self.segments[number as usize] = segment;
            return Ok(number as usize);
        }
        self.segments.try_reserve(1)?;
        self.segments.push(segment);
        Ok(self.segments.len() - 1)
    }

    /// Makes all hashes that begin with the `depth` bits of a prefix those of a segment.
    fn direct(&mut self, prefix: u32, depth: u32, segment: usize) {
        let further = self.depth - depth;
        let first = (prefix as usize) << further;
        let slots = &self.segments[segment].slots;
        let entry = DirectoryEntry {
            slots: slots.as_ptr().expose_provenance(),
            mask: slots.len() as u32 - 1,
            segment: segment as u32,
        };
        self.directory[first..first + (1 << further)].fill(entry);
    }

    /// Makes one segment of the hash's and the other half of what it was split from, if both have
    /// few entries.
    fn merge_if_sparse(&mut self, hash: u32) {
        let at = self.segment_of(hash);
        let (depth, used) = (self.segments[at].depth, self.segments[at].used);
        if depth == 0 || used > MERGED_MAX / 2 {
            return;
        }
        let prefix = hash >> (32 - depth);
        let other = ((prefix ^ 1) as usize) << (self.depth - depth);
        let other = self.directory[other].segment as usize;
        let half = &self.segments[other];
        if half.depth != depth || half.used + used > MERGED_MAX {
            return;
        }
        let half = std::mem::take(&mut self.segments[other]);
        self.slots -= half.slots.len();
        let segment = &mut self.segments[at];
        half.slots
            .into_iter()
            .filter(|&slot| slot != 0)
            .for_each(|slot| segment.put(slot));
        segment.depth = depth - 1;
        self.vacant.push(other as u32);
        self.of_depth[depth as usize] -= 2;
        self.of_depth[depth as usize - 1] += 1;
        self.direct(prefix >> 1, depth - 1, at);
        while self.depth > 0 && self.of_depth[self.depth as usize] == 0 {
            self.halve_directory();
        }
    }

    /// Leaves the last bit of the hash that counts out: no segment differs by it.
    fn halve_directory(&mut self) {
        let len = self.directory.len() / 2;
        for at in 0..len {
            self.directory[at] = self.directory[2 * at];
        }
        self.directory.truncate(len);
        self.directory.shrink_to(2 * len);
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash of the id, which has all its bits.
    fn hash(id: u32) -> u32 {
        (u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }

    #[test]
    fn millions_come_and_go_in_small_steps() {
        let mut index = Index::new();
        let count = if cfg!(debug_assertions) {
            1_000_000
        } else {
            10_000_000
        };
        for id in 1..=count {
            index.insert(hash(id), id).expect("memory");
        }
        assert_eq!(index.len(), count as usize);
        assert!(index.moved_max <= 2048, "{} slots moved", index.moved_max);
        let slots: usize = index.segments.iter().map(|s| s.slots.len()).sum();
        assert_eq!(index.slots, slots);
        let bytes = index.bytes() / count as usize;
        assert!((9..19).contains(&bytes), "{bytes} bytes an entry");
        for id in (1..=count).step_by(997) {
            assert_eq!(index.find(hash(id), |found| found == id), Some(id));
            assert_eq!(index.find(hash(id), |_| false), None);
        }
        for id in 1..=count {
            index.remove(hash(id), id);
        }
        assert_eq!((index.len(), index.depth), (0, 0));
        assert_eq!(index.segments.len() - index.vacant.len(), 1);
    }

    #[test]
    fn equal_hashes_are_told_apart_and_cost_no_directory() {
        let mut index = Index::new();
        for id in 1..=1_500 {
            index.insert(7, id).expect("memory");
        }
        for id in 1..=1_500 {
            assert_eq!(index.find(7, |found| found == id), Some(id));
        }
        assert_eq!(index.find(8, |_| true), None);
        assert!(index.directory.len() <= 1_500 / DIRECTORY_SHARE);
        for id in 1..=1_500 {
            index.remove(7, id);
        }
        assert_eq!(index.find(7, |_| true), None);
    }

    #[test]
    fn a_cleared_index_serves_again() {
        let mut index = Index::new();
        for round in 0..3 {
            for id in 1..=3_000 {
                index.insert(hash(id + round), id).expect("memory");
            }
            assert_eq!(index.find(hash(9 + round), |_| true), Some(9));
            index.clear();
            assert_eq!(
                (index.len(), index.find(hash(9 + round), |_| true)),
                (0, None)
            );
        }
    }
}
