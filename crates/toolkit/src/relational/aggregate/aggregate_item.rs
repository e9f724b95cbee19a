//! The form in which the window keeps a tuple.

use tuple::TupleBuf;

use super::running_groups::RunningGroups;

/// A tuple of the window with the values that calls and `groupBy` take from it.
#[derive(Default)]
pub struct AggregateItem {
    pub tuple: TupleBuf,
    /// Values of `groupBy`, then of all arguments.
    pub values: TupleBuf,
    /// Number of the tuple; later tuples have larger ones.
    pub seq: u64,
    /// Bytes that are counted as state, with those of the item itself; 0 if it is in no window, or
    /// its running results are counted instead.
    pub counted_bytes: usize,
    /// Running results of the window, if this tuple is its first one and further ones are not kept.
    pub running_groups: Option<Box<RunningGroups>>,
}
