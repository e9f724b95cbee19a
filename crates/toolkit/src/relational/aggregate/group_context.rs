//! What the calls of an output clause may ask of a group and its window.

use tuple::TupleBuf;

/// A group, and what the calls may ask of the whole window.
pub struct GroupContext<'a> {
    /// Tuples of each group of the window, in order.
    pub sizes: &'a [usize],
    /// Which group this is.
    pub index: usize,
    /// Tuples in the operator's windows (sliding) or in this one (tumbling).
    pub total: usize,
    /// Its last tuple.
    pub last: &'a TupleBuf,
}
