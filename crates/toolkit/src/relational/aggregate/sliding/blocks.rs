//! A sliding window of items whose aggregate is merged from parts, in an order that follows from
//! which items came and when the oldest left. What a step costs does not depend on the window's
//! length.
//!
//! ```text
//!   items        . . x x | x x x x | x x x x | x x x x | x x         in blocks of 64
//!                    ^ oldest                ^ flip
//!                    | F | R                 | B       | C  |
//!   aggregate    ((F + R) + B) + C, without those that are empty
//! ```
//! * F: from the oldest item to the end of its block, from right to left.
//! * R: the blocks behind it up to the flip: each from left to right, then from right to left.
//! * B: the blocks that were filled since the flip, from left to right.
//! * C: the block that is being filled, from left to right.
//!
//! When the oldest item leaves and the next one is behind the flip, R and F are made again: of all
//! full blocks, or of all items if the oldest one lies in the block that is being filled (F is that
//! block's items up to the newest then). That is the two-stacks algorithm over blocks instead of
//! items: an item costs two steps and three merges, and a flip of n items n / 64 merges.

use std::collections::VecDeque;

use super::capacity::shrink_excess;

/// Items of a block. The order of additions depends on it.
pub const BLOCK_ITEMS: usize = 64;

/// The aggregate of one item or more.
pub trait Accumulator<T>: Copy {
    /// Aggregate of one item.
    fn of(item: T) -> Self;
    /// Aggregate with one item more behind.
    fn add(self, item: T) -> Self;
    /// Aggregate of two parts together, this one and a later one.
    fn merge(self, later: Self) -> Self;
}

/// The items of a window, oldest first, and the aggregates of its parts.
pub struct Blocks<T, A> {
    items: VecDeque<T>,
    /// Number of items that have left, and of those before the flip, since there was no item.
    left: usize,
    flip: usize,
    /// Aggregates from an item of F to the end of F, that of the oldest item last.
    front: Vec<A>,
    /// An aggregate for each full block from the oldest item's on: for `rest` blocks behind the
    /// first, that from the block to the flip; for the others that of what C had in them.
    full: VecDeque<A>,
    rest: usize,
    /// Aggregate of the blocks that were filled since the flip: B.
    filled: Option<A>,
    /// Aggregate of the items since the flip in the block that is being filled: C.
    filling: Option<A>,
}

impl<T: Copy, A: Accumulator<T>> Blocks<T, A> {
    /// A window without items.
    pub fn new() -> Blocks<T, A> {
        Blocks {
            items: VecDeque::new(),
            left: 0,
            flip: 0,
            front: Vec::new(),
            full: VecDeque::new(),
            rest: 0,
            filled: None,
            filling: None,
        }
    }

    /// Number of items in the window.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        self.items.push_back(item);
        let filling = self
            .filling
            .map_or_else(|| A::of(item), |part| part.add(item));
        self.filling = Some(filling);
        if self.end().is_multiple_of(BLOCK_ITEMS) {
            self.full.push_back(filling);
            self.filled = merged(self.filled, Some(filling));
            self.filling = None;
        }
    }

    /// Removes the oldest item.
    pub fn remove_oldest(&mut self) {
        self.items.pop_front();
        if self.items.is_empty() {
            return self.clear();
        }
        shrink_excess(&mut self.items);
        self.left += 1;
        let is_next_block = self.left.is_multiple_of(BLOCK_ITEMS);
        if is_next_block {
            self.full.pop_front();
            self.rest = self.rest.saturating_sub(1);
        }
        if self.left >= self.flip {
            self.turn();
        } else if is_next_block {
            self.fill_front(BLOCK_ITEMS);
        } else {
            self.front.pop();
        }
    }

    /// Removes all items; some memory stays.
    pub fn clear(&mut self) {
        self.items.clear();
        shrink_excess(&mut self.items);
        (self.left, self.flip, self.rest) = (0, 0, 0);
        self.front.clear();
        self.full.clear();
        (self.filled, self.filling) = (None, None);
    }

    /// The aggregate of all items; `None` without items.
    pub fn aggregate(&self) -> Option<A> {
        let front = self.front.last().copied();
        let rest = self.full.get(1).filter(|_| self.rest > 0).copied();
        let behind = [rest, self.filled, self.filling];
        behind.into_iter().fold(front, merged)
    }

    /// Number of items that have come since there was none.
    fn end(&self) -> usize {
        self.left + self.items.len()
    }

    /// Makes F and R of what was B and C, as far as it is there.
    fn turn(&mut self) {
        self.filled = None;
        if self.full.is_empty() {
            self.filling = None;
            self.flip = self.end();
            return self.fill_front(self.items.len());
        }
        for block in (1..self.full.len() - 1).rev() {
            self.full[block] = self.full[block].merge(self.full[block + 1]);
        }
        shrink_excess(&mut self.full);
        self.rest = self.full.len() - 1;
        self.flip = self.end() / BLOCK_ITEMS * BLOCK_ITEMS;
        self.fill_front(BLOCK_ITEMS - self.left % BLOCK_ITEMS);
    }

    /// Makes F of so many items.
    fn fill_front(&mut self, count: usize) {
        self.front.clear();
        let mut part = None;
        for item in self.items.range(..count).rev() {
            let longer = merged(Some(A::of(*item)), part);
            self.front.extend(longer);
            part = longer;
        }
    }
}

/// The aggregate of two parts, of which one or both may be empty.
fn merged<T, A: Accumulator<T>>(first: Option<A>, later: Option<A>) -> Option<A> {
    match (first, later) {
        (Some(first), Some(later)) => Some(first.merge(later)),
        (first, later) => first.or(later),
    }
}
