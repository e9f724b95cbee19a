//! Memory that the tables of an operator take together, and the most that they may take.

use std::sync::atomic::{AtomicU64, Ordering};

/// Entries and bytes of an operator's tables. The thread inside the operator writes them; any
/// thread may read them, and may see them stale.
#[derive(Debug)]
pub struct StateMemory {
    entries: AtomicU64,
    bytes: AtomicU64,
    /// Most bytes that the tables may take; `u64::MAX` means no bound.
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
    /// Entries of all tables.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Bytes that all tables take, without values of variable length that entries point to.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bounds the bytes: from then on, no entry is added by which they are beyond the bound.
    pub fn set_bytes_max(&self, bytes: u64) {
        self.bytes_max.store(bytes, Ordering::Relaxed);
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
