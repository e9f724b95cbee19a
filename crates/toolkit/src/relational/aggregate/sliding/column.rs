//! A packed queue of values in the order of arrival.
//!
//! ```text
//!   list: | gone ... | oldest ... newest |
//! ```
//! What has left stays in front until it is more than what is left, then the rest moves up: that is
//! a step for each value.

use tuple::{List, Type, Value};

use super::capacity::has_excess_capacity;

pub struct SlidingColumn {
    list: List,
    removed_count: usize,
    /// Greatest length of the list since its memory was last given back.
    len_max: usize,
}

/// Number of removed values that stay in front of a short column before the others are moved up.
const REMOVED_MAX: usize = 32;

impl SlidingColumn {
    /// An empty column for values of a type.
    pub fn new(ty: &Type) -> SlidingColumn {
        SlidingColumn {
            list: List::new_for(ty),
            removed_count: 0,
            len_max: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.list.len() - self.removed_count
    }

    pub fn push(&mut self, value: Value) {
        self.list.push(value);
        self.len_max = self.len_max.max(self.list.len());
    }

    /// The oldest value, if there is one.
    pub fn oldest(&self) -> Option<Value> {
        self.list.get(self.removed_count)
    }

    /// Removes the oldest value.
    pub fn remove_oldest(&mut self) {
        self.removed_count += 1;
        if self.removed_count > self.len().max(REMOVED_MAX) || self.len() == 0 {
            self.compact();
        }
    }

    /// All values, oldest first.
    pub fn values(&mut self) -> &List {
        self.compact();
        &self.list
    }

    pub fn clear(&mut self) {
        // Removes all values after the length of the column has decided how much memory is kept.
        self.compact();
        self.list.clear();
    }

    fn compact(&mut self) {
        let len = self.list.len();
        if has_excess_capacity(self.len_max, self.len()) {
            self.list = self.list.slice(self.removed_count, len);
            self.len_max = self.list.len();
        } else {
            self.list.remove_range(0, self.removed_count);
        }
        self.removed_count = 0;
    }
}
