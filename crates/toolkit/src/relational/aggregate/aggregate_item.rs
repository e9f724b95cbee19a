//! The form in which the window keeps a tuple.

use tuple::TupleBuf;

use super::running_groups::RunningGroups;

/// A tuple of the window with what is taken from it.
#[derive(Default)]
pub struct AggregateItem {
    pub tuple: TupleBuf,
    /// Values of `groupBy`, then of all arguments.
    pub values: TupleBuf,
    /// Later tuples have larger ones.
    pub seq: u64,
    /// What the window has come to, if this tuple was its first one and the others are not kept.
    pub running_groups: Option<Box<RunningGroups>>,
}
