//! Memory that the state of an operator takes, in tables or as tuples that it keeps by itself, and
//! the most that it may take.

use std::sync::atomic::{AtomicU64, Ordering};

use super::entry_table::TableMemoryError;

/// Entries and bytes of an operator's tables, or of the tuples that it keeps by itself. The thread
/// inside the operator writes them; any thread may read them, and may see them stale.
#[derive(Debug)]
pub struct StateMemory {
    entries: AtomicU64,
    bytes: AtomicU64,
    /// Most bytes that the state may take; `u64::MAX` means no bound.
    bytes_max: AtomicU64,
}

impl Default for StateMemory {
    fn default() -> StateMemory {
        StateMemory {
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            bytes_max: AtomicU64::new(u64::MAX),
        }
    }
}

impl StateMemory {
    /// Entries of all tables, or tuples that are kept.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Bytes that all tables take, without values of variable length that entries point to; or
    /// those of the tuples that are kept.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bounds the bytes: from then on, no entry is added by which they are beyond the bound.
    pub fn set_bytes_max(&self, bytes: u64) {
        self.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Counts a tuple that the operator is about to keep by itself.
    ///
    /// # Errors
    /// With it the bytes would be beyond the bound: it is not counted, and is not to be kept.
    pub fn add(&self, bytes: usize) -> Result<(), TableMemoryError> {
        let (entries, bytes) = (self.entries() + 1, self.bytes() + bytes as u64);
        let max = self.bytes_max.load(Ordering::Relaxed);
        if bytes > max {
            let bytes_max = Some(max);
            return Err(TableMemoryError {
                entries,
                bytes,
                bytes_max,
            });
        }
        self.store(entries, bytes);
        Ok(())
    }

    /// Counts that a kept tuple has now another size.
    pub fn resize(&self, before: usize, now: usize) {
        let bytes = (self.bytes() + now as u64).saturating_sub(before as u64);
        self.store(self.entries(), bytes);
    }

    /// Counts that a tuple is kept no more.
    pub fn remove(&self, bytes: usize) {
        let bytes = self.bytes().saturating_sub(bytes as u64);
        self.store(self.entries().saturating_sub(1), bytes);
    }

    fn store(&self, entries: u64, bytes: u64) {
        self.entries.store(entries, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// The bound, if the bytes are beyond it.
    pub(super) fn exceeded_max(&self) -> Option<u64> {
        let max = self.bytes_max.load(Ordering::Relaxed);
        (self.bytes() > max).then_some(max)
    }

    /// Notes that a table has changed.
    pub(super) fn replace(&self, before: TableMemory, now: TableMemory) {
        let replace = |total: &AtomicU64, before: u64, now: u64| {
            let others = total.load(Ordering::Relaxed).wrapping_sub(before);
            total.store(others.wrapping_add(now), Ordering::Relaxed);
        };
        replace(&self.entries, before.entries, now.entries);
        replace(&self.bytes, before.bytes, now.bytes);
    }
}

/// Entries and bytes of one table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableMemory {
    pub(super) entries: u64,
    pub(super) bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_tuples_are_counted_up_to_the_bound() {
        let memory = StateMemory::default();
        memory.set_bytes_max(100);
        memory.add(60).unwrap();
        memory.add(40).unwrap();
        let refused = memory.add(1).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "state of 3 entries would take 101 bytes, and config `stateBytesMax` allows 100"
        );
        assert_eq!((memory.entries(), memory.bytes()), (2, 100));
        memory.remove(60);
        memory.resize(40, 50);
        assert_eq!((memory.entries(), memory.bytes()), (1, 50));
        memory.add(50).unwrap();
    }
}
