//! Order positions: lists of numbers, compared from the front. [`super::thread_order`] says what
//! the numbers mean.

use std::collections::BTreeMap;

/// Last number of a position that stands behind all positions which begin with the same numbers.
pub(crate) const AFTER_ALL: u64 = u64::MAX;

/// An empty position with room for 8 numbers; most have fewer.
pub(crate) fn new_position() -> Vec<u64> {
    Vec::with_capacity(8)
}

/// Steps a position back to the last one before it: all that comes before the position is over.
pub(crate) fn step_before(position: &mut Vec<u64>) {
    while position.len() > 1 && position.last() == Some(&0) {
        position.pop();
    }
    match &mut position[..] {
        [_, .., last] => {
            *last -= 1;
            position.push(AFTER_ALL);
        }
        _ => position.clear(),
    }
}

/// Raises the known position of an origin to `position`, if that is later.
pub(crate) fn raise_known_position(known: &mut BTreeMap<u64, Vec<u64>>, position: &[u64]) {
    let Some(origin) = position.first() else {
        return;
    };
    let known = known.entry(*origin).or_default();
    if known[..] < *position {
        known.clear();
        known.extend(position);
    }
}
