//! The window observer: an operator's part of its window, which the engine calls.

use eval::Fault;

use super::partition::WindowPartition;

/// The operator's part of its window: what happens when it fires and when items come and leave.
pub trait WindowObserver<T> {
    /// Processes the window: a tumbling one is about to be emptied, a sliding one is triggered.
    /// `None` is a window without any item. `total` counts the items of all partitions.
    fn fire(&mut self, partition: Option<&WindowPartition<T>>, total: usize) -> Result<(), Fault>;
    /// Takes an item that has left its window.
    fn leave(&mut self, item: T, cause: LeaveReason) -> Result<(), Fault>;
    /// Adds an item, unless the one before it in its partition takes it in: then it is counted but
    /// not kept. By default every item is kept. Only for windows that all items leave together.
    fn merge(&mut self, newest: Option<&mut T>, item: T) -> Result<Option<T>, Fault> {
        let _ = newest;
        Ok(Some(item))
    }
    /// Index at which a new item is put into its partition; at the end by default.
    fn insert_position(&self, partition: &WindowPartition<T>, item: &T) -> usize {
        let _ = item;
        partition.len()
    }
    /// Runs before a partition is evicted with its items.
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
    /// Eviction of the item's partition.
    PartitionEvicted,
}
