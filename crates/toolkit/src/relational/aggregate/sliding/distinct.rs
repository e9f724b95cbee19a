//! Number of distinct values in the window.

use eval::Fault;
use rustc_hash::FxHashMap;
use tuple::{Type, Value};

use super::capacity::has_excess_capacity;
use super::column::SlidingColumn;
use super::sliding_function::SlidingFunction;

/// The values, and how often each of them is there.
pub struct SlidingDistinctCount {
    values: SlidingColumn,
    counts: FxHashMap<Value, usize>,
}

impl SlidingDistinctCount {
    /// A function over values of a type.
    pub fn new(argument: &Type) -> SlidingDistinctCount {
        SlidingDistinctCount {
            values: SlidingColumn::new(argument),
            counts: FxHashMap::default(),
        }
    }
}

impl SlidingFunction for SlidingDistinctCount {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.values.push(value.clone());
        *self.counts.entry(value).or_default() += 1;
    }

    fn remove_oldest(&mut self) {
        let Some(value) = self.values.oldest() else {
            return;
        };
        self.values.remove_oldest();
        if let Some(count) = self.counts.get_mut(&value) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&value);
            }
        }
        if has_excess_capacity(self.counts.capacity(), self.counts.len()) {
            self.counts.shrink_to(self.counts.capacity() / 2);
        }
    }

    fn result(&mut self) -> Result<Value, Fault> {
        Ok(Value::Int32(self.counts.len() as i32))
    }

    fn clear(&mut self) {
        self.values.clear();
        self.counts.clear();
    }
}
