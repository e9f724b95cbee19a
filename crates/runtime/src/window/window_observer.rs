//! What an operator does with its window: the trait that the engine calls.

use eval::Fault;

use super::partition::WindowPartition;

/// What an operator does with its window.
pub trait WindowObserver<T> {
    /// The window is processed: a tumbling one is about to be emptied, a sliding one is triggered.
    /// `None` is a window without any item. `total` counts the items of all partitions.
    fn fire(&mut self, partition: Option<&WindowPartition<T>>, total: usize) -> Result<(), Fault>;
    /// An item has left its window.
    fn leave(&mut self, item: T, cause: LeaveReason) -> Result<(), Fault>;
    /// An item has come: the one before it in its partition may take it in, so that it is counted
    /// but not kept. By default every item is kept. Only for windows that all items leave together.
    fn merge(&mut self, newest: Option<&mut T>, item: T) -> Result<Option<T>, Fault> {
        let _ = newest;
        Ok(Some(item))
    }
    /// Before which item of its partition a new one is put; at the end by default.
    fn insert_position(&self, partition: &WindowPartition<T>, item: &T) -> usize {
        let _ = item;
        partition.len()
    }
    /// A partition is about to be evicted with its items.
    fn evict_partition(&mut self, partition: &WindowPartition<T>) -> Result<(), Fault> {
        let _ = partition;
        Ok(())
    }
}

/// Why an item leaves its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveReason {
    /// The eviction policy of a sliding window; also an item that a window of `count(0)` never
    /// took.
    Evicted,
    /// The flush of a tumbling window, after it has fired.
    Flushed,
    /// Its partition was evicted.
    PartitionEvicted,
}
