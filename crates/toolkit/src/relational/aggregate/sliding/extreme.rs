//! The greatest or the least value of a sliding window, how often it occurs, or the second argument
//! of its tuple.
//!
//! Only values that no later one surpasses can become the extreme. The others are removed when the
//! value that surpasses them is added.
//!
//! ```text
//!   values 7 3 5 5 1 5 2     candidates for the greatest: 7 5 5 5 2
//! ```
//! The first candidate is the extreme; when 7 leaves the window, 5 is.
//!
//! A NaN is not ordered: it surpasses no value and is not surpassed. It is the extreme while it is
//! the oldest value of all, and is ignored otherwise.

use std::cmp::Ordering;
use std::collections::VecDeque;

use eval::Fault;
use tuple::Value;

use super::capacity::shrink_excess;
use super::sliding_function::SlidingFunction;
use crate::relational::aggregate::running_function::no_value;

/// Result of the function, from the extreme value.
#[derive(Clone, Copy)]
pub enum ExtremeResult {
    /// The value itself, the first of equal ones.
    Value,
    /// The second argument of its tuple.
    Argument,
    /// Number of values that equal the extreme.
    Count,
}

pub struct SlidingExtreme {
    result_kind: ExtremeResult,
    surpasses: fn(Ordering) -> bool,
    /// Values that no later one surpasses: each equals the next one or surpasses it.
    candidates: VecDeque<ExtremeCandidate>,
    /// Values that are not ordered: NaN.
    unordered: VecDeque<ExtremeCandidate>,
    added_count: u64,
    removed_count: u64,
}

struct ExtremeCandidate {
    /// Number of values that were added before this one.
    seq: u64,
    value: Value,
    other: Option<Value>,
}

impl SlidingExtreme {
    /// The greatest value, or the least one.
    pub fn new(is_greatest: bool, result_kind: ExtremeResult) -> SlidingExtreme {
        SlidingExtreme {
            result_kind,
            surpasses: if is_greatest {
                Ordering::is_gt
            } else {
                Ordering::is_lt
            },
            candidates: VecDeque::new(),
            unordered: VecDeque::new(),
            added_count: 0,
            removed_count: 0,
        }
    }

    /// The oldest value of all, if it is not ordered.
    fn oldest_unordered(&self) -> Option<&ExtremeCandidate> {
        self.unordered
            .front()
            .filter(|unordered| unordered.seq == self.removed_count)
    }

    fn count(&self) -> usize {
        match self.candidates.front() {
            Some(first) if self.oldest_unordered().is_none() => {
                let is_alike = |other: &ExtremeCandidate| other.value.spl_eq(&first.value);
                self.candidates.partition_point(is_alike)
            }
            // A NaN does not equal itself.
            _ => 0,
        }
    }
}

impl SlidingFunction for SlidingExtreme {
    fn add(&mut self, value: Value, other: Option<Value>) {
        let at = self.added_count;
        self.added_count += 1;
        let is_odd = value.spl_cmp(&value).is_none();
        let queue = if is_odd {
            &mut self.unordered
        } else {
            let surpassed =
                |last: &ExtremeCandidate| value.spl_cmp(&last.value).is_some_and(self.surpasses);
            while self.candidates.back().is_some_and(surpassed) {
                self.candidates.pop_back();
            }
            &mut self.candidates
        };
        queue.push_back(ExtremeCandidate {
            seq: at,
            value,
            other,
        });
    }

    fn remove_oldest(&mut self) {
        let is_it = |oldest: &ExtremeCandidate| oldest.seq == self.removed_count;
        // The oldest value is in one of the queues, or was surpassed.
        let mut queues = [&mut self.candidates, &mut self.unordered].into_iter();
        if let Some(queue) = queues.find(|queue| queue.front().is_some_and(is_it)) {
            queue.pop_front();
            shrink_excess(queue);
        }
        self.removed_count += 1;
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let extreme = self.oldest_unordered().or_else(|| self.candidates.front());
        let extreme = extreme.ok_or_else(no_value)?;
        match self.result_kind {
            ExtremeResult::Value => Ok(extreme.value.clone()),
            ExtremeResult::Argument => extreme.other.clone().ok_or_else(no_value),
            ExtremeResult::Count => Ok(Value::Int32(self.count() as i32)),
        }
    }

    fn clear(&mut self) {
        self.candidates.clear();
        self.unordered.clear();
        (self.added_count, self.removed_count) = (0, 0);
    }
}
