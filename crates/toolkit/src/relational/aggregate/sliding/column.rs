//! Values in the order in which they came, packed; the oldest leaves first.
//!
//! ```text
//!   list: | gone ... | oldest ... newest |
//! ```
//! What has left stays in front until it is more than what is left, then the rest moves up: that is a
//! step for each value.

use tuple::{List, Type, Value};

use super::is_loose;

pub struct Column {
    list: List,
    gone: usize,
    /// As many as the list has held since its memory was last given back.
    most: usize,
}

/// So many may have left before the others move up.
const GONE_MAX: usize = 32;

impl Column {
    /// Of values of a type.
    pub fn new(ty: &Type) -> Column {
        Column {
            list: List::new_for(ty),
            gone: 0,
            most: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.list.len() - self.gone
    }

    pub fn push(&mut self, value: Value) {
        self.list.push(value);
        self.most = self.most.max(self.list.len());
    }

    /// The oldest value.
    pub fn oldest(&self) -> Option<Value> {
        self.list.get(self.gone)
    }

    /// The oldest value leaves.
    pub fn forget(&mut self) {
        self.gone += 1;
        if self.gone > self.len().max(GONE_MAX) || self.len() == 0 {
            self.pack();
        }
    }

    /// All values.
    pub fn values(&mut self) -> &List {
        self.pack();
        &self.list
    }

    pub fn clear(&mut self) {
        // As if all had left, after what was there has said how much memory is meant.
        self.pack();
        self.list.clear();
    }

    fn pack(&mut self) {
        let len = self.list.len();
        if is_loose(self.most, self.len()) {
            self.list = self.list.slice(self.gone, len);
            self.most = self.list.len();
        } else {
            self.list.remove_range(0, self.gone);
        }
        self.gone = 0;
    }
}
