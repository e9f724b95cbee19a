//! The group and the window that output function calls are evaluated for.

use tuple::TupleBuf;

/// A group, with the sizes of all groups of its window.
pub struct GroupContext<'a> {
    /// Tuples of each group of the window, in order.
    pub sizes: &'a [usize],
    /// Index of the group among the sizes.
    pub index: usize,
    /// Tuples in the operator's windows (sliding) or in this one (tumbling).
    pub total: usize,
    /// Last tuple of the group.
    pub last: &'a TupleBuf,
}
