//! Order positions: lists of numbers, compared from the front. [`super::thread_order`] says what
//! the numbers mean.

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

/// Positions by origin. There are few origins, so they are found one after the other.
#[derive(Debug, Default)]
pub(crate) struct KnownPositions(Vec<(u64, Vec<u64>)>);

impl KnownPositions {
    /// The known position of an origin; empty if nothing is known.
    pub fn get(&self, origin: u64) -> &[u64] {
        let mut known = self.0.iter();
        let found = known.find(|(known, _)| *known == origin);
        found.map_or(&[], |(_, position)| position)
    }

    /// The place of an origin's position, which is made if there is none.
    pub fn entry(&mut self, origin: u64) -> &mut Vec<u64> {
        let at = self.0.iter().position(|(known, _)| *known == origin);
        let at = at.unwrap_or_else(|| {
            self.0.push((origin, new_position()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// Raises the known position of an origin to `position`, if that is later. Returns whether it
    /// was.
    pub fn raise(&mut self, position: &[u64]) -> bool {
        let Some(origin) = position.first() else {
            return false;
        };
        let known = self.entry(*origin);
        let is_later = known[..] < *position;
        if is_later {
            known.clear();
            known.extend(position);
        }
        is_later
    }
}
