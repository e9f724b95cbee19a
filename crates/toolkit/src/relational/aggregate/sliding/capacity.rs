//! Limits on the unused memory of queues and columns of a window.

use std::collections::VecDeque;

/// Whether a capacity is more than four times too large for the elements that are left. Up to 64
/// elements are never too many, so that small windows do not allocate again and again.
pub(super) fn has_excess_capacity(capacity: usize, len: usize) -> bool {
    capacity > 64 && len < capacity / 4
}

/// Halves the capacity of a queue if it is much too large.
pub fn shrink_excess<T>(queue: &mut VecDeque<T>) {
    if has_excess_capacity(queue.capacity(), queue.len()) {
        queue.shrink_to(queue.capacity() / 2);
    }
}
